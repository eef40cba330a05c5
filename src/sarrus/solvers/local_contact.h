// Exact and simple solutions of one contact with everything else held fixed (docs/theory/solvers.md §3, §4): the local
// steps of the projective splitting family (Tsounis et al., Alg. 2 to 4; Hwangbo et al. 2018 for the bisection).
//
//   v = G lambda + b,   |lambda_T| <= mu lambda_N,   rows [t, o, n]
//
// G (3x3, symmetric, 1/kg) is the diagonal block of D + R, b (m/s) the contact velocity without the contact's own
// impulse, lambda in N s. For b_n < 0 and no sticking solution the impulse lies on the cone where v_N = 0. With
// t = (cos theta, sin theta), g(theta) = G_nn + mu G_Tn.t:
//
//   lambda(theta) = lambda_N (mu t, 1),   lambda_N = -b_n / g,   valid where g > 0
//
// an ellipse if mu |G_Tn| < G_nn, a branch of a hyperbola otherwise. Two laws pick theta:
//   NCP      v_T is antiparallel to t (Coulomb)
//   energy   E = lambda'G lambda / 2 + lambda'(b + s), s = (0, 0, s_n), is smallest on the curve (NBGS, RAISIM)
// Both lead to A cos 2theta + B sin 2theta + C cos theta + E sin theta + F = 0. They differ unless G_Tn = 0 or s_n is
// the De Saxce term mu |v_T| of the solution itself.
#pragma once

#include "sarrus/math/types.h"

namespace sarrus {

// What one contact keeps during a solve.
struct LocalContact {
  void set(const Mat3& matrix, double friction);
  // The same without the step lengths, which exact solutions do not use.
  void set_exact(const Mat3& matrix, double friction);
  // -G^-1 b. A singular G is shifted by 1e-12 tr G; one step of refinement removes the shift where b is in its range.
  Vec3 stick(const Vec3& b) const;

  Mat3 G = Mat3::Zero();
  double mu = 0;
  Mat3 factor = Mat3::Zero();  // lower Cholesky factor of G, shifted if need be
  double ccp_step = 0;         // 3 / tr G, at most 1.5 / lambda_max(G): beyond 2 / lambda_max the step diverges
  double normal_step = 0;      // 1 / G_nn
  double spectral_step = 0;    // 1 / lambda_max(G_TT): cannot overshoot
  double tangent_step = 0;     // 1 / min(G_tt, G_oo) where that is below 1.5 spectral steps, else the spectral one
};

// Coulomb's law to rounding. Large friction with coupled directions allows several slipping solutions: the one nearest
// to `near` is taken, or sweeps would jump between them. Where no solution exists (b_n < 0 and G_nn = 0) the answer is
// zero.
Vec3 solve_contact_ncp(const LocalContact& c, const Vec3& b, const Vec3& near);
// Smallest energy on the slip curve by the roots of the quartic; open and sticking contacts as for the NCP.
Vec3 solve_contact_energy(const LocalContact& c, const Vec3& b, double s_n);
// The same by RAISIM's bisection. It needs the plane's minimiser of E outside of the cone, which holds for s_n = 0 and
// near the solution for De Saxce terms; elsewhere the quartic answers.
Vec3 bisect_contact_energy(const LocalContact& c, const Vec3& b, double s_n);

// P_K(lambda - ccp_step (v + s)): one projected gradient step.
Vec3 contact_step_ccp(const LocalContact& c, const Vec3& lambda, const Vec3& v, double s_n);
// Normal impulse first, then the tangential one in the disk of radius mu lambda_N. `normal` and `tangent` are step
// lengths (kg).
Vec3 contact_step_disk(const LocalContact& c, const Vec3& lambda, const Vec3& v, double normal, double tangent);

// --- roots of the slip curve's equation ------------------------------------------------------------------
// All real roots of a trigonometric polynomial of degree two (docs/theory/solvers.md §4.3):
//
//   f(theta) = cos2 cos 2theta + sin2 sin 2theta + cos1 cos theta + sin1 sin theta + constant = 0
//
// tau = tan(theta / 2) makes it a quartic. The circle is cut into two halves, |tau| <= 1 around theta = 0 and around
// theta = pi, so that tau stays bounded and no leading coefficient is divided by. In each half the roots of the second
// derivative (a quadratic) separate those of the first, and these separate the roots of the quartic: every change of
// sign is found, none is guessed by sampling. Double roots, where rounding may hide the change of sign, are caught as
// critical points with a value of nearly zero. Nothing is allocated.

struct TrigonometricQuartic {
  double cos2 = 0;
  double sin2 = 0;
  double cos1 = 0;
  double sin1 = 0;
  double constant = 0;
};

// Directions (cos theta, sin theta) of the roots. A root on the border of the halves, or a nearly double one, may be
// listed twice.
struct TrigonometricRoots {
  static constexpr int kMost = 16;
  int count = 0;
  double cosine[kMost];
  double sine[kMost];
};

void find_roots(const TrigonometricQuartic& f, TrigonometricRoots& roots);

// Newton steps on theta from the direction (cosine, sine), as long as they lower |f| and turn by less than
// `largest_turn` (rad).
void refine_root(const TrigonometricQuartic& f, int steps, double largest_turn, double& cosine, double& sine);

}  // namespace sarrus
