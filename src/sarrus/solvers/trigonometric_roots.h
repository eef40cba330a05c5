// All real roots of a trigonometric polynomial of degree two (spec/solvers.md §3.3):
//
//   f(theta) = cos2 cos 2theta + sin2 sin 2theta + cos1 cos theta + sin1 sin theta + constant = 0
//
// tau = tan(theta / 2) makes it a quartic. The circle is cut into two halves, |tau| <= 1 around theta = 0 and around
// theta = pi, so that tau stays bounded and no leading coefficient is divided by. In each half the roots of the second
// derivative (a quadratic) separate those of the first, and these separate the roots of the quartic: every change of
// sign is found, none is guessed by sampling. Double roots, where rounding may hide the change of sign, are caught as
// critical points with a value of nearly zero. Nothing is allocated.
#pragma once

namespace sarrus {

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
