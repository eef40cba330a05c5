#include "sarrus/collision/manifold.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/tools.h"

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
static_assert(kCapacity % 4 == 0);
constexpr double kTie = 1e-3;          // relative: scores this close to the best count as equal
constexpr double kLayerSlope = 0.01;   // gap over patch diameter up to which points form one layer
constexpr double kNegligible = 1e-12;  // area over squared length

// The choice of §4.4 on points projected along the first one's normal, four points at a time; what the last group lacks
// is filled with points that are closed from the beginning.
class Reducer {
 public:
  Reducer(const Manifold& m, double tol) : n_(m.size()), padded_((n_ + 3) / 4 * 4) {
    const ProjectionFrame frame(m[0].n);
    for (int i = 0; i < padded_; ++i) {
      const ManifoldPoint& point = m[i < n_ ? i : 0];
      x_[i] = frame.t.dot(point.p);
      y_[i] = frame.o.dot(point.p);
      gap_[i] = point.gap;
    }
    const double deepest = *std::min_element(gap_, gap_ + n_);
    score_distance(centre(kInf));
    const double radius2 = *std::max_element(score_, score_ + n_);
    deep_limit_ = deepest + tol;
    layer_limit_ = deepest + std::max(tol, kLayerSlope * 2 * std::sqrt(radius2));
  }

  // Chooses up to `count` points. False if the deepest is missing by more than tol.
  bool choose(int count, bool start_deepest) {
    std::fill_n(kept_, n_, false);
    chosen_ = 0;
    take_first(start_deepest ? deep_limit_ : layer_limit_);
    take_second();
    take_third();
    while (chosen_ >= 3 && chosen_ < count && take_next()) {
    }
    double deepest_kept = kInf;
    for (int i = 0; i < n_; ++i) {
      if (kept_[i]) deepest_kept = std::min(deepest_kept, gap_[i]);
    }
    return deepest_kept <= deep_limit_;
  }

  bool kept(int i) const { return kept_[i]; }

 private:
  // Opens the points with gaps up to the limit that are not kept yet: what is closed has the penalty of minus infinity.
  void open(double limit) {
    limit_ = limit;
    for (int i = 0; i < padded_; ++i) penalty_[i] = i < n_ && !kept_[i] && gap_[i] <= limit ? 0.0 : -kInf;
  }

  Vec2 centre(double limit) const {
    Vec2 sum = Vec2::Zero();
    int count = 0;
    for (int i = 0; i < n_; ++i) {
      if (gap_[i] > limit) continue;
      sum += Vec2(x_[i], y_[i]);
      ++count;
    }
    return sum / count;
  }

  // Squared distances from c.
  void score_distance(const Vec2& c) {
    for (int i = 0; i < padded_; i += 4) {
      Eigen::Map<Four>(score_ + i) = (four(x_ + i) - c.x()).square() + (four(y_ + i) - c.y()).square();
    }
  }

  // The open point with the lowest index whose score is within the tie of the best; -1 if no score exceeds `least`.
  int best(double least) const {
    Four tops = Four::Constant(least);
    for (int i = 0; i < padded_; i += 4) tops = tops.max(four(score_ + i) + four(penalty_ + i));
    const double top = tops.maxCoeff();
    if (!(top > least)) return -1;
    int i = 0;
    while (score_[i] + penalty_[i] < top * (1 - kTie)) ++i;
    return i;
  }
  // The same, first in the layer of the deepest points, then among all.
  int best_by_layer(double least) {
    const int i = best(least);
    if (i >= 0 || limit_ == kInf) return i;
    open(kInf);
    return best(least);
  }

  void take(int i) {
    kept_[i] = true;
    penalty_[i] = -kInf;
    ++chosen_;
  }

  // Farthest from the centroid of the points up to the limit.
  void take_first(double limit) {
    open(limit);
    score_distance(centre(limit));
    hull_[0] = best(-1);
    take(hull_[0]);
    if (limit != layer_limit_) open(layer_limit_);
  }

  // Farthest from the first.
  void take_second() {
    score_distance({x_[hull_[0]], y_[hull_[0]]});
    const int i = best_by_layer(0);
    if (i < 0) return;  // all points in one place
    length2_ = score_[i];
    take(i);
    hull_[1] = i;
  }

  // Largest triangle. If all points lie on a line, two suffice.
  void take_third() {
    if (chosen_ < 2) return;
    const Edge edge(*this, hull_[0], hull_[1]);
    for (int i = 0; i < padded_; i += 4) Eigen::Map<Four>(score_ + i) = edge.outside(four(x_ + i), four(y_ + i)).abs();
    const int i = best_by_layer(kNegligible * length2_);
    if (i < 0) return;
    take(i);
    hull_[2] = i;
    if (area(hull_[0], hull_[1], i) < 0) std::swap(hull_[1], hull_[2]);  // counter-clockwise
    hull_size_ = 3;
  }

  // The largest area outside the polygon of the points so far: the triangles over the sides that see the point.
  bool take_next() {
    std::fill_n(score_, padded_, 0.0);
    for (int k = 0; k < hull_size_; ++k) {
      const Edge edge(*this, hull_[k], hull_[next(k)]);
      for (int i = 0; i < padded_; i += 4) {
        Eigen::Map<Four>(score_ + i) += edge.outside(four(x_ + i), four(y_ + i)).max(0.0);
      }
    }
    const int i = best_by_layer(kNegligible * length2_);
    if (i < 0) return false;
    take(i);
    grow(i);
    return true;
  }

  // Puts point i into the polygon in place of the corners between the sides that see it.
  void grow(int i) {
    int grown[kMaxManifoldPoints];
    int size = 0;
    for (int k = 0; k < hull_size_; ++k) {
      const int before = hull_[k > 0 ? k - 1 : hull_size_ - 1];
      const bool seen_before = area(before, hull_[k], i) < 0;
      const bool seen_after = area(hull_[k], hull_[next(k)], i) < 0;
      if (!(seen_before && seen_after)) grown[size++] = hull_[k];
      if (seen_after && !seen_before) grown[size++] = i;
    }
    std::copy_n(grown, size, hull_);
    hull_size_ = size;
  }

  // From point a to point b.
  struct Edge {
    Edge(const Reducer& r, int a, int b) : x(r.x_[a]), y(r.y_[a]), ex(r.x_[b] - x), ey(r.y_[b] - y) {}
    // Twice the area of the triangle with a point to the right.
    Four outside(const Four& px, const Four& py) const { return (px - x) * ey - (py - y) * ex; }
    double x, y, ex, ey;
  };

  int next(int k) const { return k + 1 < hull_size_ ? k + 1 : 0; }
  double area(int a, int b, int c) const {
    return (x_[b] - x_[a]) * (y_[c] - y_[a]) - (y_[b] - y_[a]) * (x_[c] - x_[a]);
  }

  int n_;
  int padded_;
  double x_[kCapacity];
  double y_[kCapacity];
  double gap_[kCapacity];
  double score_[kCapacity];
  double penalty_[kCapacity];
  bool kept_[kCapacity];
  double deep_limit_ = 0;
  double layer_limit_ = 0;
  double limit_ = 0;
  double length2_ = 0;
  int chosen_ = 0;
  int hull_[kMaxManifoldPoints];
  int hull_size_ = 0;
};

}  // namespace

void flip(Manifold& manifold) {
  for (ManifoldPoint& point : manifold) {
    point.p += point.gap * point.n;
    point.n = -point.n;
    point.key = swapped(point.key);
  }
}

void sort_by_key(Manifold& manifold) {
  const auto before = [](const ManifoldPoint& a, const ManifoldPoint& b) { return a.key < b.key; };
  if (!std::is_sorted(manifold.begin(), manifold.end(), before)) std::sort(manifold.begin(), manifold.end(), before);
}

void reduce(Manifold& manifold, int count, double tol) {
  if (manifold.size() <= count) return;
  Reducer reducer(manifold, tol);
  if (!reducer.choose(count, false)) reducer.choose(count, true);
  int size = 0;
  for (int i = 0; i < manifold.size(); ++i) {
    if (reducer.kept(i)) manifold[size++] = manifold[i];
  }
  manifold.truncate(size);
}

}  // namespace sarrus
