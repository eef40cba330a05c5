// Nonsmooth block Gauss-Seidel: every contact is solved exactly in its turn (docs/theory/solvers.md §4;
// Tsounis et al. Alg. 4; equations in local_contact.h).
//
//   nbgs        least energy on the part of the cone without normal velocity. This is Coulomb's law only where normal
//               and tangential directions are uncoupled (G_Tn = 0); elsewhere it is not maximally dissipative
//   nbgs-exact  Coulomb's law itself, by the roots of its own quartic
#include "sarrus/solvers/splitting.h"

namespace sarrus {
namespace {

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

SolverInfo nbgs_entry() {
  return solver_entry<Nbgs<false>>(
      "nbgs", "Gauss-Seidel, least energy per contact by a quartic; not the NCP where directions couple", Law::ncp,
      splitting_parameter_list<SplittingParameters>());
}
SolverInfo nbgs_exact_entry() {
  return solver_entry<Nbgs<true>>("nbgs-exact", "Gauss-Seidel, the NCP of each contact solved exactly by a quartic",
                                  Law::ncp, splitting_parameter_list<SplittingParameters>());
}

}  // namespace sarrus
