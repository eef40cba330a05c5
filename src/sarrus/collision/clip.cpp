#include "sarrus/collision/clip.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/feature.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// Marks the second feature of a key as an edge of A, where two sides of A meet that share no vertex.
constexpr int kOtherEdgeOfA = 1 << 29;

// Times tol. Segments are sides of round bodies, whose place depends on the normal, and the normal of a round body is
// known to some 5e-5 rad only. Within this band ends keep their keys.
constexpr double kSegmentBand = 20;

std::uint64_t low_key(FeatureKind kind, int feature_a, int feature_b) {
  return make_key(kind, feature_a, feature_b).lo;
}

// A side of a polygon that runs counter-clockwise.
struct Side {
  double x, y;    // its start
  double ex, ey;  // its direction, not normalised

  Side(const Outline& polygon, int i)
      : x(polygon.x[i]), y(polygon.y[i]), ex(polygon.x[next(polygon, i)] - x), ey(polygon.y[next(polygon, i)] - y) {}

  static int next(const Outline& polygon, int i) { return i + 1 < polygon.size ? i + 1 : 0; }
  double squared_length() const { return ex * ex + ey * ey; }
  double length() const { return std::sqrt(squared_length()); }
  // Distance of a point outside it, times its length.
  double outside(double px, double py) const { return (px - x) * ey - (py - y) * ex; }
  Four outside(const Four& px, const Four& py) const { return (px - x) * ey - (py - y) * ex; }
};

// Clips one polygon by the sides of another, in two buffers that take turns.
class PolygonClipper {
 public:
  static constexpr int kCapacity = 2 * kMaxFaceCorners;
  struct Polygon {
    int size = 0;
    double x[kCapacity];
    double y[kCapacity];
    std::uint64_t key[kCapacity];  // FeatureKey::lo
    int label[kCapacity];          // of the edge to the next vertex: id of the edge of B, or ~i on side i of A

    // Fills the last group of four with copies.
    void pad() {
      for (int k = size; k % 4 != 0; ++k) {
        x[k] = x[0];
        y[k] = y[0];
      }
    }
  };

  PolygonClipper(const Outline& a, const Outline& b, double tol) : a_(a), b_(b), tol_(tol) {
    in_->size = b.size;
    for (int k = 0; k < b.size; k += 4) {  // in groups of four, as they are read again at once
      Eigen::Map<Four>(in_->x + k) = four(b.x + k);
      Eigen::Map<Four>(in_->y + k) = four(b.y + k);
    }
    for (int k = 0; k < b.size; ++k) {
      in_->key[k] = low_key(FeatureKind::vertex_b, 0, b.vertex[k]);
      in_->label[k] = b.edge[k];
    }
    in_->pad();
    for (int i = 0; i < a.size && in_->size > 0; ++i) {
      if (!clip_by_side(i)) break;
    }
  }

  const Polygon& result() const { return *in_; }
  // True if vertices may lie outside A, by tol at most.
  bool touches() const { return touches_; }

 private:
  // True if all corners of A lie inside B by more than tol; clipping would find them one by one.
  bool b_contains_a() const {
    for (int i = 0; i < b_.size; ++i) {
      const Side side(b_, i);
      double largest = side.outside(a_.x[0], a_.y[0]);
      for (int k = 1; k < a_.size; ++k) largest = std::max(largest, side.outside(a_.x[k], a_.y[k]));
      if (largest >= 0 || largest * largest <= tol_ * tol_ * side.squared_length()) return false;
    }
    return true;
  }

  // False if the result is complete.
  bool clip_by_side(int i) {
    const Side side(a_, i);
    double outside[kCapacity];
    Four top = Four::Zero();
    for (int k = 0; k < in_->size; k += 4) {
      const Four group = side.outside(four(in_->x + k), four(in_->y + k));
      Eigen::Map<Four>(outside + k) = group;
      top = top.max(group);
    }
    const double largest = top.maxCoeff();
    if (largest <= 0) return true;
    const double band = tol_ * side.length();
    if (largest <= band) {
      touches_ = true;
      return true;
    }
    if (!was_cut_ && b_contains_a()) {
      std::copy_n(a_.x, a_.size, in_->x);
      std::copy_n(a_.y, a_.size, in_->y);
      for (int k = 0; k < a_.size; ++k) in_->key[k] = low_key(FeatureKind::vertex_a, a_.vertex[k], 0);
      in_->size = a_.size;
      return false;
    }
    cut(i, outside, band);
    return true;
  }

  void cut(int i, const double* outside, double band) {
    const Polygon& in = *in_;
    Polygon& out = *out_;
    int size = 0;
    const auto push = [&](double x, double y, std::uint64_t key, int label) {
      if (size == kCapacity) return;
      out.x[size] = x;
      out.y[size] = y;
      out.key[size] = key;
      out.label[size] = label;
      ++size;
    };
    for (int k = 0; k < in.size; ++k) {
      const int next = k + 1 < in.size ? k + 1 : 0;
      const double here = outside[k];
      const double there = outside[next];
      const bool leaves = here < -band && there > band;
      const bool enters = here > band && there < -band;
      if (here <= band) {
        touches_ = touches_ || here > 0;
        const bool stands_for_crossing = there > band && !leaves;
        push(in.x[k], in.y[k], in.key[k], stands_for_crossing ? ~i : in.label[k]);
      }
      if (!leaves && !enters) continue;
      const double s = here / (here - there);
      push(in.x[k] + s * (in.x[next] - in.x[k]), in.y[k] + s * (in.y[next] - in.y[k]), crossing_key(in.label[k], i),
           leaves ? ~i : in.label[k]);
    }
    out.size = size;
    out.pad();
    was_cut_ = true;
    std::swap(in_, out_);
  }

  // Where an edge with this label meets side i of A: a crossing of two edges, or, if the edge already lies on another
  // side of A, the vertex of A between the two.
  std::uint64_t crossing_key(int label, int i) const {
    if (label >= 0) return low_key(FeatureKind::edge_edge, a_.edge[i], label);
    const int other = ~label;
    const int after = Side::next(a_, i);
    if (Side::next(a_, other) == i) return low_key(FeatureKind::vertex_a, a_.vertex[i], 0);
    if (other == after) return low_key(FeatureKind::vertex_a, a_.vertex[after], 0);
    // Sides that are not neighbours meet only where A is thinner than tol.
    return low_key(FeatureKind::edge_edge, a_.edge[i], kOtherEdgeOfA | a_.edge[other]);
  }

  const Outline& a_;
  const Outline& b_;
  double tol_;
  bool touches_ = false;
  bool was_cut_ = false;
  Polygon buffer_[2];
  Polygon* in_ = &buffer_[0];
  Polygon* out_ = &buffer_[1];
};

// Positions of the vertices in key order. Few are ranked by counting, which has no branches to mispredict.
void order_by_key(const PolygonClipper::Polygon& polygon, int* order) {
  const int size = polygon.size;
  const std::uint64_t* key = polygon.key;
  if (size > 8) {
    for (int k = 0; k < size; ++k) order[k] = k;
    std::sort(order, order + size, [key](int i, int k) { return key[i] < key[k]; });
    return;
  }
  for (int i = 0; i < size; ++i) {
    int rank = 0;
    for (int k = 0; k < i; ++k) rank += key[k] <= key[i] ? 1 : 0;
    for (int k = i + 1; k < size; ++k) rank += key[k] < key[i] ? 1 : 0;
    order[rank] = i;
  }
}

// Hands over points and keeps the smallest gap.
class Sink {
 public:
  explicit Sink(const ClipTarget& target) : target_(target) {}
  void add(double x, double y, double height_a, double gap, const FeatureKey& key) {
    if (!(gap <= target_.margin)) return;
    target_.manifold.push({target_.frame.lift({x, y}, height_a), target_.frame.n, gap, key});
    smallest_ = std::min(smallest_, gap);
  }
  double smallest() const { return smallest_; }

 private:
  const ClipTarget& target_;
  double smallest_ = kInf;
};

// What is left of a segment: parameters from 0 at its first end to 1 at its second, and the keys of the two ends.
struct Interval {
  double s[2] = {0, 1};
  FeatureKey key[2];
  bool beside = false;  // an end may lie outside a side, within the band

  // Moves an end inwards to `cut`. Through a corner both of its edges cut at the same place: the lower key stands
  // for it.
  void shorten(int end, double cut, const FeatureKey& cut_key, double length, double band) {
    const double deeper = (end == 0 ? cut - s[0] : s[1] - cut) * length;
    if (deeper > band || (deeper >= -band && cut_key < key[end])) key[end] = cut_key;
    s[end] = end == 0 ? std::max(s[0], cut) : std::min(s[1], cut);
  }
};

FeatureKey end_key(const SegmentOutline& segment, int end, bool of_a) {
  return of_a ? make_key(FeatureKind::vertex_a, segment.vertex[end], 0)
              : make_key(FeatureKind::vertex_b, 0, segment.vertex[end]);
}

// False if nothing is left.
bool clip_interval(const SegmentOutline& segment, bool segment_is_a, const Outline& polygon, double band,
                   Interval& rest) {
  const double length = segment.length();
  for (int end = 0; end < 2; ++end) rest.key[end] = end_key(segment, end, segment_is_a);
  for (int i = 0; i < polygon.size; ++i) {
    const Side side(polygon, i);
    const double x0 = side.outside(segment.x[0], segment.y[0]);
    const double x1 = side.outside(segment.x[1], segment.y[1]);
    if (x0 <= 0 && x1 <= 0) continue;
    const double limit = band * side.length();
    if (x0 > limit && x1 > limit) return false;
    rest.beside = rest.beside || (x0 > 0 && x0 <= limit) || (x1 > 0 && x1 <= limit);
    if (x0 <= limit && x1 <= limit) continue;
    const int end = x0 > limit ? 0 : 1;
    const int half = 2 * segment.edge + end;
    const int edge = polygon.edge[i];
    const FeatureKey key =
        segment_is_a ? make_key(FeatureKind::edge_edge, half, edge) : make_key(FeatureKind::edge_edge, edge, half);
    rest.shorten(end, std::clamp(x0 / (x0 - x1), 0.0, 1.0), key, length, band);
  }
  rest.beside = rest.beside || rest.s[1] < rest.s[0];
  return (rest.s[1] - rest.s[0]) * length >= -band;
}

// Moves a point that lies outside a side of the polygon by no more than `band` to its foot on that side.
void pull_in(const Outline& polygon, double band, double& x, double& y) {
  for (int i = 0; i < polygon.size; ++i) {
    const Side side(polygon, i);
    const double outside = side.outside(x, y);
    // The point has perhaps been moved along another side, hence twice the band.
    if (outside <= 0 || outside * outside > 4 * band * band * side.squared_length()) continue;
    const double s = outside / side.squared_length();
    x -= s * side.ey;
    y += s * side.ex;
  }
}

// A candidate of a segment pair.
struct SegmentPoint {
  double x, y;
  double height_a;
  double gap;
  FeatureKey key;
};

// Both ends in key order, or one point if they are closer than `band`: the deeper with the lower key.
double push_ends(SegmentPoint (&ends)[2], double band, const ClipTarget& target) {
  Sink sink(target);
  if (ends[1].key < ends[0].key) std::swap(ends[0], ends[1]);
  const double dx = ends[1].x - ends[0].x;
  const double dy = ends[1].y - ends[0].y;
  const bool one = dx * dx + dy * dy < band * band;
  if (one && ends[1].gap < ends[0].gap) {
    ends[1].key = ends[0].key;
    ends[0] = ends[1];
  }
  for (int k = 0; k < (one ? 1 : 2); ++k) sink.add(ends[k].x, ends[k].y, ends[k].height_a, ends[k].gap, ends[k].key);
  return sink.smallest();
}

// The ends of the overlap of two segments that are nearly parallel.
double clip_parallel(const SegmentOutline& a, const SegmentOutline& b, const ClipTarget& target) {
  const double band = kSegmentBand * target.tol;
  const double length = a.length();
  const double ex = (a.x[1] - a.x[0]) / (length * length);
  const double ey = (a.y[1] - a.y[0]) / (length * length);
  double s_b[2];  // the ends of B as parameters of A
  for (int end = 0; end < 2; ++end) s_b[end] = ex * (b.x[end] - a.x[0]) + ey * (b.y[end] - a.y[0]);
  const int low = s_b[0] <= s_b[1] ? 0 : 1;
  const int high = 1 - low;
  Interval overlap;
  for (int end = 0; end < 2; ++end) overlap.key[end] = end_key(a, end, true);
  if (s_b[low] * length > band) overlap.shorten(0, s_b[low], end_key(b, low, false), length, band);
  if ((1 - s_b[high]) * length > band) overlap.shorten(1, s_b[high], end_key(b, high, false), length, band);
  if ((overlap.s[1] - overlap.s[0]) * length < -band) return kInf;
  SegmentPoint ends[2];
  for (int end = 0; end < 2; ++end) {
    const double s = std::clamp(overlap.s[end], 0.0, 1.0);
    const double t = std::clamp((s - s_b[0]) / (s_b[1] - s_b[0]), 0.0, 1.0);
    ends[end] = {a.x_at(s), a.y_at(s), a.height_at(s), b.height_at(t) - a.height_at(s), overlap.key[end]};
  }
  return push_ends(ends, band, target);
}

}  // namespace

void Outline::set_plane(const Vec3& N, const Vec3& x0, const ProjectionFrame& frame) {
  const double scale = 1 / N.dot(frame.n);
  slope_x = -scale * frame.t.dot(N);
  slope_y = -scale * frame.o.dot(N);
  c0 = scale * N.dot(x0);
}

Outline box_outline(const Vec3& half_extents, const ProjectionFrame& local, const Vec3& origin, bool of_a) {
  const BoxFace& face = box_support_face(of_a ? local.n : Vec3(-local.n));
  const int k = face.axis;
  const double h = face.positive ? half_extents[k] : -half_extents[k];
  const double cx = origin[0] + h * local.t[k];
  const double cy = origin[1] + h * local.o[k];
  const double ex = half_extents[face.first] * local.t[face.first];
  const double ey = half_extents[face.first] * local.o[face.first];
  const double fx = half_extents[face.second] * local.t[face.second];
  const double fy = half_extents[face.second] * local.o[face.second];
  Outline out;
  out.size = 4;
  const double scale = -1 / local.n[k];  // the best aligned face has |n_k| >= 1/sqrt(3)
  out.slope_x = scale * local.t[k];
  out.slope_y = scale * local.o[k];
  out.c0 = origin[2] + h * local.n[k] - out.slope_x * cx - out.slope_y * cy;
  // Corners (+,+) (-,+) (-,-) (+,-). A face that looks against n runs clockwise about it: backwards, each corner with
  // the edge before it.
  const Four sign_e(1, -1, -1, 1);
  const Four sign_f = of_a ? Four(1, 1, -1, -1) : Four(-1, -1, 1, 1);
  Eigen::Map<Four>(out.x) = cx + ex * sign_e + fx * sign_f;
  Eigen::Map<Four>(out.y) = cy + ey * sign_e + fy * sign_f;
  const BoxFace::Ids& ids = of_a ? face.forward : face.backward;
  std::copy_n(ids.vertex.data(), 4, out.vertex);
  std::copy_n(ids.edge.data(), 4, out.edge);
  return out;
}

double clip_polygons(const Outline& a, const Outline& b, const ClipTarget& target) {
  const PolygonClipper clipper(a, b, target.tol);
  const PolygonClipper::Polygon& clipped = clipper.result();
  // Beyond its edges a plane of A that is inclined to n would give gaps that are too small.
  const bool pull = clipper.touches() && a.slope_x * a.slope_x + a.slope_y * a.slope_y > 1e-6;
  int order[PolygonClipper::kCapacity];
  order_by_key(clipped, order);
  Sink sink(target);
  for (int k = 0; k < clipped.size; ++k) {
    const int i = order[k];
    if (k > 0 && clipped.key[i] == clipped.key[order[k - 1]]) continue;  // one feature, one point
    double x = clipped.x[i];
    double y = clipped.y[i];
    const double height_b = b.height(x, y);
    if (pull) pull_in(a, target.tol, x, y);
    const double height_a = a.height(x, y);
    sink.add(x, y, height_a, height_b - height_a, {0, clipped.key[i]});
  }
  return sink.smallest();
}

double clip_segment(const SegmentOutline& segment, bool segment_is_a, const Outline& polygon,
                    const ClipTarget& target) {
  const double band = kSegmentBand * target.tol;
  Interval rest;
  if (!clip_interval(segment, segment_is_a, polygon, band, rest)) return kInf;
  SegmentPoint ends[2];
  for (int end = 0; end < 2; ++end) {
    double x = segment.x_at(rest.s[end]);
    double y = segment.y_at(rest.s[end]);
    if (rest.beside) pull_in(polygon, band, x, y);
    const double own = segment.height_at(rest.s[end]);
    const double other = polygon.height(x, y);
    ends[end] = {x, y, segment_is_a ? own : other, segment_is_a ? other - own : own - other, rest.key[end]};
  }
  return push_ends(ends, band, target);
}

bool cross_segments(const SegmentOutline& a, const SegmentOutline& b, double& s, double& t) {
  const double ex = a.x[1] - a.x[0];
  const double ey = a.y[1] - a.y[0];
  const double fx = b.x[1] - b.x[0];
  const double fy = b.y[1] - b.y[0];
  const double wx = b.x[0] - a.x[0];
  const double wy = b.y[0] - a.y[0];
  const double sine = ex * fy - ey * fx;
  if (std::abs(sine) < 5e-3 * a.length() * b.length()) return false;
  s = (wx * fy - wy * fx) / sine;
  t = (wx * ey - wy * ex) / sine;
  return true;
}

double clip_segments(const SegmentOutline& a, const SegmentOutline& b, const ClipTarget& target) {
  double s = 0;
  double t = 0;
  if (!cross_segments(a, b, s, t)) return clip_parallel(a, b, target);
  if (std::abs(s - 0.5) > 0.5 + 1e-6 || std::abs(t - 0.5) > 0.5 + 1e-6) return kInf;
  Sink sink(target);
  const double height = a.height_at(s);
  sink.add(a.x_at(s), a.y_at(s), height, b.height_at(t) - height, make_key(FeatureKind::edge_edge, a.edge, b.edge));
  return sink.smallest();
}

}  // namespace sarrus
