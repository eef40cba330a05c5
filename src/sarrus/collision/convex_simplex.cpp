#include "sarrus/collision/convex_simplex.h"

namespace sarrus {

void closest_on_edge(const CorePoint* point, int i, int j, Feature& f) {
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
void closest_on_triangle(const CorePoint* point, int i, int j, int k, Feature& f) {
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

void closest_on_simplex(const CorePoint* point, int count, Feature& f) {
  if (count == 1) return f.set_vertex(0, point[0].w);
  if (count == 2) return closest_on_edge(point, 0, 1, f);
  closest_on_triangle(point, 0, 1, 2, f);
}

}  // namespace sarrus
