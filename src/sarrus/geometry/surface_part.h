// What a part of a triangulated surface tells of its triangles, so that a search can pass over all of them at once
// (docs/theory/collision.md §6). Parts are the nodes of a tree over the surface. In single precision, from the middle
// of the surface, and rounded so that all that is said remains true: a search reads one cache line per part.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sarrus/geometry/aabb.h"
#include "sarrus/math/types.h"

namespace sarrus {

struct SurfacePart {
  // A surface that ends, or that folds over itself, has normals in all directions.
  static constexpr float kAnySpread = 2;

  std::array<float, 3> middle = {0, 0, 0};  // c: its points x have |x - c| <= half, from the middle of the surface, m
  std::array<float, 3> half = {0, 0, 0};
  std::array<float, 3> mean = {0, 0, 1};  // m: outward, of unit length up to rounding
  // |n - m| <= spread for the unit normals n of its triangles and of all triangles around their corners: whatever is a
  // normal of the surface in the part, also at edges and corners, is a positive combination of such n.
  float spread = kAnySpread;
  float low = 0;  // low <= m.(x - c) <= high, m
  float high = 0;
  // Triangles on the other side of its dents and concave edges reach beyond the box by no more than this, m.
  float rim = 0;
  bool sharp = true;  // an edge around a corner of its triangles is something else than flat or a dent

  // `size` is that of the whole surface: all that follows may be off by its round-off.
  void set_box(const Aabb& box, double size);
  void set_mean(const Vec3& n) {
    mean = {static_cast<float>(n.x()), static_cast<float>(n.y()), static_cast<float>(n.z())};
  }
  void set_heights(double lowest, double highest, double size);
  void set_rim(double reach) { rim = round_up(reach); }
  void set_spread(double width) { spread = std::min(round_up(width + kRounding), kAnySpread); }

  Vec3 middle_point() const { return {middle[0], middle[1], middle[2]}; }
  Vec3 half_extents() const { return {half[0], half[1], half[2]}; }
  Vec3 mean_normal() const { return {mean[0], mean[1], mean[2]}; }
  Aabb box() const { return {middle_point() - half_extents(), middle_point() + half_extents()}; }

  // False if the unit vector n is not a normal of the surface in the part, edges and corners included: these are
  // combinations of unit vectors around m, and may leave their range by half the square of its width.
  bool has_normal(const Vec3& n) const {
    const double width = spread + double{spread} * spread + kRounding;
    return (n - mean_normal()).squaredNorm() <= width * width;
  }

  // At least the largest l.x of its points, for any l. A part that is flat but lies aslant in its box is bounded by its
  // own plane.
  double reach(const Vec3& l) const {
    const Vec3 m = mean_normal();
    const double along = l.dot(m);
    const double by_plane = along * (along > 0 ? high : low) + (l - along * m).cwiseAbs().dot(half_extents());
    return l.dot(middle_point()) + std::min(by_plane, l.cwiseAbs().dot(half_extents()));
  }

 private:
  static constexpr double kRounding = 1e-7;
  // The least float that is not below x.
  static float round_up(double x) {
    const auto f = static_cast<float>(x);
    return static_cast<double>(f) < x ? std::nextafter(f, std::numeric_limits<float>::infinity()) : f;
  }
};

inline void SurfacePart::set_box(const Aabb& box, double size) {
  for (int i = 0; i < 3; ++i) {
    const auto k = static_cast<std::size_t>(i);
    middle[k] = static_cast<float>(0.5 * (box.lo[i] + box.hi[i]));
    half[k] = round_up(std::max(box.hi[i] - middle[k], middle[k] - box.lo[i]) + kRounding * size);
  }
}

inline void SurfacePart::set_heights(double lowest, double highest, double size) {
  low = -round_up(kRounding * size - lowest);
  high = round_up(highest + kRounding * size);
}

}  // namespace sarrus
