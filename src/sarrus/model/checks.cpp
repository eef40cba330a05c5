#include "sarrus/model/checks.h"

#include <cmath>

namespace sarrus {

std::string label(std::string_view kind, const std::string& name, std::size_t index) {
  return name.empty() ? fmt::format("{} #{}", kind, index) : fmt::format("{} '{}'", kind, name);
}

void require_finite(const std::string& element, std::string_view what, double x) {
  if (!std::isfinite(x)) throw InputError(element, fmt::format("{} is {}; give a finite number", what, x));
}

void require_non_negative(const std::string& element, std::string_view what, double x) {
  if (!(x >= 0) || !std::isfinite(x)) {
    throw InputError(element, fmt::format("{} is {}; give a finite number >= 0", what, x));
  }
}

void require_positive(const std::string& element, std::string_view what, double x) {
  if (!(x > 0) || !std::isfinite(x)) {
    throw InputError(element, fmt::format("{} is {}; give a finite number > 0", what, x));
  }
}

void require_finite(const std::string& element, std::string_view what, const Vec3& x) {
  if (!x.allFinite()) {
    throw InputError(element, fmt::format("{} is ({}, {}, {}); give finite numbers", what, x[0], x[1], x[2]));
  }
}

void normalise(const std::string& element, std::string_view what, Quat& q) {
  const double n2 = q.squaredNorm();
  if (!std::isfinite(n2) || n2 < 1e-12) {
    throw InputError(element, fmt::format("{} is not a rotation; give a unit quaternion (w, x, y, z)", what));
  }
  if (std::abs(n2 - 1.0) > 1e-2) {
    throw InputError(element,
                     fmt::format("{} has norm {:.6g}; give a unit quaternion (w, x, y, z)", what, std::sqrt(n2)));
  }
  if (std::abs(n2 - 1.0) > 4e-15) q.normalize();
}

void normalise(const std::string& element, std::string_view what, Pose& X) {
  require_finite(element, fmt::format("{} position", what), X.p);
  normalise(element, fmt::format("{} orientation", what), X.q);
}

void require_body(const std::string& element, std::string_view what, int body, std::size_t count) {
  if (body < kWorld || body >= static_cast<int>(count)) {
    throw InputError(
        element, fmt::format("{} refers to body {}, but the model has {} bodies; use the index that add_body returned",
                             what, body, count));
  }
}

}  // namespace sarrus
