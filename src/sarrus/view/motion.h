// A motion as a series of frames, which may stand for several samples each without hiding what was bad in them
// (docs/motion-format.md, "What keeps it honest").
//
// A frame tells of its state (poses, coordinates, rates, targets, energy) and of the interval since the frame before
// it:
//   worst      residuals, gaps, penetration, reactions, iterations, status
//   mean       efforts of drives
//   summed     impulses of contacts; a contact that came and went within the interval is kept
//   since the start   energy that went in, was dissipated, is unaccounted for
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sarrus/problem/contact_mode.h"
#include "sarrus/step/simulation.h"
#include "sarrus/view/scene_view.h"

namespace sarrus::view {

// What a frame has by body, scalar and joint, one after another in a row of numbers.
enum class Column : std::uint8_t {
  position,     // m, by body: centre of mass
  quaternion,   // w, x, y, z by body
  coordinates,  // by scalar, m or rad
  rates,        // by scalar
  targets,      // by scalar
  efforts,      // by scalar, N or N m
  joint_gap,    // by joint, m
  joint_angle,  // by joint, rad
  reactions     // by joint: sizes of force and torque, N and N m
};
inline constexpr int kColumns = 9;

struct Layout {
  std::array<std::size_t, kColumns + 1> begin = {};  // of a column in the row; the last one is the size of the row

  Layout() = default;
  Layout(std::size_t bodies, std::size_t scalars, std::size_t joints);
  explicit Layout(const Scene& scene) : Layout(scene.bodies.size(), scene.scalars.size(), scene.joints.size()) {}
  std::size_t size() const { return begin.back(); }
  std::size_t width(Column c) const {
    return begin[static_cast<std::size_t>(c) + 1] - begin[static_cast<std::size_t>(c)];
  }
  std::size_t first(Column c) const { return begin[static_cast<std::size_t>(c)]; }
};

struct FrameContact {
  int geom_a = 0;
  int geom_b = 0;
  Vec3 point = Vec3::Zero();      // m, on body A, world
  Vec3 normal = Vec3::UnitZ();    // from A to B
  Vec3 impulse_W = Vec3::Zero();  // N s, on body B, over the interval
  double gap = 0;                 // m, smallest
  double mu = 0;
  ContactMode mode = ContactMode::unknown;  // largest known
};

inline constexpr std::uint8_t kNoStep = 255;  // status of the initial state

struct Frame {
  double time = 0;      // s
  double interval = 0;  // s, since the frame before
  std::uint32_t steps = 0;
  std::vector<double> row;
  std::vector<FrameContact> contacts;
  double natural_map = 0;
  double error = 0;
  double joint_gap = 0;        // m
  double joint_angle = 0;      // rad
  double penetration = 0;      // m
  double limit_violation = 0;  // m or rad
  std::uint32_t iterations = 0;
  std::uint8_t status = kNoStep;  // StepStatus
  double kinetic = 0;             // J, as those below
  double potential = 0;
  double work_in = 0;
  double dissipated = 0;
  double unaccounted = 0;
};

// The present state of a simulation and its last step; before the first one, only the state. Memory of `out` is reused.
void frame_of(const Simulation& sim, const Layout& layout, Frame& out);

// A pose that no step led to: coordinates and how far joints are open. `time` is where it shall be shown, s.
Frame frame_of(const Model& model, const State& state, const Layout& layout, double time);
// What such frames do not have (Motion::missing).
std::vector<std::string> absent_in_poses();

// The poses of a row.
std::vector<Pose> poses_of(const Frame& frame, std::size_t bodies);

// Makes `frame` stand for the interval of the frame before it, too.
void take_over(const Layout& layout, const Frame& before, Frame& frame);

class Motion {
 public:
  // `rate`: frames per second that are kept at most, 0: every sample is a frame.
  explicit Motion(Layout layout, double rate = 0) : layout_(layout), rate_(rate), chosen_(rate > 0) {}

  // Samples come in the order of time; each stands for its interval.
  void add(Frame sample);
  // How the run ended, by its summary. If it failed, the last frame shows it: it is the state before the step that did.
  void end(std::string status, std::string message);
  // The same motion with fewer frames.
  Motion thinned(double rate) const;
  // At the next lower one of the rates 240, 120, 60, 30, 15, ... Hz at which frames fall away.
  Motion thinner() const;
  // Makes itself thinner while it takes more memory than a page could show, unless its rate was chosen.
  void fit_memory(std::size_t limit = std::size_t{256} << 20);

  const Layout& layout() const { return layout_; }
  const std::vector<Frame>& frames() const { return frames_; }
  double rate() const { return rate_; }
  std::size_t samples() const { return samples_; }
  std::size_t bytes() const { return bytes_; }  // of memory, about
  bool rate_was_chosen() const { return chosen_; }
  const std::string& end_status() const { return end_status_; }
  const std::string& end_message() const { return end_message_; }

  // Of the whole.
  bool every_step = true;            // samples are the initial state and every step
  std::vector<std::string> missing;  // sections that the source does not have

 private:
  Layout layout_;
  double rate_;
  bool chosen_;
  std::string end_status_ = "unknown";
  std::string end_message_;
  std::vector<Frame> frames_;
  std::size_t samples_ = 0;
  std::size_t bytes_ = 0;
  double due_ = -std::numeric_limits<double>::infinity();  // time of the next frame that is kept
  bool pending_ = false;                                   // the last frame came before it was due
};

}  // namespace sarrus::view
