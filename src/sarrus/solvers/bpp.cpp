// BPP: block principal pivoting on the MLCP with box friction (docs/theory/solvers.md §9; block_pivoting.h, mlcp.h).
//
// Each coupling solves the MLCP with frozen friction bounds exactly, unless k_dir pivots do not suffice. The reference
// of the other box-friction solvers is BPP without limits: k_cpl = 0, k_dir = 0. Index sets are carried from coupling
// to coupling; the first ones follow from the warm start. One iteration is one pivot (one Cholesky factorisation).
#include <algorithm>

#include "sarrus/solvers/block_pivoting.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

struct BppParameters {
  int k_cpl = 3;           // couplings, 0: no limit
  int k_dir = 30;          // pivots per coupling, 0: no limit
  int p_max = 10;          // block exchanges without a new minimum before single ones
  int max_iterations = 0;  // pivots in all, 0: no limit
};

class Bpp final : public MlcpSolver {
 public:
  explicit Bpp(const BppParameters& par) : MlcpSolver({par.k_cpl, par.max_iterations}, true), par_(par) {}

 private:
  Inner begin(const ConstraintProblem&, int) override {
    pivoting_.begin();
    return {};
  }
  Inner solve_bounded(int, int budget) override {
    const PivotResult r = pivoting_.solve(mlcp_, std::min(budget, or_unlimited(par_.k_dir)), par_.p_max);
    return {r.pivots, r.factorisations, r.failed};
  }

  BppParameters par_;
  BlockPivoting pivoting_;
};

}  // namespace

SolverInfo bpp_entry() {
  using P = BppParameters;
  const ParameterList<P> list = {
      {"k_cpl", "couplings (refreshed friction bounds), 0: no limit", 0, 1e9, &P::k_cpl},
      {"k_dir", "pivots per coupling, 0: no limit", 0, 1e9, &P::k_dir},
      {"p_max", "block exchanges without a new minimum of wrong rows before single ones, -1: single ones only", -1, 1e9,
       &P::p_max},
      {"max_iterations", "pivots in all, 0: no limit", 0, 1e9, &P::max_iterations},
  };
  return solver_entry<Bpp>("bpp", "block principal pivoting on the MLCP with box friction; the reference of its kind",
                           Law::box, list);
}

}  // namespace sarrus
