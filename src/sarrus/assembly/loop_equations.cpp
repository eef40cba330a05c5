#include "sarrus/assembly/loop_equations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/rows/rows.h"

namespace sarrus {
namespace {

// The median distance of joint anchors of a body from each other, or from its centre of mass where it has one; the
// unit of what is small.
double mechanism_length(const Model& model) {
  std::vector<std::vector<Vec3>> anchors(model.bodies().size());
  for (const Joint& j : model.joints()) {
    if (j.type == JointType::free) continue;
    if (j.base != kWorld) anchors[at(j.base)].push_back(j.p_BJ);
    if (j.follower != kWorld) anchors[at(j.follower)].push_back(j.p_FJ);
  }
  std::vector<double> distances;
  for (const std::vector<Vec3>& points : anchors) {
    if (points.size() == 1) distances.push_back(points[0].norm());
    for (std::size_t i = 1; i < points.size(); ++i) distances.push_back((points[i] - points[i - 1]).norm());
  }
  constexpr double kLeast = 1e-2;  // m, where all anchors meet in a point
  std::erase_if(distances, [](double d) { return !(d > 0); });
  if (distances.empty()) return kLeast;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

}  // namespace

LoopEquations::LoopEquations(const Model& model, const AssemblyOptions& options)
    : model_(model),
      coordinates_(maximal_coordinates(model)),
      kinematics_(model),
      pins_(options.pins),
      limits_(options.limits),
      length_(mechanism_length(model)),
      L_(model.bodies().size(), Mat6::Zero()) {
  problem_.set_nodes(coordinates_->node_sizes());
  find_groups();
}

void LoopEquations::find_groups() {
  const auto bodies = model_.bodies().size();
  std::vector<int> parent(bodies);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  const auto connect = [&](int a, int b) {
    if (a != kWorld && b != kWorld) parent[at(root(a))] = root(b);
  };
  std::vector<bool> jointed(bodies, false);
  for (const Joint& j : model_.joints()) {
    if (j.type == JointType::free) continue;
    connect(j.base, j.follower);
    for (const int body : {j.base, j.follower}) {
      if (body != kWorld) jointed[at(body)] = true;
    }
  }
  // What ties coordinates together, whatever it is, has rows on all their bodies.
  const State reference = State::initial(model_);
  kinematics_.update(reference.X_WB, reference.q);
  set_position_rows(model_, *coordinates_, reference.X_WB, kinematics_, reference.q, problem_);
  for (const ConstraintBlock& b : problem_.blocks) {
    for (int k = 1; k < b.nodes; ++k) connect(b.node[0], b.node[k]);
  }
  group_of_.assign(bodies, -1);
  column_.assign(bodies, -1);
  std::vector<int> group_of_root(bodies, -1);
  for (int i = 0; i < model_.body_count(); ++i) {
    if (!jointed[at(i)]) continue;
    int& g = group_of_root[at(root(i))];
    if (g < 0) {
      g = static_cast<int>(groups_.size());
      groups_.emplace_back();
    }
    group_of_[at(i)] = g;
    column_[at(i)] = static_cast<int>(groups_[at(g)].bodies.size());
    groups_[at(g)].bodies.push_back(i);
  }
  std::vector<int> rows(groups_.size(), 0);
  for (const ConstraintBlock& b : problem_.blocks) {
    int& n = rows[at(group_of_[at(b.node[0])])];
    n += b.rows;
    most_rows_ = std::max(most_rows_, n);
  }
}

void LoopEquations::add_row(bool equation, double value, bool angular, int joint, int limit_dof) {
  value_.push_back(value);
  equation_.push_back(equation);
  angular_.push_back(angular);
  joint_.push_back(joint);
  limit_dof_.push_back(limit_dof);
}

void LoopEquations::begin(const Posture& at) {
  kinematics_.update(at.X_WB, at.q);
  value_.clear();
  equation_.clear();
  angular_.clear();
  joint_.clear();
  limit_dof_.clear();
  entries_.clear();
}

void LoopEquations::add_pins(const Posture& at_, bool rows) {
  for (const CoordinateValue& pin : pins_) {
    const int joint = model_.joint_of_dof(pin.dof);
    const Joint& j = model_.joints()[at(joint)];
    const bool angular = coordinate_is_angular(j, pin.dof - j.first_dof);
    double error = kinematics_.coordinate(pin.dof, at_.q[at(pin.dof)]) - pin.value;
    if (model_.dofs()[at(pin.dof)].wrapped) error = wrap_angle(error);
    add_row(true, error, angular, -1, -1);
    if (!rows) continue;
    const DofRow row = dof_row(model_, kinematics_, pin.dof);
    add_entry(row.base, row.J_base);
    add_entry(row.follower, row.J_follower);
  }
}

void LoopEquations::add_one_sided(const Posture& at_, bool rows) {
  const auto is_pinned = [&](int dof) {
    return std::any_of(pins_.begin(), pins_.end(), [&](const CoordinateValue& p) { return p.dof == dof; });
  };
  for (int i = 0; i < model_.scalar_count(); ++i) {
    const Limit& limit = model_.scalars()[at(i)].limit;
    if (!limit.active() || limit.locked() || is_pinned(i)) continue;
    const int joint = model_.joint_of_dof(i);
    const Joint& j = model_.joints()[at(joint)];
    const bool angular = model_.is_combination(i) || coordinate_is_angular(j, i - j.first_dof);
    const double q = kinematics_.scalar(i, at_.q);
    for (const double side : {1.0, -1.0}) {
      const double bound = side > 0 ? limit.lower : limit.upper;
      if (!std::isfinite(bound)) continue;
      add_row(false, side * (q - bound), angular, joint, i);
      if (!rows) continue;
      if (model_.is_combination(i)) {
        const CombinationRow row = combination_row(model_, kinematics_, i);
        for (int k = 0; k < row.count; ++k) add_entry(row.body[k], side * row.J[k]);
        continue;
      }
      const DofRow row = dof_row(model_, kinematics_, i);
      add_entry(row.base, side * row.J_base);
      add_entry(row.follower, side * row.J_follower);
    }
  }
  for (int i = 0; i < model_.joint_count(); ++i) {
    const Joint& j = model_.joints()[at(i)];
    const bool swing = std::isfinite(j.swing_limit);
    if (!j.rope && !swing) continue;
    const UnilateralJoint u = unilateral_joint(j, kinematics_.frame(i));
    add_row(false, u.defined ? u.gap : j.swing_limit, swing, i, -1);
    if (!rows || !u.defined) continue;
    add_entry(u.row.base, u.row.J_base);
    add_entry(u.row.follower, u.row.J_follower);
  }
}

void LoopEquations::evaluate(const Posture& at_) {
  begin(at_);
  // The blocks are those of the last linearisation; only their residuals are new.
  VecX residual(problem_.rows());
  position_residuals(model_, problem_.blocks, false, kinematics_, at_.q, residual);
  for (const ConstraintBlock& b : problem_.blocks) {
    const bool of_joint = b.source_kind == RowSource::joint;
    const Joint* j = of_joint ? &model_.joints()[at(b.source)] : nullptr;
    JointAxis axes[6];
    const int translational =
        j == nullptr || j->type == JointType::distance ? 1 : kinematics_.constraint_axes(b.source, axes);
    for (int r = 0; r < b.rows; ++r) {
      add_row(true, residual[b.row + r], r >= translational, of_joint ? b.source : -1, -1);
    }
  }
  add_pins(at_, false);
  if (limits_) add_one_sided(at_, false);
}

void LoopEquations::linearise(const Posture& at_) {
  kinematics_.update(at_.X_WB, at_.q);
  set_position_rows(model_, *coordinates_, at_.X_WB, kinematics_, at_.q, problem_);
  evaluate(at_);
  entries_.clear();
  for (const ConstraintBlock& b : problem_.blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      for (int r = 0; r < b.rows; ++r) {
        entries_.push_back({b.row + r, b.node[k], Eigen::Map<const Vec6>(problem_.jacobian_row(b, k, r))});
      }
    }
  }
  // Pins and one-sided rows once more, with their entries.
  const auto keep = static_cast<std::size_t>(problem_.rows());
  for (std::vector<int>* v : {&joint_, &limit_dof_}) v->resize(keep);
  for (std::vector<bool>* v : {&equation_, &angular_}) v->resize(keep);
  value_.resize(keep);
  add_pins(at_, true);
  if (limits_) add_one_sided(at_, true);
  for (std::size_t i = 0; i < L_.size(); ++i) {
    const Body& body = model_.bodies()[i];
    const Mat3 R = at_.X_WB[i].R();
    const Mat3 inverse = (R * body.inertia_B * R.transpose()).inverse();
    L_[i].topLeftCorner<3, 3>() = Mat3::Identity() / std::sqrt(body.mass);
    L_[i].bottomRightCorner<3, 3>() = Eigen::LLT<Mat3>(0.5 * (inverse + inverse.transpose())).matrixL();
  }
  fill_matrices();
}

void LoopEquations::fill_matrices() {
  const auto rows = value_.size();
  row_group_.assign(rows, -1);
  for (const Entry& e : entries_) row_group_[at(e.row)] = group_of_[at(e.body)];
  for (Group& g : groups_) g.rows.clear();
  std::vector<int> place(rows, -1);
  for (int i = 0; i < row_count(); ++i) {
    if (row_group_[at(i)] < 0) continue;
    Group& g = groups_[at(row_group_[at(i)])];
    place[at(i)] = static_cast<int>(g.rows.size());
    g.rows.push_back(i);
    if (is_equation(i)) g.equations = static_cast<int>(g.rows.size());
  }
  for (Group& g : groups_) {
    g.A.setZero(static_cast<Eigen::Index>(g.rows.size()), static_cast<Eigen::Index>(6 * g.bodies.size()));
    if (g.rows.empty() || !is_equation(g.rows[0])) g.equations = 0;
  }
  for (const Entry& e : entries_) {
    Group& g = groups_[at(row_group_[at(e.row)])];
    g.A.block<1, 6>(place[at(e.row)], 6 * column_[at(e.body)]) += (e.J.transpose() * L_[at(e.body)]);
  }
  scale_.assign(rows, 1.0);
  for (Group& g : groups_) {
    for (Eigen::Index r = 0; r < g.A.rows(); ++r) {
      const double norm = g.A.row(r).norm();
      if (!(norm > 0)) continue;
      g.A.row(r) /= norm;
      scale_[at(g.rows[static_cast<std::size_t>(r)])] = 1 / norm;
    }
  }
}

double LoopEquations::violation(int* worst_joint) const {
  double most = 0;
  if (worst_joint != nullptr) *worst_joint = -1;
  for (std::size_t i = 0; i < value_.size(); ++i) {
    const double size = equation_[i] ? std::abs(value_[i]) : std::max(0.0, -value_[i]);
    const double v = angular_[i] ? size : size / length_;
    if (!(v <= most)) {  // also what is no number
      most = v;
      if (worst_joint != nullptr) *worst_joint = joint_[i];
    }
  }
  return most;
}

double LoopEquations::plain_violation() const {
  double most = 0;
  for (std::size_t i = 0; i < value_.size(); ++i) {
    most = std::max(most, equation_[i] ? std::abs(value_[i]) : -value_[i]);
  }
  return most;
}

double LoopEquations::merit() const {
  double sum = 0;
  for (std::size_t i = 0; i < value_.size(); ++i) {
    if (!equation_[i] && value_[i] >= 0) continue;
    const double s = scale_[i] * value_[i];
    sum += 0.5 * s * s;
  }
  return sum;
}

Vec6 LoopEquations::displacement(const Group& group, const VecX& z, std::size_t k) const {
  return L_[at(group.bodies[k])] * z.segment<6>(static_cast<Eigen::Index>(6 * k));
}

VecX LoopEquations::weighted(const Group& group, std::span<const Vec6> displacement) const {
  VecX z(static_cast<Eigen::Index>(6 * group.bodies.size()));
  for (std::size_t k = 0; k < group.bodies.size(); ++k) {
    const auto body = at(group.bodies[k]);
    z.segment<6>(static_cast<Eigen::Index>(6 * k)) = L_[body].triangularView<Eigen::Lower>().solve(displacement[body]);
  }
  return z;
}

Posture LoopEquations::moved(const Posture& from, std::span<const Vec6> displacement) {
  Posture to = from;
  for (std::size_t i = 0; i < to.X_WB.size(); ++i) to.X_WB[i] = integrate_pose(from.X_WB[i], displacement[i], 1.0);
  kinematics_.update(to.X_WB, from.q);
  kinematics_.update_coordinates(to.q);
  return to;
}

}  // namespace sarrus
