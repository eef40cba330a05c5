// One island of a constraint problem in the form that the Newton solvers work on (docs/theory/newton.md §1).
//
//   A (u - u_f) = J' lambda,   sigma = J u + v* + R lambda
//   lambda in K   perp   v^ = sigma + Gamma(sigma) in K*
//
// with the rows equilibrated: lambda = P lambda~, J~ = P J, v*~ = P v*, R~ = P R P, u unchanged. Scalar rows have
// p = (D_ii + R_ii)^(-1/2); a contact has one p = (tr(D_kk + R_kk) / 3)^(-1/2), so that mu, Gamma and the cones stay as
// they are. Everything here is in scaled units unless a name says raw.
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

// Natural map of an iterate, raw SI units, and the scale it is compared with (judge.h, for this island). It steers
// the stages; what is reported, and whether a solve converged, is the judge's.
struct NcpResidual {
  double natural = 0;
  double scale = 1;
  double relative() const { return natural / scale; }
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
  std::vector<int> source;  // row of the whole problem
  Law law = Law::ncp;       // what residual() measures: with Gamma (ncp) or without (ccp); kept by load()

  // out = J u; out = J' lambda; out = A u; out = A^-1 f.
  void multiply_J(const double* u, double* out) const;
  void multiply_Jt(const double* lambda, double* out) const;
  void multiply_A(const GrowingVector& u, GrowingVector& out) const;
  void multiply_A_inverse(const double* f, double* out) const;
  // u = u_f + A^-1 J' lambda, sigma = J u + v* + R lambda.
  void evaluate(const GrowingVector& lambda, GrowingVector& u, GrowingVector& sigma, GrowingVector& scratch) const;
  // The natural map at step 1 in raw units.
  NcpResidual residual(const GrowingVector& lambda, const GrowingVector& sigma) const;
  // lambda <- P_K(lambda).
  void project(GrowingVector& lambda) const;
  // Largest raw number among v_f and lambda: what absolute thresholds are compared with.
  double raw_size(const GrowingVector& lambda) const;

  // Between the rows of the whole problem and the scaled ones of the island.
  void gather(std::span<const double> whole, GrowingVector& lambda) const;
  void scatter(const GrowingVector& lambda, std::span<double> whole) const;

 private:
  void load_nodes(const ConstraintProblem& problem, std::span<const int> nodes);
  void load_block(const ConstraintProblem& problem, const ConstraintBlock& block, std::span<const int> local_node,
                  bool contact);
  void scale_rows();
  double diagonal(const NcpBlock& block, int r) const;

  int rows_ = 0;
  int padded_size_ = 0;
  bool physical_ = true;
  double largest_v_free_ = 0;     // raw
  double plausible_impulse_ = 0;  // raw
};

}  // namespace sarrus
