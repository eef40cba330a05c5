#include "sarrus/solvers/bpp.h"

#include <algorithm>

#include "sarrus/solvers/block_pivoting.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

const ParameterList<BppParameters>& parameters() {
  using P = BppParameters;
  static const ParameterList<P> list = {
      {"k_cpl", "couplings (refreshed friction bounds), 0: no limit", 0, 1e9, &P::k_cpl},
      {"k_dir", "pivots per coupling, 0: no limit", 0, 1e9, &P::k_dir},
      {"p_max", "block exchanges without a new minimum of wrong rows before single ones, -1: single ones only", -1, 1e9,
       &P::p_max},
      {"max_iterations", "pivots in all, 0: no limit", 0, 1e9, &P::max_iterations},
  };
  return list;
}

class Bpp final : public MlcpSolver {
 public:
  explicit Bpp(const BppParameters& par) : MlcpSolver({par.k_cpl, par.max_iterations}, true), par_(par) {}

 private:
  Inner begin(const ConstraintProblem&, int) override {
    pivoting_.begin();
    return {};
  }
  Inner solve_bounded(const ConstraintProblem&, int, int budget) override {
    const PivotResult r = pivoting_.solve(mlcp_, std::min(budget, or_unlimited(par_.k_dir)), par_.p_max);
    return {r.pivots, r.factorisations, r.failed};
  }

  BppParameters par_;
  BlockPivoting pivoting_;
};

}  // namespace

std::vector<ParameterInfo> bpp_parameter_info() { return describe(parameters()); }

std::unique_ptr<Solver> make_bpp(const SolverParameters& given) {
  return std::make_unique<Bpp>(read_parameters(parameters(), given));
}

}  // namespace sarrus
