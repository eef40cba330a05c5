#include "sarrus/view/motion.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "sarrus/dynamics/joint_kinematics.h"

namespace sarrus::view {
namespace {

enum class Policy : std::uint8_t { last, mean, worst };

Policy policy_of(Column c) {
  if (c == Column::efforts) return Policy::mean;
  return c >= Column::joint_gap ? Policy::worst : Policy::last;
}

// Statuses grow worse, but for that of no step.
std::uint8_t worse(std::uint8_t a, std::uint8_t b) {
  if (a == kNoStep || b == kNoStep) return std::min(a, b);
  return std::max(a, b);
}

ContactMode worse(ContactMode a, ContactMode b) {
  if (a == ContactMode::unknown || b == ContactMode::unknown) return std::min(a, b);
  return std::max(a, b);
}

bool pair_less(const FrameContact& a, const FrameContact& b) {
  return std::tie(a.geom_a, a.geom_b) < std::tie(b.geom_a, b.geom_b);
}

// A contact goes on in one of the same two geoms, the nearest ones first; those that end are kept.
void take_over(std::vector<FrameContact> before, std::vector<FrameContact>& contacts) {
  if (before.empty()) return;
  std::stable_sort(before.begin(), before.end(), pair_less);
  std::stable_sort(contacts.begin(), contacts.end(), pair_less);
  struct Match {
    double distance;
    std::size_t old, now;
    auto operator<=>(const Match&) const = default;
  };
  std::vector<Match> matches;
  for (std::size_t o = 0; o < before.size(); ++o) {
    const auto [first, last] = std::equal_range(contacts.begin(), contacts.end(), before[o], pair_less);
    for (auto c = first; c != last; ++c) {
      matches.push_back(
          {(c->point - before[o].point).squaredNorm(), o, static_cast<std::size_t>(c - contacts.begin())});
    }
  }
  std::sort(matches.begin(), matches.end());
  std::vector<bool> ended(before.size(), true);
  std::vector<bool> taken(contacts.size(), false);
  for (const Match& m : matches) {
    if (!ended[m.old] || taken[m.now]) continue;
    ended[m.old] = false;
    taken[m.now] = true;
    FrameContact& c = contacts[m.now];
    c.impulse_W += before[m.old].impulse_W;
    c.gap = std::min(c.gap, before[m.old].gap);
    c.mode = worse(c.mode, before[m.old].mode);
  }
  for (std::size_t o = 0; o < before.size(); ++o) {
    if (ended[o]) contacts.push_back(before[o]);
  }
}

void put_poses(double*& at, const State& state) {
  for (const Pose& X : state.X_WB) {
    for (int i = 0; i < 3; ++i) *at++ = X.p[i];
  }
  for (const Pose& X : state.X_WB) {
    for (const double x : {X.q.w(), X.q.x(), X.q.y(), X.q.z()}) *at++ = x;
  }
}

}  // namespace

Layout::Layout(std::size_t bodies, std::size_t scalars, std::size_t joints) {
  const std::array<std::size_t, kColumns> widths = {3 * bodies, 4 * bodies, scalars, scalars,   scalars,
                                                    scalars,    joints,     joints,  2 * joints};
  std::partial_sum(widths.begin(), widths.end(), begin.begin() + 1);
}

Frame frame_of(const Model& model, const State& state, const Layout& layout, double time) {
  JointKinematics kinematics(model);
  kinematics.update(state.X_WB, state.q);
  Frame out;
  out.time = out.interval = time;
  out.row.assign(layout.size(), 0.0);
  double* at = out.row.data();
  put_poses(at, state);
  for (int i = 0; i < model.scalar_count(); ++i) *at++ = model.scalar_value(i, state.q);
  for (int i = 0; i < model.joint_count(); ++i) {
    double residual[6];
    const int translational = kinematics.residual(i, residual);
    const sarrus::Joint& j = model.joints()[static_cast<std::size_t>(i)];
    if (j.rope) residual[0] = std::max(0.0, residual[0]);
    for (int k = 0; k < joint_rows(j); ++k) {
      const Column c = k < translational ? Column::joint_gap : Column::joint_angle;
      double& most = out.row[layout.first(c) + static_cast<std::size_t>(i)];
      most = std::max(most, std::abs(residual[k]));
      double& worst = k < translational ? out.joint_gap : out.joint_angle;
      worst = std::max(worst, most);
    }
  }
  return out;
}

std::vector<std::string> absent_in_poses() {
  return {"rates",
          "targets",
          "efforts",
          "reactions",
          "residual.natural_map",
          "residual.error",
          "residual.penetration",
          "residual.limit_violation",
          "iterations",
          "energy.kinetic",
          "energy.potential",
          "energy.work_in",
          "energy.dissipated",
          "energy.unaccounted"};
}

void frame_of(const Simulation& sim, const Layout& layout, Frame& out) {
  const Model& model = sim.model();
  const State& state = sim.state();
  const bool stepped = sim.problem().dt > 0;
  const StepReport& report = sim.report();
  out.time = state.time;
  out.interval = stepped ? sim.dt() : 0;
  out.steps = stepped ? 1 : 0;
  out.row.resize(layout.size());
  double* at = out.row.data();
  put_poses(at, state);
  const int scalars = model.scalar_count();
  for (int i = 0; i < scalars; ++i) *at++ = model.scalar_value(i, state.q);
  for (int i = 0; i < scalars; ++i) *at++ = sim.joint_rate(i);
  for (int i = 0; i < scalars; ++i) *at++ = sim.drive_target(i);
  for (int i = 0; i < scalars; ++i) *at++ = sim.drive_effort(i);
  for (int i = 0; i < model.joint_count(); ++i) {
    const JointOpening open = sim.joint_opening(i);
    at[0] = open.gap;
    at[model.joint_count()] = open.angle;
    ++at;
  }
  at += model.joint_count();
  for (const Vec6& reaction : sim.joint_reactions()) {
    *at++ = reaction.head<3>().norm();
    *at++ = reaction.tail<3>().norm();
  }
  out.contacts.clear();
  for (int i = 0; stepped && i < static_cast<int>(sim.contacts().size()); ++i) {
    const Contact& c = sim.contacts()[static_cast<std::size_t>(i)];
    // Of a step taken in parts the force is that of the last one, and counts for all of it.
    out.contacts.push_back(
        {c.geom_a, c.geom_b, c.p_W, c.n_W, sim.contact_force_W(i) * out.interval, c.gap, c.mu, sim.contact_mode(i)});
  }
  out.natural_map = stepped ? report.residuals.natural_map : 0;
  out.error = stepped ? report.error : 0;
  out.joint_gap = report.joint_gap;
  out.joint_angle = report.joint_angle;
  out.penetration = report.penetration;
  out.limit_violation = report.limit_violation;
  out.iterations = static_cast<std::uint32_t>(std::max(0, report.iterations));
  out.status = stepped ? static_cast<std::uint8_t>(report.status) : kNoStep;
  const Energy e = energy(model, state);
  out.kinetic = e.kinetic;
  out.potential = e.potential;
  out.work_in = sim.energy_flow().work_in();
  out.dissipated = sim.energy_flow().dissipated();
  out.unaccounted = sim.energy_flow().unaccounted;
}

std::vector<Pose> poses_of(const Frame& frame, std::size_t bodies) {
  std::vector<Pose> poses;
  for (std::size_t b = 0; b < bodies; ++b) {
    const double* p = frame.row.data() + 3 * b;
    const double* q = frame.row.data() + 3 * bodies + 4 * b;
    poses.push_back({Vec3(p[0], p[1], p[2]), Quat(q[0], q[1], q[2], q[3])});
  }
  return poses;
}

void take_over(const Layout& layout, const Frame& before, Frame& frame) {
  const double interval = before.interval + frame.interval;
  for (int k = 0; k < kColumns; ++k) {
    const Column c = static_cast<Column>(k);
    const Policy policy = policy_of(c);
    if (policy == Policy::last) continue;
    for (std::size_t i = layout.first(c); i < layout.first(c) + layout.width(c); ++i) {
      double& x = frame.row[i];
      const double y = before.row[i];
      if (policy == Policy::worst) {
        x = std::max(x, y);
      } else if (interval > 0) {
        x = (frame.interval * x + before.interval * y) / interval;
      }
    }
  }
  take_over(before.contacts, frame.contacts);
  frame.interval = interval;
  frame.steps += before.steps;
  for (double Frame::*x : {&Frame::natural_map, &Frame::error, &Frame::joint_gap, &Frame::joint_angle,
                           &Frame::penetration, &Frame::limit_violation}) {
    frame.*x = std::max(frame.*x, before.*x);
  }
  frame.iterations = std::max(frame.iterations, before.iterations);
  frame.status = worse(frame.status, before.status);
}

void Motion::add(Frame sample) {
  constexpr double kRound = 1e-9;  // s: times of steps are rounded
  ++samples_;
  if (frames_.empty()) {  // what led to the first state is not told of
    sample.interval = 0;
    sample.steps = 0;
    sample.status = kNoStep;
    sample.contacts.clear();
  }
  if (pending_) {
    bytes_ -= sizeof(Frame) + 8 * layout_.size() + sizeof(FrameContact) * frames_.back().contacts.size();
    take_over(layout_, frames_.back(), sample);
    frames_.pop_back();
  }
  bytes_ += sizeof(Frame) + 8 * layout_.size() + sizeof(FrameContact) * sample.contacts.size();
  frames_.push_back(std::move(sample));
  if (rate_ <= 0) return;
  const double begin = frames_.front().time;
  const double time = frames_.back().time;
  pending_ = time < due_ - kRound;
  if (!pending_) due_ = begin + (std::floor((time + kRound - begin) * rate_) + 1) / rate_;
}

void Motion::end(std::string status, std::string message) {
  if (status == "failed" && !frames_.empty()) frames_.back().status = static_cast<std::uint8_t>(StepStatus::failed);
  end_status_ = std::move(status);
  end_message_ = std::move(message);
}

Motion Motion::thinned(double rate) const {
  Motion out(layout_, rate);
  for (const Frame& f : frames_) out.add(f);
  out.chosen_ = chosen_;
  out.samples_ = samples_;
  out.end_status_ = end_status_;
  out.end_message_ = end_message_;
  out.every_step = every_step;
  out.missing = missing;
  return out;
}

Motion Motion::thinner() const {
  constexpr double kFastest = 240;  // Hz
  double rate = kFastest;
  while (rate_ > 0 && rate >= rate_) rate /= 2;
  while (true) {
    Motion out = thinned(rate);
    if (out.frames().size() < frames_.size() || frames_.size() <= 2) return out;
    rate /= 2;
  }
}

void Motion::fit_memory(std::size_t limit) {
  while (!chosen_ && bytes_ > limit && frames_.size() > 2) *this = thinner();
}

}  // namespace sarrus::view
