#include "sarrus/collision/cast.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/so3.h"

namespace sarrus {
namespace {

constexpr int kMaxIterations = 64;

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

double speed_bound(const MovingShape& a, const MovingShape& b) {
  return (a.v_W - b.v_W).norm() + a.w_W.norm() * a.arm + b.w_W.norm() * b.arm;
}

double speed_bound(const MovingShape& a, const MovingShape& b, const Vec3& n) {
  return n.dot(a.v_W - b.v_W) + n.cross(a.w_W).norm() * a.arm + n.cross(b.w_W).norm() * b.arm;
}

}  // namespace

bool cast(const MovingShape& a, const MovingShape& b, double duration, NarrowWorkspace& workspace, Manifold& manifold) {
  const bool convex = is_convex(a.shape.kind) && is_convex(b.shape.kind);
  const double tau = 5e-5 * std::min(a.shape.diagonal, b.shape.diagonal);
  const double fastest = speed_bound(a, b);
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
    const double speed = convex ? speed_bound(a, b, nearest.n) : fastest;
    if (!(speed > 0)) return false;
    t += (nearest.gap - 0.5 * tau) / speed;
    if (t > duration) return false;
  }
  // Grazing motion that keeps approaching in ever smaller steps: it has not touched yet, and the next step sees it.
  return false;
}

}  // namespace sarrus
