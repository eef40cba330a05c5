// Random stress of the convex distances (docs/theory/collision.md §8): poses at -10, -1, 0 and +1 mm against the
// oracles, for every pair kind and for bodies of 0.1 mm to 20 m. The environment variable SARRUS_STRESS_SAMPLES sets
// the number of poses per kind, distance and scale; each test prints a row of a table per distance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "collision/convex_pairs.h"
#include "effort.h"

namespace sarrus::convex_stress_test {
namespace {

using oracle::Random;
using oracle::Separation;

// A kind of shape; hulls by their number of points, 0 for 8 to 60.
struct Kind {
  ShapeKind kind;
  int points = 0;
};

struct Case {
  const char* name;
  Kind a, b;
};

std::ostream& operator<<(std::ostream& out, const Case& x) { return out << x.name; }

int samples() {
  const char* text = std::getenv("SARRUS_STRESS_SAMPLES");
  return text ? std::max(1, std::atoi(text)) : test::samples(40);
}

Shape random_shape(Random& random, const Kind& kind) {
  return kind.points > 0 ? random.hull(kind.points) : random.shape(kind.kind);
}

struct Worst {
  int samples = 0;
  double error = 0;    // |d - d*|
  double deficit = 0;  // d* - s(n)
  int misses = 0;
  int flips = 0;
  int uncertified = 0;
};

// Lengths in units of `scale`.
void check(Random& random, const Convex& a, const Convex& b, double scale, bool with_oracle, Worst& worst) {
  const double tol = oracle::pair_tol(a, b);
  const ConvexDistance q = convex_distance(a, b, 2e-3 * scale, tol);
  ++worst.samples;
  if (!q.near) {
    ++worst.misses;
    return;
  }
  if (!q.certified) ++worst.uncertified;
  const double s = oracle::body_gap(a, b, q.n);
  worst.error = std::max(worst.error, std::abs(q.d - s) / scale);
  if (!with_oracle) return;
  const Separation truth = oracle::convex_separation(random, a, b);
  const bool tied = q.n.dot(truth.n) < 0.9 && truth.d - s <= 0.1 * tol;  // equally deep, see convex_distance.h
  if (!tied) worst.error = std::max(worst.error, (truth.d - q.d) / scale);
  worst.deficit = std::max(worst.deficit, (truth.d - s) / scale);
  if (truth.d - s > 1e-5 * scale && q.n.dot(truth.n) < 0) ++worst.flips;
}

class ConvexStress : public testing::TestWithParam<Case> {};

TEST_P(ConvexStress, AgreesWithTheOracle) {
  SARRUS_FULL_SIZE_ONLY();
  constexpr int kShapes = 50;
  const Case& kinds = GetParam();
  const int oracle_every = kinds.b.points == 0 ? 1 : kinds.a.points < 1000 ? 50 : 400;  // all pairs of edges are many
  for (const double scale : {1.0, 1e-3, 30.0}) {
    const int count = scale == 1 ? samples() : std::max(1, samples() / 10);
    for (const double target : oracle::kTargets) {
      Random random(20);
      Worst worst;
      Shape shape_a;
      Shape shape_b;
      for (int sample = 0; sample < count; ++sample) {
        if (sample % std::max(1, count / kShapes) == 0) {
          shape_a = oracle::scaled(random_shape(random, kinds.a), scale);
          shape_b = oracle::scaled(random_shape(random, kinds.b), scale);
        }
        const Convex a = oracle::placed(shape_a, random.rotation(), scale * random.vector(1));
        Convex b = oracle::placed(shape_b, random.rotation(), a.p);
        if (!oracle::slide_along(a, b, random.direction(), scale * target)) continue;
        check(random, a, b, scale, sample % oracle_every == 0, worst);
      }
      std::printf("%-22s x%-5g %6.0f mm %7d poses  |d-d*| %.1e  d*-s(n) %.1e  misses %d  flips %d  uncertified %d\n",
                  kinds.name, scale, 1e3 * target, worst.samples, worst.error, worst.deficit, worst.misses, worst.flips,
                  worst.uncertified);
      std::fflush(stdout);
      const auto curved = [](const Kind& k) { return k.kind == ShapeKind::cylinder || k.kind == ShapeKind::ellipsoid; };
      EXPECT_EQ(worst.misses, 0);
      EXPECT_EQ(worst.flips, 0);
      EXPECT_LE(worst.error, curved(kinds.a) || curved(kinds.b) ? 1e-9 : 1e-13);
      EXPECT_LE(worst.deficit, 1e-6);
      EXPECT_LE(worst.uncertified, 1e-3 * worst.samples + 1);
    }
  }
}

constexpr Kind kSphere{ShapeKind::sphere};
constexpr Kind kCapsule{ShapeKind::capsule};
constexpr Kind kBox{ShapeKind::box};
constexpr Kind kCylinder{ShapeKind::cylinder};
constexpr Kind kEllipsoid{ShapeKind::ellipsoid};
constexpr Kind kHull{ShapeKind::hull};
constexpr Kind kHull200{ShapeKind::hull, 200};
constexpr Kind kHull1000{ShapeKind::hull, 1000};

INSTANTIATE_TEST_SUITE_P(
    Pairs, ConvexStress,
    testing::Values(Case{"capsule_capsule", kCapsule, kCapsule}, Case{"capsule_box", kCapsule, kBox},
                    Case{"capsule_cylinder", kCapsule, kCylinder}, Case{"capsule_ellipsoid", kCapsule, kEllipsoid},
                    Case{"capsule_hull", kCapsule, kHull}, Case{"box_box", kBox, kBox},
                    Case{"box_cylinder", kBox, kCylinder}, Case{"box_ellipsoid", kBox, kEllipsoid},
                    Case{"box_hull", kBox, kHull}, Case{"cylinder_cylinder", kCylinder, kCylinder},
                    Case{"cylinder_ellipsoid", kCylinder, kEllipsoid}, Case{"cylinder_hull", kCylinder, kHull},
                    Case{"ellipsoid_ellipsoid", kEllipsoid, kEllipsoid}, Case{"ellipsoid_hull", kEllipsoid, kHull},
                    Case{"hull_hull", kHull, kHull}, Case{"sphere_hull", kSphere, kHull},
                    Case{"capsule_hull200", kCapsule, kHull200}, Case{"box_hull200", kBox, kHull200},
                    Case{"cylinder_hull200", kCylinder, kHull200}, Case{"hull200_hull200", kHull200, kHull200},
                    Case{"box_hull1000", kBox, kHull1000}, Case{"hull1000_hull1000", kHull1000, kHull1000}),
    [](const testing::TestParamInfo<Case>& x) { return std::string(x.param.name); });

}  // namespace
}  // namespace sarrus::convex_stress_test
