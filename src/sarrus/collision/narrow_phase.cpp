#include "sarrus/collision/narrow_phase.h"

#include <algorithm>

#include "sarrus/collision/box_box.h"
#include "sarrus/collision/capsule_box.h"
#include "sarrus/collision/capsule_capsule.h"
#include "sarrus/collision/general_pairs.h"
#include "sarrus/collision/plane_pairs.h"
#include "sarrus/collision/sphere_pairs.h"

namespace sarrus {
namespace {

using PairFunction = void (*)(const PairQuery&, Manifold&);

constexpr double kRelativeTolerance = 5e-6;  // tol / L

constexpr int index(ShapeKind kind) { return static_cast<int>(kind); }

// Pairs with a closed form, by [kind of A][kind of B], kind of A <= kind of B; null = none.
struct ClosedForms {
  PairFunction table[index(ShapeKind::box) + 1][index(ShapeKind::hull) + 1] = {};

  constexpr ClosedForms() {
    set(ShapeKind::plane, ShapeKind::sphere, collide_plane_sphere);
    set(ShapeKind::plane, ShapeKind::capsule, collide_plane_capsule);
    set(ShapeKind::plane, ShapeKind::box, collide_plane_box);
    set(ShapeKind::plane, ShapeKind::cylinder, collide_plane_cylinder);
    set(ShapeKind::plane, ShapeKind::ellipsoid, collide_plane_ellipsoid);
    set(ShapeKind::plane, ShapeKind::hull, collide_plane_hull);
    set(ShapeKind::sphere, ShapeKind::sphere, collide_sphere_sphere);
    set(ShapeKind::sphere, ShapeKind::capsule, collide_sphere_capsule);
    set(ShapeKind::sphere, ShapeKind::box, collide_sphere_box);
    set(ShapeKind::sphere, ShapeKind::cylinder, collide_sphere_cylinder);
    set(ShapeKind::sphere, ShapeKind::ellipsoid, collide_sphere_ellipsoid);
    set(ShapeKind::capsule, ShapeKind::capsule, collide_capsule_capsule);
    set(ShapeKind::capsule, ShapeKind::box, collide_capsule_box);
    set(ShapeKind::box, ShapeKind::box, collide_box_box);
  }
  constexpr void set(ShapeKind a, ShapeKind b, PairFunction function) { table[index(a)][index(b)] = function; }
  PairFunction find(ShapeKind a, ShapeKind b) const {
    return a <= ShapeKind::box ? table[index(a)][index(b)] : nullptr;
  }
};
constexpr ClosedForms kClosedForms;

// a.kind <= b.kind <= hull, and b is no plane.
void collide_convex(const PairQuery& q, Vec3& axis, Manifold& manifold) {
  const PairFunction closed_form = kClosedForms.find(q.a.kind, q.b.kind);
  if (closed_form != nullptr) {
    axis.setZero();
    closed_form(q, manifold);
  } else {
    collide_general(q, axis, manifold);
  }
  if (manifold.size() <= 1) return;
  sort_by_key(manifold);
  reduce(manifold, kMaxManifoldPoints, q.tol);
}

// b is a mesh or height field, a.kind <= b.kind. Manifolds come reduced, normal by normal.
void collide_surface(const PlacedShape& a, const PlacedShape& b, double margin, MeshWorkspace& workspace,
                     Manifold& manifold) {
  const Vec3 p_AB_W = b.p_W - a.p_W;
  if (a.kind == ShapeKind::plane) {
    if (b.kind == ShapeKind::mesh) {
      collide_plane_mesh({a, b, p_AB_W, margin, kRelativeTolerance * b.diagonal}, workspace, manifold);
    }
  } else if (is_convex(a.kind)) {
    collide_convex_mesh({a, b, p_AB_W, margin, kRelativeTolerance * a.diagonal}, workspace, manifold);
  } else if (a.kind == ShapeKind::mesh && a.mesh->hull() != nullptr) {
    PlacedShape hull = a;
    hull.kind = ShapeKind::hull;
    hull.hull = a.mesh->hull().get();
    collide_convex_mesh({hull, b, p_AB_W, margin, kRelativeTolerance * a.diagonal}, workspace, manifold);
  }
  sort_by_key(manifold);
}

// Of two meshes the smaller one, usually the moving part on its ground, is taken as its hull; flat ones have none.
bool hull_of_second(const PlacedShape& a, const PlacedShape& b) {
  if (a.kind != ShapeKind::mesh || b.kind != ShapeKind::mesh || b.mesh->hull() == nullptr) return false;
  return a.mesh->hull() == nullptr || b.diagonal < a.diagonal;
}

}  // namespace

void collide(const PlacedShape& a, const PlacedShape& b, double margin, NarrowWorkspace& workspace, Vec3& axis,
             Manifold& manifold) {
  manifold.clear();
  const bool swap = b.kind < a.kind || hull_of_second(a, b);
  const PlacedShape& first = swap ? b : a;
  const PlacedShape& second = swap ? a : b;
  Vec3 ordered_axis = swap ? Vec3(-axis) : axis;
  if (second.kind == ShapeKind::mesh || second.kind == ShapeKind::height_field) {
    ordered_axis.setZero();
    collide_surface(first, second, margin, workspace.mesh, manifold);
  } else if (is_convex(second.kind)) {
    const double tol = kRelativeTolerance * std::min(a.diagonal, b.diagonal);
    collide_convex({first, second, second.p_W - first.p_W, margin, tol}, ordered_axis, manifold);
  }
  axis = swap ? Vec3(-ordered_axis) : ordered_axis;
  if (manifold.empty()) return;
  if (swap) {
    flip(manifold);
    sort_by_key(manifold);
  }
  for (ManifoldPoint& point : manifold) point.p += first.p_W;
}

void collide(const PlacedShape& a, const PlacedShape& b, double margin, NarrowWorkspace& workspace,
             Manifold& manifold) {
  Vec3 axis = Vec3::Zero();
  collide(a, b, margin, workspace, axis, manifold);
}

}  // namespace sarrus
