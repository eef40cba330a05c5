// What the tests of passivity share: the energy of a state, written here and not taken from the engine, and the
// largest rise of it over a run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "physics/harness.h"
#include "sarrus/dynamics/scheme.h"

namespace sarrus::testing {

// The scheme that is to be passive. SARRUS_TEST_INTEGRATOR=semi-implicit shows what another one does in the same tests,
// and that they can fail.
inline Integrator passive_integrator() {
  const char* name = std::getenv("SARRUS_TEST_INTEGRATOR");
  return name == nullptr ? Integrator::moreau : integrator_from_name(name);
}
inline SimulationOptions passive_options(double dt) { return options_with(dt, passive_integrator()); }

struct EnergyParts {
  double translation = 0;  // J
  double rotation = 0;     // J
  double armature = 0;     // J
  double gravity = 0;      // J, zero at the origin
  double springs = 0;      // J, of joint coordinates
  double kinetic() const { return translation + rotation + armature; }
  double total() const { return kinetic() + gravity + springs; }
};

// Rate of the coordinate of a hinge or a slide by the twists: the axis is fixed in the base.
inline double hinge_or_slide_rate(const State& state, const Joint& joint) {
  const auto pose_of = [&](int body) { return body == kWorld ? Pose{} : state.X_WB[static_cast<std::size_t>(body)]; };
  const auto velocity_at = [&](int body, const Vec3& p_W) {
    if (body == kWorld) return Vec3(Vec3::Zero());
    const Vec6& u = state.twist[static_cast<std::size_t>(body)];
    return Vec3(u.head<3>() + u.tail<3>().cross(p_W - pose_of(body).p));
  };
  const auto spin_of = [&](int body) {
    return body == kWorld ? Vec3(Vec3::Zero()) : Vec3(state.twist[static_cast<std::size_t>(body)].tail<3>());
  };
  const Vec3 axis = pose_of(joint.base).q * (joint.q_BJ * Vec3::UnitX());
  if (joint.type == JointType::revolute) return axis.dot(spin_of(joint.follower) - spin_of(joint.base));
  if (joint.type != JointType::prismatic) throw std::logic_error("energy: armature of hinges and slides only");
  const Vec3 anchor = pose_of(joint.follower) * joint.p_FJ;
  return axis.dot(velocity_at(joint.follower, anchor) - velocity_at(joint.base, anchor));
}

inline EnergyParts energy_parts(const Model& model, const State& state) {
  EnergyParts e;
  for (std::size_t i = 0; i < state.X_WB.size(); ++i) {
    const Body& b = model.bodies()[i];
    const Pose& X = state.X_WB[i];
    const Vec3 v = state.twist[i].head<3>();
    const Vec3 w = state.twist[i].tail<3>();
    e.translation += 0.5 * b.mass * v.squaredNorm();
    e.rotation += 0.5 * w.dot(X.R() * b.inertia_B * X.R().transpose() * w);
    e.gravity -= b.mass * model.gravity().dot(X.p);
  }
  for (const Joint& joint : model.joints()) {
    for (int k = 0; k < joint_type_info(joint.type).dofs; ++k) {
      const auto i = static_cast<std::size_t>(joint.first_dof + k);
      const Dof& dof = model.dofs()[i];
      e.springs += 0.5 * dof.stiffness * std::pow(state.q[i] - dof.rest, 2);
      if (dof.armature == 0) continue;
      const double lag = state.rate_lag.empty() ? 0.0 : state.rate_lag[i];
      e.armature += 0.5 * dof.armature * std::pow(hinge_or_slide_rate(state, joint) + lag, 2);
    }
  }
  return e;
}
inline EnergyParts energy_parts(const Simulation& sim) { return energy_parts(sim.model(), sim.state()); }
inline double total_energy(const Simulation& sim) { return energy_parts(sim).total(); }

// How far the total energy rises above its start, and above the lowest it has been, over a run.
class EnergyRise {
 public:
  explicit EnergyRise(const Simulation& sim)
      : start_(total_energy(sim)), lowest_(start_), now_(start_), peak_kinetic_(energy_parts(sim).kinetic()) {}
  void add(const Simulation& sim) {
    const EnergyParts e = energy_parts(sim);
    now_ = e.total();
    // A number that is none must not pass.
    if (!std::isfinite(now_)) now_ = std::numeric_limits<double>::infinity();
    above_start_ = std::max(above_start_, now_ - start_);
    above_lowest_ = std::max(above_lowest_, now_ - lowest_);
    lowest_ = std::min(lowest_, now_);
    peak_kinetic_ = std::max(peak_kinetic_, e.kinetic());
  }
  double start() const { return start_; }
  double now() const { return now_; }
  double above_start() const { return above_start_; }    // J
  double above_lowest() const { return above_lowest_; }  // J
  double loss() const { return start_ - now_; }          // J
  double peak_kinetic() const { return peak_kinetic_; }  // J

 private:
  double start_;
  double lowest_;
  double now_;
  double peak_kinetic_;
  double above_start_ = 0;
  double above_lowest_ = 0;
};

// Steps that take the time.
inline int steps_for(double duration, double dt) { return static_cast<int>(std::lround(duration / dt)); }

}  // namespace sarrus::testing
