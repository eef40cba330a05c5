#include "sarrus/solvers/raisim.h"

#include <limits>

#include "sarrus/solvers/splitting.h"

namespace sarrus {
namespace {

struct RaisimParameters : SplittingParameters {
  RaisimParameters() { gamma_omega = 0.99; }
  double epsilon_f = 1e-8;  // of the early stop
};

const ParameterList<RaisimParameters>& parameters(RaisimVariant variant) {
  static const auto common = splitting_parameter_list<RaisimParameters>();
  static const auto early = [] {
    auto list = splitting_parameter_list<RaisimParameters>();
    list.push_back({"epsilon_f", "stops when the objective changes by less than this times tr M", 0, 1,
                    &RaisimParameters::epsilon_f});
    return list;
  }();
  return variant == RaisimVariant::early_stop ? early : common;
}

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
    constexpr int kPatience = 20;
    constexpr double kDrop = 0.9;
    if (change.impulse < kDrop * smallest_ * omega_) {
      smallest_ = change.impulse / omega_;
      waited_ = 0;
    } else if (variant_ != RaisimVariant::plain && ++waited_ >= kPatience) {
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

}  // namespace

std::vector<ParameterInfo> raisim_parameter_info(RaisimVariant variant) { return describe(parameters(variant)); }

std::unique_ptr<Solver> make_raisim(RaisimVariant variant, const SolverParameters& given) {
  return std::make_unique<Raisim>(variant, read_parameters(parameters(variant), given));
}

}  // namespace sarrus
