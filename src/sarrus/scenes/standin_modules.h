// Private to this folder: figures (a torso with limbs) made of the modules of docs/theory/benchmarks.md §1.1, with
// random but repeatable lengths, axes and masses. They stand in for robots whose data are not public.
//
// A limb is a string of modules, one letter each, from the torso outwards:
//   t r p   a link on a hinge: twist (axis along the limb), roll (axis forwards), pitch (axis across)
//   o       as p, but not driven
//   f       a foot: a flat link on a pitch hinge, below its ankle
//   4       planar four-bar: crank A-B, coupler B-C, rocker D-C; hinges across the limb
//   S       RSUR: crank on R, rod on S and U, rocker on R
//   U       RUUU: crank on R, rod on U and U, the last link on U
//   V       RUURR: crank on R, rod on U and U, third link on R, the last link on R
// A and D are on the parent; the next module is at the tip C of the last link.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/scenes/scenes_internal.h"

namespace sarrus::scenes {

struct LimbPlan {
  std::string name;
  std::string_view modules;
  Vec3 root;            // where it is fixed to the torso, torso frame, m
  Vec3 along;           // its direction
  int kind = 0;         // limbs of one kind have equal lengths and axes, mirrored for root.y < 0
  double bend = 0;      // rad, pitch links lean forwards and backwards in turn by this
  bool stands = false;  // carries the figure
};

enum class LoopDrives : std::uint8_t { crank, crank_and_rocker, all };

struct StandinPlan {
  std::string name;
  std::string description;
  std::uint64_t seed = 0;
  double scale = 0;       // link lengths are log-uniform in [0.05, 0.3] times this, m
  double mass = 0;        // of the torso, the heaviest body, kg
  double mass_ratio = 0;  // the lightest body, the last one, has mass/mass_ratio
  bool welded = false;    // torso fixed to the world, or free above a floor
  bool shells = false;    // a second, wider box on each serial link
  LoopDrives drives = LoopDrives::crank;
  Vec3 torso_half_extents;
  std::vector<LimbPlan> limbs;
};

Model make_standin(const StandinPlan& plan);

}  // namespace sarrus::scenes
