#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sarrus/geometry/hull_internal.h"
#include "sarrus/geometry/surface_tools.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// Thinner sets are errors: at this ratio of length to thickness a contact tolerance of 5e-6 of the length, the one of
// docs/theory/collision.md, already exceeds the thickness.
constexpr double kMaxAspect = 1e6;
// Faces are one if their corners stay this close to a plane, relative to the diagonal. It covers the rounding of
// coordinates to single precision, which mesh files use, and is 1/25 of the contact tolerance.
constexpr double kFlatness = 2e-7;
// ... but never more than this part of the thickness: plates and needles keep their shape.
constexpr double kFlatnessOfThickness = 1e-4;
// The thickness must stand out from the round-off of the coordinates by this factor.
constexpr double kThicknessOverRoundOff = 1e4;

// Lengths of the point set along its long direction, across that, and across both: within small factors the largest
// distances possible.
struct Extents {
  double length = 0;
  double width = 0;
  double thickness = 0;
};

template <class Distance>
Vec3 farthest(std::span<const Vec3> points, double& best, const Distance& distance) {
  Vec3 at_best = points.front();
  best = -1;
  for (const Vec3& x : points) {
    const double d = distance(x);
    if (d > best) {
      best = d;
      at_best = x;
    }
  }
  return at_best;
}

Extents extents_of(std::span<const Vec3> points) {
  Extents e;
  double ignored = 0;
  const Vec3 a = farthest(points, ignored, [](const Vec3& x) { return x.norm(); });
  const Vec3 b = farthest(points, e.length, [&](const Vec3& x) { return (x - a).norm(); });
  if (e.length == 0) return e;
  const Vec3 u = (b - a) / e.length;
  const Vec3 c = farthest(points, e.width, [&](const Vec3& x) { return (x - a).cross(u).norm(); });
  if (e.width == 0) return e;
  const Vec3 n = u.cross(c - a).normalized();
  farthest(points, e.thickness, [&](const Vec3& x) { return std::abs(n.dot(x - a)); });
  return e;
}

// Indices of the points without exact repeats (the first of each), ascending.
std::vector<int> distinct(std::span<const Vec3> points) {
  std::vector<int> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [&](int a, int b) {
    const Vec3& x = points[at(a)];
    const Vec3& y = points[at(b)];
    if (x.x() != y.x()) return x.x() < y.x();
    if (x.y() != y.y()) return x.y() < y.y();
    return x.z() != y.z() ? x.z() < y.z() : a < b;
  };
  std::sort(order.begin(), order.end(), less);
  order.erase(std::unique(order.begin(), order.end(), [&](int a, int b) { return points[at(a)] == points[at(b)]; }),
              order.end());
  std::sort(order.begin(), order.end());
  return order;
}

template <class T>
std::vector<T> gather(std::span<const T> from, const std::vector<int>& ids) {
  std::vector<T> out;
  out.reserve(ids.size());
  for (const int k : ids) out.push_back(from[at(k)]);
  return out;
}

// Positions that the faces use, ascending.
std::vector<int> used_by(const Polygons& faces) {
  std::vector<int> used = faces.corner;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

// Positions without those that are within `distance` of an earlier one, ascending.
std::vector<int> welded(std::span<const Vec3> x, double distance) {
  const Vec3 corner = Vec3::Constant(-2);  // of the scaled points
  const std::vector<int> first = weld_points(x, std::vector<bool>(x.size(), true), corner, distance);
  std::vector<int> kept;
  for (int k = 0; k < static_cast<int>(x.size()); ++k) {
    if (first[at(k)] == k) kept.push_back(k);
  }
  return kept;
}

void renumber(Polygons& faces, const std::vector<int>& used) {
  for (int& v : faces.corner) v = static_cast<int>(std::lower_bound(used.begin(), used.end(), v) - used.begin());
}

class Builder {
 public:
  Builder(std::span<const Vec3> points, const std::string& element) : points_(points), element_(element) {}

  std::shared_ptr<const ConvexHull> build() {
    check_input();
    centre_and_scale();
    check_extents();
    // Merged facets first. Where round-off defeats them, facets that Qhull cuts into triangles, then the facets of
    // points that it has shifted at random (by a fixed seed); less merging of ours where that went wrong.
    for (const char* options : {"", "Qt", "QJ QR-7919"}) {
      for (const double shrink : {1.0, 1e-2, 1e-4}) {
        const double tolerance = std::max(shrink * flatness_, noise_);
        if (auto hull = attempt(options, tolerance)) return hull;
      }
    }
    throw InputError(element_,
                     "round-off defeats the convex hull of these points; merge points that nearly coincide, or make "
                     "the shape thicker");
  }

 private:
  void check_input() const {
    if (points_.size() < 4) {
      throw InputError(element_,
                       fmt::format("a hull of {} points; give at least four that span a volume", points_.size()));
    }
    if (points_.size() > at(kMaxHullInputPoints)) {
      throw InputError(
          element_, fmt::format("a hull of {} points; simplify it to at most {}", points_.size(), kMaxHullInputPoints));
    }
    check_coordinates(points_, element_);
  }

  // Centred on the box, so that Qhull's round-off is that of the shape and not of its place, and scaled by a power of
  // two, which costs no digits.
  void centre_and_scale() {
    Aabb box = Aabb::nothing();
    double farthest_coordinate = 0;
    for (const Vec3& x : points_) {
      box.add(x);
      farthest_coordinate = std::max(farthest_coordinate, x.cwiseAbs().maxCoeff());
    }
    const double diagonal = box.diagonal();
    if (diagonal < kMinShapeSize) {
      throw InputError(element_, fmt::format("the points span {} m; check the unit of length", diagonal));
    }
    scale_ = std::ldexp(1.0, -std::ilogb(diagonal));
    ids_ = distinct(points_);
    scaled_.reserve(ids_.size());
    for (const int k : ids_) scaled_.push_back(scale_ * (points_[at(k)] - box.centre()));
    noise_ = 8 * std::numeric_limits<double>::epsilon() * scale_ * (farthest_coordinate + diagonal);
  }

  void check_extents() {
    const Extents e = extents_of(scaled_);
    const double least = std::max(e.length / kMaxAspect, kThicknessOverRoundOff / 8 * noise_);
    if (e.width < least) {
      throw InputError(element_, fmt::format("the points lie on a line (length {:.3g} m, width {:.3g} m); give points "
                                             "that span a volume",
                                             e.length / scale_, e.width / scale_));
    }
    if (e.thickness < least) {
      throw InputError(element_, fmt::format("the points lie in a plane (length {:.3g} m, thickness {:.3g} m); give "
                                             "points that span a volume, or use a thin box",
                                             e.length / scale_, e.thickness / scale_));
    }
    flatness_ = std::min(kFlatness * e.length, kFlatnessOfThickness * e.thickness);
  }

  // Welding and merging may drop vertices. The edges that support() climbs must then be those of the remaining ones, so
  // the hull is built anew until nothing is dropped.
  std::shared_ptr<const ConvexHull> attempt(const char* options, double tolerance) const {
    constexpr int max_rounds = 8;
    std::vector<int> ids = ids_;
    std::vector<Vec3> x = scaled_;
    for (int round = 0; round < max_rounds; ++round) {
      Polygons facets;
      Polygons faces;
      double outside = 0;
      if (!qhull_facets(x, options, facets, outside) || outside > tolerance) return nullptr;
      const std::vector<int> hull = used_by(facets);
      check_count(hull.size());
      x = gather<Vec3>(x, hull);
      ids = gather<int>(ids, hull);
      renumber(facets, hull);
      std::vector<int> kept = welded(x, tolerance);
      if (kept.size() == hull.size()) {
        if (!merge_coplanar(x, facets, tolerance, faces)) return nullptr;
        kept = used_by(faces);
      }
      if (kept.size() == hull.size()) return finish(ids, faces, facets, tolerance);
      x = gather<Vec3>(x, kept);
      ids = gather<int>(ids, kept);
    }
    return nullptr;
  }

  void check_count(std::size_t vertices) const {
    if (vertices <= at(kMaxHullVertices)) return;
    throw InputError(element_,
                     fmt::format("the hull has {} vertices; simplify it to at most {}", vertices, kMaxHullVertices));
  }

  std::shared_ptr<const ConvexHull> finish(const std::vector<int>& ids, const Polygons& faces, const Polygons& links,
                                           double tolerance) const {
    return HullFiller::fill(gather<Vec3>(points_, ids), faces, links, 4 * tolerance / scale_);
  }

  std::span<const Vec3> points_;
  const std::string& element_;
  std::vector<int> ids_;      // of the distinct points
  std::vector<Vec3> scaled_;  // their positions for Qhull
  double scale_ = 1;
  double noise_ = 0;     // round-off of the coordinates, scaled
  double flatness_ = 0;  // scaled
};

}  // namespace

std::shared_ptr<const ConvexHull> ConvexHull::build(std::span<const Vec3> points, const std::string& element) {
  // Merging may leave a hull whose own vertices merge once more. Repeated until they do not, so that a saved hull is
  // read back as the same hull.
  std::shared_ptr<const ConvexHull> hull = Builder(points, element).build();
  for (int round = 0; round < 8; ++round) {
    std::shared_ptr<const ConvexHull> again = Builder(hull->vertices(), element).build();
    const bool same = std::ranges::equal(hull->vertices(), again->vertices());
    hull = std::move(again);
    if (same) break;
  }
  return hull;
}

}  // namespace sarrus
