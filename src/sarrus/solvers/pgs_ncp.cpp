#include "sarrus/solvers/pgs_ncp.h"

#include "sarrus/solvers/splitting.h"

namespace sarrus {
namespace {

const ParameterList<SplittingParameters>& parameters() {
  static const auto list = splitting_parameter_list<SplittingParameters>();
  return list;
}

class PgsNcp final : public SplittingSolver {
 public:
  explicit PgsNcp(const SplittingParameters& p) : SplittingSolver(Law::ncp, p) {}

 private:
  SweepChange sweep(double omega, bool backward) override {
    return state_.sweep({.omega = omega}, backward, [](const LocalContact& c, const Vec3& lambda, const Vec3& v) {
      return contact_step_disk(c, lambda, v, c.normal_step, c.tangent_step);
    });
  }
};

}  // namespace

std::vector<ParameterInfo> pgs_ncp_parameter_info() { return describe(parameters()); }

std::unique_ptr<Solver> make_pgs_ncp(const SolverParameters& given) {
  return std::make_unique<PgsNcp>(read_parameters(parameters(), given));
}

}  // namespace sarrus
