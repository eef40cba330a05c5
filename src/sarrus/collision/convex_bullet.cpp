// Bullet's float64 GJK and EPA as second opinion, and ascent on s(n) as the last
// (docs/theory/collision.md §5, steps 4 and 5).
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "BulletCollision/CollisionShapes/btConvexInternalShape.h"
#include "BulletCollision/NarrowPhaseCollision/btGjkEpa2.h"
#include "BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h"
#include "BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h"
#include "BulletCollision/NarrowPhaseCollision/btPointCollector.h"
#include "BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h"
#include "sarrus/collision/convex_internal.h"

namespace sarrus {
namespace {

static_assert(sizeof(btScalar) == 8, "Bullet must be used in double precision: define BT_USE_DOUBLE_PRECISION");

btVector3 to_bullet(const Vec3& x) { return {x.x(), x.y(), x.z()}; }
Vec3 from_bullet(const btVector3& x) { return {x.x(), x.y(), x.z()}; }

// A core in units of `length`. Its margin is 0: radii are subtracted by the caller. Bullet's own shapes cannot be used,
// they carry margins that shrink boxes and grow hulls.
class CoreShape final : public btConvexInternalShape {
 public:
  CoreShape(const Convex& body, double length) : body_(body), scale_(1 / length) {
    m_shapeType = CUSTOM_CONVEX_SHAPE_TYPE;
    m_collisionMargin = 0;
  }
  btVector3 localGetSupportingVertex(const btVector3& l) const override {
    return localGetSupportingVertexWithoutMargin(l);
  }
  btVector3 localGetSupportingVertexWithoutMargin(const btVector3& l) const override {
    return to_bullet(scale_ * body_.core_support_local(from_bullet(l)));
  }
  void batchedUnitVectorGetSupportingVertexWithoutMargin(const btVector3* l, btVector3* x, int count) const override {
    for (int i = 0; i < count; ++i) x[i] = localGetSupportingVertexWithoutMargin(l[i]);
  }
  void calculateLocalInertia(btScalar, btVector3& inertia) const override { inertia.setZero(); }
  const char* getName() const override { return "core"; }

 private:
  const Convex& body_;
  double scale_;
};

struct BulletPair {
  double length;
  CoreShape a;
  CoreShape b;
  btTransform X_a;
  btTransform X_b;

  explicit BulletPair(const CorePair& pair)
      : length(std::min(pair.a.diagonal, pair.b.diagonal) > 0 ? std::min(pair.a.diagonal, pair.b.diagonal) : 1.0),
        a(pair.a, length),
        b(pair.b, length) {
    X_a.setIdentity();
    const Mat3& R = pair.R;
    X_b.setBasis({R(0, 0), R(0, 1), R(0, 2), R(1, 0), R(1, 1), R(1, 2), R(2, 0), R(2, 1), R(2, 2)});
    X_b.setOrigin(to_bullet(pair.p / length));
  }

  // Unusable numbers make an invalid proposal.
  Proposal proposal(const Vec3& n, double d, const Vec3& p_a) const {
    const double norm = n.norm();
    Proposal q;
    if (!(norm > 0) || !std::isfinite(norm) || !std::isfinite(d) || !p_a.allFinite()) return q;
    q.valid = true;
    q.n = n / norm;
    q.d = length * d;
    q.p_a = length * p_a;
    return q;
  }
};

}  // namespace

Proposal bullet_distance(const CorePair& pair, const Vec3& guess) {
  const BulletPair x(pair);
  btGjkEpaSolver2::sResults r;
  if (!btGjkEpaSolver2::Distance(&x.a, x.X_a, &x.b, x.X_b, to_bullet(guess), r)) return {};
  // The normal of the result is in the frame of A and points to A; the witnesses have no such traps.
  const Vec3 e = from_bullet(r.witnesses[1] - r.witnesses[0]);
  return x.proposal(e, e.norm(), from_bullet(r.witnesses[0]));
}

Proposal bullet_penetration(const CorePair& pair, const Vec3& guess) {
  const BulletPair x(pair);
  btGjkEpaSolver2::sResults r;
  if (!btGjkEpaSolver2::Penetration(&x.a, x.X_a, &x.b, x.X_b, to_bullet(guess), r)) return {};
  return x.proposal(-from_bullet(r.normal), r.distance, from_bullet(r.witnesses[0]));
}

Proposal bullet_detector(const CorePair& pair) {
  const BulletPair x(pair);
  btVoronoiSimplexSolver simplex;
  btGjkEpaPenetrationDepthSolver depth;
  btGjkPairDetector detector(&x.a, &x.b, &simplex, &depth);
  btGjkPairDetector::ClosestPointInput input;
  input.m_transformA = x.X_a;
  input.m_transformB = x.X_b;
  btPointCollector out;
  detector.getClosestPoints(input, out, nullptr);
  if (!out.m_hasResult) return {};
  const Vec3 n = -from_bullet(out.m_normalOnBInWorld);
  return x.proposal(n, out.m_distance, from_bullet(out.m_pointInWorld) - out.m_distance * n);
}

void check_bullet() {
  Convex cube;
  Convex other;
  cube.core = other.core = CoreKind::box;
  cube.size = other.size = Vec3::Constant(0.1);
  cube.diagonal = other.diagonal = 0.2 * std::sqrt(3.0);
  other.p = Vec3(0.3, 0, 0);
  const Proposal q = bullet_distance(CorePair(cube, other), Vec3::UnitX());
  if (q.valid && std::abs(q.d - 0.1) <= 1e-12 && (q.n - Vec3::UnitX()).norm() <= 1e-12) return;
  throw std::runtime_error(
      "Bullet measures a wrong distance between two cubes: a single-precision build of Bullet is linked, or loaded by "
      "another library of this process. Link libBulletCollision-float64 and libLinearMath-float64 and see that they "
      "come first.");
}

namespace {

class Search {
 public:
  Search(const CorePair& pair, double ctol, double tol, Bounds& bounds)
      : pair_(pair), ctol_(ctol), tol_(tol), bounds_(bounds) {}

  bool propose(const Vec3& guess) {
    return attempt(bullet_distance(pair_, guess)) || attempt(bullet_penetration(pair_, guess));
  }
  bool detect() { return attempt(bullet_detector(pair_)); }
  void ascend(const Vec3& centre_line);

 private:
  bool attempt(const Proposal& q);
  void ascend_from(Vec3 n);
  void offer(const Vec3& n, double s, const Vec3& p_a);

  const CorePair& pair_;
  double ctol_;
  double tol_;
  Bounds& bounds_;
};

void Search::offer(const Vec3& n, double s, const Vec3& p_a) {
  if (s <= bounds_.lower) return;
  bounds_.n = n;
  bounds_.s = bounds_.lower = s;
  bounds_.p_a = p_a;
}

// True if the proposal closes the gap. One that contradicts what is proved already is no upper bound.
bool Search::attempt(const Proposal& q) {
  if (!q.valid) return false;
  offer(q.n, q.n.dot(pair_.support(q.n).w), q.p_a - pair_.ball_a * q.n);
  const double d = q.d + pair_.ball_a + pair_.ball_b;
  if (d >= bounds_.lower - ctol_) bounds_.upper = std::min(bounds_.upper, std::max(d, bounds_.lower));
  return bounds_.proved(ctol_);
}

// The n+ closest to A of B moved by delta n has s(n+) >= s(n): repeated, it climbs to a local maximum.
void Search::ascend_from(Vec3 n) {
  constexpr int kMaxSteps = 30;
  const double reach = 1e3 * tol_;
  const double size = pair_.a.diagonal + pair_.b.diagonal;
  double s = n.dot(pair_.support(n).w);
  GjkResult gjk;
  for (int i = 0; i < kMaxSteps; ++i) {
    const double delta = std::max(0.0, reach - s);
    CorePair moved = pair_;
    moved.p += delta * n;
    gjk_distance(moved, n, 1e300, 1e-3 * tol_, size, gjk);
    if (gjk.status != GjkStatus::apart) return;
    const double s_next = gjk.n.dot(pair_.support(gjk.n).w);
    offer(gjk.n, s_next, gjk.closest().a);
    if (s_next - s <= 1e-4 * tol_ || delta == 0) return;
    n = gjk.n;
    s = s_next;
  }
}

void Search::ascend(const Vec3& centre_line) {
  constexpr int kSeeds = 14;
  constexpr int kStarts = 4;
  struct Seed {
    double s;
    Vec3 n;
  };
  Seed seed[kSeeds];
  seed[0].n = bounds_.n;
  seed[1].n = centre_line;
  for (int k = 0; k < 3; ++k) {
    seed[2 + 4 * k].n = Vec3::Unit(k);
    seed[3 + 4 * k].n = -Vec3::Unit(k);
    seed[4 + 4 * k].n = pair_.R.col(k);
    seed[5 + 4 * k].n = -pair_.R.col(k);
  }
  for (Seed& x : seed) x.s = x.n.dot(pair_.support(x.n).w);
  std::sort(seed, seed + kSeeds, [](const Seed& x, const Seed& y) { return x.s > y.s; });
  for (int k = 0; k < kStarts && !bounds_.proved(ctol_); ++k) ascend_from(seed[k].n);
}

}  // namespace

void bullet_search(const CorePair& pair, const Vec3& centre_line, double ctol, double tol, Bounds& bounds) {
  Search search(pair, ctol, tol, bounds);
  if (search.propose(centre_line)) return;
  if (pair.is_polytope()) {
    if (search.detect()) return;
    const Vec3 guesses[] = {-centre_line, Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ(), Vec3::Ones()};
    for (const Vec3& guess : guesses) {
      if (search.propose(guess)) return;
    }
  }
  search.ascend(centre_line);
}

}  // namespace sarrus
