#include "sarrus/solvers/pgs_box.h"

#include <algorithm>

#include "sarrus/solvers/box_sweep.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

const ParameterList<PgsBoxParameters>& parameters() {
  using P = PgsBoxParameters;
  static const ParameterList<P> list = {
      {"k_cpl", "couplings (refreshed friction bounds), 0: no limit", 0, 1e9, &P::k_cpl},
      {"k_iter", "sweeps per coupling, 0: no limit", 0, 1e9, &P::k_iter},
      {"delta_x", "a coupling ends when no impulse changed by more, N s", 0, 1e9, &P::delta_x},
      {"max_iterations", "sweeps in all, 0: no limit", 0, 1e9, &P::max_iterations},
  };
  return list;
}

class PgsBox final : public MlcpSolver {
 public:
  explicit PgsBox(const PgsBoxParameters& par) : MlcpSolver({par.k_cpl, par.max_iterations}, false), par_(par) {}

 private:
  Inner begin(const ConstraintProblem& p, int) override {
    sweeper_.load(p);
    return {};
  }
  Inner solve_bounded(const ConstraintProblem& p, int, int budget) override {
    Inner out;
    out.iterations = sweeper_.run(p, mlcp_, std::min(budget, or_unlimited(par_.k_iter)), par_.delta_x);
    return out;
  }

  PgsBoxParameters par_;
  BoxSweep sweeper_;
};

}  // namespace

std::vector<ParameterInfo> pgs_box_parameter_info() { return describe(parameters()); }

std::unique_ptr<Solver> make_pgs_box(const SolverParameters& given) {
  return std::make_unique<PgsBox>(read_parameters(parameters(), given));
}

}  // namespace sarrus
