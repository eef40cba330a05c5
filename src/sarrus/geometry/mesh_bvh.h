// Static hierarchy of boxes over triangles (spec/collision.md §6): binned surface-area heuristic, flat array.
#pragma once

#include <span>
#include <vector>

#include "sarrus/geometry/aabb.h"

namespace sarrus {

// No path from the root is longer: traversal needs no more than this many open nodes.
inline constexpr int kMaxBvhDepth = 64;
inline constexpr int kMaxBvhLeaf = 4;

// Depth first: the left child follows its parent.
struct BvhNode {
  Aabb box;
  int first;  // of a leaf: of its items in the item array; of an inner node: index of the right child
  int count;  // items of a leaf, 0 for an inner node
};

// `boxes` must not be empty. `items` becomes a permutation of their indices.
void build_bvh(std::span<const Aabb> boxes, std::vector<BvhNode>& nodes, std::vector<int>& items);

}  // namespace sarrus
