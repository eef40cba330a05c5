// Solves an island by eliminating what is linear, so that a small dense problem of the other rows n remains
// (docs/theory/newton.md §8). Joint rows, and soft ones that it takes along, b by their factor K = L L'
// (linear_factor.h), which contacts leave alone; other soft rows s without bounds, or well inside of theirs, by a dense
// Cholesky factor:
//
//   c = (s, n),   Y = L^-1 J_c',   S = Y' Y + R_c = J_c K^-1 J_c' + R_c
//   S_ss = C C',   T = C^-1 S_sn,   S' = S_nn - T' T
//   pass, given sigma of lambda in the whole problem:
//     z = -L^-1 J_b' G sigma_b,   rho = sigma_c + Y' z          velocities of c with b satisfied
//     t = C^-1 rho_s,   v = rho_n - T' t - S' lambda_n          those of n without its impulses, with s satisfied, too
//     lambda_n+ = solution of the dense problem S', v (dense_ncp.h)
//     lambda_s -= C^-T (t + T (lambda_n+ - lambda_n))
//     du = L^-T (z + Y (lambda_c+ - lambda_c)),   lambda_b -= G (sigma_b + J_b du)
// Impulses lambda in N s or N m s, velocities sigma and du in m/s or rad/s, S in 1/kg or 1/(kg m^2).
// One pass is the Newton step of ssn.h with the shift eps D_ii on b and all of c at once; what it leaves is the
// contraction of the shift and round-off, and the next pass starts from the exact sigma. Two are usual with contacts.
//
// For islands with joints and at most 60 other rows (96 where joint rows prevail); cold starts with more rigid contact
// rows than freedom, whose impulses are not unique, are left to the interior point method.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/math/growing_vector.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/problem/judge.h"
#include "sarrus/solvers/dense_ncp.h"
#include "sarrus/solvers/linear_factor.h"

namespace sarrus {

class Reduction {
 public:
  // What the islands of a problem share; each touches its own nodes alone.
  struct Shared {
    void resize(const BlockGraph& graph);
    GrowingVector w;         // z and du, padded by node
    std::vector<int> place;  // by position in the order of elimination: place among those of the island
  };

  // Takes the rows of an island; false if it is none for this method. The factor must stay until the last pass.
  bool collect(const ConstraintProblem& problem, const LinearFactor& factor, int island,
               std::span<const double> lambda);
  // Makes S' of them, with at most `budget` Newton steps in the passes to come; false if it cannot be made.
  bool begin(Shared& shared, int budget);
  // One pass from lambda, whose velocities the judge left in `judged`; changes the island's rows of lambda alone.
  // False: not solved, lambda is as it was or worse.
  bool pass(double tolerance, const JudgeWorkspace& judged, std::span<double> lambda);

  int iterations() const { return dense_.iterations(); }
  int rows() const { return static_cast<int>(rows_.size()); }  // that collect() took besides those of b

 private:
  friend struct ReductionProbe;  // tests compare S with dense algebra

  struct Row {
    int block, row, r;  // r: of the block
  };
  void add_unit(const ConstraintBlock& block, int row);
  // Groups of four columns, as a set of bits.
  using Groups = std::uint32_t;
  void extend(int place, Groups groups);
  void take_memory();
  void scatter_rows();
  void build_S();
  bool eliminate_soft(int budget);
  void eliminate_linear(const GrowingVector& sigma);
  bool solve_rest(double tolerance, double size, std::span<double> lambda);
  bool substitute_linear(const GrowingVector& sigma, std::span<double> lambda);
  double* panel(int place) { return Y_.data() + place * 6 * stride_; }
  double* velocity(int node) { return shared_->w.data() + factor_->llt().graph().padded_start(node); }

  const ConstraintProblem* problem_ = nullptr;
  const LinearFactor* factor_ = nullptr;
  Shared* shared_ = nullptr;
  int island_ = 0;
  std::vector<int> linear_;             // blocks of b
  std::vector<Row> rows_;               // c: soft ones first
  int soft_ = 0;                        // how many
  int along_ = 0;                       // soft rows of b, which may be among the others in another step
  int most_rows_ = 0, most_nodes_ = 0;  // that there is memory for
  std::vector<Row> others_;             // n, while they are collected
  std::vector<DenseNcp::Unit> units_;
  std::vector<int> positions_;  // of the island's nodes in the order of elimination
  std::vector<Groups> used_;    // by place: columns of Y that are not zero
  int stride_ = 0;              // of Y and S, a multiple of 4
  GrowingVector Y_;             // by place: 6 x stride, row-major
  GrowingVector S_;             // row-major; C and T after eliminate_soft()
  GrowingVector rho_, change_;  // by row of c
  GrowingVector v_, lambda_n_;  // by row of n
  DenseNcp dense_;
};

}  // namespace sarrus
