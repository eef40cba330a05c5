// EPA: depth of the origin inside C = core_B - core_A by an expanding polytope (docs/theory/collision.md §5, step 3).
//
// A closed surface of triangles with corners in C is kept around the origin; f is its triangle whose plane is closest
// to the origin, m its outward normal, w the point of C farthest along m. Then
//   dist(f) <= depth <= m.w            so   m.w - dist(f)   is the proved error,
// and unless it is small enough the triangles that w sees are replaced by triangles to w.
//
// Why dist(f) is a proof: the surface is a cycle that winds around the origin, and replacing a triangle that has w on
// its outer side and the origin on its inner side does not move the surface through the origin. So the ball of radius
// dist(f) is enclosed, hence inside the hull of the corners, hence inside C: whether or not round-off has left the
// surface convex.
#include <algorithm>
#include <cmath>

#include "sarrus/collision/convex_internal.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// The closed surface of triangles that EPA expands. Fixed storage.
//
// A new point x replaces the faces it sees, a connected patch, by triangles from the rim of the patch to x. Where
// round-off tears the patch into pieces, only the face it starts from is replaced: the surface stays closed, and that
// is all that EPA's proof needs.
class ExpandingPolytope {
 public:
  static constexpr int kMaxPoints = 124;
  static constexpr int kMaxFaces = 2 * kMaxPoints;

  struct Face {
    Vec3 m;             // outward, unit; zero if the face is thin
    double dist;        // m.x on the plane
    short corner[3];    // counter-clockwise from outside
    short beyond[3];    // face across the edge from corner k to corner k+1
    short its_edge[3];  // the same edge as that face numbers it
    bool gone;
    bool thin;    // no area, no normal
    bool closed;  // nothing lies beyond
  };

  // Heights up to `round_off` above a face are zero. Points closer than `apart` are the same: the triangles between
  // them would have no normals.
  ExpandingPolytope(double round_off, double apart) : round_off_(round_off), apart_(apart) {}

  // False if they are flat.
  bool make_tetrahedron(const CorePoint* four);

  const CorePoint* points() const { return point_; }
  // Faces are 0 ... face_count() - 1; those that are gone have the key infinity.
  int face_count() const { return faces_; }
  const Face& face(int f) const { return face_[f]; }
  // Distance of a face from the origin; infinity if it is gone or thin (thin faces are as near as their neighbours).
  double key(int f) const { return key_[f]; }
  // The face with the smallest key.
  int nearest_face() const;
  bool has_corner(const Vec3& w) const;

  // Replaces what x sees, starting from face f, which it must see. False if there is no room.
  bool insert(int f, const CorePoint& x);
  // Nothing if it is there already or if no face has it higher than `gain` above it.
  void insert_anywhere(const CorePoint& x, double gain);
  // Nothing lies beyond the face, only its normal is poor: from now on it counts with the distance of its points.
  void close(int f);

 private:
  // An edge as the face beyond it numbers it.
  struct Rim {
    short face;
    short edge;
  };

  int add_face(int i, int j, int k);
  void link(int f, int e, int g, int h);
  bool sees(const Face& f, const Vec3& w) const { return f.thin || f.m.dot(w) - f.dist > round_off_; }
  void look_across(int f, int edge, const Vec3& w);
  bool rim_is_closed() const;

  double round_off_;
  double apart_;
  int points_ = 0;
  int faces_ = 0;  // slots in use, with holes
  int holes_ = 0;
  int gones_ = 0;
  int rims_ = 0;
  double key_[kMaxFaces];
  short hole_[kMaxFaces];
  short gone_[kMaxFaces];  // faces that the newest point sees
  Rim rim_[kMaxFaces];     // and the edges around them
  CorePoint point_[kMaxPoints];
  Face face_[kMaxFaces];
};

int after(int k) { return k == 2 ? 0 : k + 1; }

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
  f.dist = f.thin ? kInf : f.m.dot(x);
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
  for (int k = 0; k < gones_; ++k) key_[gone_[k]] = kInf;
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
    if (!(key_[f] < kInf)) continue;
    const double height = face_[f].m.dot(x.w) - face_[f].dist;
    if (height > best) {
      best = height;
      seen = f;
    }
  }
  if (seen >= 0 && !has_corner(x.w)) insert(seen, x);
}

void ExpandingPolytope::close(int f) {
  ClosestFeature x;
  closest_on_triangle(point_, face_[f].corner[0], face_[f].corner[1], face_[f].corner[2], x);
  key_[f] = std::max(key_[f], x.v.norm());
  face_[f].closed = true;
}

class Epa {
 public:
  Epa(const CorePair& pair, const EpaOptions& options, EpaResult& result)
      : pair_(pair),
        options_(options),
        curved_(!pair.is_polytope()),
        round_off_(1e-14 * options.size),
        gain_(std::max(round_off_, 0.01 * options.gap)),
        result_(result),
        polytope_(round_off_, curved_ ? 0.01 * std::sqrt(options.gap * options.size) : round_off_) {}

  bool start(const GjkResult& from);
  void run();

 private:
  bool grow(CorePoint* point, int& count);
  bool offer(const Vec3& n, double s, const CorePoint* point, int count);
  void take(const Vec3& n, double s, const CorePoint* point, int count);
  bool polish(NewtonResult& newton);
  void insert_rings(const NewtonResult& newton);
  bool expand();
  void settle_ties();

  const CorePair& pair_;
  const EpaOptions& options_;
  bool curved_;
  double round_off_;
  double gain_;  // points that stand out less are not worth having
  EpaResult& result_;
  int feet_ = 0;
  CorePoint foot_[3];  // points of C with the best direction as normal
  ExpandingPolytope polytope_;
};

// Distance of x from the affine hull of the first `count` points.
double height_above(const CorePoint* point, int count, const Vec3& x) {
  const Vec3 y = x - point[0].w;
  if (count == 1) return y.norm();
  const Vec3 e = point[1].w - point[0].w;
  if (count == 2) return e.cross(y).norm() / e.norm();
  const Vec3 m = e.cross(point[2].w - point[0].w);
  return std::abs(m.dot(y)) / m.norm();
}

// Directions across the affine hull of the first `count` points.
int directions_across(const CorePoint* point, int count, Vec3* out) {
  if (count == 1) {
    for (int k = 0; k < 3; ++k) out[k] = Vec3::Unit(k);
    return 3;
  }
  const Vec3 e = point[1].w - point[0].w;
  if (count == 3) {
    out[0] = e.cross(point[2].w - point[0].w).normalized();
    return 1;
  }
  int axis = 0;
  e.cwiseAbs().minCoeff(&axis);
  out[0] = e.cross(Vec3::Unit(axis)).normalized();
  out[1] = e.cross(out[0]).normalized();
  return 2;
}

// Adds a point of C off the affine hull of those there are. False if C is flat; its plane is the answer then.
bool Epa::grow(CorePoint* point, int& count) {
  Vec3 trial[3];
  const int trials = directions_across(point, count, trial);
  double best = 0;
  for (int k = 0; k < 2 * trials; ++k) {
    const Vec3 n = k % 2 == 0 ? trial[k / 2] : Vec3(-trial[k / 2]);
    const CorePoint x = pair_.support(n);
    offer(n, n.dot(x.w), point, count);
    const double height = height_above(point, count, x.w);
    if (height > best) {
      best = height;
      point[count] = x;
    }
  }
  if (!(best > 100 * round_off_)) return false;
  ++count;
  return true;
}

bool Epa::start(const GjkResult& from) {
  if (from.count == 0) return false;
  CorePoint point[4];
  int count = from.count;
  for (int k = 0; k < count; ++k) point[k] = from.point[from.slot[k]];
  // Touching: the origin is in the simplex, and stays in whatever is built on it.
  if (count < 4) result_.upper = from.upper;
  while (count < 4) {
    if (!grow(point, count)) return false;
  }
  return polytope_.make_tetrahedron(point);
}

void Epa::take(const Vec3& n, double s, const CorePoint* point, int count) {
  result_.n = n;
  result_.s = s;
  feet_ = count;
  for (int k = 0; k < count; ++k) foot_[k] = point[k];
}

// Takes over a direction if it is better than the best so far; the points of C have it as normal.
bool Epa::offer(const Vec3& n, double s, const CorePoint* point, int count) {
  if (s <= result_.lower) return false;
  result_.lower = s;
  take(n, s, point, count);
  return true;
}

// Newton's method from the corners of the nearest face. True if it was worth it.
bool Epa::polish(NewtonResult& newton) {
  const int f = polytope_.nearest_face();
  if (!(polytope_.key(f) < kInf)) return false;
  const ExpandingPolytope::Face& face = polytope_.face(f);
  const int slot[3] = {face.corner[0], face.corner[1], face.corner[2]};
  if (!newton_direction(pair_, polytope_.points(), slot, 3, -face.m, newton)) return false;
  return offer(newton.n, newton.n.dot(pair_.support(newton.n).w), newton.point, newton.count);
}

// Around a direction that is as good as exact, the polytope needs points at ever larger distance from the foot of the
// origin only: the chord from an angle t to an angle T of a circle of radius R stays at the distance `depth` from the
// origin if T/t <= 4 R / depth.
void Epa::insert_rings(const NewtonResult& newton) {
  const double depth = std::max(-result_.lower, 1e3 * round_off_);
  const double least = std::sqrt(options_.gap / newton.radius);
  const double ratio = std::clamp(2 * newton.radius / depth, 4.0, 1e4);
  double tilt = least;
  while (tilt * ratio < 0.3) tilt *= ratio;
  CorePoint ring[4];
  for (; tilt > 0.9 * least; tilt /= ratio) {
    const int count = newton_ring(pair_, newton, tilt, ring);
    for (int k = 0; k < count; ++k) polytope_.insert_anywhere(ring[k], gain_);
  }
}

// One round for the nearest face. False when there is nothing more to do.
bool Epa::expand() {
  const int f = polytope_.nearest_face();
  const double dist = polytope_.key(f);
  if (!(dist < kInf) || dist < -100 * round_off_) return false;
  result_.upper = std::min(result_.upper, -dist);
  const ExpandingPolytope::Face& face = polytope_.face(f);
  if (face.closed) return false;
  const CorePoint w = pair_.support(-face.m);
  const double depth = face.m.dot(w.w);
  const CorePoint* point = polytope_.points();
  const CorePoint corner[3] = {point[face.corner[0]], point[face.corner[1]], point[face.corner[2]]};
  offer(-face.m, -depth, corner, 3);
  if (result_.upper - result_.lower <= options_.gap) return false;
  if (depth - dist <= gain_ || polytope_.has_corner(w.w)) {
    polytope_.close(f);
    return true;
  }
  return polytope_.insert(f, w);
}

// Of directions that are equally deep, the preferred one, so that round-off does not choose. The polytope has a face
// for each of them.
void Epa::settle_ties() {
  constexpr double kSame = 0.9;  // cosine: neighbouring facets of round hulls are no ties
  constexpr double kBetter = 1e-3;
  const Vec3 second(0.48, 0.6, 0.64);  // decides where the first preference does not; any fixed vector
  for (int f = 0; f < polytope_.face_count(); ++f) {
    const ExpandingPolytope::Face& face = polytope_.face(f);
    if (polytope_.key(f) > -result_.lower + options_.tie || face.closed) continue;
    const Vec3 n = -face.m;
    if (n.dot(result_.n) > kSame) continue;
    const double preference = (n - result_.n).dot(options_.towards);
    if (preference < -kBetter || (preference < kBetter && (n - result_.n).dot(second) <= 0)) continue;
    const double s = n.dot(pair_.support(n).w);
    if (s < result_.lower - options_.tie) continue;
    const CorePoint* point = polytope_.points();
    const CorePoint corner[3] = {point[face.corner[0]], point[face.corner[1]], point[face.corner[2]]};
    take(n, s, corner, 3);
  }
}

void Epa::run() {
  constexpr int kShortcut = 5;  // flat contacts are done before
  NewtonResult newton;
  for (int iteration = 1; expand(); ++iteration) {
    if (curved_ && iteration % kShortcut == 0 && polish(newton) && newton.count < 3) insert_rings(newton);
  }
  if (curved_) polish(newton);
  settle_ties();
  if (feet_ == 0) return;
  ClosestFeature x;
  closest_on_simplex(foot_, feet_, x);
  result_.has_point = true;
  for (int k = 0; k < x.count; ++k) result_.p_a += x.weight[k] * foot_[x.slot[k]].a;
}

}  // namespace

void epa_depth(const CorePair& pair, const GjkResult& start, const EpaOptions& options, EpaResult& result) {
  Epa epa(pair, options, result);
  if (epa.start(start)) epa.run();
}

}  // namespace sarrus
