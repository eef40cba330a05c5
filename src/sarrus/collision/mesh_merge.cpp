#include "sarrus/collision/mesh_pairs.h"
#include "sarrus/math/tools.h"

#include <algorithm>
#include <cmath>

namespace sarrus {
namespace {

constexpr int kMaxClusters = 8;
constexpr int kMaxDominators = 32;
// A chunk of points that overflows the manifold is reduced to this many before more are added.
constexpr int kChunk = kMaxManifoldPoints;

// A tentative patch lives if a firm one looks its way.
void settle_tentative(std::vector<MeshPatch>& patches) {
  const auto supported = [&](const MeshPatch& patch) {
    return std::any_of(patches.begin(), patches.end(),
                       [&](const MeshPatch& other) { return !other.tentative && other.n.dot(patch.n) > kPatchCosine; });
  };
  for (MeshPatch& patch : patches) {
    if (patch.tentative && !supported(patch)) patch.count = 0;
  }
}

struct Dominator {
  Vec3 n;
  double lowest;
};

bool resolved_by(const Dominator& o, const MeshPatch& patch, double tol) {
  const double top = std::max({o.n.dot(patch.corner[0]), o.n.dot(patch.corner[1]), o.n.dot(patch.corner[2])});
  return o.lowest - top > patch.gap + tol;
}

// Shallow patches first, so that whatever drops a patch has been kept itself.
void drop_resolved(MeshMergeBuffers& b, double tol) {
  const auto deep = [&](const MeshPatch& p) { return p.count > 0 && p.gap < -tol; };
  if (std::none_of(b.patches.begin(), b.patches.end(), deep)) return;
  b.order.clear();
  for (int i = 0; i < static_cast<int>(b.patches.size()); ++i) {
    if (b.patches[at(i)].count > 0) b.order.push_back(i);
  }
  std::sort(b.order.begin(), b.order.end(), [&](int i, int j) {
    const double x = b.patches[at(i)].gap;
    const double y = b.patches[at(j)].gap;
    return x != y ? x > y : i < j;
  });
  FixedList<Dominator, kMaxDominators> kept;
  for (const int i : b.order) {
    MeshPatch& patch = b.patches[at(i)];
    bool known = kept.size() == kMaxDominators;
    for (const Dominator& o : kept) {
      if (deep(patch) && resolved_by(o, patch, tol)) patch.count = 0;
      known = known || o.n.dot(patch.n) > 1 - 1e-9;
    }
    if (patch.count > 0 && !known) kept.push({patch.n, patch.lowest});
  }
}

// Patches join the first cluster of their direction, in their own order: round-off does not decide.
void gather(MeshMergeBuffers& b, double cosine) {
  b.clusters.clear();
  for (int i = 0; i < static_cast<int>(b.patches.size()); ++i) {
    MeshPatch& patch = b.patches[at(i)];
    if (patch.count == 0) continue;
    int c = 0;
    const int count = static_cast<int>(b.clusters.size());
    while (c < count && !(b.clusters[at(c)].n.dot(patch.n) > cosine)) ++c;
    if (c == count) b.clusters.push_back({patch.n, kInf, i});
    patch.cluster = c;
    b.clusters[at(c)].gap = std::min(b.clusters[at(c)].gap, patch.gap);
  }
}

// Vertices of the body first, then vertices of the mesh, crossings, witnesses: their keys outlive a change of triangle.
bool preferred(const FeatureKey& a, const FeatureKey& b) {
  return kind_of(a) != kind_of(b) ? kind_of(a) < kind_of(b) : a < b;
}

// A body vertex also stands for the crossings near it: it has just passed a concave edge.
bool coincide(const ManifoldPoint& a, const ManifoldPoint& b, double tol) {
  const bool vertex = (kind_of(a.key) == FeatureKind::vertex_a) != (kind_of(b.key) == FeatureKind::vertex_a);
  const double reach = (vertex ? 20 : 2) * tol;
  return (a.p - b.p).squaredNorm() <= reach * reach && std::abs(a.gap - b.gap) <= 2 * tol;
}

// Adds a point unless one at its place is there; of the two the preferred one stays.
void add_distinct(Manifold& m, const ManifoldPoint& point, double tol) {
  for (ManifoldPoint& other : m) {
    if (other.key != point.key && !coincide(other, point, tol)) continue;
    if (other.key == point.key ? point.gap < other.gap : preferred(point.key, other.key)) other = point;
    return;
  }
  m.push(point);
}

// Lowest index among the smallest gaps.
int lowest_of(const Manifold& m, double tol) {
  double gap = kInf;
  for (const ManifoldPoint& point : m) gap = std::min(gap, point.gap);
  int i = 0;
  while (m[i].gap > gap + 1e-4 * tol) ++i;
  return i;
}

void keep_one(Manifold& m, double tol) {
  m[0] = m[lowest_of(m, tol)];
  m.truncate(1);
}

// The best index of a score; within 0.1 % the lowest.
template <class Score>
int best_of(const Manifold& m, const Score& score) {
  double best = -kInf;
  for (const ManifoldPoint& point : m) best = std::max(best, score(point));
  int i = 0;
  while (i + 1 < m.size() && score(m[i]) < best - 1e-3 * std::abs(best)) ++i;
  return i;
}

void keep_two(Manifold& m, double tol) {
  Vec3 centroid = Vec3::Zero();
  for (const ManifoldPoint& point : m) centroid += point.p / m.size();
  const double limit = m[lowest_of(m, tol)].gap + tol;
  const int i = best_of(m, [&](const ManifoldPoint& x) { return x.gap <= limit ? (x.p - centroid).norm() : -kInf; });
  const Vec3 p = m[i].p;
  const int j = best_of(m, [&](const ManifoldPoint& x) { return (x.p - p).norm(); });
  const ManifoldPoint first = m[std::min(i, j)];
  m[1] = m[std::max(i, j)];
  m[0] = first;
  m.truncate(2);
}

bool is_between(const ManifoldPoint& x, const ManifoldPoint& a, const ManifoldPoint& b, double tol) {
  if (x.n.dot(a.n) < 1 - 1e-9 || x.n.dot(b.n) < 1 - 1e-9) return false;
  const Vec3 e = b.p - a.p;
  const double s = e.dot(x.p - a.p) / e.squaredNorm();
  return s > 0 && s < 1 && (x.p - a.p - s * e).squaredNorm() <= tol * tol &&
         std::abs(x.gap - a.gap - s * (b.gap - a.gap)) <= tol;
}

// The index in `m` of the point that is farthest from all of `chosen`.
int farthest(const Manifold& m, const Manifold& chosen) {
  return best_of(m, [&](const ManifoldPoint& x) {
    double distance = kInf;
    for (const ManifoldPoint& y : chosen) distance = std::min(distance, (x.p - y.p).squaredNorm());
    return distance;
  });
}

// In layers: over steps and bumps the extent of a patch says nothing about where it carries, so points above the
// smallest gap only fill what those at it leave free.
void keep_many(Manifold& m, int count, double band, double tol) {
  const double gap = m[lowest_of(m, tol)].gap;
  Manifold kept;
  for (const ManifoldPoint& point : m) {
    if (point.gap <= gap + 10 * tol) kept.push(point);
  }
  reduce(kept, count, tol);
  double below = gap + 10 * tol;
  for (const double limit : {gap + band, kInf}) {
    Manifold layer;
    for (const ManifoldPoint& point : m) {
      if (point.gap > below && point.gap <= limit) layer.push(point);
    }
    below = std::max(below, limit);
    while (kept.size() < count && !layer.empty()) {
      const int i = farthest(layer, kept);
      kept.push(layer[i]);
      layer[i] = layer[layer.size() - 1];
      layer.truncate(layer.size() - 1);
    }
  }
  m = kept;
}

// A witness stands for contacts that have no other point: where it is along a level edge means nothing.
void drop_witnesses(Manifold& m, double tol) {
  double gap = kInf;
  for (const ManifoldPoint& point : m) {
    if (kind_of(point.key) != FeatureKind::witness) gap = std::min(gap, point.gap);
  }
  int size = 0;
  for (int i = 0; i < m.size(); ++i) {
    if (kind_of(m[i].key) != FeatureKind::witness || m[i].gap < gap - tol) m[size++] = m[i];
  }
  m.truncate(size);
}

// Drops corners of the mesh on the line between two other points with the same normal, as a long ridge has many.
void drop_between(Manifold& m, double tol) {
  for (int i = m.size() - 1; i >= 0; --i) {
    if (kind_of(m[i].key) != FeatureKind::vertex_b) continue;
    bool between = false;
    for (int j = 0; j < m.size() && !between; ++j) {
      for (int k = j + 1; k < m.size() && !between; ++k) {
        between = j != i && k != i && is_between(m[i], m[j], m[k], tol);
      }
    }
    if (!between) continue;
    for (int k = i; k + 1 < m.size(); ++k) m[k] = m[k + 1];
    m.truncate(m.size() - 1);
  }
}

// Preferred points first: they win ties.
void keep(Manifold& m, int count, const MeshMergeLimits& limits) {
  std::sort(m.begin(), m.end(), [](const ManifoldPoint& x, const ManifoldPoint& y) { return preferred(x.key, y.key); });
  if (m.size() <= count) return;
  if (count == 1) return keep_one(m, limits.tol);
  if (count == 2) return keep_two(m, limits.tol);
  keep_many(m, count, 0.05 * limits.margin, limits.tol);
}

void reduce_cluster(MeshMergeBuffers& b, int c, int count, const MeshMergeLimits& limits, Manifold& manifold) {
  Manifold& m = b.cluster_points;
  m.clear();
  ManifoldPoint deepest;
  deepest.gap = kInf;
  for (std::size_t i = at(b.clusters[at(c)].first_patch); i < b.patches.size(); ++i) {
    const MeshPatch& patch = b.patches[i];
    if (patch.count == 0 || patch.cluster != c) continue;
    for (int k = patch.first; k < patch.first + patch.count; ++k) {
      const ManifoldPoint& point = b.points[at(k)];
      if (m.size() == m.capacity()) {
        keep(m, kChunk, limits);
        add_distinct(m, deepest, limits.tol);  // what is kept to within tol in every chunk is lost
      }
      if (point.gap < deepest.gap) deepest = point;
      add_distinct(m, point, limits.tol);
    }
  }
  if (limits.per_cluster > 2) drop_witnesses(m, limits.tol);
  keep(m, count, limits);
  if (m.size() > 2) drop_between(m, limits.tol);
  for (const ManifoldPoint& point : m) manifold.push(point);
}

// One body vertex in two clusters whose directions have the same code is one point: the deeper one. Sorted by key.
void drop_repeats(Manifold& m) {
  int size = 0;
  for (int i = 0; i < m.size(); ++i) {
    const bool repeat = size > 0 && m[size - 1].key == m[i].key;
    if (!repeat) {
      m[size++] = m[i];
    } else if (m[i].gap < m[size - 1].gap) {
      m[size - 1] = m[i];
    }
  }
  m.truncate(size);
}

}  // namespace

void MeshMergeBuffers::clear() {
  patches.clear();
  points.clear();
  first_ = 0;
}

void MeshMergeBuffers::end_patch(const Vec3& n, double lowest, const Vec3& x0, const Vec3& x1, const Vec3& x2,
                                 bool tentative) {
  if (open_count() == 0) return;
  MeshPatch patch{n, lowest, {x0, x1, x2}, first_, open_count(), kInf, tentative, -1};
  for (std::size_t k = at(first_); k < points.size(); ++k) patch.gap = std::min(patch.gap, points[k].gap);
  patches.push_back(patch);
  first_ = static_cast<int>(points.size());
}

void drop_patches(MeshMergeBuffers& b, double tol) {
  settle_tentative(b.patches);
  drop_resolved(b, tol);
}

void merge_patches(MeshMergeBuffers& b, const MeshMergeLimits& limits, Manifold& manifold) {
  manifold.clear();
  gather(b, limits.cluster_cosine);
  std::vector<int>& order = b.order;
  order.clear();
  for (int c = 0; c < static_cast<int>(b.clusters.size()); ++c) order.push_back(c);
  if (order.size() > at(kMaxClusters)) {
    std::sort(order.begin(), order.end(), [&](int i, int j) {
      const double x = b.clusters[at(i)].gap;
      const double y = b.clusters[at(j)].gap;
      return x != y ? x < y : i < j;
    });
    order.resize(at(kMaxClusters));
  }
  const int count = order.size() == 1 && limits.per_cluster == 4 ? kMaxManifoldPoints : limits.per_cluster;
  for (const int c : order) reduce_cluster(b, c, count, limits, manifold);
  sort_by_key(manifold);
  drop_repeats(manifold);
}

}  // namespace sarrus
