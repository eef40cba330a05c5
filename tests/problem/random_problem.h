// Random constraint problems: nodes of any size, blocks on one to four nodes, all kinds of rows.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "sarrus/problem/constraint_problem.h"
#include "support/dense.h"

namespace sarrus::testing {

inline VecX random_vector(Eigen::Index n, std::mt19937& rng) {
  std::normal_distribution<double> d;
  VecX v(n);
  for (double& x : v) x = d(rng);
  return v;
}

// Symmetric positive definite mass blocks and random u_f.
inline void fill_nodes(ConstraintProblem& p, std::mt19937& rng) {
  for (std::size_t i = 0; i < p.node_size.size(); ++i) {
    const int n = p.node_size[i];
    const MatX B = random_vector(n * n, rng).reshaped(n, n);
    const MatX M = B * B.transpose() + MatX::Identity(n, n);
    Eigen::Map<MatX>(p.mass.data() + p.mass_offset[i], n, n) = M;
    Eigen::Map<MatX>(p.mass_inverse.data() + p.mass_offset[i], n, n) = test::inverse(M);
  }
  p.u_free = random_vector(p.velocity_size(), rng);
}

inline ConstraintBlock& add_random_block(ConstraintProblem& p, BlockKind kind, int rows, int nodes, std::mt19937& rng) {
  std::vector<int> list(static_cast<std::size_t>(p.node_count()));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<int>(i);
  std::shuffle(list.begin(), list.end(), rng);
  list.resize(static_cast<std::size_t>(std::min(nodes, p.node_count())));
  ConstraintBlock& b = p.add_block(kind, rows, list);
  std::normal_distribution<double> d;
  for (int k = 0; k < b.nodes; ++k) {
    const int n = p.node_size[static_cast<std::size_t>(b.node[k])];
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < n; ++c) p.jacobian_row(b, k, r)[c] = d(rng);
    }
  }
  for (int r = b.row; r < b.row + rows; ++r) {
    p.bias[static_cast<std::size_t>(r)] = d(rng);
    if (kind == BlockKind::soft) p.R[static_cast<std::size_t>(r)] = 0.1 + std::abs(d(rng));
  }
  return b;
}

// Blocks of every kind, several of each, touching 1 to 4 nodes.
inline ConstraintProblem random_problem(const std::vector<int>& sizes, std::mt19937& rng) {
  ConstraintProblem p;
  p.set_nodes(sizes);
  fill_nodes(p, rng);
  for (int i = 0; i < 8; ++i) add_random_block(p, BlockKind::joint, 1 + i % 6, 1 + i % 4, rng);
  for (int i = 0; i < 4; ++i) {
    const ConstraintBlock& b = add_random_block(p, BlockKind::soft, 1, 1 + i % 3, rng);
    p.lower[static_cast<std::size_t>(b.row)] = -0.5;
    p.upper[static_cast<std::size_t>(b.row)] = 0.5;
  }
  for (int i = 0; i < 4; ++i) add_random_block(p, BlockKind::limit, 1, 1 + i % 4, rng);
  for (int i = 0; i < 4; ++i) add_random_block(p, BlockKind::contact, 3, 1 + i % 2, rng).mu = 0.2 * i;
  p.finish();
  return p;
}

// The same with fewer rows than velocities, so that a solution exists: every block touches at least two nodes.
inline ConstraintProblem feasible_problem(std::mt19937& rng) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6, 3, 12, 6, 7, 6});
  fill_nodes(p, rng);
  for (int i = 0; i < 5; ++i) add_random_block(p, BlockKind::joint, 1 + i % 3, 2 + i % 3, rng);
  for (int i = 0; i < 4; ++i) {
    const ConstraintBlock& b = add_random_block(p, BlockKind::soft, 1, 2, rng);
    p.lower[static_cast<std::size_t>(b.row)] = -0.5;
    p.upper[static_cast<std::size_t>(b.row)] = 0.5;
  }
  for (int i = 0; i < 4; ++i) add_random_block(p, BlockKind::limit, 1, 2 + i % 3, rng);
  for (int i = 0; i < 4; ++i) add_random_block(p, BlockKind::contact, 3, 2, rng).mu = 0.2 * i;
  p.finish();
  return p;
}

inline std::vector<std::vector<int>> node_layouts() {
  return {{6, 6, 6, 6, 6}, {1, 6, 3, 12, 7, 2}, {6, 6, 9, 6}, {4}, {1, 2}};
}

inline MatX dense_blocks(const ConstraintProblem& p, const std::vector<double>& blocks) {
  MatX M = MatX::Zero(p.velocity_size(), p.velocity_size());
  for (std::size_t i = 0; i < p.node_size.size(); ++i) {
    const int n = p.node_size[i];
    M.block(p.node_offset[i], p.node_offset[i], n, n) = Eigen::Map<const MatX>(blocks.data() + p.mass_offset[i], n, n);
  }
  return M;
}

}  // namespace sarrus::testing
