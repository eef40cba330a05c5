#include "sarrus/collision/convex_gjk.h"

#include "sarrus/collision/convex_newton.h"
#include "sarrus/collision/convex_simplex.h"

namespace sarrus {
namespace {

// Of the triangle `now` and the newest point i. False if the origin is inside.
bool closest_on_tetrahedron(const CorePoint* point, int i, const Feature& now, Feature& f) {
  const Vec3& d = point[i].w;
  const Vec3 e[3] = {point[now.slot[0]].w - d, point[now.slot[1]].w - d, point[now.slot[2]].w - d};
  const Vec3 m[3] = {e[0].cross(e[1]), e[1].cross(e[2]), e[2].cross(e[0])};
  const double volume = m[0].dot(e[2]);
  const bool flat = volume * volume <= 1e-28 * m[0].squaredNorm() * e[2].squaredNorm();
  double best = -1;
  for (int side = 0; side < 3; ++side) {
    // Faces that have the origin on their inner side cannot be the closest.
    if (!flat && -m[side].dot(d) * volume > 0) continue;
    Feature face;
    closest_on_triangle(point, i, now.slot[side], now.slot[(side + 1) % 3], face);
    const double distance = face.v.squaredNorm();
    if (best < 0 || distance < best) {
      best = distance;
      f = face;
    }
  }
  // The origin lies between the triangle and the new point, unless that was not found along v.
  if (best >= 0) return true;
  if (now.v.dot(d) < now.v.squaredNorm()) return false;
  f = now;
  return true;
}

// Of a simplex of at most three points and the newest point in slot i. False if the origin is inside.
bool closest(const CorePoint* point, int i, const Feature& now, Feature& f) {
  switch (now.count) {
    case 0:
      f.set_vertex(i, point[i].w);
      return true;
    case 1:
      closest_on_edge(point, i, now.slot[0], f);
      return true;
    case 2:
      closest_on_triangle(point, i, now.slot[0], now.slot[1], f);
      return true;
    default:
      return closest_on_tetrahedron(point, i, now, f);
  }
}

int free_slot(const Feature& f) {
  int used = 0;
  for (int k = 0; k < f.count; ++k) used |= 1 << f.slot[k];
  int i = 0;
  while (used >> i & 1) ++i;
  return i;
}

bool contains(const CorePoint* point, const Feature& f, const Vec3& w, double tiny) {
  for (int k = 0; k < f.count; ++k) {
    if ((point[f.slot[k]].w - w).squaredNorm() <= tiny * tiny) return true;
  }
  return false;
}

void store(const Feature& f, GjkResult& r) {
  r.count = f.count;
  for (int k = 0; k < f.count; ++k) {
    r.slot[k] = f.slot[k];
    r.weight[k] = f.weight[k];
  }
}

// Newton's direction in place of v / |v|. Its points replace the simplex if they are closer.
bool shortcut(const CorePair& pair, GjkResult& r, Feature& now, Vec3& direction) {
  NewtonResult newton;
  if (!newton_direction(pair, r.point, now.slot, now.count, direction, newton)) return false;
  direction = newton.n;
  Feature f;
  closest_on_simplex(newton.point, newton.count, f);
  const double distance = f.v.norm();
  if (distance < r.upper) {
    for (int k = 0; k < newton.count; ++k) r.point[k] = newton.point[k];
    r.upper = distance;
    now = f;
  }
  return true;
}

}  // namespace

void gjk_distance(const CorePair& pair, const Vec3& n, double limit, double gap, double size, GjkResult& r) {
  constexpr int kMaxIterations = 100;
  constexpr int kFirstShortcut = 3;
  // Newton's method pays when the cores are apart for sure; it also ends the slow approach of touching ones.
  constexpr int kRareShortcut = 5;
  const double tiny = 1e-15 * size;
  const bool curved = !pair.is_polytope();
  bool shortened = false;
  r.status = GjkStatus::stuck;
  r.n = n;
  r.lower = -1e300;
  r.upper = 1e300;
  Vec3 direction = n;
  Vec3 along = n;  // the direction, not unit
  Feature now;
  Feature next;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    shortened = curved && !shortened && iteration >= kFirstShortcut &&
                (r.lower > 0 || iteration % kRareShortcut == 0) && shortcut(pair, r, now, direction);
    if (shortened) along = direction;
    const int i = free_slot(now);
    r.point[i] = pair.support(direction, along);
    const double lower = direction.dot(r.point[i].w);
    if (lower > r.lower) {
      r.lower = lower;
      r.n = direction;
    }
    if (lower > limit) r.status = GjkStatus::far;
    if (r.upper - r.lower <= gap) r.status = GjkStatus::apart;
    if (r.status != GjkStatus::stuck) break;
    bool closer = false;
    if (!contains(r.point, now, r.point[i].w, tiny)) {
      if (!closest(r.point, i, now, next)) {
        r.status = GjkStatus::inside;
        store(now, r);
        r.slot[3] = i;
        r.count = 4;
        return;
      }
      const double distance = next.v.norm();
      closer = distance < r.upper;
      if (closer) {
        now = next;
        r.upper = distance;
      }
    }
    if ((!closer && !shortened) || r.upper <= tiny) break;
    along = now.v;
    direction = now.v / r.upper;
  }
  store(now, r);
}

}  // namespace sarrus
