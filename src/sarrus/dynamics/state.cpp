#include "sarrus/dynamics/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/math/error.h"
#include "sarrus/math/hash.h"

namespace sarrus {

State State::initial(const Model& model) {
  State s;
  for (const Body& b : model.bodies()) {
    s.X_WB.push_back(b.X_WB0);
    s.twist.push_back(spatial(b.v0_W, b.w0_W));
  }
  for (const Joint& j : model.joints()) {
    for (int k = 0; k < joint_dofs(j); ++k) {
      const double reference = j.type == JointType::serial ? j.axes[static_cast<std::size_t>(k)].reference : 0.0;
      s.q.push_back(model.dofs()[s.q.size()].initial.value_or(reference));
    }
  }
  JointKinematics kinematics(model);
  kinematics.update(s.X_WB, s.q);
  kinematics.update_coordinates(s.q);
  constexpr double kRounded = 1e-3;  // m or rad: how far the numbers of a file may be off
  for (int i = 0; i < model.dof_count(); ++i) {
    const double q = s.q[static_cast<std::size_t>(i)];
    const std::optional<double>& initial = model.dofs()[static_cast<std::size_t>(i)].initial;
    if (!initial || std::abs(q - *initial) <= kRounded) continue;
    throw InputError(
        fmt::format("coordinate '{}'", model.dof_name(i)),
        fmt::format("its initial value is {}, but the poses of the bodies make it {} (m or rad); give that "
                    "one, or the poses that belong to the other",
                    *initial, q));
  }
  return s;
}

bool State::finite() const {
  const auto is_finite = [](double x) { return std::isfinite(x); };
  return std::isfinite(time) && std::all_of(X_WB.begin(), X_WB.end(), [](const Pose& X) { return all_finite(X); }) &&
         std::all_of(twist.begin(), twist.end(), [](const Vec6& u) { return u.allFinite(); }) &&
         std::all_of(q.begin(), q.end(), is_finite) && std::all_of(rate_lag.begin(), rate_lag.end(), is_finite) &&
         std::all_of(energy_swing.begin(), energy_swing.end(),
                     [](const EnergySwing& e) { return std::isfinite(e.gain + e.largest + e.held); });
}

void check_state(const State& s, const Model& model, std::string_view call) {
  const std::string what(call);
  const auto bodies = model.bodies().size();
  if (s.X_WB.size() != bodies || s.twist.size() != bodies || s.q.size() != model.dofs().size()) {
    throw InputError(what, fmt::format("the state has {} bodies and {} coordinates, the model {} and {}", s.X_WB.size(),
                                       s.q.size(), bodies, model.dofs().size()));
  }
  if (!s.rate_lag.empty() && s.rate_lag.size() != s.q.size()) {
    throw InputError(what, fmt::format("the state has {} coordinates and {} rate lags; give one for each, or none",
                                       s.q.size(), s.rate_lag.size()));
  }
  if (!s.energy_swing.empty() && s.energy_swing.size() != bodies) {
    throw InputError(what, fmt::format("the state has {} bodies and {} energy swings; give one for each, or none",
                                       bodies, s.energy_swing.size()));
  }
  if (!s.finite()) throw InputError(what, "the state has a non-finite number; give finite numbers");
  for (const Pose& X : s.X_WB) {
    if (std::abs(X.q.squaredNorm() - 1) > 1e-6) throw InputError(what, "a quaternion is not of unit length");
  }
}

std::uint64_t State::hash() const {
  Hash64 h;
  h.add(time);
  for (const Pose& X : X_WB) {
    h.bytes(X.p.data(), 3 * sizeof(double));
    h.bytes(X.q.coeffs().data(), 4 * sizeof(double));
  }
  for (const Vec6& u : twist) h.bytes(u.data(), 6 * sizeof(double));
  for (const double x : q) h.add(x);
  for (std::size_t i = 0; i < rate_lag.size(); ++i) {
    if (rate_lag[i] == 0) continue;
    h.add(i);
    h.add(rate_lag[i]);
  }
  for (std::size_t i = 0; i < energy_swing.size(); ++i) {
    const EnergySwing& e = energy_swing[i];
    if (e.gain == 0 && e.largest == 0 && e.held == 0) continue;
    h.add(i);
    h.add(e.gain);
    h.add(e.largest);
    if (e.held != 0) h.add(e.held);
  }
  return h.value();
}

Energy energy(const Model& model, const State& state) {
  Energy e;
  for (std::size_t i = 0; i < state.X_WB.size(); ++i) {
    const Body& b = model.bodies()[i];
    const Vec3 v = state.twist[i].head<3>();
    const Vec3 w_B = state.X_WB[i].q.conjugate() * state.twist[i].tail<3>();
    e.kinetic += 0.5 * b.mass * v.squaredNorm() + 0.5 * w_B.dot(b.inertia_B * w_B);
    e.potential -= b.mass * model.gravity_on(static_cast<int>(i)).dot(state.X_WB[i].p);
  }
  for (int i = 0; i < model.scalar_count(); ++i) {
    const Dof& dof = model.scalars()[static_cast<std::size_t>(i)];
    const double stretch = model.scalar_value(i, state.q) - dof.rest;
    e.potential += 0.5 * dof.stiffness * stretch * stretch;
  }
  if (std::none_of(model.dofs().begin(), model.dofs().end(), [](const Dof& dof) { return dof.armature > 0; })) return e;
  JointKinematics kinematics(model);
  kinematics.update(state.X_WB, state.q);
  for (std::size_t i = 0; i < state.q.size(); ++i) {
    const double armature = model.dofs()[i].armature;
    if (armature == 0) continue;
    const double rate =
        kinematics.rate(static_cast<int>(i), state.twist) + (state.rate_lag.empty() ? 0.0 : state.rate_lag[i]);
    e.kinetic += 0.5 * armature * rate * rate;
  }
  return e;
}

Momentum momentum(const Model& model, const State& state) {
  Momentum m;
  for (std::size_t i = 0; i < state.X_WB.size(); ++i) {
    const Body& b = model.bodies()[i];
    const Pose& X = state.X_WB[i];
    const Vec3 p = b.mass * state.twist[i].head<3>();
    const Vec3 w_B = X.q.conjugate() * state.twist[i].tail<3>();
    m.linear += p;
    m.angular += X.p.cross(p) + X.q * (b.inertia_B * w_B);
  }
  return m;
}

}  // namespace sarrus
