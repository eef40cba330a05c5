#include "sarrus/collision/convex_epa.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sarrus/collision/convex_newton.h"
#include "sarrus/collision/convex_polytope.h"
#include "sarrus/collision/convex_simplex.h"

namespace sarrus {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

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
  if (!(polytope_.key(f) < kNever)) return false;
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
  if (!(dist < kNever) || dist < -100 * round_off_) return false;
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
  Feature x;
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
