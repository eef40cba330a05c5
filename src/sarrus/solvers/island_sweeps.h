// Gauss-Seidel sweeps over an island in scaled rows (docs/theory/newton.md §7.1): each contact is solved exactly in its
// turn, all others held fixed (local_contact.h), bounded rows by clamping.
//
//   sigma_i = J_i u + v*_i + R_i lambda_i,   lambda_i <- LOCAL(lambda_i, sigma_i),   u <- u + A^-1 J_i' (change)
//
// A sweep costs a fraction of a factorisation, and redundant contacts stay where they are along directions that change
// no velocity. After a few of them it is nearly known which contacts open and slide: what Newton's method needs to
// begin with.
#pragma once

#include <vector>

#include "sarrus/solvers/island_solver.h"

namespace sarrus {

class IslandSweeps {
 public:
  // Memory for the problem; done before the first run, so that it comes with that of the other stages.
  void resize(const NcpProblem& problem);
  // `count` sweeps from lambda on. The problem is that of the last resize().
  void run(NcpSearch& search, int count, GrowingVector& lambda);

 private:
  // Of D + R: the lower triangle of a contact's block, by rows.
  struct ContactBlock {
    double lower[6];
  };

  void prepare(const NcpProblem& problem);
  void solve_scalar(const NcpProblem& problem, const NcpBlock& block, GrowingVector& lambda);
  void solve_contact(const NcpProblem& problem, const NcpBlock& block, const ContactBlock& D, GrowingVector& lambda);

  GrowingVector step_;  // 1/(D + R)_ii, by scalar row
  std::vector<ContactBlock> blocks_;
  double* u_ = nullptr;     // velocities of the search, kept up to date
  double* node_ = nullptr;  // memory of one node
};

}  // namespace sarrus
