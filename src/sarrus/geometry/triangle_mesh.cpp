#include "sarrus/geometry/triangle_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// No path from the root is longer: traversal needs no more than this many open nodes.
constexpr int kMaxBvhDepth = 64;
constexpr int kMaxBvhLeaf = 4;
constexpr int kBins = 16;
// From here on nodes are halved: 2^22 leaves hold more triangles than a mesh may have, so that depth <= 64.
constexpr int kMaxHeuristicDepth = 40;

std::string text(const Vec3& x) { return fmt::format("({:.6g}, {:.6g}, {:.6g})", x.x(), x.y(), x.z()); }

// Half the surface; -> 0 for an empty box.
double area(const Aabb& box) {
  if (box.is_empty()) return 0;
  const Vec3 e = box.hi - box.lo;
  return e.x() * e.y() + e.y() * e.z() + e.z() * e.x();
}

class BvhBuilder {
 public:
  BvhBuilder(std::span<const Aabb> boxes, std::vector<BvhNode>& nodes, std::vector<int>& items)
      : boxes_(boxes), nodes_(nodes), items_(items) {}

  void build(int first, int last, int depth) {
    const std::size_t node = nodes_.size();
    nodes_.push_back({Aabb::nothing(), first, last - first});
    for (int k = first; k < last; ++k) nodes_[node].box.add(boxes_[at(items_[at(k)])]);
    if (last - first <= kMaxBvhLeaf) return;
    int middle = depth < kMaxHeuristicDepth ? partition(first, last) : first;
    if (middle == first || middle == last) middle = halve(first, last, nodes_[node].box);
    build(first, middle, depth + 1);
    nodes_[node].first = static_cast<int>(nodes_.size());
    nodes_[node].count = 0;
    build(middle, last, depth + 1);
  }

 private:
  double centre(int item, int axis) const {
    const Aabb& box = boxes_[at(item)];
    return 0.5 * (box.lo[axis] + box.hi[axis]);
  }

  // Best binned plane over the three axes; `first` if the centres coincide.
  int partition(int first, int last) {
    Aabb centres = Aabb::nothing();
    for (int k = first; k < last; ++k) centres.add(boxes_[at(items_[at(k)])].centre());
    double best_cost = std::numeric_limits<double>::infinity();
    int best_axis = -1;
    int best_bin = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (!(centres.hi[axis] > centres.lo[axis])) continue;
      const auto [cost, bin] = best_plane(first, last, axis, centres);
      if (!(cost < best_cost)) continue;
      best_cost = cost;
      best_axis = axis;
      best_bin = bin;
    }
    if (best_axis < 0) return first;
    const auto middle = std::stable_partition(items_.begin() + first, items_.begin() + last, [&](int item) {
      return bin_of(centre(item, best_axis), best_axis, centres) <= best_bin;
    });
    return static_cast<int>(middle - items_.begin());
  }

  static int bin_of(double x, int axis, const Aabb& centres) {
    const double s = (x - centres.lo[axis]) / (centres.hi[axis] - centres.lo[axis]);
    return std::min(static_cast<int>(kBins * s), kBins - 1);
  }

  struct Plane {
    double cost;
    int bin;  // the last one on the left
  };

  Plane best_plane(int first, int last, int axis, const Aabb& centres) const {
    std::array<Aabb, kBins> box;
    box.fill(Aabb::nothing());
    std::array<int, kBins> count{};
    for (int k = first; k < last; ++k) {
      const int item = items_[at(k)];
      const int bin = bin_of(centre(item, axis), axis, centres);
      box[at(bin)].add(boxes_[at(item)]);
      ++count[at(bin)];
    }
    std::array<double, kBins> right_cost{};
    Aabb right = Aabb::nothing();
    int right_count = 0;
    for (int bin = kBins - 1; bin > 0; --bin) {
      right.add(box[at(bin)]);
      right_count += count[at(bin)];
      right_cost[at(bin)] = right_count * area(right);
    }
    Plane best{std::numeric_limits<double>::infinity(), 0};
    Aabb left = Aabb::nothing();
    int left_count = 0;
    for (int bin = 0; bin + 1 < kBins; ++bin) {
      left.add(box[at(bin)]);
      left_count += count[at(bin)];
      const double cost = left_count * area(left) + right_cost[at(bin) + 1];
      if (left_count > 0 && left_count < last - first && cost < best.cost) best = {cost, bin};
    }
    return best;
  }

  int halve(int first, int last, const Aabb& box) {
    int axis = 0;
    (box.hi - box.lo).maxCoeff(&axis);
    const int middle = first + (last - first) / 2;
    std::nth_element(items_.begin() + first, items_.begin() + middle, items_.begin() + last, [&](int a, int b) {
      const double xa = centre(a, axis);
      const double xb = centre(b, axis);
      return xa != xb ? xa < xb : a < b;
    });
    return middle;
  }

  std::span<const Aabb> boxes_;
  std::vector<BvhNode>& nodes_;
  std::vector<int>& items_;
};

}  // namespace

void build_bvh(std::span<const Aabb> boxes, std::vector<BvhNode>& nodes, std::vector<int>& items) {
  items.resize(boxes.size());
  std::iota(items.begin(), items.end(), 0);
  nodes.clear();
  nodes.reserve(boxes.size());
  BvhBuilder(boxes, nodes, items).build(0, static_cast<int>(boxes.size()), 0);
  nodes.shrink_to_fit();
}

void TriangleMesh::find_triangles(const Aabb& box, std::vector<int>& found) const {
  const std::size_t start = found.size();
  std::array<int, kMaxBvhDepth> open{};  // right children still to visit
  int open_count = 0;
  int n = 0;
  for (;;) {
    const BvhNode& node = nodes_[at(n)];
    if (boxes_near(node.box, box, 0)) {
      if (node.count == 0) {
        open[at(open_count++)] = node.first;
        ++n;
        continue;
      }
      for (int k = node.first; k < node.first + node.count; ++k) {
        const int t = leaf_triangles_[at(k)];
        const Vec3& a = corner(t, 0);
        const Vec3& b = corner(t, 1);
        const Vec3& c = corner(t, 2);
        if (boxes_near({a.cwiseMin(b).cwiseMin(c), a.cwiseMax(b).cwiseMax(c)}, box, 0)) found.push_back(t);
      }
    }
    if (open_count == 0) break;
    n = open[at(--open_count)];
  }
  std::sort(found.begin() + static_cast<std::ptrdiff_t>(start), found.end());
}

MassProperties TriangleMesh::mass_properties(const std::string& element) const {
  if (encloses_nothing_) {
    throw InputError(element,
                     "the mesh encloses no volume; remove back-to-back triangles, give the mass and inertia, "
                     "or set \"mass_from\": \"hull\"");
  }
  if (surface_ == Surface::open) {
    throw InputError(element,
                     fmt::format("the mesh is not closed: the edge from {} to {} does not have one triangle on each "
                                 "side; close the mesh, give the mass and inertia, or set \"mass_from\": \"hull\"",
                                 text(open_edge_[0]), text(open_edge_[1])));
  }
  if (surface_ == Surface::inverted) {
    throw InputError(element,
                     "the mesh is inside out: its triangles run clockwise seen from outside; reverse them with "
                     "\"flip\": true, or set \"mass_from\": \"hull\"");
  }
  return surface_mass_properties(vertices_, triangles_);
}

}  // namespace sarrus
