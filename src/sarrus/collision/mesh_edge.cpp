#include <algorithm>
#include <cmath>

#include "sarrus/collision/convex_internal.h"
#include "sarrus/collision/feature.h"
#include "sarrus/collision/mesh_internal.h"

namespace sarrus {
namespace {

// Deeper than this share of its diagonal, a body that climbs from a seed may miss the shortest way out.
constexpr double kDeep = 0.02;

// A way from the edge, at a + t u, to the core.
struct Way {
  Vec3 e;
  double t;
};

Way way_to_point(const Vec3& a, const Vec3& u, const Vec3& p) {
  const double t = std::clamp(u.dot(p - a) / u.squaredNorm(), 0.0, 1.0);
  return {p - a - t * u, t};
}

// The core segment p + s v, |s| <= h, v unit:  minimum of |p + s v - a - t u|^2.
Way way_to_segment(const Vec3& a, const Vec3& u, const Vec3& p, const Vec3& v, double h) {
  const Vec3 w = p - a;
  const double uu = u.squaredNorm();
  const double uv = u.dot(v);
  const double cross2 = u.cross(v).squaredNorm();  // uu - uv^2 without its cancellation
  double s = cross2 > 1e-14 * uu ? (uv * u.dot(w) - uu * v.dot(w)) / cross2 : -v.dot(w);
  s = std::clamp(s, -h, h);
  const double free_t = u.dot(w + s * v) / uu;
  const double t = std::clamp(free_t, 0.0, 1.0);
  if (t != free_t) s = std::clamp(v.dot(t * u - w), -h, h);
  return {w + s * v - t * u, t};
}

// The box |x_i| <= h_i, in its own frame. Half the derivative of the squared distance of a + t u,
//   g(t) = sum over i of u_i (x_i - clamp(x_i)),  x = a + t u,
// is continuous, piecewise linear and does not decrease: Newton's method between brackets ends in the right piece.
Way way_to_box(const Vec3& a, const Vec3& u, const Vec3& h) {
  const auto into = [&](double t) {
    const Vec3 x = a + t * u;
    return Vec3(x.cwiseMax(-h).cwiseMin(h) - x);
  };
  double lo = 0;
  double hi = 1;
  Vec3 e = into(0);
  if (-u.dot(e) >= 0) return {e, 0};
  e = into(1);
  if (-u.dot(e) <= 0) return {e, 1};
  double t = 0.5;
  for (int i = 0; i < 60; ++i) {
    e = into(t);
    const double g = -u.dot(e);
    if (g == 0) break;
    (g < 0 ? lo : hi) = t;
    double gain = 0;
    for (int k = 0; k < 3; ++k) gain += e[k] != 0 ? u[k] * u[k] : 0;
    double next = gain > 0 ? t - g / gain : 0.5 * (lo + hi);
    if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
    if (std::abs(next - t) <= 1e-15) break;
    t = next;
  }
  return {e, t};
}

}  // namespace

struct EdgeSearch::Nearest {
  bool valid;
  Vec3 n;  // unit, from the edge to the core
  double t;
};

EdgeSearch::EdgeSearch(const Convex& x, const Vec3& centre, const MeshEdge& edge, double margin, double tol)
    : x_(x), centre_(centre), edge_(edge), u_(edge.b - edge.a), margin_(margin), tol_(tol) {
  add_seeds();
  std::sort(seeds_.begin(), seeds_.end(), [](const Seed& a, const Seed& b) { return a.s < b.s; });  // best last
  global_left_ = x.core != CoreKind::box && !seeds_.empty() && seeds_[seeds_.size() - 1].s < -kDeep * x.diagonal;
}

bool EdgeSearch::next(EdgeDirection& found) {
  while (global_left_ || !seeds_.empty()) {
    if (!(global_left_ ? take_global(found) : take_seed(found))) continue;
    climb(found);
    if (!(found.s <= margin_)) return false;
    // Cores that are apart have one maximum only.
    if (found.s + x_.radius > 0) {
      seeds_.clear();
      global_left_ = false;
    }
    const auto known = [&](const Vec3& n) { return n.dot(found.n) > 1 - 1e-9; };
    if (std::any_of(tried_.begin(), tried_.end(), known)) continue;
    tried_.push(found.n);
    return true;
  }
  return false;
}

Vec3 EdgeSearch::core_support(const Vec3& n) const {
  return x_.p + x_.R * core_support_inline(x_, x_.R.transpose() * n);
}

double EdgeSearch::s(const Vec3& n) const {
  return n.dot(core_support(-n)) - x_.radius - std::max(n.dot(edge_.a), n.dot(edge_.b));
}

double EdgeSearch::parameter(const Vec3& y) const {
  return std::clamp(u_.dot(y - edge_.a) / u_.squaredNorm(), 0.0, 1.0);
}

void EdgeSearch::add_seed(const Vec3& n) { seeds_.push({n, s(n)}); }

// The face of the body that looks against n.
void EdgeSearch::add_face_seed(const Vec3& n) {
  const Feature f = support_feature(x_, -n, tol_);
  if (f.corners.size() > 2) add_seed(-f.normal);
}

void EdgeSearch::add_seeds() {
  for (const Vec3& n : edge_.n) add_seed(n);
  const bool box = x_.core == CoreKind::box;
  const Vec3 middle = edge_.n[0] + edge_.n[1];
  if (middle.squaredNorm() > 1e-12) {
    add_seed(middle.normalized());
    if (!box) add_face_seed(middle.normalized());
  }
  if (box) {
    for (int i = 0; i < 3; ++i) {
      const Vec3 axis = x_.R.col(i);
      add_seed(axis.dot(centre_ - edge_.a) >= 0 ? axis : Vec3(-axis));
    }
    return;
  }
  const Vec3 e = way_to_point(edge_.a, u_, centre_).e;
  if (!(e.squaredNorm() > 0)) return;
  add_seed(e.normalized());
  add_face_seed(e.normalized());
}

bool EdgeSearch::take_seed(EdgeDirection& found) {
  const Seed seed = seeds_[seeds_.size() - 1];
  seeds_.truncate(seeds_.size() - 1);
  found = {seed.n, seed.s, parameter(core_support(-seed.n))};
  return true;
}

bool EdgeSearch::take_global(EdgeDirection& found) {
  global_left_ = false;
  const ConvexDistance q = convex_distance(segment(), x_, margin_, tol_);
  found = {q.n, s(q.n), parameter(q.p_A)};
  return q.near;
}

Convex EdgeSearch::segment() const {
  const double length = u_.norm();
  const Vec3 z = u_ / length;
  const Vec3 side = z.unitOrthogonal();
  Convex c;
  c.core = CoreKind::segment;
  c.size = Vec3(0, 0.5 * length, 0);
  c.diagonal = length;
  c.p = 0.5 * (edge_.a + edge_.b);
  c.R.col(0) = side;
  c.R.col(1) = z.cross(side);
  c.R.col(2) = z;
  return c;
}

EdgeSearch::Nearest EdgeSearch::nearest(const Vec3& shift) const {
  const Vec3 p = x_.p + shift;
  Way way;
  switch (x_.core) {
    case CoreKind::point:
      way = way_to_point(edge_.a, u_, p);
      break;
    case CoreKind::segment:
      way = way_to_segment(edge_.a, u_, p, x_.R.col(2), x_.size[1]);
      break;
    case CoreKind::box:
      way = way_to_box(x_.R.transpose() * (edge_.a - p), x_.R.transpose() * u_, x_.size);
      way.e = x_.R * way.e;
      break;
    default: {
      Convex moved = x_;
      moved.p = p;
      const ConvexDistance q = core_separation(segment(), moved, tol_);
      return {q.near, q.n, parameter(q.p_A)};
    }
  }
  const double length = way.e.norm();
  return {length > 0, way.e / length, way.t};
}

void EdgeSearch::climb(EdgeDirection& found) const {
  const double reach = 1e3 * tol_;
  for (int i = 0; i < 20 && found.s <= margin_; ++i) {
    const double shift = std::max(0.0, reach - (found.s + x_.radius));
    const Nearest q = nearest(shift * found.n);
    if (!q.valid) return;
    const double value = s(q.n);
    const bool small = value - found.s <= 1e-4 * tol_;
    if (value >= found.s - tol_) found.t = q.t;
    if (value > found.s) found = {q.n, value, q.t};
    if (small || shift == 0) return;
  }
}

}  // namespace sarrus
