// What a trajectory is worth, by our own geometry.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "sarrus/bench/peers.h"
#include "sarrus/collision/detector.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/error.h"
#include "sarrus/math/statistics.h"
#include "sarrus/step/simulation.h"

namespace sarrus {
namespace {

constexpr double kLift = 1e-3;                         // m
constexpr std::string_view kRestingScene = "stack15";  // starts in equilibrium
constexpr double kCollapsed = 0.05;                    // m

// NaN must survive: a plain comparison would silently drop it.
void raise(double& worst, double value) {
  if (!std::isnan(worst) && !(value <= worst)) worst = value;
}

void read_sample(const Trajectory& t, std::size_t sample, State& state) {
  state.time = t.time[sample];
  for (int b = 0; b < t.bodies; ++b) {
    const double* x = t.body(sample, b);
    const auto i = static_cast<std::size_t>(b);
    state.X_WB[i] = {Vec3(x[0], x[1], x[2]), Quat(x[3], x[4], x[5], x[6])};
    state.twist[i] = spatial(Vec3(x[7], x[8], x[9]), Vec3(x[10], x[11], x[12]));
  }
}

void write_sample(const State& state, Trajectory& t) {
  t.time.push_back(state.time);
  for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
    const Vec3& p = state.X_WB[b].p;
    const Quat& q = state.X_WB[b].q;
    t.motion.insert(t.motion.end(), {p.x(), p.y(), p.z(), q.w(), q.x(), q.y(), q.z()});
    t.motion.insert(t.motion.end(), state.twist[b].data(), state.twist[b].data() + 6);
  }
}

// Worst values over the samples seen so far.
class Judge {
 public:
  explicit Judge(const Model& model) : model_(model), kinematics_(model), detector_(model) {
    rest_.assign(static_cast<std::size_t>(model.body_count()), Vec6::Zero());
  }

  void add(State& state, PeerRun& out) {
    kinematics_.update(state.X_WB, state.q);
    kinematics_.update_coordinates(state.q);
    const JointErrors joints = joint_errors(model_, kinematics_, state.q).with_ropes();
    raise(out.gap, joints.gap);
    raise(out.angle, joints.angle);
    detector_.detect(state.X_WB, rest_, 0, contacts_);
    for (const Contact& c : contacts_) raise(out.penetration, -c.gap);
    const Energy e = energy(model_, state);
    if (first_) {
      first_energy_ = highest_ = e.total();
      start_ = state.X_WB;
      first_ = false;
    }
    last_energy_ = e.total();
    raise(highest_, e.total());
    raise(kinetic_, e.kinetic);
    for (std::size_t b = 0; b < start_.size(); ++b) raise(out.displacement, (state.X_WB[b].p - start_[b].p).norm());
  }

  void finish(PeerRun& out) const {
    double weight = 0;
    for (int i = 0; i < model_.body_count(); ++i) {
      weight += model_.bodies()[static_cast<std::size_t>(i)].mass * model_.gravity_on(i).norm();
    }
    const double lift = kLift * weight;
    const double scale = std::max(kinetic_, lift);
    if (scale > 0) {
      out.energy_drift = (last_energy_ - first_energy_) / scale;
      out.energy_rise = (highest_ - first_energy_) / scale;
    }
    if (out.scene == kRestingScene && out.displacement > kCollapsed) out.status = "collapsed";
    if (!(highest_ - first_energy_ <= 0.1 * kinetic_ + lift)) out.status = "unstable";
  }

 private:
  Model model_;
  JointKinematics kinematics_;
  CollisionDetector detector_;
  std::vector<Contact> contacts_;
  std::vector<Vec6> rest_;  // contacts are looked for at the poses, not ahead of them
  std::vector<Pose> start_;
  bool first_ = true;
  double first_energy_ = 0;
  double last_energy_ = 0;
  double highest_ = 0;
  double kinetic_ = 0;
};

}  // namespace

PeerRun judge_trajectory(const Model& model, const Trajectory& t) {
  PeerRun out;
  out.engine = t.engine;
  out.version = t.version;
  out.setting = t.setting;
  out.setting_text = t.setting_text;
  out.scene = t.scene;
  out.status = t.status;
  out.dt = t.dt;
  if (t.bodies != model.body_count()) {
    throw InputError(t.scene, "the trajectory has another number of bodies than the scene; run the engine again");
  }
  if (t.time.empty() || !out.ok()) return out;
  out.sim_time = t.time.back();
  out.gap = out.angle = out.penetration = out.displacement = 0;
  State state = State::initial(model);
  Judge judge(model);
  for (std::size_t s = 0; s < t.time.size(); ++s) {
    read_sample(t, s, state);
    if (!state.finite()) {
      out.status = "unstable: not finite";
      return out;
    }
    judge.add(state, out);
  }
  judge.finish(out);
  std::vector<double> us;
  double seconds = 0;
  for (const double x : t.step_seconds) {
    us.push_back(1e6 * x);
    seconds += x;
  }
  if (us.empty()) return out;
  out.us_per_step = median(us);
  out.us_per_step_p95 = percentile(us, 0.95);
  if (seconds > 0) out.real_time_factor = static_cast<double>(us.size()) * t.dt / seconds;
  return out;
}

Trajectory run_sarrus(const Model& model, double dt, double duration, double sample) {
  using Clock = std::chrono::steady_clock;
  SimulationOptions options;
  options.dt = dt;
  Simulation sim(model, options);
  Trajectory t;
  t.engine = "sarrus";
  t.version = SARRUS_VERSION;
  t.scene = model.name();
  t.setting_text = options.solver + " to 1e-9, " + model.defaults().integrator;
  t.dt = dt;
  t.bodies = model.body_count();
  const auto steps = static_cast<int>(std::lround(duration / dt));
  const int every = std::max(1, static_cast<int>(std::lround(sample / dt)));
  write_sample(sim.state(), t);
  for (int i = 1; i <= steps; ++i) {
    const Clock::time_point begin = Clock::now();
    const StepReport& report = sim.step();
    t.step_seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    if (report.status == StepStatus::failed) {
      t.status = "failed: " + std::string(report.message);
      return t;
    }
    if (i % every == 0 || i == steps) write_sample(sim.state(), t);
  }
  return t;
}

}  // namespace sarrus
