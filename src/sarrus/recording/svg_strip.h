// A strip of outline drawings of a run: one SVG file that shows at a glance what moved where.
//
// Frames are spread over time and motion: nearly even, but a long rest is shown briefly and periodic motion is not
// caught at the same phase each time. They share one scale and one orthographic view, given or chosen from the motion:
// the vertical plane, or the horizontal one, in which most of the motion and the extent is seen. If the
// mechanism travels far for its size the drawing follows it, and labelled ticks stay at fixed world positions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/recording/run_summary.h"

namespace sarrus {

// Where the viewer stands; z is up but for `top`.
//   chosen  by the motion
//   front   at -y, x to the right
//   side    at +x, y to the right
//   top     at +z, x to the right and y up
//   iso     at (1, -1, 1): all three axes are seen equally foreshortened, x and y to the right
enum class SvgViewpoint : std::uint8_t { chosen, front, side, top, iso };
// "auto", "front", "side", "top" or "iso". Throws InputError naming the option of `sarrus run`, with a suggestion.
SvgViewpoint svg_viewpoint_from_name(std::string_view name);

struct SvgOptions {
  int frames = 6;  // at least two
  SvgViewpoint viewpoint = SvgViewpoint::chosen;
  std::vector<std::string> labels = {};  // of the frames instead of their times
};

class SvgStrip {
 public:
  // For a run from `begin` to `end` [s].
  SvgStrip(Model model, double begin, double end, SvgOptions options = {});

  // True if observe() would keep a state at this time: lets the caller skip the preparation.
  bool wants(double time) const;
  // The initial state and the state after each step, in order. Contacts with an impulse (N s, world axes, by
  // contact) are marked. Does nothing unless the state is wanted.
  void observe(const State& state, std::span<const Contact> contacts, std::span<const Vec3> impulses_W);
  // The last state of the run, drawn as last frame even if the run ended early.
  void finish(const State& state);

  // The drawing, captioned with the set-up and the worst joint gap of the run.
  std::string to_svg(const RunSummary& run) const;
  // With a caption of the caller's.
  std::string to_svg(const std::string& title, const std::string& caption) const;

  // What is kept of one moment.
  struct Frame {
    State state;                 // time and poses only
    std::vector<Vec3> contacts;  // points that carry an impulse, world, m
  };

 private:
  void keep(const State& state, std::vector<Vec3> contacts);

  Model model_;
  double begin_;
  double end_;
  SvgOptions options_;
  std::vector<Frame> kept_;  // more than are drawn: the choice needs the whole motion
};

}  // namespace sarrus
