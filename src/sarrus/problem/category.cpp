#include "sarrus/problem/category.h"

#include <Eigen/QR>
#include <numeric>
#include <vector>

namespace sarrus {

std::string_view name(ProblemCategory category) {
  constexpr std::string_view kNames[] = {"independent joints", "redundant joints",  "dense joints",    "single contact",
                                         "dense contacts",     "dense constraints", "sparse contacts", "unconstrained"};
  return kNames[static_cast<std::size_t>(category)];
}

namespace {

// Nodes that joints connect, directly or through others, have the same root.
std::vector<int> joint_components(const ConstraintProblem& problem) {
  std::vector<int> parent(static_cast<std::size_t>(problem.node_count()));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
      int& p = parent[static_cast<std::size_t>(i)];
      i = p = parent[static_cast<std::size_t>(p)];
    }
    return i;
  };
  for (const ConstraintBlock& b : problem.blocks) {
    if (b.kind != BlockKind::joint) break;  // joints come first
    for (int k = 1; k < b.nodes; ++k) parent[static_cast<std::size_t>(root(b.node[k]))] = root(b.node[0]);
  }
  std::vector<int> roots;
  for (int i = 0; i < problem.node_count(); ++i) roots.push_back(root(i));
  return roots;
}

// The joint rows of one component, each scaled to length 1.
MatX component_rows(const ConstraintProblem& problem, const std::vector<const ConstraintBlock*>& blocks) {
  std::vector<int> column(static_cast<std::size_t>(problem.node_count()), -1);
  int rows = 0;
  int columns = 0;
  for (const ConstraintBlock* b : blocks) {
    rows += b->rows;
    for (int k = 0; k < b->nodes; ++k) {
      int& c = column[static_cast<std::size_t>(b->node[k])];
      if (c >= 0) continue;
      c = columns;
      columns += problem.node_size[static_cast<std::size_t>(b->node[k])];
    }
  }
  MatX J = MatX::Zero(rows, columns);
  int first = 0;
  for (const ConstraintBlock* b : blocks) {
    for (int k = 0; k < b->nodes; ++k) {
      const auto node = static_cast<std::size_t>(b->node[k]);
      const int n = problem.node_size[node];
      for (int r = 0; r < b->rows; ++r) {
        const Eigen::Map<const VecX> row(problem.jacobian.data() + b->jac[k] + r * n, n);
        J.block(first + r, column[node], 1, n) = row.transpose();
      }
    }
    first += b->rows;
  }
  for (Eigen::Index i = 0; i < J.rows(); ++i) {
    const double length = J.row(i).norm();
    if (length > 0) J.row(i) /= length;
  }
  return J;
}

}  // namespace

int joint_rank(const ConstraintProblem& problem) {
  const std::vector<int> roots = joint_components(problem);
  std::vector<std::vector<const ConstraintBlock*>> components(roots.size());
  for (const ConstraintBlock& b : problem.blocks) {
    if (b.kind != BlockKind::joint) break;
    components[static_cast<std::size_t>(roots[static_cast<std::size_t>(b.node[0])])].push_back(&b);
  }
  int rank = 0;
  for (const std::vector<const ConstraintBlock*>& blocks : components) {
    if (blocks.empty()) continue;
    Eigen::ColPivHouseholderQR<MatX> qr(component_rows(problem, blocks));
    qr.setThreshold(1e-9);
    rank += static_cast<int>(qr.rank());
  }
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
