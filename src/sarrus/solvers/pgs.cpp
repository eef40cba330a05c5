// Projected Gauss-Seidel (docs/theory/solvers.md §3; Tsounis et al. Alg. 2, 3 and 5). G_k = D_kk + R_k; N s, m/s.
//
// pgs-ccp, pgs-ccp-ds: a projected gradient step per contact,
//   lambda_k <- P_K(lambda_k - r (sigma_k + s)),   r = min(3 / tr G_k, 1.5 / lambda_max(G_k))
// The printed step 3 / tr G_k alone diverges where one eigenvalue holds more than two thirds of the trace.
// s = 0 solves the convex relaxation (CCP), whose sliding contacts lift with v_N = mu |v_T|. With the De Saxce term of
// the last velocity, s = (0, 0, mu |sigma_T|), the fixed points are those of Coulomb's law (NCP).
//
// pgs-ncp: Coulomb's law, normal and tangential impulses one after the other,
//   lambda_N <- max(0, lambda_N - sigma_N / G_nn)
//   lambda_T <- P_disk(mu lambda_N)(lambda_T - r (sigma_T + G_Tn (change of lambda_N)))
// r = 1 / min(G_tt, G_oo) as printed only while that is below 1.5 / lambda_max(G_TT); else r = 1 / lambda_max(G_TT),
// since steps beyond 2 / lambda_max diverge.
#include "sarrus/solvers/splitting.h"

namespace sarrus {
namespace {

template <bool kDeSaxce>
class PgsCcp final : public SplittingSolver {
 public:
  explicit PgsCcp(const SplittingParameters& p) : SplittingSolver(kDeSaxce ? Law::ncp : Law::ccp, p) {}

 private:
  SweepChange sweep(double omega, bool backward) override {
    return state_.sweep({.omega = omega, .law = kDeSaxce ? Law::ncp : Law::ccp}, backward,
                        [](const LocalContact& c, const Vec3& lambda, const Vec3& v) {
                          return contact_step_ccp(c, lambda, v, kDeSaxce ? de_saxce(v, c.mu) : 0.0);
                        });
  }
};

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

SolverInfo pgs_ccp_entry() {
  return solver_entry<PgsCcp<false>>(
      "pgs-ccp", "Gauss-Seidel, projected gradient step per contact, on the convex relaxation (CCP)", Law::ccp,
      splitting_parameter_list<SplittingParameters>());
}
SolverInfo pgs_ccp_ds_entry() {
  return solver_entry<PgsCcp<true>>("pgs-ccp-ds", "the same with the De Saxce term: NCP", Law::ncp,
                                    splitting_parameter_list<SplittingParameters>());
}
SolverInfo pgs_ncp_entry() {
  return solver_entry<PgsNcp>("pgs-ncp", "Gauss-Seidel on the NCP, normal impulse and friction disk in turn", Law::ncp,
                              splitting_parameter_list<SplittingParameters>());
}

}  // namespace sarrus
