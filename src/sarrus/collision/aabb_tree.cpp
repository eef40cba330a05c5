#include "sarrus/collision/aabb_tree.h"

#include <algorithm>
#include <limits>

#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

TreeBox hull(const TreeBox& a, const TreeBox& b) {
  TreeBox h;
  for (int k = 0; k < 3; ++k) {
    h.lo[k] = std::min(a.lo[k], b.lo[k]);
    h.hi[k] = std::max(a.hi[k], b.hi[k]);
  }
  return h;
}

// Half the surface.
float area(const TreeBox& b) {
  const float x = b.hi[0] - b.lo[0];
  const float y = b.hi[1] - b.lo[1];
  const float z = b.hi[2] - b.lo[2];
  return x * y + y * z + z * x;
}

// All comparisons are made and combined without branches: which one fails first cannot be predicted.
bool meet(const TreeBox& a, const TreeBox& b) {
  return (static_cast<int>(a.lo[0] <= b.hi[0]) & static_cast<int>(b.lo[0] <= a.hi[0]) &
          static_cast<int>(a.lo[1] <= b.hi[1]) & static_cast<int>(b.lo[1] <= a.hi[1]) &
          static_cast<int>(a.lo[2] <= b.hi[2]) & static_cast<int>(b.lo[2] <= a.hi[2])) != 0;
}

bool covers(const TreeBox& outer, const TreeBox& inner) {
  bool all = true;
  for (int k = 0; k < 3; ++k) all = all && outer.lo[k] <= inner.lo[k] && inner.hi[k] <= outer.hi[k];
  return all;
}

bool same(const TreeBox& a, const TreeBox& b) { return covers(a, b) && covers(b, a); }

// ---- build ------------------------------------------------------------------------------------------------------

constexpr int kBins = 8;
constexpr float kFar = std::numeric_limits<float>::infinity();
constexpr TreeBox kNothing{{kFar, kFar, kFar}, {-kFar, -kFar, -kFar}};

float twice_centre(const TreeBox& b, int axis) { return b.lo[axis] + b.hi[axis]; }

// What a split needs to know of a set of leaves.
struct SplitBounds {
  TreeBox boxes = kNothing;
  TreeBox centres = kNothing;  // times two
};

SplitBounds bounds_of(std::span<const AabbTree::Leaf> leaves) {
  SplitBounds b;
  for (const AabbTree::Leaf& leaf : leaves) {
    b.boxes = hull(b.boxes, leaf.box);
    for (int k = 0; k < 3; ++k) {
      b.centres.lo[k] = std::min(b.centres.lo[k], twice_centre(leaf.box, k));
      b.centres.hi[k] = std::max(b.centres.hi[k], twice_centre(leaf.box, k));
    }
  }
  return b;
}

int split_at_median(std::span<AabbTree::Leaf> leaves, int axis) {
  const auto middle = leaves.begin() + static_cast<std::ptrdiff_t>(leaves.size() / 2);
  std::nth_element(leaves.begin(), middle, leaves.end(), [axis](const AabbTree::Leaf& x, const AabbTree::Leaf& y) {
    const float cx = twice_centre(x.box, axis);
    const float cy = twice_centre(y.box, axis);
    return cx != cy ? cx < cy : x.item < y.item;
  });
  return static_cast<int>(leaves.size() / 2);
}

struct Bins {
  TreeBox box[kBins];
  int count[kBins];
};

// The first bin of the right part.
int cheapest_plane(const Bins& bins) {
  float right[kBins];
  TreeBox box = kNothing;
  int count = 0;
  for (int k = kBins - 1; k > 0; --k) {
    box = hull(box, bins.box[k]);
    count += bins.count[k];
    right[k] = area(box) * static_cast<float>(count);
  }
  box = kNothing;
  count = 0;
  int best = 1;
  float best_cost = kFar;
  for (int k = 1; k < kBins; ++k) {
    box = hull(box, bins.box[k - 1]);
    count += bins.count[k - 1];
    const float cost = area(box) * static_cast<float>(count) + right[k];
    if (cost < best_cost) {
      best_cost = cost;
      best = k;
    }
  }
  return best;
}

// Reorders the leaves (two or more) and returns how many belong to the left child: at least one, but not all.
int split(std::span<AabbTree::Leaf> leaves, const TreeBox& centres) {
  int axis = 0;
  for (int k = 1; k < 3; ++k) {
    if (centres.hi[k] - centres.lo[k] > centres.hi[axis] - centres.lo[axis]) axis = k;
  }
  const float start = centres.lo[axis];
  const float width = centres.hi[axis] - start;
  if (leaves.size() <= 4 || !(width > 1e-25f)) return split_at_median(leaves, axis);

  const float scale = 0.9999f * kBins / width;  // the last centre must stay in the last bin
  const auto bin_of = [start, scale, axis](const AabbTree::Leaf& leaf) {
    return static_cast<int>((twice_centre(leaf.box, axis) - start) * scale);
  };
  Bins bins;
  std::fill(bins.box, bins.box + kBins, kNothing);
  std::fill(bins.count, bins.count + kBins, 0);
  for (const AabbTree::Leaf& leaf : leaves) {
    const int k = bin_of(leaf);
    bins.box[k] = hull(bins.box[k], leaf.box);
    ++bins.count[k];
  }
  const int plane = cheapest_plane(bins);
  const auto middle =
      std::partition(leaves.begin(), leaves.end(), [&](const AabbTree::Leaf& leaf) { return bin_of(leaf) < plane; });
  return static_cast<int>(middle - leaves.begin());
}

}  // namespace

AabbTree::AabbTree(int item_limit, int capacity)
    : nodes_(2 * at(capacity)), leaf_of_(at(item_limit), kNone), stack_(at(capacity)), hits_(at(capacity) + 1) {
  free_.reserve(at(capacity));
  work_.reserve(at(capacity));
  build({});
}

void AabbTree::build(std::span<Leaf> leaves) {
  std::fill(leaf_of_.begin(), leaf_of_.end(), kNone);
  leaf_count_ = static_cast<int>(leaves.size());
  visits_ = 0;
  int used = 2;  // the root has no sibling: node 1 stays idle
  work_.clear();
  if (!leaves.empty()) {
    node(0).parent = kNone;
    work_.push_back({0, leaf_count_, 0});
  }
  while (!work_.empty()) {
    const Range range = work_.back();
    work_.pop_back();
    const std::span<Leaf> part = leaves.subspan(at(range.begin), at(range.end - range.begin));
    if (part.size() == 1) {
      place_leaf(range.node, part[0].item, part[0].box, node(range.node).parent);
      continue;
    }
    const SplitBounds bounds = bounds_of(part);
    const int middle = range.begin + split(part, bounds.centres);
    node(range.node).box = bounds.boxes;
    node(range.node).link = used;
    node(used).parent = range.node;
    node(used + 1).parent = range.node;
    work_.push_back({middle, range.end, used + 1});
    work_.push_back({range.begin, middle, used});
    used += 2;
  }
  free_.clear();
  for (int i = static_cast<int>(nodes_.size()) - 2; i >= used; i -= 2) free_.push_back(i);
}

// ---- changes ----------------------------------------------------------------------------------------------------

void AabbTree::place_leaf(int i, int item, const TreeBox& box, int parent) {
  node(i).box = box;
  node(i).link = ~item;
  node(i).parent = parent;
  leaf_of_[at(item)] = i;
}

// Box and children of a node go to another place in the tree.
void AabbTree::copy_node(int from, int to) {
  const int link = node(from).link;
  node(to).box = node(from).box;
  node(to).link = link;
  if (link < 0) {
    leaf_of_[at(~link)] = to;
  } else {
    node(link).parent = to;
    node(link + 1).parent = to;
  }
}

void AabbTree::refit_from(int i) {
  while (i != kNone) {
    Node& n = node(i);
    const TreeBox box = hull(node(n.link).box, node(n.link + 1).box);
    if (same(box, n.box)) return;
    n.box = box;
    i = n.parent;
  }
}

// Takes the leaf out; its sibling replaces their parent. Returns the sibling's new node, or kNone if the tree is empty.
int AabbTree::unlink(int item) {
  const int i = leaf_of_[at(item)];
  leaf_of_[at(item)] = kNone;
  --leaf_count_;
  if (i == 0) return kNone;
  const int parent = node(i).parent;
  copy_node(i ^ 1, parent);
  free_.push_back(i & ~1);
  refit_from(node(parent).parent);
  return parent;
}

void AabbTree::remove(int item) { unlink(item); }

void AabbTree::insert(int item, const TreeBox& box) { insert_below(0, item, box); }

void AabbTree::move(int item, const TreeBox& box) {
  int start = std::max(unlink(item), 0);
  while (start != 0 && !covers(node(start).box, box)) start = node(start).parent;
  insert_below(start, item, box);
}

int AabbTree::best_sibling(int start, int item, const TreeBox& box) const {
  const float own = area(box);
  int i = start;
  for (int level = 0; node(i).link >= 0; ++level) {
    const Node& n = node(i);
    const float beside = area(hull(n.box, box));
    const float growth = beside - area(n.box);
    float bound[2];
    for (int k = 0; k < 2; ++k) {
      const Node& child = node(n.link + k);
      bound[k] = growth + area(hull(child.box, box)) + (child.link < 0 ? 0.0f : own - area(child.box));
    }
    if (beside < std::min(bound[0], bound[1])) break;
    // Among equals (coincident boxes) the bits of the item decide, which keeps the tree balanced.
    const bool second = bound[0] != bound[1] ? bound[1] < bound[0] : ((item >> (level % 16)) & 1) != 0;
    i = n.link + static_cast<int>(second);
  }
  return i;
}

void AabbTree::insert_below(int start, int item, const TreeBox& box) {
  if (leaf_count_++ == 0) {
    place_leaf(0, item, box, kNone);
    return;
  }
  const int sibling = best_sibling(start, item, box);
  const int pair = free_.back();
  free_.pop_back();
  copy_node(sibling, pair);
  node(pair).parent = sibling;
  place_leaf(pair + 1, item, box, sibling);
  node(sibling).link = pair;
  refit_from(sibling);
}

// ---- answers ----------------------------------------------------------------------------------------------------

TreeBox AabbTree::box(int item) const { return node(leaf_of_[at(item)]).box; }

std::span<const int> AabbTree::query(const TreeBox& box) {
  if (is_empty() || !meet(node(0).box, box)) return {};
  int* const stack = stack_.data();
  int* const hits = hits_.data();
  int found = 0;
  if (node(0).link < 0) {
    hits[found++] = ~node(0).link;
    return {hits, at(found)};
  }
  int top = 0;
  long opened = 0;
  stack[top++] = node(0).link;
  while (top > 0) {
    const int first = stack[--top];
    ++opened;
    for (int i = first; i < first + 2; ++i) {
      // Written always, kept only if it counts: no branch to mispredict.
      const Node& n = node(i);
      const int hit = static_cast<int>(meet(n.box, box));
      const int leaf = static_cast<int>(n.link < 0);
      stack[top] = n.link;
      top += hit & (1 - leaf);
      hits[found] = ~n.link;
      found += hit & leaf;
    }
  }
  visits_ += opened;
  return {hits, at(found)};
}

int AabbTree::depth() const {
  int deepest = 0;
  for (const int leaf : leaf_of_) {
    int d = 0;
    for (int i = leaf; i != kNone; i = node(i).parent) ++d;
    deepest = std::max(deepest, d);
  }
  return deepest;
}

bool AabbTree::is_consistent() const {
  int leaves = 0;
  std::vector<int> open;
  if (!is_empty()) open.push_back(0);
  while (!open.empty()) {
    const int i = open.back();
    open.pop_back();
    const Node& n = node(i);
    if (n.link < 0) {
      ++leaves;
      if (leaf_of_[at(~n.link)] != i) return false;
      continue;
    }
    if (node(n.link).parent != i || node(n.link + 1).parent != i) return false;
    if (!same(n.box, hull(node(n.link).box, node(n.link + 1).box))) return false;
    open.push_back(n.link);
    open.push_back(n.link + 1);
  }
  const auto absent = std::count(leaf_of_.begin(), leaf_of_.end(), kNone);
  const std::size_t pairs = is_empty() ? 0 : at(leaf_count_ - 1);
  return leaves == leaf_count_ && leaf_of_.size() - static_cast<std::size_t>(absent) == at(leaves) &&
         2 * (free_.size() + pairs) + 2 == std::max<std::size_t>(nodes_.size(), 2);
}

}  // namespace sarrus
