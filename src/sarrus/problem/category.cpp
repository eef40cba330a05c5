#include "sarrus/problem/category.h"

#include <Eigen/QR>
#include <map>
#include <numeric>
#include <vector>

namespace sarrus {

std::string_view name(ProblemCategory category) {
  constexpr std::string_view kNames[] = {"independent joints", "redundant joints",  "dense joints",    "single contact",
                                         "dense contacts",     "dense constraints", "sparse contacts", "unconstrained"};
  return kNames[static_cast<std::size_t>(category)];
}

namespace {

// The joint blocks of each mechanism: those connected through their nodes.
std::vector<std::vector<const ConstraintBlock*>> mechanisms(const ConstraintProblem& problem) {
  std::vector<int> parent(static_cast<std::size_t>(problem.node_count()));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int node) {
    while (parent[static_cast<std::size_t>(node)] != node) {
      int& above = parent[static_cast<std::size_t>(node)];
      above = parent[static_cast<std::size_t>(above)];
      node = above;
    }
    return node;
  };
  for (const ConstraintBlock& b : problem.blocks) {
    if (b.kind != BlockKind::joint) break;  // joints come first
    for (int k = 1; k < b.nodes; ++k) parent[static_cast<std::size_t>(root(b.node[k]))] = root(b.node[0]);
  }
  std::vector<std::vector<const ConstraintBlock*>> all(parent.size());
  for (const ConstraintBlock& b : problem.blocks) {
    if (b.kind != BlockKind::joint) break;
    all[static_cast<std::size_t>(root(b.node[0]))].push_back(&b);
  }
  return all;
}

int rank_of_blocks(const ConstraintProblem& problem, const std::vector<const ConstraintBlock*>& blocks) {
  int rows = 0;
  int columns = 0;
  std::map<int, int> first_column;  // of each node
  for (const ConstraintBlock* b : blocks) {
    rows += b->rows;
    for (int k = 0; k < b->nodes; ++k) {
      if (first_column.try_emplace(b->node[k], columns).second) {
        columns += problem.node_size[static_cast<std::size_t>(b->node[k])];
      }
    }
  }
  if (rows == 0) return 0;
  MatX J = MatX::Zero(rows, columns);
  int row = 0;
  for (const ConstraintBlock* b : blocks) {
    for (int k = 0; k < b->nodes; ++k) {
      const int n = problem.node_size[static_cast<std::size_t>(b->node[k])];
      for (int r = 0; r < b->rows; ++r) {
        const Eigen::Map<const VecX> x(problem.jacobian.data() + b->jac[k] + r * n, n);
        J.block(row + r, first_column.at(b->node[k]), 1, n) = x.transpose();
      }
    }
    row += b->rows;
  }
  for (Eigen::Index i = 0; i < J.rows(); ++i) {
    const double length = J.row(i).norm();
    if (length > 0) J.row(i) /= length;
  }
  Eigen::ColPivHouseholderQR<MatX> qr(J);
  qr.setThreshold(1e-9);
  return static_cast<int>(qr.rank());
}

}  // namespace

int joint_rank(const ConstraintProblem& problem) {
  int rank = 0;
  for (const auto& blocks : mechanisms(problem)) rank += rank_of_blocks(problem, blocks);
  return rank;
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
