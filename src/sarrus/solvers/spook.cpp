// SPOOK-style splitting on the MLCP with box friction (docs/theory/solvers.md §9; mlcp.h).
//
//   (a) direct: block pivoting on joints, soft rows, limits and normals, friction impulses held
//   (b) k_iter Gauss-Seidel sweeps over contacts, each a 3x3 box MLCP with its own normal; all other rows held
// It starts with (a), so that the first friction bounds come from a problem without friction (or with that of the warm
// start); each coupling is then bounds, (b), (a). Friction and the rest see each other only through this alternation:
// friction that must be carried through joints builds up slowly and is too small after few couplings.
//
// friction_regulariser C_t > 0 adds C_t 2^-c (1/kg, c = coupling) to the friction rows in (b), against friction
// impulses that balance one another and grow without moving anything. One iteration is one pivot or one sweep.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sarrus/solvers/block_pivoting.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

struct SpookParameters {
  int k_cpl = 5;                    // couplings, 0: no limit
  int k_iter = 15;                  // sweeps per coupling, 0: no limit
  int k_dir = 10;                   // pivots per coupling, 0: no limit
  int p_max = 10;                   // as for bpp
  double delta_x = 1e-5;            // N s: the sweeps of a coupling end when no impulse changed by more
  double friction_regulariser = 0;  // C_t, 1/kg
  int max_iterations = 0;           // pivots and sweeps in all, 0: no limit
};

// x with w = G x + g complementary to l <= x <= u: of all 27 index sets the one that violates least.
Vec3 solve_box3(const Mat3& G, const Vec3& g, const Vec3& l, const Vec3& u) {
  Vec3 best = Vec3::Zero().cwiseMax(l).cwiseMin(u);
  double least = std::numeric_limits<double>::infinity();
  for (int set = 0; set < 27; ++set) {
    const int side[3] = {set % 3, set / 3 % 3, set / 9};  // 0 free, 1 lower, 2 upper
    Mat3 A = G;
    Vec3 rhs = -g;
    bool bounded = true;
    for (int i = 0; i < 3; ++i) {
      if (side[i] == 0) continue;
      rhs[i] = side[i] == 1 ? l[i] : u[i];
      bounded = bounded && std::isfinite(rhs[i]);
      A.row(i) = Vec3::Unit(i);
    }
    if (!bounded) continue;
    const Vec3 x = A.inverse() * rhs;
    if (!x.allFinite()) continue;
    const Vec3 inside = x.cwiseMax(l).cwiseMin(u);
    const Vec3 w = G * inside + g;
    const double violation = (inside - (inside - w).cwiseMax(l).cwiseMin(u)).cwiseAbs().maxCoeff();
    if (violation < least) {
      least = violation;
      best = inside;
    }
  }
  return best;
}

class Spook final : public MlcpSolver {
 public:
  explicit Spook(const SpookParameters& par) : MlcpSolver({par.k_cpl, par.max_iterations}, true), par_(par) {}

 private:
  Inner begin(const ConstraintProblem& p, int budget) override {
    sweeper_.load(p);
    pivoting_.begin();
    Inner out;
    direct(budget, out);
    return out;
  }
  Inner solve_bounded(int coupling, int budget) override {
    Inner out;
    sweeper_.synchronise(mlcp_);
    const double regulariser = std::ldexp(par_.friction_regulariser, -coupling);
    // One pivot is left for (a): an answer that does not end with it has no use.
    const int limit = std::min(std::max(1, budget - 1), or_unlimited(par_.k_iter));
    while (out.iterations < limit) {
      ++out.iterations;
      if (!(sweep_contacts(regulariser) > par_.delta_x)) break;
    }
    if (out.iterations < budget) direct(budget - out.iterations, out);
    return out;
  }
  void direct(int budget, Inner& out);
  double sweep_contacts(double regulariser);

  SpookParameters par_;
  BoxSweep sweeper_;
  BlockPivoting pivoting_;
};

void Spook::direct(int budget, Inner& out) {
  mlcp_.hold_friction();
  const PivotResult r = pivoting_.solve(mlcp_, std::min(budget, or_unlimited(par_.k_dir)), par_.p_max);
  out.iterations += r.pivots;
  out.factorisations += r.factorisations;
  out.failed = r.failed;
}

double Spook::sweep_contacts(double regulariser) {
  double largest = 0;
  for (const SweepBlock& b : sweeper_.blocks()) {
    if (b.kind != BlockKind::contact) continue;
    Mat3 G;
    Vec3 g;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) G(r, c) = mlcp_.column(b.row + c)[b.row + r];
      g[r] = sweeper_.residual(mlcp_, b, r);
    }
    const Vec3 old = mlcp_.x.segment<3>(b.row);
    g -= G * old;
    G(0, 0) += regulariser;
    G(1, 1) += regulariser;
    const Vec3 dx = solve_box3(G, g, mlcp_.lower.segment<3>(b.row), mlcp_.upper.segment<3>(b.row)) - old;
    for (int r = 0; r < 3; ++r) sweeper_.change(mlcp_, b, r, dx[r]);
    largest = std::max(largest, dx.cwiseAbs().maxCoeff());
  }
  return largest;
}

}  // namespace

SolverInfo spook_entry() {
  using P = SpookParameters;
  const ParameterList<P> list = {
      {"k_cpl", "couplings (refreshed friction bounds), 0: no limit", 0, 1e9, &P::k_cpl},
      {"k_iter", "sweeps over contacts per coupling, 0: no limit", 0, 1e9, &P::k_iter},
      {"k_dir", "pivots per coupling, 0: no limit", 0, 1e9, &P::k_dir},
      {"p_max", "block exchanges without a new minimum of wrong rows before single ones, -1: single ones only", -1, 1e9,
       &P::p_max},
      {"delta_x", "the sweeps of a coupling end when no impulse changed by more, N s", 0, 1e9, &P::delta_x},
      {"friction_regulariser", "C_t 2^-c is added to friction rows in the sweeps of coupling c, 1/kg", 0, 1e9,
       &P::friction_regulariser},
      {"max_iterations", "pivots and sweeps in all, 0: no limit", 0, 1e9, &P::max_iterations},
  };
  return solver_entry<Spook>(
      "spook", "direct solve without friction and friction sweeps in turn, box friction (often too small)", Law::box,
      list);
}

}  // namespace sarrus
