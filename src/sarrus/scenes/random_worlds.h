// Random worlds: trees and loops of joints, bodies of every shape, contacts with a ground and with each other; lengths
// from 0.1 mm to 1 km, mass ratios up to 1e6. A seed gives the same world everywhere.
//
//   passive   springs, dampers, limits, armatures; nothing drives them, nothing overlaps at the beginning, and they
//   move
//             as their joints let them: their energy must not rise
//   any       besides that drives, every kind of joint and compliance, couplings, ropes, terrain, meshes, compounds,
//             redundant loops, overlaps, speeds that joints forbid, short and long steps
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sarrus/model/model.h"

namespace sarrus {

enum class RandomWorldKind : std::uint8_t { passive, any };

// What a world has; what to look at when something is wrong with it.
enum class WorldFeature : std::uint8_t {
  tree,
  loop,
  free_bodies,
  floor,
  restitution,
  friction,
  spring,
  damper,
  dry_friction,
  armature,
  limit,
  mass_ratio,      // masses from 1e-3 to 1e3 of the usual one
  unscaled_step,   // 1 ms whatever the size
  spatial_hinges,  // spherical, universal, cylindrical, planar, cartesian or rod
  // From here on only in worlds of any kind.
  drive,
  coupling,
  rope,
  soft_contact,
  soft_joint,
  terrain,     // a height field, mesh or box as ground
  odd_shapes,  // meshes and compounds
  overlap,
  redundant_loop,  // closed anywhere
  forbidden_speed,
  fast,
  no_ccd,         // of some bodies
  semi_implicit,  // the integrator, which does not promise to be passive
  count
};
inline constexpr auto kWorldFeatures = static_cast<std::size_t>(WorldFeature::count);
std::string_view name_of(WorldFeature feature);

struct RandomWorld {
  Model model;  // its default step and duration are those below
  double dt = 0;
  double length = 0;        // m, distance of neighbours
  double weight_scale = 0;  // J, sum of m g L
  std::array<bool, kWorldFeatures> has{};

  bool with(WorldFeature f) const { return has[static_cast<std::size_t>(f)]; }
  std::string features() const;  // "tree, floor, limit"
};

RandomWorld random_world(std::uint64_t seed, RandomWorldKind kind = RandomWorldKind::passive);

}  // namespace sarrus
