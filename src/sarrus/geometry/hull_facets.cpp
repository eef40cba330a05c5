// Facets of the hull of points: from Qhull, then merged where they are coplanar up to noise.
#include <libqhull_r/qhull_ra.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "sarrus/geometry/hull_internal.h"
#include "sarrus/geometry/surface_tools.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

static_assert(sizeof(coordT) == sizeof(double) && sizeof(Vec3) == 3 * sizeof(double));

// Qhull must be given a stream for its messages; they would mean nothing to the user, who gets an InputError.
class DiscardedStream {
 public:
  DiscardedStream() : file_(open_memstream(&text_, &size_)) {}
  ~DiscardedStream() {
    if (file_ != nullptr) std::fclose(file_);
    std::free(text_);
  }
  DiscardedStream(const DiscardedStream&) = delete;
  DiscardedStream& operator=(const DiscardedStream&) = delete;
  FILE* get() const { return file_; }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  FILE* file_;
};

// Qhull leaves its errors by longjmp, but only between qh_new_qhull and what that calls: no frame of ours is skipped.
class Session {
 public:
  Session() : qh_(std::make_unique<qhT>()) { qh_zero(qh_.get(), log_.get()); }
  ~Session() {
    int long_blocks = 0;
    int long_bytes = 0;
    qh_freeqhull(qh_.get(), !qh_ALL);
    qh_memfreeshort(qh_.get(), &long_blocks, &long_bytes);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool run(std::span<Vec3> points, const char* options) {
    if (log_.get() == nullptr) return false;
    std::string command = std::string("qhull Pp ") + options;
    return qh_new_qhull(qh_.get(), 3, static_cast<int>(points.size()), points.front().data(), False, command.data(),
                        log_.get(), log_.get()) == 0;
  }
  qhT* qh() const { return qh_.get(); }

 private:
  DiscardedStream log_;
  std::unique_ptr<qhT> qh_;
};

int id_of(const qhT* qh, const vertexT* vertex) { return static_cast<int>((vertex->point - qh->first_point) / 3); }

using Side = std::array<int, 2>;  // from, to

// The sides of a facet, each directed CCW from outside, in any order. Qhull's own orientation is clockwise.
void facet_sides(const qhT* qh, const facetT* facet, std::vector<Side>& sides) {
  sides.clear();
  if (facet->simplicial || facet->tricoplanar) {
    std::vector<int> v;
    vertexT* vertex = nullptr;
    vertexT** vertexp = nullptr;
    FOREACHvertex_(facet->vertices) { v.push_back(id_of(qh, vertex)); }
    if (v.size() != 3) return;
    if (facet->toporient) std::swap(v[1], v[2]);
    sides = {{v[0], v[1]}, {v[1], v[2]}, {v[2], v[0]}};
    return;
  }
  ridgeT* ridge = nullptr;
  ridgeT** ridgep = nullptr;
  FOREACHridge_(facet->ridges) {
    const int a = id_of(qh, SETfirstt_(ridge->vertices, vertexT));
    const int b = id_of(qh, SETsecondt_(ridge->vertices, vertexT));
    sides.push_back(ridge->top == facet ? Side{b, a} : Side{a, b});
  }
}

// Chains the sides into one cycle that passes every vertex once.
bool chain(std::vector<Side>& sides, std::vector<int>& cycle) {
  cycle.clear();
  if (sides.size() < 3) return false;
  std::sort(sides.begin(), sides.end());
  int v = sides.front()[0];
  for (std::size_t k = 0; k < sides.size(); ++k) {
    cycle.push_back(v);
    const auto side = std::lower_bound(sides.begin(), sides.end(), Side{v, -1});
    if (side == sides.end() || (*side)[0] != v) return false;
    v = (*side)[1];
    if (v == cycle.front()) return k + 1 == sides.size();
  }
  return false;
}

}  // namespace

bool qhull_facets(std::span<Vec3> points, const char* options, Polygons& facets, double& outside) {
  facets = Polygons();
  Session session;
  if (!session.run(points, options)) return false;
  const qhT* qh = session.qh();
  outside = std::max(qh->max_outside, -qh->min_vertex);
  std::vector<Side> sides;
  std::vector<int> cycle;
  const facetT* facet = nullptr;
  FORALLfacets {
    facet_sides(qh, facet, sides);
    if (!chain(sides, cycle)) return false;
    facets.add(cycle);
  }
  return facets.count() >= 4;
}

namespace {

// Half-edges are numbered like the corners they leave.
struct HalfEdges {
  std::vector<int> face;
  std::vector<int> next;
  std::vector<int> twin;
};

bool connect(const Polygons& faces, int vertex_count, HalfEdges& sides) {
  const std::size_t n = faces.corner.size();
  sides.face.resize(n);
  sides.next.resize(n);
  sides.twin.assign(n, -1);
  std::vector<int> head(n);
  for (int f = 0; f < faces.count(); ++f) {
    const int first = faces.begin[at(f)];
    const int last = faces.begin[at(f) + 1] - 1;
    for (int c = first; c <= last; ++c) {
      sides.face[at(c)] = f;
      sides.next[at(c)] = c < last ? c + 1 : first;
      head[at(c)] = faces.corner[at(sides.next[at(c)])];
    }
  }
  const std::vector<EdgeUse> uses = sorted_edge_uses(faces.corner, head, vertex_count);
  if (uses.size() % 2 != 0) return false;
  for (std::size_t k = 0; k < uses.size(); k += 2) {
    if (!uses[k].same_edge(uses[k + 1]) || uses[k].forward == uses[k + 1].forward) return false;
    sides.twin[at(uses[k].side)] = uses[k + 1].side;
    sides.twin[at(uses[k + 1].side)] = uses[k].side;
  }
  return true;
}

// Region of each face, numbered by seed.
class Regions {
 public:
  Regions(std::span<const Vec3> points, const Polygons& faces, const HalfEdges& sides, double tolerance)
      : points_(points), faces_(faces), sides_(sides), tolerance_(tolerance) {}

  std::vector<int> grow() {
    std::vector<Vec3> area(at(faces_.count()));
    for (int f = 0; f < faces_.count(); ++f) area[at(f)] = area_vector(points_, faces_.of(f));
    std::vector<double> size(area.size());
    std::transform(area.begin(), area.end(), size.begin(), [](const Vec3& a) { return a.norm(); });
    std::vector<int> seeds(area.size());
    std::iota(seeds.begin(), seeds.end(), 0);
    // Large faces first: theirs are the planes that are known best.
    std::stable_sort(seeds.begin(), seeds.end(), [&](int a, int b) { return size[at(a)] > size[at(b)]; });
    region_.assign(area.size(), -1);
    stamp_.assign(area.size(), -1);
    int count = 0;
    for (const int seed : seeds) {
      if (region_[at(seed)] >= 0) continue;
      for (const int f : members_of(seed, area)) region_[at(f)] = count;
      ++count;
    }
    return std::move(region_);
  }

 private:
  // Unassigned faces around the seed in its plane. The plane of one noisy face leans: it is refitted to what it has
  // collected as long as that collects more.
  std::vector<int> members_of(int seed, const std::vector<Vec3>& area) {
    constexpr int max_fits = 4;
    Vec3 normal = area[at(seed)].normalized();
    double height = normal.dot(points_[at(faces_.of(seed).front())]);
    std::vector<int> members = flood(seed, normal, height);
    for (int fit = 0; fit < max_fits && members.size() > 1; ++fit) {
      Vec3 sum = Vec3::Zero();
      for (const int f : members) sum += area[at(f)];
      normal = sum.normalized();
      height = middle_height(members, normal);
      std::vector<int> more = flood(seed, normal, height);
      if (more.size() <= members.size()) break;
      members = std::move(more);
    }
    return members;
  }

  double middle_height(const std::vector<int>& members, const Vec3& normal) const {
    double lo = std::numeric_limits<double>::infinity();
    double hi = -lo;
    for (const int f : members) {
      for (const int v : faces_.of(f)) {
        const double h = normal.dot(points_[at(v)]);
        lo = std::min(lo, h);
        hi = std::max(hi, h);
      }
    }
    return 0.5 * (lo + hi);
  }

  std::vector<int> flood(int seed, const Vec3& normal, double height) {
    ++floods_;
    stamp_[at(seed)] = floods_;
    std::vector<int> members = {seed};
    for (std::size_t q = 0; q < members.size(); ++q) {
      const int f = members[q];
      for (int c = faces_.begin[at(f)]; c < faces_.begin[at(f) + 1]; ++c) {
        const int g = sides_.face[at(sides_.twin[at(c)])];
        if (region_[at(g)] >= 0 || stamp_[at(g)] == floods_ || !in_plane(g, normal, height)) continue;
        stamp_[at(g)] = floods_;
        members.push_back(g);
      }
    }
    return members;
  }

  bool in_plane(int face, const Vec3& normal, double height) const {
    const std::span<const int> corners = faces_.of(face);
    return std::all_of(corners.begin(), corners.end(),
                       [&](int v) { return std::abs(normal.dot(points_[at(v)]) - height) <= tolerance_; });
  }

  std::span<const Vec3> points_;
  const Polygons& faces_;
  const HalfEdges& sides_;
  double tolerance_;
  std::vector<int> region_;
  std::vector<int> stamp_;  // of the last flood that reached each face
  int floods_ = 0;
};

// Boundaries of the regions; false if one of them is not a single cycle.
bool trace(const Polygons& faces, const HalfEdges& sides, const std::vector<int>& region, Polygons& outlines) {
  const auto region_of = [&](int side) { return region[at(sides.face[at(side)])]; };
  const auto on_boundary = [&](int side) { return region_of(side) != region_of(sides.twin[at(side)]); };
  std::vector<bool> done(faces.corner.size(), false);
  std::vector<bool> region_done(faces.corner.size(), false);
  std::vector<int> cycle;
  for (int start = 0; start < static_cast<int>(done.size()); ++start) {
    if (done[at(start)] || !on_boundary(start)) continue;
    if (region_done[at(region_of(start))]) return false;  // a second cycle: the region has a hole
    region_done[at(region_of(start))] = true;
    cycle.clear();
    int side = start;
    do {
      done[at(side)] = true;
      cycle.push_back(faces.corner[at(side)]);
      side = sides.next[at(side)];
      while (!on_boundary(side)) side = sides.next[at(sides.twin[at(side)])];
    } while (side != start);
    outlines.add(cycle);
  }
  return true;
}

// Vertices of fewer than three outlines lie on straight edges up to noise.
bool drop_straight(const Polygons& outlines, int vertex_count, Polygons& merged) {
  std::vector<int> uses(at(vertex_count), 0);
  std::vector<int> last(at(vertex_count), -1);
  for (int f = 0; f < outlines.count(); ++f) {
    for (const int v : outlines.of(f)) {
      if (last[at(v)] == f) return false;  // the outline touches itself
      last[at(v)] = f;
      ++uses[at(v)];
    }
  }
  std::vector<int> cycle;
  for (int f = 0; f < outlines.count(); ++f) {
    cycle.clear();
    for (const int v : outlines.of(f)) {
      if (uses[at(v)] >= 3) cycle.push_back(v);
    }
    if (cycle.size() < 3) return false;
    merged.add(cycle);
  }
  return true;
}

}  // namespace

Vec3 area_vector(std::span<const Vec3> points, std::span<const int> corners) {
  const Vec3& origin = points[at(corners[0])];
  Vec3 sum = Vec3::Zero();
  for (std::size_t k = 1; k + 1 < corners.size(); ++k) {
    sum += (points[at(corners[k])] - origin).cross(points[at(corners[k + 1])] - origin);
  }
  return 0.5 * sum;
}

bool merge_coplanar(std::span<const Vec3> points, const Polygons& faces, double tolerance, Polygons& merged) {
  merged = Polygons();
  const int vertex_count = static_cast<int>(points.size());
  HalfEdges sides;
  if (!connect(faces, vertex_count, sides)) return false;
  const std::vector<int> region = Regions(points, faces, sides, tolerance).grow();
  Polygons outlines;
  return trace(faces, sides, region, outlines) && drop_straight(outlines, vertex_count, merged);
}

}  // namespace sarrus
