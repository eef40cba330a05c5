// PGS-SM: projected Gauss-Seidel with subspace minimisation on the MLCP with box friction (docs/theory/solvers.md §9;
// Silcowitz, Niebe and Erleben 2010; mlcp.h).
//
// One coupling:
//   k_iter sweeps;   sets: x <= l: L,  x >= u: U,  else F
//   up to k_dir times: A_FF x_F = -b_F - A_FL x_L - A_FU x_U;  rows of F outside their bounds are clamped and leave F
// The result of the subspace steps replaces that of the sweeps only if the energy 1/2 x'Ax + x'b is not larger: F only
// shrinks, so a wrong guess could otherwise undo the sweeps for ever. One iteration is one sweep or one subspace solve.
#include <algorithm>

#include "sarrus/solvers/block_pivoting.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

struct PgsSmParameters {
  int k_cpl = 5;           // couplings, 0: no limit
  int k_iter = 15;         // sweeps per coupling, 0: no limit
  int k_dir = 5;           // subspace solves per coupling, 0: no limit
  double delta_x = 1e-5;   // N s: the sweeps of a coupling end when no impulse changed by more
  int max_iterations = 0;  // sweeps and subspace solves in all, 0: no limit
};

class PgsSm final : public MlcpSolver {
 public:
  explicit PgsSm(const PgsSmParameters& par) : MlcpSolver({par.k_cpl, par.max_iterations}, true), par_(par) {}

 private:
  Inner begin(const ConstraintProblem& p, int) override {
    sweeper_.load(p);
    pivoting_.begin();
    return {};
  }
  Inner solve_bounded(int coupling, int budget) override;
  // Rows of F outside their bounds become bound rows; false if there are none.
  bool clamp_basic();
  double energy() {
    mlcp_.multiply();
    return 0.5 * mlcp_.x.dot(mlcp_.w + mlcp_.b);
  }

  PgsSmParameters par_;
  BoxSweep sweeper_;
  BlockPivoting pivoting_;
  GrowingVector swept_;
};

bool PgsSm::clamp_basic() {
  bool clamped = false;
  for (int i = 0; i < mlcp_.rows; ++i) {
    RowState& s = mlcp_.state[static_cast<std::size_t>(i)];
    if (s != RowState::basic || (mlcp_.x[i] >= mlcp_.lower[i] && mlcp_.x[i] <= mlcp_.upper[i])) continue;
    s = mlcp_.x[i] < mlcp_.lower[i] ? RowState::lower : RowState::upper;
    mlcp_.x[i] = s == RowState::lower ? mlcp_.lower[i] : mlcp_.upper[i];
    clamped = true;
  }
  return clamped;
}

MlcpSolver::Inner PgsSm::solve_bounded(int, int budget) {
  Inner out;
  out.iterations = sweeper_.run(mlcp_, std::min(budget, or_unlimited(par_.k_iter)), par_.delta_x);
  swept_.resize(mlcp_.rows);
  swept_ = mlcp_.x;
  const double before = energy();
  mlcp_.classify();
  const int solves = std::min(budget - out.iterations, or_unlimited(par_.k_dir));
  for (int k = 0; k < solves; ++k) {
    ++out.iterations;
    out.failed = !pivoting_.solve_basic(mlcp_, out.factorisations);
    if (out.failed || !clamp_basic()) break;
  }
  // Sums of this size cannot tell smaller differences.
  const double rounding = 1e-14 * mlcp_.x.cwiseAbs().dot(mlcp_.b.cwiseAbs());
  if (!mlcp_.x.allFinite() || !(energy() <= before + rounding)) mlcp_.x = swept_;
  return out;
}

}  // namespace

SolverInfo pgs_sm_entry() {
  using P = PgsSmParameters;
  const ParameterList<P> list = {
      {"k_cpl", "couplings (refreshed friction bounds), 0: no limit", 0, 1e9, &P::k_cpl},
      {"k_iter", "sweeps per coupling, 0: no limit", 0, 1e9, &P::k_iter},
      {"k_dir", "subspace solves per coupling, 0: no limit", 0, 1e9, &P::k_dir},
      {"delta_x", "the sweeps of a coupling end when no impulse changed by more, N s", 0, 1e9, &P::delta_x},
      {"max_iterations", "sweeps and subspace solves in all, 0: no limit", 0, 1e9, &P::max_iterations},
  };
  return solver_entry<PgsSm>(
      "pgs-sm", "projected Gauss-Seidel with subspace minimisation on the MLCP with box friction", Law::box, list);
}

}  // namespace sarrus
