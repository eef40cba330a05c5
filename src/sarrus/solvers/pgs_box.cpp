// PGS on the MLCP with box friction: scalar projected Gauss-Seidel, friction bounds frozen during the sweeps of a
// coupling (docs/theory/solvers.md §9; mlcp.h). One iteration is one sweep.
#include <algorithm>

#include "sarrus/solvers/mlcp.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

struct PgsBoxParameters {
  int k_cpl = 3;           // couplings, 0: no limit
  int k_iter = 25;         // sweeps per coupling, 0: no limit
  double delta_x = 1e-5;   // N s: a coupling ends when no impulse changed by more
  int max_iterations = 0;  // sweeps in all, 0: no limit
};

class PgsBox final : public MlcpSolver {
 public:
  explicit PgsBox(const PgsBoxParameters& par) : MlcpSolver({par.k_cpl, par.max_iterations}, false), par_(par) {}

 private:
  Inner begin(const ConstraintProblem& p, int) override {
    sweeper_.load(p);
    return {};
  }
  Inner solve_bounded(int, int budget) override {
    Inner out;
    out.iterations = sweeper_.run(mlcp_, std::min(budget, or_unlimited(par_.k_iter)), par_.delta_x);
    return out;
  }

  PgsBoxParameters par_;
  BoxSweep sweeper_;
};

}  // namespace

SolverInfo pgs_box_entry() {
  using P = PgsBoxParameters;
  const ParameterList<P> list = {
      {"k_cpl", "couplings (refreshed friction bounds), 0: no limit", 0, 1e9, &P::k_cpl},
      {"k_iter", "sweeps per coupling, 0: no limit", 0, 1e9, &P::k_iter},
      {"delta_x", "a coupling ends when no impulse changed by more, N s", 0, 1e9, &P::delta_x},
      {"max_iterations", "sweeps in all, 0: no limit", 0, 1e9, &P::max_iterations},
  };
  return solver_entry<PgsBox>("pgs-box", "projected Gauss-Seidel on the MLCP with box friction", Law::box, list);
}

}  // namespace sarrus
