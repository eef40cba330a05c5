// GJK: distance of the origin from C = core_B - core_A, in double precision (docs/theory/collision.md §5, step 2).
//
// A simplex of at most four points of C is carried along; v is its point closest to the origin and n = v / |v|. The
// next point is w(n), and
//   n.w(n) <= distance <= |v|          so   |v| - n.w(n)   is the proved error:
// the loop ends when it is small enough, or when the origin is inside the simplex.
#include "sarrus/collision/convex_internal.h"

namespace sarrus {

void closest_on_edge(const CorePoint* point, int i, int j, ClosestFeature& f) {
  const Vec3& x = point[i].w;
  const Vec3& y = point[j].w;
  const Vec3 e = y - x;
  const double t = -x.dot(e);
  const double e2 = e.squaredNorm();
  if (t <= 0) return f.set_vertex(i, x);
  if (t >= e2) return f.set_vertex(j, y);
  f.set_edge(i, j, x, e, t / e2);
}

// By Voronoi regions.
void closest_on_triangle(const CorePoint* point, int i, int j, int k, ClosestFeature& f) {
  const Vec3& a = point[i].w;
  const Vec3& b = point[j].w;
  const Vec3& c = point[k].w;
  const Vec3 ab = b - a;
  const Vec3 ac = c - a;
  const double a1 = -ab.dot(a);
  const double a2 = -ac.dot(a);
  if (a1 <= 0 && a2 <= 0) return f.set_vertex(i, a);
  const double b1 = -ab.dot(b);
  const double b2 = -ac.dot(b);
  const double wc = a1 * b2 - b1 * a2;
  if (wc <= 0 && a1 >= 0 && b1 <= 0) return f.set_edge(i, j, a, ab, a1 / (a1 - b1));
  const double c1 = -ab.dot(c);
  const double c2 = -ac.dot(c);
  const double wb = c1 * a2 - a1 * c2;
  if (wb <= 0 && a2 >= 0 && c2 <= 0) return f.set_edge(i, k, a, ac, a2 / (a2 - c2));
  if (b1 >= 0 && b2 <= b1) return f.set_vertex(j, b);
  if (c2 >= 0 && c1 <= c2) return f.set_vertex(k, c);
  const double wa = b1 * c2 - c1 * b2;
  if (wa <= 0 && b2 >= b1 && c1 >= c2) return f.set_edge(j, k, b, c - b, (b2 - b1) / ((b2 - b1) + (c1 - c2)));
  const double sum = 1 / (wa + wb + wc);
  f.count = 3;
  f.slot[0] = i;
  f.slot[1] = j;
  f.slot[2] = k;
  f.weight[0] = wa * sum;
  f.weight[1] = wb * sum;
  f.weight[2] = wc * sum;
  // Along the normal exactly, however close the origin is.
  const Vec3 m = ab.cross(ac);
  f.v = (m.dot(a) / m.squaredNorm()) * m;
}

void closest_on_simplex(const CorePoint* point, int count, ClosestFeature& f) {
  if (count == 1) return f.set_vertex(0, point[0].w);
  if (count == 2) return closest_on_edge(point, 0, 1, f);
  closest_on_triangle(point, 0, 1, 2, f);
}

namespace {

// Of the triangle `now` and the newest point i. False if the origin is inside.
bool closest_on_tetrahedron(const CorePoint* point, int i, const ClosestFeature& now, ClosestFeature& f) {
  const Vec3& d = point[i].w;
  const Vec3 e[3] = {point[now.slot[0]].w - d, point[now.slot[1]].w - d, point[now.slot[2]].w - d};
  const Vec3 m[3] = {e[0].cross(e[1]), e[1].cross(e[2]), e[2].cross(e[0])};
  const double volume = m[0].dot(e[2]);
  const bool flat = volume * volume <= 1e-28 * m[0].squaredNorm() * e[2].squaredNorm();
  double best = -1;
  for (int side = 0; side < 3; ++side) {
    // Faces that have the origin on their inner side cannot be the closest.
    if (!flat && -m[side].dot(d) * volume > 0) continue;
    ClosestFeature face;
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
bool closest(const CorePoint* point, int i, const ClosestFeature& now, ClosestFeature& f) {
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

int free_slot(const ClosestFeature& f) {
  int used = 0;
  for (int k = 0; k < f.count; ++k) used |= 1 << f.slot[k];
  int i = 0;
  while (used >> i & 1) ++i;
  return i;
}

bool contains(const CorePoint* point, const ClosestFeature& f, const Vec3& w, double tiny) {
  for (int k = 0; k < f.count; ++k) {
    if ((point[f.slot[k]].w - w).squaredNorm() <= tiny * tiny) return true;
  }
  return false;
}

void store(const ClosestFeature& f, GjkResult& r) {
  r.count = f.count;
  for (int k = 0; k < f.count; ++k) {
    r.slot[k] = f.slot[k];
    r.weight[k] = f.weight[k];
  }
}

// Newton's direction in place of v / |v|. Its points replace the simplex if they are closer.
bool shortcut(const CorePair& pair, GjkResult& r, ClosestFeature& now, Vec3& direction) {
  NewtonResult newton;
  if (!newton_direction(pair, r.point, now.slot, now.count, direction, newton)) return false;
  direction = newton.n;
  ClosestFeature f;
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
  ClosestFeature now;
  ClosestFeature next;
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
