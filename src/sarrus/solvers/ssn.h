// Semismooth Newton method on the natural map (docs/theory/newton.md §3). Polishes a point near the solution in a few
// steps; from far away it need not converge.
//
//   F(lambda) = lambda - P_K(y) = 0,   y = lambda - r v^,   v^ = sigma + Gamma(sigma),   d v^ = (1 + N) d sigma
//   N = e_n (mu sigma_T / |sigma_T|)' on contacts, else 0
//   Newton:  [1 - Pi + r Pi ((1 + N)(D + R) + delta 1)] dlambda = -F,   Pi in the derivative of P_K at y
// Eliminated per constraint, with A du = J' dlambda:
//   X = 1 - Pi + r Pi ((1 + N) R + delta 1),   G = X^-1 r Pi (1 + N),   h = X^-1 F
//   H = A + J' G J,   du = -H^-1 J' h,   dlambda = -h - G J du
// Pi of a contact: 1 where y is in the cone (stick), 0 where it is in the polar cone (open), else (slip)
//   Pi = e1 e1' + kappa tau tau',  t = y_T / |y_T|,  m = sqrt(1 + mu^2),  e1 = (mu t, 1) / m,  tau perpendicular to t,
//   kappa = mu p_N / |y_T|,  p_N = (mu |y_T| + y_N) / m^2
// delta is a proximal shift of D (whose diagonal is 1): it makes redundant rows regular and costs a contraction of
// delta / (lambda_min + delta) per step. A small one is right when the zones of all contacts are known. When they are
// not, rows that contradict each other by e give steps of e / delta, and a small shift throws the iteration far away:
// real piles have many contacts with nearly no load, whose gaps do not fit the rigid bodies they belong to. Hence the
// adaptive variant: a step that changes no zone shrinks delta; one that does and raises |F| multiplies it by 10.
// Shrinking slowly when |F| does not fall helps some problems (impulses then drift along redundant directions, and a
// long step crosses many zones at once) and hurts others; attempts alternate.
// Line search: nonmonotone over 4 values of |F|; if no trial is accepted the one with the smallest |F| is taken even
// though it rose, which often finds the active set.
#pragma once

#include <vector>

#include "sarrus/solvers/island_solver.h"
#include "sarrus/solvers/solver.h"

namespace sarrus {

struct SsnOptions {
  double r = 1.0;
  double delta = 1e-8;
  int steps = 15;
  int patience = 4;       // steps without a smaller error before giving up
  bool adaptive = false;  // delta moves between 1e-11 and 1e-3
  double shrink = 0.1;    // of delta when no zone changed and |F| did not halve
};

class Ssn {
 public:
  // Improves lambda; on return it holds the iterate of this run with the smallest error, which is returned.
  double run(NcpSearch& search, const SsnOptions& options, GrowingVector& lambda);

  // One attempt of the cascade: a quick pass with a small delta, then the adaptive one from where it began. The step r
  // of the quick passes cycles through {1, 10, 0.1}, the shrinking alternates. True if converged.
  bool attempt(NcpSearch& search, GrowingVector& lambda, int steps);
  // The same from a point that is left unchanged.
  bool attempt_from(NcpSearch& search, const GrowingVector& lambda, int steps);
  // One more step from an answer that meets the goal; the better of the two stays.
  void refine(NcpSearch& search);

  // Local blocks at (lambda, sigma), for tests: G and h by constraint.
  struct Local {
    double G[9];
    Vec3 h;
  };
  static Vec3 contact_map(const Vec3& lambda, const Vec3& sigma, double mu, double r);  // F of one contact
  static Local contact_block(const Vec3& lambda, const Vec3& sigma, const Vec3& R, double mu, double r, double delta);

 private:
  friend struct SsnProbe;  // tests compare single steps with dense algebra

  enum class Zone : std::uint8_t { open, stick, slip };  // scalar rows: at a bound, between, at the other bound
  struct Iterate {
    GrowingVector lambda, u, sigma, F;
    std::vector<Zone> zones;  // by scalar row, then by contact
    double norm = 0;          // |F|
    double size = 0;          // S
  };

  void resize(const NcpProblem& problem);
  void evaluate(const NcpProblem& problem, double r, Iterate& x);
  bool direction(NcpSearch& search, const SsnOptions& options, const Iterate& x);
  bool linearise(const NcpProblem& problem, const SsnOptions& options, const Iterate& x);
  void line_search(const NcpProblem& problem, double r, double reference);
  void adapt(double norm, SsnOptions& options) const;

  Iterate x_, trial_, best_trial_;
  GrowingVector g_, h_, step_, scratch_, w_, run_best_, point_, start_;
  std::vector<double> cones_;
  std::vector<Zone> zones_;  // before the step
};

}  // namespace sarrus
