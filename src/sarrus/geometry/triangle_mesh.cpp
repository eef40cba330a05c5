#include "sarrus/geometry/triangle_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr int kMaxBvhLeaf = 4;
constexpr int kBins = 16;
constexpr double kClearlyLess = 0.999;
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

  // Best binned plane over the three axes; `first` if the centres coincide. The longest axis comes first and yields to
  // a better one only: across a flat part all axes cost the same, and strips would be the result.
  int partition(int first, int last) {
    Aabb centres = Aabb::nothing();
    for (int k = first; k < last; ++k) centres.add(boxes_[at(items_[at(k)])].centre());
    double best_cost = std::numeric_limits<double>::infinity();
    int best_axis = -1;
    int best_bin = 0;
    const Vec3 extent = centres.hi - centres.lo;
    std::array<int, 3> axes = {0, 1, 2};
    std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return extent[a] > extent[b]; });
    for (const int axis : axes) {
      if (!(extent[axis] > 0)) continue;
      const auto [cost, bin] = best_plane(first, last, axis, centres);
      if (!(cost < kClearlyLess * best_cost)) continue;
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
  find_triangles(
      box, [](const SurfacePart&) { return true; }, found);
}

// Branch and bound: of two children the one that may reach farther comes first. The normals of the surface at a
// farthest vertex have l among their combinations; inside out, its opposite.
int TriangleMesh::support(const Vec3& l, int guess, long& visited) const {
  struct Open {
    int node;
    double reach;
  };
  const Vec3 direction = l.normalized();
  const double origin = l.dot(part_origin());
  const double slack = kSupportSlack * box_.diagonal() * l.norm();
  const auto reach = [&](int n) {
    ++visited;
    const SurfacePart& part = nodes_[at(n)].part;
    return part.has_normal(direction) || part.has_normal(-direction) ? part.reach(l) + origin : -kInf;
  };
  std::array<Open, kMaxBvhDepth> open;
  open[0] = {0, kInf};
  int open_count = 1;
  int best = guess;
  double height = l.dot(vertex(best));
  while (open_count > 0) {
    const Open top = open[at(--open_count)];
    if (top.reach <= height + slack) continue;
    const Node& node = nodes_[at(top.node)];
    if (node.count > 0) {
      for (int k = node.first; k < node.first + node.count; ++k) {
        for (const int v : triangle(leaf_triangles_[at(k)])) {
          const double h = l.dot(vertex(v));
          if (!(h > height)) continue;
          height = h;
          best = v;
        }
      }
      continue;
    }
    const Open left{top.node + 1, reach(top.node + 1)};
    const Open right{node.first, reach(node.first)};
    const bool left_first = left.reach >= right.reach;
    open[at(open_count++)] = left_first ? right : left;
    open[at(open_count++)] = left_first ? left : right;
  }
  // Along edges that rise. Heights are compared as they were computed, so that it ends.
  for (bool rises = true; rises;) {
    rises = false;
    for (const int v : vertex_neighbours(best)) {
      const double h = l.dot(vertex(v));
      if (!(h > height)) continue;
      height = h;
      best = v;
      rises = true;
    }
  }
  return best;
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
