#include "sarrus/geometry/qhull_facets.h"

#include <libqhull_r/qhull_ra.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>

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

}  // namespace sarrus
