// One island of a constraint problem in the form that the Newton solvers work on (docs/theory/newton.md §1).
//
//   A (u - u_f) = J' lambda,   sigma = J u + v* + R lambda
//   lambda in K   perp   v^ = sigma + Gamma(sigma) in K*
//
// with the rows equilibrated by p of the constraint problem: lambda = P lambda~, J~ = P J, v*~ = P v*, R~ = P R P, u
// unchanged, mu, Gamma and the cones too. Everything here is in scaled units.
//
// Two kinds of blocks remain:
//   scalar   rows with bounds lower <= lambda <= upper: joints (no bounds), soft rows, limits (lower = 0), and the
//            normal rows of contacts without friction, whose tangential impulses are zero
//   contact  three rows [t, o, n] in the cone |lambda_T| <= mu lambda_N
// Velocities are padded by node like the columns of the factors (block_graph.h), so that every kernel has whole
// vectors.
#pragma once

#include <span>
#include <vector>

#include "sarrus/math/growing_vector.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/problem/judge.h"

namespace sarrus {

struct NcpBlock {
  bool contact = false;
  int rows = 0;
  int row = 0;  // first row
  int nodes = 0;
  int node[kMaxBlockNodes] = {};    // of the island
  int column[kMaxBlockNodes] = {};  // where the node's velocity starts, padded
  int width[kMaxBlockNodes] = {};   // padded size of the node
  int jac[kMaxBlockNodes] = {};     // offset of the row-major (rows x width) block
  double mu = 0;
};

class NcpProblem {
 public:
  // Copies the blocks and nodes of one island; both lists ascending. `local_node` maps nodes of the problem to those of
  // the island and must be set for the nodes of the island.
  void load(const ConstraintProblem& problem, std::span<const int> blocks, std::span<const int> nodes,
            std::span<const int> local_node);

  int rows() const { return rows_; }
  int node_count() const { return static_cast<int>(node_size.size()); }
  int padded_size() const { return padded_size_; }

  std::vector<int> node_size;
  std::vector<int> node_start;   // padded
  std::vector<int> mass_offset;  // into mass and mass_inverse: column-major, leading dimension padded
  std::vector<double> mass;
  std::vector<double> mass_inverse;
  GrowingVector u_free;
  std::vector<NcpBlock> blocks;  // scalar ones first
  int scalar_blocks = 0;
  int scalar_rows = 0;
  int bounded_rows = 0;  // scalar rows with at least one finite bound
  int contacts() const { return static_cast<int>(blocks.size()) - scalar_blocks; }
  std::vector<double> jacobian;
  GrowingVector p;  // row scaling
  GrowingVector R, bias, v_free, lower, upper;
  GrowingVector least_size;  // what a row is measured by at least
  std::vector<int> source;   // row of the whole problem
  // What error() measures, kept by load(): the law, with Gamma (ncp) or without (ccp), and the criterion.
  Law law = Law::ncp;
  Criterion criterion = Criterion::energy;

  // out = J u; out = J' lambda; out = A u; out = A^-1 f.
  void multiply_J(const double* u, double* out) const;
  void multiply_Jt(const double* lambda, double* out) const;
  void multiply_A(const GrowingVector& u, GrowingVector& out) const;
  void multiply_A_inverse(const double* f, double* out) const;
  // u = u_f + A^-1 J' lambda, sigma = J u + v* + R lambda. Returns S of lambda (judge.h).
  double evaluate(const GrowingVector& lambda, GrowingVector& u, GrowingVector& sigma, GrowingVector& scratch) const;
  // S, given J' lambda and A^-1 J' lambda.
  double size(const double* impulse, const double* du) const;
  // The judge's error of this island; infinite if lambda or sigma are not finite.
  double error(const GrowingVector& lambda, const GrowingVector& sigma, double size) const;
  // lambda <- P_K(lambda).
  void project(GrowingVector& lambda) const;

  // Between the rows of the whole problem and the scaled ones of the island.
  void gather(std::span<const double> whole, GrowingVector& lambda) const;
  void scatter(const GrowingVector& lambda, std::span<double> whole) const;

 private:
  void load_nodes(const ConstraintProblem& problem, std::span<const int> nodes);
  void load_block(const ConstraintProblem& problem, const ConstraintBlock& block, std::span<const int> local_node,
                  bool contact);
  void scale_rows();

  int rows_ = 0;
  int padded_size_ = 0;
};

}  // namespace sarrus
