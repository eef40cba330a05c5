#include "sarrus/collision/convex_polytope.h"

#include <algorithm>
#include <limits>

#include "sarrus/collision/convex_simplex.h"

namespace sarrus {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

int after(int k) { return k == 2 ? 0 : k + 1; }

}  // namespace

bool ExpandingPolytope::make_tetrahedron(const CorePoint* four) {
  const Vec3 m = (four[1].w - four[0].w).cross(four[2].w - four[0].w);
  const bool inside_out = m.dot(four[3].w - four[0].w) > 0;
  point_[0] = four[0];
  point_[1] = four[inside_out ? 2 : 1];
  point_[2] = four[inside_out ? 1 : 2];
  point_[3] = four[3];
  points_ = 4;
  const int base = add_face(0, 1, 2);
  const int x = add_face(1, 0, 3);
  const int y = add_face(2, 1, 3);
  const int z = add_face(0, 2, 3);
  link(base, 0, x, 0);
  link(base, 1, y, 0);
  link(base, 2, z, 0);
  link(x, 1, z, 2);
  link(y, 1, x, 2);
  link(z, 1, y, 2);
  return !face_[base].thin && !face_[x].thin && !face_[y].thin && !face_[z].thin;
}

int ExpandingPolytope::add_face(int i, int j, int k) {
  const int slot = holes_ > 0 ? hole_[--holes_] : faces_++;
  Face& f = face_[slot];
  const Vec3& x = point_[i].w;
  const Vec3 e = point_[j].w - x;
  const Vec3 g = point_[k].w - x;
  const Vec3 m = e.cross(g);
  const double area = m.norm();
  f.corner[0] = static_cast<short>(i);
  f.corner[1] = static_cast<short>(j);
  f.corner[2] = static_cast<short>(k);
  f.gone = false;
  f.closed = false;
  f.thin = !(area > 1e-12 * std::max(e.squaredNorm(), g.squaredNorm()));
  f.m = f.thin ? Vec3::Zero() : Vec3(m / area);
  f.dist = f.thin ? kNever : f.m.dot(x);
  key_[slot] = f.dist;
  return slot;
}

void ExpandingPolytope::link(int f, int e, int g, int h) {
  face_[f].beyond[e] = static_cast<short>(g);
  face_[f].its_edge[e] = static_cast<short>(h);
  face_[g].beyond[h] = static_cast<short>(f);
  face_[g].its_edge[h] = static_cast<short>(e);
}

int ExpandingPolytope::nearest_face() const { return static_cast<int>(std::min_element(key_, key_ + faces_) - key_); }

bool ExpandingPolytope::has_corner(const Vec3& w) const {
  for (int k = 0; k < points_; ++k) {
    if ((point_[k].w - w).squaredNorm() <= apart_ * apart_) return true;
  }
  return false;
}

// Walks over the faces that w sees, starting across an edge of a face it sees, and notes the edges where the view ends,
// in order around the patch.
void ExpandingPolytope::look_across(int f, int edge, const Vec3& w) {
  const int g = face_[f].beyond[edge];
  const int h = face_[f].its_edge[edge];
  if (face_[g].gone) return;
  if (!sees(face_[g], w)) {
    rim_[rims_++] = {static_cast<short>(g), static_cast<short>(h)};
    return;
  }
  face_[g].gone = true;
  gone_[gones_++] = static_cast<short>(g);
  look_across(g, after(h), w);
  look_across(g, after(after(h)), w);
}

bool ExpandingPolytope::rim_is_closed() const {
  for (int k = 0; k < rims_; ++k) {
    const Rim& x = rim_[k];
    const Rim& y = rim_[k + 1 < rims_ ? k + 1 : 0];
    if (face_[x.face].corner[x.edge] != face_[y.face].corner[after(y.edge)]) return false;
  }
  return rims_ >= 3;
}

bool ExpandingPolytope::insert(int f, const CorePoint& x) {
  if (points_ == kMaxPoints) return false;
  rims_ = gones_ = 0;
  face_[f].gone = true;
  gone_[gones_++] = static_cast<short>(f);
  for (int e = 0; e < 3; ++e) look_across(f, e, x.w);
  if (!rim_is_closed()) {
    for (int k = 1; k < gones_; ++k) face_[gone_[k]].gone = false;
    gones_ = 1;
    rims_ = 3;
    for (int e = 0; e < 3; ++e) rim_[e] = {face_[f].beyond[e], face_[f].its_edge[e]};
  }
  if (faces_ - holes_ + rims_ > kMaxFaces) return false;
  const int w = points_++;
  point_[w] = x;
  for (int k = 0; k < gones_; ++k) key_[gone_[k]] = kNever;
  int first = -1;
  int last = -1;
  for (int k = 0; k < rims_; ++k) {
    const Face& g = face_[rim_[k].face];
    const int h = rim_[k].edge;
    const int slot = add_face(g.corner[after(h)], g.corner[h], w);
    link(slot, 0, rim_[k].face, h);
    if (k == 0) first = slot;
    if (k > 0) link(last, 1, slot, 2);
    last = slot;
  }
  link(last, 1, first, 2);
  for (int k = 0; k < gones_; ++k) hole_[holes_++] = gone_[k];
  return true;
}

void ExpandingPolytope::insert_anywhere(const CorePoint& x, double gain) {
  int seen = -1;
  double best = gain;
  for (int f = 0; f < faces_; ++f) {
    if (!(key_[f] < kNever)) continue;
    const double height = face_[f].m.dot(x.w) - face_[f].dist;
    if (height > best) {
      best = height;
      seen = f;
    }
  }
  if (seen >= 0 && !has_corner(x.w)) insert(seen, x);
}

void ExpandingPolytope::close(int f) {
  Feature x;
  closest_on_triangle(point_, face_[f].corner[0], face_[f].corner[1], face_[f].corner[2], x);
  key_[f] = std::max(key_[f], x.v.norm());
  face_[f].closed = true;
}

}  // namespace sarrus
