#include "sarrus/collision/narrow_phase.h"

#include <algorithm>

#include "sarrus/collision/box_box.h"
#include "sarrus/collision/capsule_box.h"
#include "sarrus/collision/primitive_pairs.h"

namespace sarrus {
namespace {

void collide_plane(const PairQuery& q, Manifold& manifold) {
  switch (q.b.kind) {
    case ShapeKind::plane:
      break;
    case ShapeKind::sphere:
      return collide_plane_sphere(q, manifold);
    case ShapeKind::capsule:
      return collide_plane_capsule(q, manifold);
    case ShapeKind::box:
      return collide_plane_box(q, manifold);
  }
}

void collide_sphere(const PairQuery& q, Manifold& manifold) {
  switch (q.b.kind) {
    case ShapeKind::plane:
      break;
    case ShapeKind::sphere:
      return collide_sphere_sphere(q, manifold);
    case ShapeKind::capsule:
      return collide_sphere_capsule(q, manifold);
    case ShapeKind::box:
      return collide_sphere_box(q, manifold);
  }
}

// a.kind <= b.kind
void collide_ordered(const PairQuery& q, Manifold& manifold) {
  switch (q.a.kind) {
    case ShapeKind::plane:
      return collide_plane(q, manifold);
    case ShapeKind::sphere:
      return collide_sphere(q, manifold);
    case ShapeKind::capsule:
      return q.b.kind == ShapeKind::capsule ? collide_capsule_capsule(q, manifold) : collide_capsule_box(q, manifold);
    case ShapeKind::box:
      return collide_box_box(q, manifold);
  }
}

}  // namespace

void collide(const PlacedShape& a, const PlacedShape& b, double margin, Manifold& manifold) {
  manifold.clear();
  const bool swap = b.kind < a.kind;
  const PlacedShape& first = swap ? b : a;
  const PlacedShape& second = swap ? a : b;
  const double tol = 5e-6 * std::min(a.diagonal, b.diagonal);
  collide_ordered({first, second, second.p_W - first.p_W, margin, tol}, manifold);
  if (manifold.empty()) return;
  if (swap) flip(manifold);
  sort_by_key(manifold);
  reduce(manifold, kMaxManifoldPoints, tol);
  for (ManifoldPoint& point : manifold) point.p += first.p_W;
}

}  // namespace sarrus
