// The contact points of one geom pair, as the narrow phase builds them (docs/theory/collision.md §2, §4.4).
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <type_traits>

#include "sarrus/collision/contact.h"
#include "sarrus/collision/shapes.h"

namespace sarrus {

// A list with room for N elements inside the object, so the narrow phase never touches the heap.
template <class T, int N>
class FixedList {
 public:
  FixedList() {}  // NOLINT(modernize-use-equals-default): leaves the memory as it is
  FixedList(const FixedList& other) : size_(other.size_) {
    std::uninitialized_copy(other.begin(), other.end(), begin());
  }
  FixedList& operator=(const FixedList& other) {
    if (this != &other) std::uninitialized_copy(other.begin(), other.end(), begin());
    size_ = other.size_;
    return *this;
  }
  ~FixedList() = default;

  static constexpr int capacity() { return N; }
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  void push(const T& x) {
    assert(size_ < N);
    if (size_ < N) std::construct_at(begin() + size_++, x);
  }
  void truncate(int size) { size_ = size; }

  T& operator[](int i) { return begin()[i]; }
  const T& operator[](int i) const { return begin()[i]; }
  T* begin() { return reinterpret_cast<T*>(data_); }
  T* end() { return begin() + size_; }
  const T* begin() const { return reinterpret_cast<const T*>(data_); }
  const T* end() const { return begin() + size_; }

 private:
  static_assert(std::is_trivially_destructible_v<T>);
  // Elements that are not there are not made, nor copied: of lists for the worst case few are filled.
  alignas(T) std::byte data_[sizeof(T) * N];
  int size_ = 0;
};

inline constexpr int kMaxManifoldPoints = 8;  // after reduction

enum class FeatureKind : std::uint8_t { vertex_a = 0, vertex_b = 1, edge_edge = 2, witness = 3 };

// Feature ids are body fixed:
//   box       vertex = sign bits (x 1, y 2, z 4; set on the positive side),
//             edge = 8 axis + sign bits of its two fixed coordinates
//   capsule   end = 0 (+z) or 1 (-z)
//   cylinder  rim point = 0..7 top and 8..15 bottom at angle k pi/4, 16 and 17 the deepest one of top and bottom
//   hull      vertex and undirected edge = their index;   triangle: corner and edge = 0..2
constexpr FeatureKey make_key(FeatureKind kind, int feature_a, int feature_b) {
  return {0, static_cast<std::uint64_t>(kind) << 60 | static_cast<std::uint64_t>(feature_a) << 30 |
                 static_cast<std::uint64_t>(feature_b)};
}

// Of a point that stands for a contact with no feature of its own.
inline constexpr FeatureKey kWitness = make_key(FeatureKind::witness, 0, 0);
constexpr FeatureKind kind_of(const FeatureKey& key) { return static_cast<FeatureKind>(key.lo >> 60); }

// One point: p on A, p + gap n on B. World axes, origin as the producer states.
struct ManifoldPoint {
  Vec3 p = Vec3::Zero();
  Vec3 n = Vec3::UnitZ();  // from A to B
  double gap = 0;          // m
  FeatureKey key;
};
using Manifold = FixedList<ManifoldPoint, 64>;

// A pair to intersect. Results are relative to A's origin, so they do not lose digits far from the world's.
struct PairQuery {
  const PlacedShape& a;
  const PlacedShape& b;
  Vec3 p_AB_W;    // B's origin minus A's, world axes, m
  double margin;  // points with a gap up to this are wanted, m
  double tol;     // 5e-6 L: features closer than this count as touching, m
};

// Axes t, o across a contact normal, where t x o = n: those of contact_frame().
struct ProjectionFrame {
  Vec3 t;
  Vec3 o;
  Vec3 n;

  explicit ProjectionFrame(const Vec3& normal) : n(normal) {
    const Mat3 R = contact_frame(normal);
    t = R.col(0);
    o = R.col(1);
  }
  // Any orthonormal t, o with t x o = n.
  ProjectionFrame(const Vec3& first, const Vec3& second, const Vec3& normal) : t(first), o(second), n(normal) {}

  // The same frame seen from axes R: components along its columns.
  ProjectionFrame in_axes(const Mat3& R) const { return {R.transpose() * t, R.transpose() * o, R.transpose() * n}; }
  Vec3 components(const Vec3& x) const { return {t.dot(x), o.dot(x), n.dot(x)}; }
  Vec3 lift(const Vec2& u, double height) const { return u.x() * t + u.y() * o + height * n; }
};

// Exchanges the roles of A and B in every point: n -> -n, p -> p + gap n, key features swapped. The origin stays.
void flip(Manifold& manifold);

void sort_by_key(Manifold& manifold);

// Keeps at most `count` points (3 to kMaxManifoldPoints) of a manifold sorted by key, in that order, chosen by their
// places seen along the first point's normal (docs/theory/collision.md §4.4):
//   1 farthest from the centroid   2 farthest from 1   3 largest triangle with 1, 2
//   4 ... largest area outside the polygon so far; what adds none is dropped
// first among the points whose gap is within 1 % of the patch's diameter from the smallest, then among all, so that the
// points that carry a body come before higher ones around them. If none chosen is within tol of the smallest gap, the
// choice is made again with 1 from the points that are. Scores within 0.1 % of the best (squared distances, areas)
// count as equal and go to the lowest key. Gaps that differ by less than tol decide nothing, so neither round-off nor
// the slight tilt of a body at rest chooses, and no memory of the last step is needed:
// tests/collision/manifold_stability_test.cpp.
void reduce(Manifold& manifold, int count, double tol);

}  // namespace sarrus
