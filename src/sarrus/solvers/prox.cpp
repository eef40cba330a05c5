#include "sarrus/solvers/prox.h"

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

const ParameterList<ProxParameters>& parameters() {
  static const auto list = [] {
    using P = ProxParameters;
    auto l = splitting_parameter_list<P>();
    l.push_back({"nu", "factor on the steps after a sweep that changed more than the one before", 0.01, 0.99, &P::nu});
    l.push_back(
        {"growth", "a sweep is taken back if it changes more than this times the one before", 1, 1e6, &P::growth});
    l.push_back({"r_min", "smallest factor on the steps", 1e-6, 1, &P::r_min});
    l.push_back({"block_joints", "solve joint blocks exactly instead of by their largest eigenvalue, 0 or 1", 0, 1,
                 &P::block_joints});
    return l;
  }();
  return list;
}

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

std::vector<ParameterInfo> prox_parameter_info() { return describe(parameters()); }

std::unique_ptr<Solver> make_prox(const SolverParameters& given) {
  return std::make_unique<Prox>(read_parameters(parameters(), given));
}

}  // namespace sarrus
