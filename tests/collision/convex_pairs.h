// Random pairs of convex bodies at given distances, and what is expected of the distance algorithms there.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "collision/convex_oracles.h"
#include "effort.h"

namespace sarrus::oracle {

inline constexpr ShapeKind kKinds[] = {ShapeKind::capsule, ShapeKind::box, ShapeKind::cylinder, ShapeKind::ellipsoid,
                                       ShapeKind::hull};
inline constexpr double kTargets[] = {-10e-3, -1e-3, 0, 1e-3};

inline Quat turn(double angle, const Vec3& axis) { return Quat(Eigen::AngleAxisd(angle, axis)); }

// Random poses of all pairs of kinds at given distances.
template <typename Check>
void for_random_pairs(unsigned seed, int samples, double scale, Check&& check) {
  Random random(seed);
  samples = test::samples(samples);
  for (const ShapeKind kind_a : kKinds) {
    for (const ShapeKind kind_b : kKinds) {
      if (kind_b < kind_a) continue;
      for (const double target : kTargets) {
        for (int sample = 0; sample < samples; ++sample) {
          const Shape shape_a = scaled(random.shape(kind_a), scale);
          const Shape shape_b = scaled(random.shape(kind_b), scale);
          const Convex a = placed(shape_a, random.rotation(), scale * random.vector(1));
          Convex b = placed(shape_b, random.rotation(), a.p);
          if (!slide_along(a, b, random.direction(), scale * target)) continue;
          SCOPED_TRACE(testing::Message()
                       << name_of(kind_a) << "-" << name_of(kind_b) << " at " << target << ", " << sample);
          check(random, a, b);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

inline void expect_oracle(Random& random, const Convex& a, const Convex& b, double scale) {
  const ConvexDistance q = convex_distance(a, b, 2e-3 * scale, pair_tol(a, b));
  ASSERT_TRUE(q.near);
  const Separation truth = convex_separation(random, a, b);
  const double s = body_gap(a, b, q.n);
  const bool curved = is_curved(a) || is_curved(b);
  ASSERT_NEAR(q.d, s, 4e-15 * scale);
  ASSERT_LT(truth.d - q.d, (curved ? 1e-9 : 4e-15) * scale);
  ASSERT_GT(q.n.dot(truth.n), 0);
  ASSERT_TRUE(q.certified);
  // The point is where A reaches farthest; not more than that is promised for curved bodies.
  ASSERT_NEAR(q.n.dot(q.p_A), body_support(a, q.n), (curved ? 1e-6 : 1e-13) * scale);
}

}  // namespace sarrus::oracle
