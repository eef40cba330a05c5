#include "sarrus/step/analysis.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "sarrus/collision/detector.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/mass.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/problem/joint_rows.h"

namespace sarrus {
namespace {

constexpr int kDenseLimit = 1500;  // rows up to which the eigenvalues of D are computed

ConstraintProblem reference_rows(const Model& model, const State& state, const JointKinematics& kinematics) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>(static_cast<std::size_t>(model.body_count()), 6));
  for (std::size_t i = 0; i < state.X_WB.size(); ++i) {
    const Body& b = model.bodies()[i];
    body_mass_blocks(b, b.inertia_B.inverse(), state.X_WB[i].q, p.mass.data() + p.mass_offset[i],
                     p.mass_inverse.data() + p.mass_offset[i]);
  }
  add_position_rows(model, kinematics, state.q, p);
  p.finish();
  return p;
}

int numerical_rank(MatX J) {
  for (Eigen::Index i = 0; i < J.rows(); ++i) {
    const double n = J.row(i).norm();
    if (n > 0) J.row(i) /= n;
  }
  Eigen::ColPivHouseholderQR<MatX> qr(J);
  qr.setThreshold(1e-9);
  return static_cast<int>(qr.rank());
}

double condition_number(const MatX& D) {
  if (D.rows() > kDenseLimit) return std::numeric_limits<double>::quiet_NaN();
  const VecX e = Eigen::SelfAdjointEigenSolver<MatX>(D, Eigen::EigenvaluesOnly).eigenvalues();
  const double largest = e[e.size() - 1];
  double smallest = largest;
  for (const double x : e) {
    if (x > 1e-12 * largest) smallest = std::min(smallest, x);
  }
  return largest / smallest;
}

void count_elements(const Model& model, ModelAnalysis& a) {
  a.bodies = model.body_count();
  a.joints = model.joint_count();
  a.couplings = static_cast<int>(model.couplings().size());
  a.geoms = static_cast<int>(model.geoms().size());
  a.loops = static_cast<int>(model.loop_joints().size());
  a.floating_components = model.floating_components();
  a.velocity_dofs = 6 * a.bodies;
  for (const Joint& j : model.joints()) {
    if (info(j.type).coordinates) a.coordinates += info(j.type).dofs;
    if (std::isfinite(j.swing_limit)) ++a.limits;
  }
  double lightest = kInf;
  double heaviest = 0;
  for (const Body& b : model.bodies()) {
    lightest = std::min(lightest, b.mass);
    heaviest = std::max(heaviest, b.mass);
  }
  if (a.bodies > 0) a.mass_ratio = heaviest / lightest;
  for (const Dof& d : model.dofs()) {
    if (d.drive.mode != DriveMode::none) ++a.drives;
    if (d.limit.active()) ++a.limits;
  }
}

void add_warnings(const Model& model, const State& state, ModelAnalysis& a) {
  const auto warn = [&](std::string text) { a.warnings.push_back(std::move(text)); };
  if (a.redundant_rows > 0) {
    warn(fmt::format("{} of {} constraint rows are redundant: body motion is unique, but joint forces are not",
                     a.redundant_rows, a.rows));
  }
  if (a.bodies > 0 && a.mobility == 0)
    a.warnings.emplace_back("the mechanism cannot move: mobility is 0 at the reference pose");
  if (a.mass_ratio >= 1e3) {
    warn(fmt::format("mass ratio {:.4g}: splitting and ADMM solvers converge slowly from 1e3 on", a.mass_ratio));
  }
  if (a.joint_gap > 1e-6 || a.joint_angle > 1e-6) {
    warn(fmt::format(
        "joints do not meet at the reference pose ({:.3g} m, {:.3g} rad): they are assembled at start, which "
        "moves bodies",
        a.joint_gap, a.joint_angle));
  }
  if (a.initial_penetration > 1e-4) {
    warn(fmt::format("shapes overlap by up to {:.3g} m at the reference pose", a.initial_penetration));
  }
  for (int i = 0; i < model.dof_count(); ++i) {
    const Limit& l = model.dofs()[static_cast<std::size_t>(i)].limit;
    const double q = state.q[static_cast<std::size_t>(i)];
    if (q < l.lower - 1e-9 || q > l.upper + 1e-9) {
      warn(fmt::format("coordinate '{}' starts at {:.6g}, outside its limits [{:.6g}, {:.6g}]", model.dof_name(i), q,
                       l.lower, l.upper));
    }
  }
  std::vector<bool> touched(static_cast<std::size_t>(a.bodies), false);
  for (const Geom& g : model.geoms()) {
    if (g.body >= 0) touched[static_cast<std::size_t>(g.body)] = true;
  }
  for (const Joint& j : model.joints()) {
    if (j.type == JointType::free) continue;
    if (j.base >= 0) touched[static_cast<std::size_t>(j.base)] = true;
    touched[static_cast<std::size_t>(j.follower)] = true;
  }
  for (int i = 0; i < a.bodies; ++i) {
    if (touched[static_cast<std::size_t>(i)]) continue;
    if (a.bodies > 1) {
      warn(fmt::format("body '{}' has neither a joint nor a shape: nothing can touch it",
                       model.bodies()[static_cast<std::size_t>(i)].name));
    }
  }
}

}  // namespace

ModelAnalysis analyse(const Model& model) {
  ModelAnalysis a;
  count_elements(model, a);
  const State state = State::initial(model);
  JointKinematics kinematics(model);
  kinematics.update(state.X_WB);
  const JointErrors errors = joint_errors(model, kinematics, state.q);
  a.joint_gap = errors.gap;
  a.joint_angle = errors.angle;
  const ConstraintProblem rows = reference_rows(model, state, kinematics);
  a.rows = rows.rows();
  if (a.rows > 0) {
    a.rank = numerical_rank(rows.dense_J());
    a.condition = condition_number(rows.dense_D());
  }
  a.redundant_rows = a.rows - a.rank;
  a.mobility = a.velocity_dofs - a.rank;
  CollisionDetector detector(model);
  std::vector<Contact> contacts;
  const std::vector<Vec6> at_rest(state.X_WB.size(), Vec6::Zero());
  detector.detect(state.X_WB, at_rest, 1e-3, contacts);
  a.initial_contacts = static_cast<int>(contacts.size());
  for (const Contact& c : contacts) a.initial_penetration = std::max(a.initial_penetration, -c.gap);
  add_warnings(model, state, a);
  return a;
}

}  // namespace sarrus
