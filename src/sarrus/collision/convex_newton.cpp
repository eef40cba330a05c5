// Newton's method for the direction n of curved pairs (docs/theory/collision.md §5): what GJK and EPA reach by halving
// the error time and again, this reaches by squaring it.
//
// Every core is a polytope plus a smooth body: a cylinder is a segment plus a disc, an ellipsoid is all smooth. So
//   s(n) = min_k n.q_k - h(n)          q_k: vertices of the polytope part of C, h: support function of the smooth part.
// Where n has the vertices q_0 ... q_j for its minimum, n is normal to their differences, and on the arc (or the
// region) of unit vectors that are, s is smooth: gradient g = q_0 - grad h, Hessian -(H + s 1) with H = hess h. A step:
//   n <- n + (H + s 1)^-1 g             in the plane tangent to that arc or region
#include <cmath>
#include <numbers>

#include "sarrus/collision/convex_internal.h"

namespace sarrus {
namespace {

// Smooth part of a body at a unit direction l; own frame.
struct Smooth {
  const Convex* body = nullptr;
  double ball = 0;
  Vec3 x = Vec3::Zero();  // farthest point = grad h
  Vec3 t = Vec3::Zero();  // cylinder: direction of its curvature
  double c = 0;           // ellipsoid: 1 / h without the ball; cylinder: radius of curvature

  // False where the curvature has no limit: at the caps of cylinders.
  bool set(const Vec3& l);
  // u.H.v for u and v normal to l.
  double curvature(const Vec3& u, const Vec3& v) const;
};

bool Smooth::set(const Vec3& l) {
  if (body->core == CoreKind::ellipsoid) {
    const Vec3 el = body->size.cwiseProduct(l);
    c = 1 / el.norm();
    x = c * body->size.cwiseProduct(el) - ball * l;
  } else if (body->core == CoreKind::cylinder) {
    const double across = std::sqrt(l.x() * l.x() + l.y() * l.y());
    if (across < 1e-6) return false;
    c = body->size[0] / across;
    x = Vec3(c * l.x(), c * l.y(), 0);
    t = Vec3(-l.y() / across, l.x() / across, 0);
  }
  return true;
}

double Smooth::curvature(const Vec3& u, const Vec3& v) const {
  if (body->core == CoreKind::cylinder) return c * t.dot(u) * t.dot(v);
  if (body->core != CoreKind::ellipsoid) return 0;
  // x + ball l is the gradient without the ball, and l adds nothing to the products.
  const Vec3 eu = body->size.cwiseProduct(u);
  const Vec3 ev = body->size.cwiseProduct(v);
  return c * (eu.dot(ev) - x.dot(u) * x.dot(v)) - ball * u.dot(v);
}

// Vertex of the polytope part that x, a point of the core's surface, belongs to; own frame.
Vec3 vertex_part(const Convex& c, const Vec3& x) {
  if (c.core == CoreKind::ellipsoid) return Vec3::Zero();
  if (c.core == CoreKind::cylinder) return {0, 0, with_sign(c.size[1], x.z())};
  return x;
}

// A vertex of the polytope part of C: q = b - a.
struct Vertex {
  Vec3 a;
  Vec3 q;
};

// A unit vector normal to the unit vector n.
Vec3 across(const Vec3& n) {
  if (std::abs(n.x()) < 0.7) {
    const double scale = 1 / std::sqrt(n.y() * n.y() + n.z() * n.z());
    return {0, n.z() * scale, -n.y() * scale};
  }
  const double scale = 1 / std::sqrt(n.x() * n.x() + n.y() * n.y());
  return {n.y() * scale, -n.x() * scale, 0};
}

class Newton {
 public:
  explicit Newton(const CorePair& pair) : pair_(pair), apart_(1e-9 * (pair.a.diagonal + pair.b.diagonal)) {
    a_.body = &pair.a;
    a_.ball = pair.ball_a;
    b_.body = &pair.b;
    b_.ball = pair.ball_b;
  }

  void add_vertex(const CorePoint& x);
  bool run(Vec3 n, NewtonResult& result);
  int ring(const Vec3& n, double tilt, CorePoint* out);

 private:
  double radius(const Vec3& n) const;
  CorePoint point(int k) const { return {vertex_[k].q + m_, vertex_[k].a + a_.x}; }
  bool smooth(const Vec3& n);
  Vec3 step(const Vec3& n, double s) const;

  const CorePair& pair_;
  double apart_;
  int count_ = 0;
  Vertex vertex_[3];
  Smooth a_;  // at the current n, A's frame
  Smooth b_;  // at -n, B's frame
  Vec3 m_;    // smooth part of the point of C
};

void Newton::add_vertex(const CorePoint& x) {
  const Vec3 a = vertex_part(pair_.a, x.a);
  const Vec3 b = pair_.p + pair_.R * vertex_part(pair_.b, pair_.R.transpose() * (x.w + x.a - pair_.p));
  const Vec3 q = b - a;
  for (int k = 0; k < count_; ++k) {
    if ((vertex_[k].q - q).squaredNorm() < apart_ * apart_) return;
  }
  if (count_ == 2) {  // the third on the line of the first two says nothing new
    const Vec3 e = vertex_[1].q - vertex_[0].q;
    if (e.cross(q - vertex_[0].q).squaredNorm() < apart_ * apart_ * e.squaredNorm()) return;
  }
  vertex_[count_].a = a;
  vertex_[count_++].q = q;
}

bool Newton::smooth(const Vec3& n) {
  if (!a_.set(n) || !b_.set(pair_.R.transpose() * -n)) return false;
  m_ = pair_.R * b_.x - a_.x;
  return true;
}

// (H + s 1)^-1 g in the tangent plane, or along the arc if there are two vertices.
Vec3 Newton::step(const Vec3& n, double s) const {
  const Vec3 g = vertex_[0].q + m_;
  Vec3 u;
  if (count_ == 2) {
    u = n.cross(vertex_[1].q - vertex_[0].q).normalized();
    const Vec3 u_b = pair_.R.transpose() * u;
    const double uu = a_.curvature(u, u) + b_.curvature(u_b, u_b) + s;
    return uu > 0 ? Vec3((u.dot(g) / uu) * u) : Vec3::Zero();
  }
  u = across(n);
  const Vec3 v = n.cross(u);
  const Vec3 u_b = pair_.R.transpose() * u;
  const Vec3 v_b = pair_.R.transpose() * v;
  const double uu = a_.curvature(u, u) + b_.curvature(u_b, u_b) + s;
  const double uv = a_.curvature(u, v) + b_.curvature(u_b, v_b);
  const double vv = a_.curvature(v, v) + b_.curvature(v_b, v_b) + s;
  const double det = uu * vv - uv * uv;
  if (!(uu > 0 && det > 0)) return Vec3::Zero();
  const double gu = g.dot(u);
  const double gv = g.dot(v);
  return ((vv * gu - uv * gv) / det) * u + ((uu * gv - uv * gu) / det) * v;
}

bool Newton::run(Vec3 n, NewtonResult& result) {
  if (count_ == 2) {
    const Vec3 e = vertex_[1].q - vertex_[0].q;
    n -= (n.dot(e) / e.squaredNorm()) * e;
    n.normalize();
  } else if (count_ == 3) {
    const Vec3 m = (vertex_[1].q - vertex_[0].q).cross(vertex_[2].q - vertex_[0].q);
    n = (m.dot(n) > 0 ? 1 : -1) / m.norm() * m;
  }
  if (!smooth(n)) return false;
  for (int i = 0; i < 8 && count_ < 3; ++i) {
    const double s = n.dot(vertex_[0].q + m_);
    const Vec3 delta = step(n, s);
    const double length = delta.norm();
    if (!(length < 1)) return false;
    n = (n + delta).normalized();
    if (!smooth(n)) return false;
    if (length < 1e-5) break;
  }
  result.n = n;
  result.count = count_;
  result.radius = radius(n);
  for (int k = 0; k < count_; ++k) result.point[k] = point(k);
  return n.allFinite();
}

// Trace of H.
double Newton::radius(const Vec3& n) const {
  const Vec3 u = across(n);
  const Vec3 v = n.cross(u);
  const Vec3 u_b = pair_.R.transpose() * u;
  const Vec3 v_b = pair_.R.transpose() * v;
  return a_.curvature(u, u) + b_.curvature(u_b, u_b) + a_.curvature(v, v) + b_.curvature(v_b, v_b);
}

int Newton::ring(const Vec3& n, double tilt, CorePoint* out) {
  int found = 0;
  const Vec3 u = count_ == 2 ? Vec3(n.cross(vertex_[1].q - vertex_[0].q).normalized()) : across(n);
  const Vec3 v = n.cross(u);
  const int sides = count_ == 1 ? 3 : count_ == 2 ? 2 : 0;
  for (int side = 0; side < sides; ++side) {
    const double angle = 2 * std::numbers::pi * side / sides;
    if (!smooth((n + std::tan(tilt) * (std::cos(angle) * u + std::sin(angle) * v)).normalized())) continue;
    for (int k = 0; k < count_; ++k) out[found++] = point(k);
  }
  return found;
}

}  // namespace

bool newton_direction(const CorePair& pair, const CorePoint* point, const int* slot, int count, const Vec3& n,
                      NewtonResult& result) {
  Newton newton(pair);
  for (int k = 0; k < count; ++k) newton.add_vertex(point[slot[k]]);
  return newton.run(n, result);
}

int newton_ring(const CorePair& pair, const NewtonResult& at, double tilt, CorePoint* ring) {
  Newton newton(pair);
  for (int k = 0; k < at.count; ++k) newton.add_vertex(at.point[k]);
  return newton.ring(at.n, tilt, ring);
}

}  // namespace sarrus
