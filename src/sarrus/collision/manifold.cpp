#include "sarrus/collision/manifold.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/projection.h"

namespace sarrus {
namespace {

constexpr int kKindShift = 60;
constexpr int kFeatureBits = 30;
constexpr std::uint64_t kFeatureMask = (1ULL << kFeatureBits) - 1;

FeatureKey swapped(const FeatureKey& key) {
  std::uint64_t kind = key.lo >> kKindShift;
  if (kind <= 1) kind = 1 - kind;  // a vertex of A is now a vertex of B
  const std::uint64_t fa = (key.lo >> kFeatureBits) & kFeatureMask;
  const std::uint64_t fb = key.lo & kFeatureMask;
  return {key.hi << 32 | key.hi >> 32, kind << kKindShift | fb << kFeatureBits | fa};
}

constexpr int kCapacity = Manifold::capacity();

double cross2(const Vec2& a, const Vec2& b) { return a.x() * b.y() - a.y() * b.x(); }

// Lowest index whose score is within 0.1 % of the best; taken points have a negative score. -1 if none.
int pick(const double* score, int n) {
  const double best = *std::max_element(score, score + n);
  if (best < 0) return -1;
  for (int i = 0; i < n; ++i) {
    if (score[i] >= 0 && score[i] >= best * (1 - 1e-3)) return i;
  }
  return -1;
}

// A counter-clockwise convex polygon that grows by one point at a time.
class GrowingHull {
 public:
  GrowingHull(const Vec2& a, const Vec2& b, const Vec2& c) {
    const bool ccw = cross2(b - a, c - a) > 0;
    v_.push(a);
    v_.push(ccw ? b : c);
    v_.push(ccw ? c : b);
  }
  // Twice the area that p would add: the triangles over the edges that p sees from outside.
  double gain(const Vec2& p) const {
    double area = 0;
    for (int i = 0; i < v_.size(); ++i) area += std::max(0.0, -side(i, p));
    return area;
  }
  void add(const Vec2& p) {
    FixedList<Vec2, kCapacity> grown;
    const int n = v_.size();
    bool inserted = false;
    for (int i = 0; i < n; ++i) {
      const bool seen_before = side((i + n - 1) % n, p) < 0;
      const bool seen_after = side(i, p) < 0;
      if (seen_after && !seen_before) {  // the visible chain starts here: the vertex stays, p follows
        grown.push(v_[i]);
        grown.push(p);
        inserted = true;
      } else if (!(seen_before && seen_after)) {
        grown.push(v_[i]);
      }
    }
    if (inserted) v_ = grown;
  }

 private:
  double side(int i, const Vec2& p) const {
    const Vec2& a = v_[i];
    return cross2(v_[(i + 1) % v_.size()] - a, p - a);
  }
  FixedList<Vec2, kCapacity> v_;
};

// The choice of §4.4 on projected points; fills `kept` and stops early when nothing adds area.
class Reducer {
 public:
  Reducer(const Manifold& m, double tol) : n_(m.size()) {
    const ProjectionFrame frame(m[0].n);
    for (int i = 0; i < n_; ++i) u_[i] = frame.project(m[i].p);
    first_three(m, tol);
  }

  void grow_to(int count) {
    const double longest2 = (u_[index_[1]] - u_[index_[0]]).squaredNorm();
    if (chosen_ < 3) return;
    GrowingHull hull(u_[index_[0]], u_[index_[1]], u_[index_[2]]);
    while (chosen_ < count) {
      double score[kCapacity] = {};
      for (int i = 0; i < n_; ++i) score[i] = kept[i] ? -1 : hull.gain(u_[i]);
      const int next = pick(score, n_);
      if (next < 0 || score[next] < 1e-12 * longest2) return;
      take(next);
      hull.add(u_[next]);
    }
  }

  bool kept[kCapacity] = {};

 private:
  void take(int i) {
    kept[i] = true;
    if (chosen_ < 3) index_[chosen_] = i;
    ++chosen_;
  }

  void first_three(const Manifold& m, double tol) {
    Vec2 centroid = Vec2::Zero();
    double deepest = kInf;
    for (int i = 0; i < n_; ++i) {
      centroid += u_[i] / n_;
      deepest = std::min(deepest, m[i].gap);
    }
    double score[kCapacity] = {};
    for (int i = 0; i < n_; ++i) score[i] = m[i].gap <= deepest + tol ? (u_[i] - centroid).norm() : -1;
    take(pick(score, n_));
    for (int i = 0; i < n_; ++i) score[i] = kept[i] ? -1 : (u_[i] - u_[index_[0]]).norm();
    take(pick(score, n_));
    const Vec2 edge = u_[index_[1]] - u_[index_[0]];
    for (int i = 0; i < n_; ++i) score[i] = kept[i] ? -1 : std::abs(cross2(edge, u_[i] - u_[index_[0]]));
    const int third = pick(score, n_);
    if (score[third] > 1e-12 * edge.squaredNorm()) take(third);  // else all points lie on a line: two suffice
  }

  int n_;
  Vec2 u_[kCapacity];
  int index_[3] = {};
  int chosen_ = 0;
};

}  // namespace

FeatureKey make_key(FeatureKind kind, int feature_a, int feature_b) {
  return {0, static_cast<std::uint64_t>(kind) << kKindShift | static_cast<std::uint64_t>(feature_a) << kFeatureBits |
                 static_cast<std::uint64_t>(feature_b)};
}

void flip(Manifold& manifold) {
  for (ManifoldPoint& point : manifold) {
    point.p += point.gap * point.n;
    point.n = -point.n;
    point.key = swapped(point.key);
  }
}

void sort_by_key(Manifold& manifold) {
  std::sort(manifold.begin(), manifold.end(),
            [](const ManifoldPoint& a, const ManifoldPoint& b) { return a.key < b.key; });
}

void reduce(Manifold& manifold, int count, double tol) {
  if (manifold.size() <= count) return;
  Reducer reducer(manifold, tol);
  reducer.grow_to(count);
  int size = 0;
  for (int i = 0; i < manifold.size(); ++i) {
    if (reducer.kept[i]) manifold[size++] = manifold[i];
  }
  manifold.truncate(size);
}

}  // namespace sarrus
