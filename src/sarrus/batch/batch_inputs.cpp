// What users give a Batch: controls, forces, states as arrays.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sarrus/batch/batch_impl.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus {
namespace {

void check_size(std::string_view call, std::span<const double> list, std::size_t wanted, std::string_view shape) {
  if (list.size() == wanted) return;
  throw InputError(std::string(call), fmt::format("{} numbers; give {} ({})", list.size(), wanted, shape));
}

template <class Good>
void check_numbers(std::string_view call, std::span<const double> list, std::size_t width, const Good& good) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (good(list[i])) continue;
    throw InputError(fmt::format("{}, world {}", call, i / width),
                     fmt::format("number {} of it is {}; give a finite number", i % width, list[i]));
  }
}

bool is_finite(double x) { return std::isfinite(x); }
bool is_target(double x) { return !std::isinf(x); }

}  // namespace

void Batch::Impl::give_controls(const double* target, const double* rate, Simulation& simulation) const {
  for (std::size_t i = 0; i < controls.size(); ++i) {
    if (std::isnan(target[i])) {
      simulation.clear_drive_target(controls[i]);
    } else {
      simulation.set_drive_target(controls[i], target[i], rate == nullptr ? 0.0 : rate[i]);
    }
  }
}

void Batch::Impl::give_inputs(int world, Simulation& simulation) const {
  give_controls(row(targets, world, controls.size()).data(), row(rates, world, controls.size()).data(), simulation);
  if (!joint_forces.empty()) {
    const auto forces = row(joint_forces, world, scalars);
    for (std::size_t i = 0; i < scalars; ++i) simulation.set_joint_force(static_cast<int>(i), forces[i]);
  }
  if (!wrenches.empty()) {
    const auto w = row(wrenches, world, bodies * 6);
    for (std::size_t i = 0; i < bodies; ++i) {
      simulation.set_body_wrench(static_cast<int>(i), Eigen::Map<const Vec6>(w.data() + 6 * i));
    }
  }
}

State Batch::Impl::state_of(const StateArrays& a, std::size_t world, const Model& of) const {
  const auto part = [&](std::span<const double> list, std::size_t width) {
    return list.data() + (list.size() == width ? 0 : world * width);
  };
  State s = worlds[world].variant->start;
  const double* p = part(a.position, 3 * bodies);
  const double* r = part(a.quaternion, 4 * bodies);
  for (std::size_t i = 0; i < bodies; ++i) {
    s.X_WB[i].p = Eigen::Map<const Vec3>(p + 3 * i);
    const Eigen::Map<const Eigen::Vector4d> xyzw(r + 4 * i);
    if (!(xyzw.norm() > 1e-6) || !xyzw.allFinite()) {
      throw InputError(fmt::format("set_states, world {}, body '{}'", world, of.bodies()[i].name),
                       "the quaternion has no direction; give x y z w of length 1");
    }
    s.X_WB[i].q.coeffs() = xyzw;
    s.X_WB[i].q.normalize();
  }
  if (a.twist.empty()) {
    for (Vec6& u : s.twist) u.setZero();
  } else {
    const double* u = part(a.twist, 6 * bodies);
    for (std::size_t i = 0; i < bodies; ++i) s.twist[i] = Eigen::Map<const Vec6>(u + 6 * i);
  }
  s.time = a.time.empty() ? 0.0 : *part(a.time, 1);
  s.rate_lag.clear();
  s.energy_swing.clear();
  if (!a.q.empty()) {
    std::copy_n(part(a.q, dofs), dofs, s.q.begin());
    return s;
  }
  for (const Pose& X : s.X_WB) {
    if (!X.p.allFinite()) return s;  // check_state() names it
  }
  JointKinematics kinematics(of);
  kinematics.update(s.X_WB, s.q);
  kinematics.update_coordinates(s.q);
  return s;
}

int Batch::control_count() const { return static_cast<int>(impl_->controls.size()); }
std::span<const int> Batch::control_scalars() const { return impl_->controls; }

std::string Batch::control_name(int control) const {
  if (control < 0 || control >= control_count()) {
    throw InputError("control_name",
                     fmt::format("control {} does not exist; the model has {}", control, control_count()));
  }
  const int scalar = impl_->controls[static_cast<std::size_t>(control)];
  const std::string& drive = impl_->model.scalars()[static_cast<std::size_t>(scalar)].drive.name;
  return drive.empty() ? impl_->model.dof_name(scalar) : drive;
}

int Batch::control(std::string_view name) const {
  std::vector<std::string> known;
  for (int i = 0; i < control_count(); ++i) {
    const int scalar = impl_->controls[static_cast<std::size_t>(i)];
    known.push_back(control_name(i));
    const Joint& joint = impl_->model.joints()[static_cast<std::size_t>(impl_->model.joint_of_dof(scalar))];
    const bool only = !impl_->model.is_combination(scalar) && joint_dofs(joint) == 1 && name == joint.name;
    if (only || name == known.back() || name == impl_->model.dof_name(scalar)) return i;
  }
  const std::string near = nearest_name(name, known);
  throw InputError(fmt::format("control '{}'", name),
                   near.empty() ? std::string("the model has no drive of this name")
                                : fmt::format("the model has no drive of this name; did you mean '{}'?", near));
}

void Batch::set_controls(std::span<const double> targets, std::span<const double> rates) {
  const std::size_t width = impl_->controls.size(), all = width * impl_->worlds.size();
  check_size("set_controls", targets, all, "worlds x controls");
  if (!rates.empty()) check_size("set_controls, rates", rates, all, "worlds x controls");
  check_numbers("set_controls", targets, width, is_target);
  check_numbers("set_controls, rates", rates, width, is_finite);
  std::ranges::copy(targets, impl_->targets.begin());
  if (rates.empty()) {
    std::ranges::fill(impl_->rates, 0.0);
  } else {
    std::ranges::copy(rates, impl_->rates.begin());
  }
}

void Batch::set_joint_forces(std::span<const double> forces) {
  if (!forces.empty()) {
    check_size("set_joint_forces", forces, impl_->scalars * impl_->worlds.size(), "worlds x scalars of the model");
    check_numbers("set_joint_forces", forces, impl_->scalars, is_finite);
    impl_->joint_forces.assign(forces.begin(), forces.end());
    return;
  }
  std::ranges::fill(impl_->joint_forces, 0.0);
}

void Batch::set_wrenches(std::span<const double> wrenches_W) {
  if (!wrenches_W.empty()) {
    check_size("set_wrenches", wrenches_W, 6 * impl_->bodies * impl_->worlds.size(), "worlds x bodies x 6");
    check_numbers("set_wrenches", wrenches_W, 6 * impl_->bodies, is_finite);
    impl_->wrenches.assign(wrenches_W.begin(), wrenches_W.end());
    return;
  }
  std::ranges::fill(impl_->wrenches, 0.0);
}

}  // namespace sarrus
