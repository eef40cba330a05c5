// Per-contact bisection (docs/theory/solvers.md §2, §4.4; Hwangbo, Lee, Hutter 2018, "Per-contact iteration method for
// solving contact dynamics"; De Saxce variants by Tsounis et al.).
//
//   raisim        least energy E = lambda'G lambda / 2 + lambda'b on the slip curve; the fixed points of nbgs
//   raisim-ds     the same with s_n = mu |v_T| of the last velocity in E: fixed points obey Coulomb's law
//   raisim-ds-es  raisim-ds, ended early once the objective f = lambda'(D + R) lambda / 2 + lambda'v_f changes by less
//                 than epsilon_f tr M per sweep
//
// Relaxation omega <- (1 - gamma) omega_min + gamma omega, as in the original.
//
// Coulomb's law is a fixed point of raisim-ds, but not every fixed point is Coulomb's law: with phi the angle between
// v_T and -t, stationary energy says sin phi = (mu g'/g)(1 - cos phi), that is phi = 0 or tan(phi/2) = g / (mu g'). The
// second one occurs on hyperbolic slip curves. Therefore, if the unrelaxed change of lambda has not fallen by a tenth
// in 20 sweeps, or lambda has come to rest away from a solution, contacts are solved by the exact quartic from then on.
#include <limits>

#include "sarrus/solvers/splitting.h"

namespace sarrus {
namespace {

enum class RaisimVariant : std::uint8_t { plain, de_saxce, early_stop };

struct RaisimParameters : SplittingParameters {
  RaisimParameters() { gamma_omega = 0.99; }
  double epsilon_f = 1e-8;  // of the early stop
};

class Raisim final : public SplittingSolver {
 public:
  Raisim(RaisimVariant variant, const RaisimParameters& p)
      : SplittingSolver(Law::ncp, p), variant_(variant), epsilon_f_(p.epsilon_f) {}

 private:
  void begin(const ConstraintProblem& p) override {
    exact_ = false;
    smallest_ = std::numeric_limits<double>::infinity();
    waited_ = 0;
    total_mass_ = 0;
    for (std::size_t i = 0; i < p.node_size.size(); ++i) {
      const int n = p.node_size[i];
      for (int k = 0; k < n; ++k) total_mass_ += p.mass[static_cast<std::size_t>(p.mass_offset[i] + k * (n + 1))];
    }
  }

  SweepChange sweep(double omega, bool backward) override {
    omega_ = omega;
    const bool de_saxce_term = variant_ != RaisimVariant::plain;
    const bool exact = exact_;
    return state_.sweep({.omega = omega}, backward, [=](const LocalContact& c, const Vec3& lambda, const Vec3& v) {
      const Vec3 b = v - c.G * lambda;
      return exact ? solve_contact_ncp(c, b, lambda)
                   : bisect_contact_energy(c, b, de_saxce_term ? de_saxce(v, c.mu) : 0.0);
    });
  }

  bool finished(const SweepChange& change) override {
    constexpr int kSweeps = 20;
    constexpr double kDrop = 0.9;
    if (change.impulse < kDrop * smallest_ * omega_) {
      smallest_ = change.impulse / omega_;
      waited_ = 0;
    } else if (variant_ != RaisimVariant::plain && ++waited_ >= kSweeps) {
      exact_ = true;
    }
    return variant_ == RaisimVariant::early_stop && std::abs(change.energy) < epsilon_f_ * total_mass_;
  }

  bool recover() override {
    const bool more = variant_ != RaisimVariant::plain && !exact_;
    if (more) exact_ = true;
    return more;
  }

  double next_omega(double omega) const override {
    return (1 - common_.gamma_omega) * common_.omega_min + common_.gamma_omega * omega;
  }

  RaisimVariant variant_;
  double epsilon_f_;
  double total_mass_ = 0;
  double omega_ = 1;     // of the last sweep
  double smallest_ = 0;  // change of lambda, unrelaxed
  int waited_ = 0;       // sweeps since it fell
  bool exact_ = false;
};

SolverInfo entry(RaisimVariant variant, std::string_view id, std::string_view summary) {
  auto list = splitting_parameter_list<RaisimParameters>();
  if (variant == RaisimVariant::early_stop) {
    list.push_back({"epsilon_f", "stops when the objective changes by less than this times tr M", 0, 1,
                    &RaisimParameters::epsilon_f});
  }
  return solver_entry(id, summary, Law::ncp, list,
                      [variant](const RaisimParameters& p) { return std::make_unique<Raisim>(variant, p); });
}

}  // namespace

SolverInfo raisim_entry() {
  return entry(RaisimVariant::plain, "raisim",
               "Gauss-Seidel, least energy per contact by bisection; fixed points of nbgs");
}
SolverInfo raisim_ds_entry() {
  return entry(RaisimVariant::de_saxce, "raisim-ds", "raisim with the De Saxce term: NCP");
}
SolverInfo raisim_ds_es_entry() {
  return entry(RaisimVariant::early_stop, "raisim-ds-es", "raisim-ds, ended early when the objective stops changing");
}

}  // namespace sarrus
