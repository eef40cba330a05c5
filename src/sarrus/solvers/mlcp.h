// Mixed linear complementarity problem with box friction, and the coupling loop of its solvers
// (docs/theory/problem.md §3, docs/theory/solvers.md §9; [M]).
//
//   w = A x + b,   A = D + R,   b = v_f,   x = lambda (impulses)
//   l <= x <= u,   w = 0 inside,   w >= 0 where x = l,   w <= 0 where x = u
//   joint (-inf, inf);  soft: its bounds;  limit [0, inf);  contact normal [0, inf);  friction rows +-mu x_N
//
// x_N in the friction bounds is frozen while one MLCP is solved and refreshed between these couplings (x_N < 0 counts
// as 0). The first bounds take x_N from the warm start; where that is zero, x_N = max(0, -b_N) / A_NN: the impulse that
// stops the contact alone, which is m_eff g h for a body at rest. Only solvers of the convex problem with fixed bounds
// differ.
//
// R = 0 makes A singular when rows are redundant. The matrix is then shifted by 1e-10 A_ii per row, and the error of
// the shift is removed by proximal steps (block_pivoting.h), so that the fixed points are those of A itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/math/growing_vector.h"
#include "sarrus/solvers/iterate_keeper.h"
#include "sarrus/solvers/sweep_rows.h"

namespace sarrus {

// basic: w_i = 0, x_i free;  lower, upper: x_i at that bound;  held: x_i stays as it is, whatever w_i.
enum class RowState : std::uint8_t { basic, lower, upper, held };

class Mlcp {
 public:
  struct Contact {
    int row = 0;  // of the first tangent; the normal is row + 2
    double mu = 0;
  };

  // Takes A (if dense), b, bounds and contacts of the problem, x from lambda; states from x (all basic if x = 0).
  void load(const ConstraintProblem& p, std::span<const double> lambda, bool dense);
  // A problem given by its matrix: A, b and bounds are the caller's to fill; states are basic, x = 0.
  void resize(int rows);
  // Friction bounds from x_N.
  void bound_friction();
  // The same for the first coupling, where a contact without impulse takes x_N = max(0, -b_N) / A_NN.
  void bound_friction_first();
  // out = x moved into its set: normals >= 0, |x_T| <= mu x_N, soft rows clamped.
  void project(GrowingVector& out) const;
  // State by the position of x_i between its bounds.
  RowState state_of(int i) const {
    return x[i] <= lower[i] ? RowState::lower : x[i] >= upper[i] ? RowState::upper : RowState::basic;
  }
  void classify();
  // Friction impulses stay as they are.
  void hold_friction();
  // w = A x + b (dense A).
  void multiply();
  double* column(int j) { return A.data() + static_cast<Eigen::Index>(j) * rows; }
  const double* column(int j) const { return A.data() + static_cast<Eigen::Index>(j) * rows; }

  int rows = 0;
  GrowingVector A;  // column-major
  GrowingVector b, lower, upper, diagonal, x, w;
  std::vector<RowState> state;
  std::vector<Contact> contacts;

 private:
  void set_bound(const Contact& c, double normal);
  void assemble(const ConstraintProblem& p);
  void couple(const ConstraintProblem& p, int node, const std::vector<int>& uses);

  GrowingVector MinvJt_;                     // of one node and block
  std::vector<std::vector<int>> node_uses_;  // kMaxBlockNodes * block + place, by node
};

// Matrix-free Gauss-Seidel on box-constrained rows: O(rows) per sweep (docs/theory/solvers.md §9).
//
//   x_i <- clamp(x_i - w_i / A_ii, l_i, u_i),   w_i = b_i + R_i x_i + J_i v,   v = M^-1 J' x
// v are velocity changes (m/s, rad/s), kept up to date (sweep_rows.h), b = v_f. It converges for every
// positive definite A and fixed bounds.
class BoxSweep {
 public:
  void load(const ConstraintProblem& p) {
    rows_.load(p);
    rows_.w.resize(p.velocity_size());
  }
  // v = M^-1 J' x; call whenever x was changed by others.
  void synchronise(const Mlcp& m);
  // Sweeps from x until no impulse changes by more than delta_x (or by rounding only), `limit` at most; their number.
  int run(Mlcp& m, int limit, double delta_x);
  // One pass over all rows; the largest change of an impulse.
  double sweep(Mlcp& m);
  const std::vector<SweepBlock>& blocks() const { return rows_.blocks; }
  // w_i of row r of a block.
  double residual(const Mlcp& m, const SweepBlock& b, int r) const { return rows_.velocity(b, r, m.x[b.row + r]); }
  // x_i += dx, with v.
  void change(Mlcp& m, const SweepBlock& b, int r, double dx) {
    m.x[b.row + r] += dx;
    rows_.add_impulse(b, r, dx);
  }

 private:
  SweepRows rows_;
};

// Limits of the coupling loop. 0 stands for no limit.
struct CouplingLimits {
  int k_cpl = 0;
  int max_iterations = 0;
};
// A limit that nobody reaches who converges; contradicting rows would otherwise go on for ever.
inline int or_unlimited(int limit) { return limit > 0 ? limit : 1'000'000; }

class MlcpSolver : public Solver {
 public:
  SolveReport solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) final;
  void reset() override {}

 protected:
  struct Inner {
    int iterations = 0;
    int factorisations = 0;
    bool failed = false;  // a matrix could not be factored
  };

  MlcpSolver(const CouplingLimits& limits, bool dense) : limits_(limits), dense_(dense) {}
  // Once per solve, before the first friction bounds. If it iterates, these follow from its x_N.
  virtual Inner begin(const ConstraintProblem&, int /*budget*/) { return {}; }
  // Moves mlcp_.x towards the solution with the present bounds, in at most `budget` iterations.
  virtual Inner solve_bounded(int coupling, int budget) = 0;

  Mlcp mlcp_;

 private:
  bool add(const Inner& inner, SolveReport& report) const;

  CouplingLimits limits_;
  bool dense_;
  IterateKeeper keeper_{Law::box};
  GrowingVector candidate_, previous_;
};

}  // namespace sarrus
