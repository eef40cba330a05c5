#include "sarrus/collision/narrow_phase.h"

#include <algorithm>

#include "sarrus/collision/convex_distance.h"
#include "sarrus/collision/feature.h"
#include "sarrus/collision/shape_pairs.h"
#include "sarrus/math/so3.h"

namespace sarrus {

void collide_general(const PairQuery& q, Vec3& axis, Manifold& manifold) {
  const Convex a = convex_of(q.a, Vec3::Zero());
  const Convex b = convex_of(q.b, q.p_AB_W);
  const Vec3 earlier = axis;
  const ConvexDistance found = convex_distance(a, b, q.margin, q.tol, earlier.isZero(0) ? nullptr : &earlier);
  if (!found.near) {
    axis = found.n;
    return;
  }
  axis.setZero();
  const Feature feature_a = support_feature(a, found.n, q.tol);
  const Feature feature_b = support_feature(b, -found.n, q.tol);
  const double smallest = intersect_features(feature_a, feature_b, found.n, q.margin, q.tol, manifold);
  // No gap is smaller than s(n); points that clipping left up to tol beside a feature may seem so.
  for (ManifoldPoint& point : manifold) point.gap = std::max(point.gap, found.d);
  if (smallest <= found.d + q.tol || found.d > q.margin) return;
  const ManifoldPoint witness = witness_point(feature_a, feature_b, found.n, found.d, found.p_A);
  for (ManifoldPoint& point : manifold) {
    if (point.key != witness.key) continue;
    point = witness;
    return;
  }
  if (manifold.size() == Manifold::capacity()) manifold.truncate(Manifold::capacity() - 1);
  manifold.push(witness);
}

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

namespace {

constexpr int kMaxIterations = 64;  // of a cast

// Motion of a body over t: x -> p_WB + t v + R (x - p_WB).
struct Motion {
  Vec3 p;
  Vec3 shift;
  Mat3 R;

  Motion(const MovingShape& s, double t) : p(s.p_WB), shift(t * s.v_W), R(so3_exp(t * s.w_W).toRotationMatrix()) {}
  PlacedShape apply(const PlacedShape& shape) const {
    PlacedShape out = shape;
    out.p_W = p + shift + R * (shape.p_W - p);
    out.R_WG = R * shape.R_WG;
    return out;
  }
  Vec3 undo(const Vec3& x) const { return p + R.transpose() * (x - p - shift); }
};

const ManifoldPoint& deepest(const Manifold& manifold) {
  return *std::min_element(manifold.begin(), manifold.end(),
                           [](const ManifoldPoint& a, const ManifoldPoint& b) { return a.gap < b.gap; });
}

}  // namespace

double approach_bound(const MovingShape& a, const MovingShape& b, const Vec3& n) {
  return n.dot(a.v_W - b.v_W) + n.cross(a.w_W).norm() * a.arm + n.cross(b.w_W).norm() * b.arm;
}

bool cast(const MovingShape& a, const MovingShape& b, double duration, NarrowWorkspace& workspace, Manifold& manifold) {
  const bool convex = is_convex(a.shape.kind) && is_convex(b.shape.kind);
  const double tau = 5e-5 * std::min(a.shape.diagonal, b.shape.diagonal);
  const double fastest = (a.v_W - b.v_W).norm() + a.w_W.norm() * a.arm + b.w_W.norm() * b.arm;
  double t = 0;
  for (int i = 0; i < kMaxIterations; ++i) {
    const Motion motion_a(a, t);
    const Motion motion_b(b, t);
    // Beyond what the rest of the time can close there is nothing to find.
    collide(motion_a.apply(a.shape), motion_b.apply(b.shape), std::max(tau, fastest * (duration - t)), workspace,
            manifold);
    if (manifold.empty()) return false;
    const ManifoldPoint& nearest = deepest(manifold);
    if (nearest.gap <= tau) {
      for (ManifoldPoint& point : manifold) {
        const Vec3 p_a = motion_a.undo(point.p);
        const Vec3 p_b = motion_b.undo(point.p + point.gap * point.n);
        point.p = p_a;
        point.gap = std::max(0.0, point.n.dot(p_b - p_a));  // apart now, whatever a fast turn makes of n
      }
      return true;
    }
    const double speed = convex ? approach_bound(a, b, nearest.n) : fastest;
    if (!(speed > 0)) return false;
    t += (nearest.gap - 0.5 * tau) / speed;
    if (t > duration) return false;
  }
  // Grazing motion that keeps approaching in ever smaller steps: it has not touched yet, and the next step sees it.
  return false;
}

}  // namespace sarrus
