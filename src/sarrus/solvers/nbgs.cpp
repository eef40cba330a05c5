#include "sarrus/solvers/nbgs.h"

#include "sarrus/solvers/splitting.h"

namespace sarrus {
namespace {

const ParameterList<SplittingParameters>& parameters() {
  static const auto list = splitting_parameter_list<SplittingParameters>();
  return list;
}

template <bool kExact>
class Nbgs final : public SplittingSolver {
 public:
  explicit Nbgs(const SplittingParameters& p) : SplittingSolver(Law::ncp, p) {}

 private:
  SweepChange sweep(double omega, bool backward) override {
    return state_.sweep({.omega = omega}, backward, [](const LocalContact& c, const Vec3& lambda, const Vec3& v) {
      const Vec3 b = v - c.G * lambda;
      return kExact ? solve_contact_ncp(c, b, lambda) : solve_contact_energy(c, b, 0.0);
    });
  }
};

}  // namespace

std::vector<ParameterInfo> nbgs_parameter_info() { return describe(parameters()); }

std::unique_ptr<Solver> make_nbgs(bool exact, const SolverParameters& given) {
  const SplittingParameters p = read_parameters(parameters(), given);
  if (exact) return std::make_unique<Nbgs<true>>(p);
  return std::make_unique<Nbgs<false>>(p);
}

}  // namespace sarrus
