// Proximal point iteration with Gauss-Seidel updates, SORprox (docs/theory/solvers.md §5).
//
//   joint    lambda <- lambda - r D_kk^-1 sigma                (block_joints = 0: lambda - r sigma / lambda_max(D_kk))
//   soft     lambda <- clamp(lambda - r sigma / D_ii),         limit alike with [0, inf)
//   contact  lambda_N <- max(0, lambda_N - r sigma_N / G_nn)
//            lambda_T <- P_disk(mu lambda_N)(lambda_T - r sigma_T / lambda_max(G_TT))
//
// The fixed points obey Coulomb's law without a De Saxce term. r <= 1 is one factor for all rows: a sweep that changes
// lambda by more than `growth` times the change of the sweep before is taken back and r shrinks by nu, unless it has
// reached r_min; after ten accepted sweeps it grows by a tenth. growth = 1 is the usual rule. It takes back harmless
// sweeps, since the changes of a converging iteration do not fall monotonically, and r then stays small. N s, m/s.
#include <algorithm>
#include <limits>

#include "sarrus/solvers/splitting.h"

namespace sarrus {
namespace {

struct ProxParameters : SplittingParameters {
  double nu = 0.7;           // shrinks r
  double growth = 1.5;       // of the change of lambda beyond which a sweep is taken back
  double r_min = 0.1;        // smallest r: sweeps are accepted there whatever they change
  bool block_joints = true;  // joints solved block by block
};

class Prox final : public SplittingSolver {
 public:
  explicit Prox(const ProxParameters& p) : SplittingSolver(Law::ncp, p), par_(p) {}

 private:
  bool exact_joints() const override { return par_.block_joints; }

  void begin(const ConstraintProblem&) override {
    r_ = 1;
    previous_ = std::numeric_limits<double>::infinity();
    accepted_ = 0;
  }

  SweepChange sweep(double omega, bool backward) override {
    lambda_ = state_.lambda;
    w_ = state_.w;
    const double r = r_;
    const SweepChange change = state_.sweep(
        {.omega = omega, .row_step = r}, backward, [r](const LocalContact& c, const Vec3& lambda, const Vec3& v) {
          return contact_step_disk(c, lambda, v, r * c.normal_step, r * c.spectral_step);
        });
    if (change.impulse > par_.growth * previous_ && r_ > par_.r_min) {
      state_.lambda = lambda_;
      state_.w = w_;
      r_ = std::max(par_.r_min, par_.nu * r_);
      return change;
    }
    previous_ = change.impulse;
    if (++accepted_ % 10 == 0) r_ = std::min(1.0, 1.1 * r_);
    return change;
  }

  ProxParameters par_;
  double r_ = 1;
  double previous_ = 0;  // change of lambda of the last accepted sweep
  int accepted_ = 0;
  GrowingVector lambda_, w_;
};

}  // namespace

SolverInfo prox_entry() {
  using P = ProxParameters;
  auto list = splitting_parameter_list<P>();
  list.insert(
      list.end(),
      {{"nu", "factor on the steps after a sweep that changed more than the one before", 0.01, 0.99, &P::nu},
       {"growth", "a sweep is taken back if it changes more than this times the one before", 1, 1e6, &P::growth},
       {"r_min", "smallest factor on the steps", 1e-6, 1, &P::r_min},
       {"block_joints", "solve joint blocks exactly instead of by their largest eigenvalue, 0 or 1", 0, 1,
        &P::block_joints}});
  return solver_entry<Prox>("prox", "Gauss-Seidel proximal iteration (SORprox) on the NCP with adapted steps", Law::ncp,
                            list);
}

}  // namespace sarrus
