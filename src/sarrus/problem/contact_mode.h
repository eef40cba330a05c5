// What the friction of a contact does, told from its impulse [t, o, n] and its cone (docs/theory/problem.md §2):
//   open      lambda_N = 0: it carries nothing
//   sticking  |lambda_T| < mu lambda_N: inside the cone, so that by Coulomb's law it does not slide
//   sliding   |lambda_T| = mu lambda_N: on the cone; without friction always
// Solvers reach the cone but for rounding: what is nearer to it than a millionth of mu lambda_N, or than `least` (N s),
// counts as on it, but nothing in its inner half. A normal impulse of at most `least` counts as none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "sarrus/math/cones.h"

namespace sarrus {

// `unknown`: of recordings without coefficients of friction.
enum class ContactMode : std::uint8_t { open, sticking, sliding, unknown };

inline std::string_view name_of(ContactMode mode) {
  constexpr std::string_view names[] = {"open", "sticking", "sliding", "unknown"};
  return names[static_cast<std::size_t>(mode)];
}

inline ContactMode contact_mode(const Vec3& lambda, double mu, double least = 0) {
  constexpr double kOnTheCone = 1e-6;
  if (lambda[2] <= least) return ContactMode::open;
  const double bound = mu * lambda[2];
  const double slack = std::min(std::max(kOnTheCone * bound, least), 0.5 * bound);
  return length2(lambda[0], lambda[1]) >= bound - slack ? ContactMode::sliding : ContactMode::sticking;
}

}  // namespace sarrus
