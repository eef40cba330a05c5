// Constraint problems made from others: reordered, with blocks doubled, put side by side; and small ones by hand.
#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "sarrus/problem/constraint_problem.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::testing {

// One contact on a node of three components whose velocity is the contact velocity: D = G.
inline ConstraintProblem one_contact(const Mat3& G, const Vec3& b, double mu) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{3});
  const Mat3 M = G.inverse();
  std::copy(M.data(), M.data() + 9, p.mass.begin());
  std::copy(G.data(), G.data() + 9, p.mass_inverse.begin());
  p.u_free = b;
  ConstraintBlock& block = p.add_block(BlockKind::contact, 3, std::vector<int>{0});
  block.mu = mu;
  for (int r = 0; r < 3; ++r) p.jacobian_row(block, 0, r)[r] = 1;
  p.finish();
  return p;
}

// A block of another problem, its nodes renamed by `node_of`.
inline void copy_block(ConstraintProblem& to, const ConstraintProblem& from, const ConstraintBlock& b,
                       const std::vector<int>& node_of) {
  std::vector<int> nodes;
  for (int k = 0; k < b.nodes; ++k) nodes.push_back(node_of[static_cast<std::size_t>(b.node[k])]);
  ConstraintBlock& mine = to.add_block(b.kind, b.rows, nodes);
  mine.mu = b.mu;
  for (int k = 0; k < b.nodes; ++k) {
    const int n = from.node_size[static_cast<std::size_t>(b.node[k])];
    std::copy_n(from.jacobian.data() + b.jac[k], b.rows * n, to.jacobian.data() + mine.jac[k]);
  }
  for (int r = 0; r < b.rows; ++r) {
    const auto i = static_cast<std::size_t>(b.row + r);
    const auto j = static_cast<std::size_t>(mine.row + r);
    to.R[j] = from.R[i];
    to.bias[j] = from.bias[i];
    to.lower[j] = from.lower[i];
    to.upper[j] = from.upper[i];
  }
}

inline void copy_node(ConstraintProblem& to, std::size_t target, const ConstraintProblem& from, std::size_t node) {
  const int n = from.node_size[node];
  std::copy_n(from.mass.data() + from.mass_offset[node], n * n, to.mass.data() + to.mass_offset[target]);
  std::copy_n(from.mass_inverse.data() + from.mass_offset[node], n * n,
              to.mass_inverse.data() + to.mass_offset[target]);
  to.u_free.segment(to.node_offset[target], n) = from.u_free.segment(from.node_offset[node], n);
}

// Node i of the result is node node_order[i], and its blocks are those listed, which may repeat; kinds in order.
inline ConstraintProblem rebuild(const ConstraintProblem& p, const std::vector<int>& node_order,
                                 const std::vector<int>& blocks) {
  std::vector<int> sizes;
  std::vector<int> node_of(node_order.size());
  for (std::size_t i = 0; i < node_order.size(); ++i) {
    sizes.push_back(p.node_size[static_cast<std::size_t>(node_order[i])]);
    node_of[static_cast<std::size_t>(node_order[i])] = static_cast<int>(i);
  }
  ConstraintProblem out;
  out.physical = p.physical;
  out.set_nodes(sizes);
  for (std::size_t i = 0; i < node_order.size(); ++i) copy_node(out, i, p, static_cast<std::size_t>(node_order[i]));
  for (const int b : blocks) copy_block(out, p, p.blocks[static_cast<std::size_t>(b)], node_of);
  out.finish();
  return out;
}

inline std::vector<int> counting(std::size_t n) {
  std::vector<int> out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// Random order of nodes, and of blocks within each kind. `node_order` as for rebuild().
inline ConstraintProblem shuffled(const ConstraintProblem& p, std::mt19937& rng, std::vector<int>& node_order) {
  node_order = counting(p.node_size.size());
  std::shuffle(node_order.begin(), node_order.end(), rng);
  std::vector<int> blocks = counting(p.blocks.size());
  std::shuffle(blocks.begin(), blocks.end(), rng);
  std::stable_sort(blocks.begin(), blocks.end(), [&](int a, int b) {
    return p.blocks[static_cast<std::size_t>(a)].kind < p.blocks[static_cast<std::size_t>(b)].kind;
  });
  return rebuild(p, node_order, blocks);
}

// Every second block of a kind twice.
inline ConstraintProblem doubled(const ConstraintProblem& p, BlockKind kind) {
  std::vector<int> blocks;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    blocks.push_back(static_cast<int>(i));
    if (p.blocks[i].kind == kind && i % 2 == 0) blocks.push_back(static_cast<int>(i));
  }
  return rebuild(p, counting(p.node_size.size()), blocks);
}

// Parts side by side. rows[k][i] is where row i of part k went.
inline ConstraintProblem side_by_side(const std::vector<ConstraintProblem>& parts,
                                      std::vector<std::vector<int>>& rows) {
  std::vector<int> sizes;
  std::vector<std::vector<int>> node_of;
  for (const ConstraintProblem& p : parts) {
    node_of.push_back(counting(p.node_size.size()));
    for (int& node : node_of.back()) node += static_cast<int>(sizes.size());
    sizes.insert(sizes.end(), p.node_size.begin(), p.node_size.end());
  }
  ConstraintProblem out;
  out.set_nodes(sizes);
  rows.clear();
  for (std::size_t k = 0; k < parts.size(); ++k) {
    rows.emplace_back(static_cast<std::size_t>(parts[k].rows()));
    for (std::size_t i = 0; i < parts[k].node_size.size(); ++i) {
      copy_node(out, static_cast<std::size_t>(node_of[k][i]), parts[k], i);
    }
  }
  for (const BlockKind kind : {BlockKind::joint, BlockKind::soft, BlockKind::limit, BlockKind::contact}) {
    for (std::size_t k = 0; k < parts.size(); ++k) {
      for (const ConstraintBlock& b : parts[k].blocks) {
        if (b.kind != kind) continue;
        copy_block(out, parts[k], b, node_of[k]);
        std::iota(rows[k].begin() + b.row, rows[k].begin() + b.row + b.rows, out.blocks.back().row);
      }
    }
  }
  out.finish();
  return out;
}

// Compliance of all rows relative to D_ii, as docs/theory/rows.md §6.2 gives it to near-rigid ones: beta^2 / (4 pi^2)
// with beta = 1, and sigma = 1e-3 for the tangents of contacts.
inline void make_compliant(ConstraintProblem& p) {
  constexpr double kNearRigid = 0.025330295910584444;
  VecX d(p.rows());
  p.diagonal_D_plus_R(d);
  for (const ConstraintBlock& b : p.blocks) {
    const bool contact = b.kind == BlockKind::contact;
    for (int r = 0; r < b.rows; ++r) {
      const double w = contact ? d.segment<3>(b.row).sum() / 3 : d[b.row + r];
      p.R[static_cast<std::size_t>(b.row + r)] = w * (contact && r < 2 ? 1e-3 : kNearRigid);
    }
  }
  p.finish();
}

// A box of half sizes (a, a, h) and mass m on the plane z = 0, one contact per lower corner. u_f as given.
inline ConstraintProblem box_on_plane(double m, double a, double h, double mu, const Vec6& u_free) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6});
  const double inertia[] = {m * (a * a + h * h) / 3, m * (a * a + h * h) / 3, m * 2 * a * a / 3};
  for (std::size_t i = 0; i < 6; ++i) {
    p.mass[7 * i] = i < 3 ? m : inertia[i - 3];
    p.mass_inverse[7 * i] = 1 / p.mass[7 * i];
  }
  p.u_free = u_free;
  for (int corner = 0; corner < 4; ++corner) {
    ConstraintBlock& b = p.add_block(BlockKind::contact, 3, std::vector<int>{0});
    b.mu = mu;
    const Vec3 arm(corner % 2 == 0 ? a : -a, corner < 2 ? a : -a, -h);
    for (int r = 0; r < 3; ++r) {
      const Vec3 turn = arm.cross(Vec3::Unit(r));
      double* J = p.jacobian_row(b, 0, r);
      J[r] = 1;
      for (int c = 0; c < 3; ++c) J[3 + c] = turn[c];
    }
  }
  p.finish();
  return p;
}

struct Answer {
  std::vector<double> lambda;
  SolveReport report;
  Residuals judged;
  VecX u;
};

inline Answer solve(const ConstraintProblem& p, const std::string& id, double tolerance,
                    const SolverParameters& parameters = {}, std::vector<double> start = {}) {
  Answer a;
  a.lambda = std::move(start);
  a.lambda.resize(static_cast<std::size_t>(p.rows()), 0.0);
  a.report = make_solver(id, parameters)->solve(p, tolerance, a.lambda);
  JudgeWorkspace ws;
  a.judged = judge(p, a.lambda, ws);
  a.u = ws.u;
  return a;
}

// Two joints ask one body for two speeds.
inline ConstraintProblem contradiction() {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{3});
  for (std::size_t i = 0; i < 3; ++i) p.mass[4 * i] = p.mass_inverse[4 * i] = 1;
  for (const double speed : {1.0, -1.0}) {
    const ConstraintBlock& b = p.add_block(BlockKind::joint, 1, std::vector<int>{0});
    p.jacobian_row(b, 0, 0)[0] = 1;
    p.bias[static_cast<std::size_t>(b.row)] = speed;
  }
  p.finish();
  return p;
}

// Copies with one number that is not finite, each in another place.
inline std::vector<ConstraintProblem> spoiled(const ConstraintProblem& good) {
  constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
  std::vector<ConstraintProblem> out(6, good);
  out[0].v_free[2] = kNotANumber;
  out[1].u_free[0] = std::numeric_limits<double>::infinity();
  out[2].bias[0] = kNotANumber;
  out[2].finish();
  out[3].jacobian[0] = kNotANumber;
  out[4].mass[0] = out[4].mass_inverse[0] = kNotANumber;
  out[5].R[0] = kNotANumber;
  return out;
}

}  // namespace sarrus::testing
