// Matrix-free Gauss-Seidel on box-constrained rows: O(rows) per sweep (spec/solvers.md §10 PGS).
//
//   x_i <- clamp(x_i - w_i / A_ii, l_i, u_i),   w_i = b_i + R_i x_i + J_i v,   v = M^-1 J' x kept up to date
// v are velocity changes (m/s, rad/s), b = v_f. It converges for every positive definite A and fixed bounds.
#pragma once

#include <vector>

#include "sarrus/solvers/mlcp.h"

namespace sarrus {

class BoxSweep {
 public:
  // Rows M^-1 J' of the problem.
  void load(const ConstraintProblem& p);
  // v = M^-1 J' x; call whenever x was changed by others.
  void synchronise(const ConstraintProblem& p, const Mlcp& m);
  // Sweeps from x until no impulse changes by more than delta_x (or by rounding only), `limit` at most; their number.
  int run(const ConstraintProblem& p, Mlcp& m, int limit, double delta_x);
  // One pass over all rows; the largest change of an impulse.
  double sweep(const ConstraintProblem& p, Mlcp& m);
  // w_i of row r of a block.
  double residual(const ConstraintProblem& p, const Mlcp& m, const ConstraintBlock& block, int r) const;
  // x_i += dx, with v.
  void change(const ConstraintProblem& p, Mlcp& m, const ConstraintBlock& block, int r, double dx);

 private:
  std::vector<double> MinvJt_;  // laid out like the Jacobian
  VecX impulse_, v_;
};

}  // namespace sarrus
