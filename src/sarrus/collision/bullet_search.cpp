#include "sarrus/collision/bullet_search.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/bullet_query.h"
#include "sarrus/collision/convex_gjk.h"

namespace sarrus {
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
