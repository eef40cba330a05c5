// A strip of outline drawings of a run: one SVG file that shows at a glance what moved where.
//
// Frames are evenly spaced in time and share one scale and one orthographic view, chosen from the motion: the
// vertical plane, or the horizontal one, in which most of the motion and the extent is seen. If the mechanism
// travels far for its size the drawing follows it, and labelled ticks stay at fixed world positions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/io/run_summary.h"

namespace sarrus {

class SvgStrip {
 public:
  // For a run from `begin` to `end` [s]; at least two frames are drawn.
  SvgStrip(Model model, double begin, double end, int frames = 6);

  // True if observe() would keep a state at this time: lets the caller skip the preparation.
  bool wants(double time) const;
  // The initial state and the state after each step, in order. Contacts with an impulse (N s, world axes, by
  // contact) are marked. Cheap unless a frame is due.
  void observe(const State& state, std::span<const Contact> contacts, std::span<const Vec3> impulses_W);
  // The last state of the run, drawn as last frame even if the run ended early.
  void finish(const State& state, std::span<const Contact> contacts, std::span<const Vec3> impulses_W);

  // The drawing, captioned with the set-up and the worst joint gap of the run.
  std::string to_svg(const RunSummary& run) const;

  // What is drawn of one moment.
  struct Frame {
    State state;
    std::vector<Vec3> contacts;  // points that carry an impulse, world, m
  };
  const std::vector<Frame>& frames() const { return frames_; }

 private:
  double frame_time(std::size_t i) const;
  void keep_frame(const State& state, std::span<const Contact> contacts, std::span<const Vec3> impulses_W);

  Model model_;
  double begin_;
  double end_;
  std::size_t wanted_;
  std::vector<Frame> frames_;
  std::vector<std::vector<Vec3>> path_;  // by sample: centres of mass of all bodies, for the trail
};

}  // namespace sarrus
