// Message 2 of docs/live-protocol.md: what a page draws next, as bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "sarrus/view/motion.h"

namespace sarrus::view {

// What a frame of a live view tells besides those of a motion.
struct LiveFrame {
  enum Flag : std::uint8_t { paused = 1, failed = 2, behind = 4, dragging = 8, state_set = 16 };

  std::uint8_t flags = 0;
  std::uint8_t solve_status = kNoStep;
  std::uint32_t sequence = 0;
  std::uint32_t index = 0;  // of the step
  double earliest = 0;      // s
  double latest = 0;
  double forget = std::numeric_limits<double>::infinity();  // s: frames of later times are of a future that is no more
  double speed_asked = 1;
  double speed_reached = 0;
  int dragged = kWorld;
  Vec3 held_W = Vec3::Zero();
  Vec3 target_W = Vec3::Zero();
  Vec3 drag_force_W = Vec3::Zero();
  Vec3 origin = Vec3::Zero();
  bool joints = true;  // the layers
  bool contacts = true;
};

// Numbers beyond those of float become the largest one.
std::string encode_frame(const LiveFrame& live, const Layout& layout, const Frame& frame);

}  // namespace sarrus::view
