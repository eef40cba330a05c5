#include "sarrus/recording/svg_drawing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "sarrus/geometry/aabb.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/tools.h"

namespace sarrus::svg {
namespace {

constexpr int kCirclePoints = 96;    // the polygon is off by 0.05 % of the radius
constexpr int kProfilePoints = 400;  // along the width of a ground
constexpr double kFlatness = 1e-4;   // of the width: points of a profile that a line misses by less are left out

double cross(const Vec2& o, const Vec2& a, const Vec2& b) {
  return (a.x() - o.x()) * (b.y() - o.y()) - (a.y() - o.y()) * (b.x() - o.x());
}

// Leaves out the corners of a convex polygon that lie on the line between the corners beside them.
std::vector<Vec2> without_straight_corners(std::vector<Vec2> hull, double tolerance) {
  for (std::size_t i = 0; i < hull.size() && hull.size() > 2;) {
    const Vec2& a = hull[(i + hull.size() - 1) % hull.size()];
    const Vec2& b = hull[(i + 1) % hull.size()];
    const double length = (b - a).norm();
    const double height = length > 0 ? std::abs(cross(a, b, hull[i])) / length : (hull[i] - a).norm();
    if (height > tolerance) {
      ++i;
    } else {
      hull.erase(hull.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return hull;
}

Outline polygon_around(std::vector<Vec2> points) { return {convex_hull(std::move(points)), 0}; }

// The hull of the circles at both ends.
Outline cylinder_outline(const Shape& shape, const Pose& X, const View& view) {
  std::vector<Vec2> points;
  for (int i = 0; i < kCirclePoints; ++i) {
    const double a = 2 * std::numbers::pi * i / kCirclePoints;
    const Vec3 rim(shape.size[0] * std::cos(a), shape.size[0] * std::sin(a), shape.size[1]);
    points.push_back(view.project(X * rim));
    points.push_back(view.project(X * Vec3(rim.x(), rim.y(), -rim.z())));
  }
  return polygon_around(std::move(points));
}

// An ellipsoid is the unit ball under A = R diag(e); its shadow is the ellipse P A u over unit vectors u, P the
// projection: support points (P A)(P A)^T n / |(P A)^T n|.
Outline ellipsoid_outline(const Shape& shape, const Pose& X, const View& view) {
  const Mat3 A = X.R() * shape.size.asDiagonal();
  Eigen::Matrix<double, 2, 3> PA;
  PA << view.right.transpose() * A, view.up.transpose() * A;
  const Vec2 centre = view.project(X.p);
  std::vector<Vec2> points;
  for (int i = 0; i < kCirclePoints; ++i) {
    const double a = 2 * std::numbers::pi * i / kCirclePoints;
    const Vec3 u = PA.transpose() * Vec2(std::cos(a), std::sin(a));
    points.emplace_back(centre + PA * u.normalized());
  }
  return polygon_around(std::move(points));
}

template <class Points>
Outline hull_outline(const Points& points, const Pose& X, const View& view) {
  std::vector<Vec2> projected;
  projected.reserve(points.size());
  for (const Vec3& p : points) projected.push_back(view.project(X * p));
  return polygon_around(std::move(projected));
}

Outline corners_outline(const Shape& shape, const Pose& X, const View& view) {
  return hull_outline(extent_points(shape, X), {}, view);
}

// Highest and lowest points over equal steps of x, from the edges of triangles.
class ProfileBuilder {
 public:
  ProfileBuilder(double left, double right) : left_(left), step_((right - left) / (kProfilePoints - 1)) {}

  void add_edge(Vec2 a, Vec2 b) {
    if (a.x() > b.x()) std::swap(a, b);
    add_near(a);
    add_near(b);
    const int first = std::max(0, static_cast<int>(std::ceil((a.x() - left_) / step_)));
    for (int i = first; i < kProfilePoints && x(i) <= b.x(); ++i) {
      const double width = b.x() - a.x();
      add(i, width > 0 ? a.y() + (b.y() - a.y()) * (x(i) - a.x()) / width : a.y());
    }
  }

  // Runs of steps with something in them.
  template <class F>
  void each_run(F f) const {
    for (int i = 0; i < kProfilePoints;) {
      std::vector<Vec2> top;
      std::vector<Vec2> bottom;
      for (; i < kProfilePoints && hi_[at(i)] >= lo_[at(i)]; ++i) {
        top.emplace_back(x(i), hi_[at(i)]);
        bottom.emplace_back(x(i), lo_[at(i)]);
      }
      if (top.size() > 1) f(without_flat_points(top), without_flat_points(bottom));
      while (i < kProfilePoints && hi_[at(i)] < lo_[at(i)]) ++i;
      if (top.size() == 1) ++i;
    }
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  double x(int i) const { return left_ + i * step_; }
  void add(int i, double y) {
    lo_[at(i)] = std::min(lo_[at(i)], y);
    hi_[at(i)] = std::max(hi_[at(i)], y);
  }
  // Peaks between two steps must not get lost.
  void add_near(const Vec2& p) {
    add(std::clamp(static_cast<int>(std::lround((p.x() - left_) / step_)), 0, kProfilePoints - 1), p.y());
  }
  std::vector<Vec2> without_flat_points(const std::vector<Vec2>& points) const {
    const double width = step_ * kProfilePoints;
    std::vector<Vec2> kept = {points.front()};
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
      const Vec2& a = kept.back();
      const Vec2& b = points[i + 1];
      if (std::abs(cross(a, b, points[i])) > kFlatness * width * (b - a).norm()) kept.push_back(points[i]);
    }
    kept.push_back(points.back());
    return kept;
  }

  double left_;
  double step_;
  std::vector<double> lo_ = std::vector<double>(kProfilePoints, kInf);
  std::vector<double> hi_ = std::vector<double>(kProfilePoints, -kInf);
};

// Profile of a triangulated surface along the direction `normal` of the view plane.
template <class Surface>
std::vector<Ground> profile(const Surface& surface, int vertex_count, const Pose& X, const View& view,
                            const Vec2& normal, bool with_bottom) {
  // Turned so that the normal is up.
  const Vec2 along(normal.y(), -normal.x());
  const auto turned = [&](int v) {
    const Vec2 p = view.project(X * surface.vertex(v));
    return Vec2(along.dot(p), normal.dot(p));
  };
  Box2 box;
  for (int v = 0; v < vertex_count; ++v) box.extend(turned(v));
  if (!(box.sizes().x() > 1e-6 * box.sizes().y())) return {};
  ProfileBuilder builder(box.min().x(), box.max().x());
  for (int t = 0; t < surface.triangle_count(); ++t) {
    const auto& corner = surface.triangle(t);
    const Vec2 p[3] = {turned(corner[0]), turned(corner[1]), turned(corner[2])};
    for (int k = 0; k < 3; ++k) builder.add_edge(p[k], p[(k + 1) % 3]);
  }
  std::vector<Ground> result;
  builder.each_run([&](std::vector<Vec2> top, std::vector<Vec2> bottom) {
    const auto turn_back = [&](std::vector<Vec2>& points) {
      for (Vec2& p : points) p = (p.x() * along + p.y() * normal).eval();
    };
    turn_back(top);
    turn_back(bottom);
    if (!with_bottom) bottom.clear();
    result.push_back({std::move(top), std::move(bottom), normal});
  });
  return result;
}

}  // namespace

std::vector<Vec2> convex_hull(std::vector<Vec2> points) {
  std::sort(points.begin(), points.end(),
            [](const Vec2& a, const Vec2& b) { return a.x() < b.x() || (a.x() == b.x() && a.y() < b.y()); });
  double size = 0;
  for (const Vec2& p : points) size = std::max(size, (p - points.front()).norm());
  const double tiny = 1e-9 * size;
  points.erase(std::unique(points.begin(), points.end(),
                           [tiny](const Vec2& a, const Vec2& b) { return (a - b).norm() <= tiny; }),
               points.end());
  if (points.size() < 3) return points;
  std::vector<Vec2> hull;
  // Lower chain left to right, then upper chain back (Andrew). No tolerance here: of points that lie above each other
  // but for rounding, as on the end of a cylinder seen from the side, it would drop the corner that is sorted first.
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t start = hull.size();
    for (const Vec2& p : points) {
      while (hull.size() >= start + 2 && cross(hull[hull.size() - 2], hull.back(), p) <= 0) hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return without_straight_corners(std::move(hull), tiny);
}

std::vector<Vec3> extent_points(const Shape& shape, const Pose& X_WG) {
  std::vector<Vec3> points;
  const Vec3& s = shape.size;
  if (shape.kind == ShapeKind::plane) return points;
  if (shape.kind == ShapeKind::sphere) {
    for (int axis = 0; axis < 3; ++axis) {
      points.emplace_back(X_WG.p + s[0] * Vec3::Unit(axis));
      points.emplace_back(X_WG.p - s[0] * Vec3::Unit(axis));
    }
  } else if (shape.kind == ShapeKind::capsule) {
    points = {X_WG * Vec3(0, 0, s[0] + s[1]), X_WG * Vec3(0, 0, -s[0] - s[1])};
  } else {
    const Aabb box = shape_box(shape);
    for (int i = 0; i < 8; ++i) {
      const auto side = [&](int axis) { return ((i >> axis) & 1) != 0 ? box.hi[axis] : box.lo[axis]; };
      points.push_back(X_WG * Vec3(side(0), side(1), side(2)));
    }
  }
  return points;
}

std::vector<Outline> silhouettes(const Shape& shape, const Pose& X_WG, const View& view) {
  switch (shape.kind) {
    case ShapeKind::plane:
      return {};
    case ShapeKind::sphere:
      return {{{view.project(X_WG.p)}, shape.size[0]}};
    case ShapeKind::capsule:
      return {{{view.project(X_WG * Vec3(0, 0, -shape.size[1])), view.project(X_WG * Vec3(0, 0, shape.size[1]))},
               shape.size[0]}};
    case ShapeKind::cylinder:
      return {cylinder_outline(shape, X_WG, view)};
    case ShapeKind::ellipsoid:
      return {ellipsoid_outline(shape, X_WG, view)};
    case ShapeKind::hull:
      return {hull_outline(shape.hull->vertices(), X_WG, view)};
    case ShapeKind::mesh:
      if (shape.mesh->hull() != nullptr) return {hull_outline(shape.mesh->hull()->vertices(), X_WG, view)};
      return {hull_outline(shape.mesh->vertices(), X_WG, view)};
    case ShapeKind::compound: {
      std::vector<Outline> outlines;
      for (const CompoundChild& child : *shape.children) {
        for (Outline& o : silhouettes(child.shape, X_WG * child.X_SC, view)) outlines.push_back(std::move(o));
      }
      return outlines;
    }
    case ShapeKind::box:
    case ShapeKind::height_field:
      break;
  }
  return {corners_outline(shape, X_WG, view)};
}

void extend(Box2& box, const Outline& outline) {
  for (const Vec2& p : outline.points) {
    box.extend(p - Vec2::Constant(outline.radius));
    box.extend(p + Vec2::Constant(outline.radius));
  }
}

std::vector<Ground> grounds(const Geom& geom, const View& view) {
  if (geom.shape.kind == ShapeKind::mesh) {
    const TriangleMesh& mesh = *geom.shape.mesh;
    return profile(mesh, static_cast<int>(mesh.vertices().size()), geom.X_BG, view, Vec2::UnitY(), true);
  }
  if (geom.shape.kind != ShapeKind::height_field) return {};
  const Vec2 n = view.project(geom.X_BG.q * Vec3::UnitZ());
  if (n.norm() < 0.7) return {};
  const HeightField& field = *geom.shape.height_field;
  return profile(field, field.columns() * field.rows(), geom.X_BG, view, n.normalized(), false);
}

}  // namespace sarrus::svg
