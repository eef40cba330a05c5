#include "sarrus/problem/category.h"

#include <Eigen/QR>

namespace sarrus {

std::string_view name(ProblemCategory category) {
  constexpr std::string_view kNames[] = {"independent joints", "redundant joints",  "dense joints",    "single contact",
                                         "dense contacts",     "dense constraints", "sparse contacts", "unconstrained"};
  return kNames[static_cast<std::size_t>(category)];
}

int joint_rank(const ConstraintProblem& problem) {
  const int rows = problem.rows_of(BlockKind::joint);
  if (rows == 0) return 0;
  MatX J = MatX::Zero(rows, problem.velocity_size());
  for (const ConstraintBlock& b : problem.blocks) {
    if (b.kind != BlockKind::joint) break;  // joints come first
    for (int k = 0; k < b.nodes; ++k) {
      const auto node = static_cast<std::size_t>(b.node[k]);
      const int n = problem.node_size[node];
      for (int r = 0; r < b.rows; ++r) {
        const Eigen::Map<const VecX> row(problem.jacobian.data() + b.jac[k] + r * n, n);
        J.block(b.row + r, problem.node_offset[node], 1, n) = row.transpose();
      }
    }
  }
  for (Eigen::Index i = 0; i < J.rows(); ++i) {
    const double length = J.row(i).norm();
    if (length > 0) J.row(i) /= length;
  }
  Eigen::ColPivHouseholderQR<MatX> qr(J);
  qr.setThreshold(1e-9);
  return static_cast<int>(qr.rank());
}

ProblemCategory category(const ConstraintProblem& problem, int rank) {
  const int velocities = problem.velocity_size();
  const int joint_rows = problem.rows_of(BlockKind::joint);
  const int contact_rows = problem.rows_of(BlockKind::contact);
  if (contact_rows == 0) {
    if (joint_rows == 0) return ProblemCategory::unconstrained;
    if (rank == joint_rows) return ProblemCategory::independent_joints;
    return joint_rows < velocities ? ProblemCategory::redundant_joints : ProblemCategory::dense_joints;
  }
  if (contact_rows == 3) return ProblemCategory::single_contact;
  if (contact_rows > velocities) return ProblemCategory::dense_contacts;
  const int rows = problem.rows() - problem.rows_of(BlockKind::soft);
  return joint_rows > 0 && rows > velocities ? ProblemCategory::dense_constraints : ProblemCategory::sparse_contacts;
}

}  // namespace sarrus
