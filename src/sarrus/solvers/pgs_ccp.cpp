#include "sarrus/solvers/pgs_ccp.h"

#include "sarrus/solvers/splitting.h"

namespace sarrus {
namespace {

const ParameterList<SplittingParameters>& parameters() {
  static const auto list = splitting_parameter_list<SplittingParameters>();
  return list;
}

template <bool kDeSaxce>
class PgsCcp final : public SplittingSolver {
 public:
  explicit PgsCcp(const SplittingParameters& p) : SplittingSolver(kDeSaxce ? Law::ncp : Law::ccp, p) {}

 private:
  SweepChange sweep(double omega, bool backward) override {
    return state_.sweep({.omega = omega, .ccp = !kDeSaxce}, backward,
                        [](const LocalContact& c, const Vec3& lambda, const Vec3& v) {
                          return contact_step_ccp(c, lambda, v, kDeSaxce ? de_saxce(v, c.mu) : 0.0);
                        });
  }
};

}  // namespace

std::vector<ParameterInfo> pgs_ccp_parameter_info() { return describe(parameters()); }

std::unique_ptr<Solver> make_pgs_ccp(bool with_de_saxce, const SolverParameters& given) {
  const SplittingParameters p = read_parameters(parameters(), given);
  if (with_de_saxce) return std::make_unique<PgsCcp<true>>(p);
  return std::make_unique<PgsCcp<false>>(p);
}

}  // namespace sarrus
