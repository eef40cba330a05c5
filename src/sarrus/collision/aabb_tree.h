// Dynamic binary tree of boxes: which boxes meet a given one (docs/theory/collision.md §3).
//
// The box of a node is the union of its children's. The two children of a node are neighbours in memory, so a visit
// costs one cache line. With A(x) the area of a box and x + y the union of two:
//   build   top down; of 7 planes across the longest axis of the centres the one with the least
//           A(left) count(left) + A(right) count(right), which is proportional to the cost of a random query
//   insert  down from the root; beside node x if that adds less area than the lower bound for going on to child c:
//           A(x + new)  <  A(x + new) - A(x) + A(c + new) - A(c) + A(new)      (c a leaf: ... + A(c + new))
//   move    remove, then insert below the lowest ancestor that covers the new box: motion is mostly small
// There are no rotations: they cost more than they gain when the owner builds anew now and then, for which
// visits() is the measure (figures in broad_phase.h).
// Boxes are float32 to halve the memory traffic. Answers depend on the boxes alone; only cost depends on history.
#pragma once

#include <span>
#include <vector>

namespace sarrus {

// Finite, lo <= hi, at most 1e15 in magnitude (sums of area times count must not overflow).
struct TreeBox {
  float lo[3];
  float hi[3];
};

class AabbTree {
 public:
  struct Leaf {
    TreeBox box;
    int item;
  };

  // Items are 0 <= item < item_limit, of which at most `capacity` are in the tree at a time.
  AabbTree(int item_limit, int capacity);

  // Replaces everything. Puts `leaves` in the order of the tree, so that near ones are near in the list.
  void build(std::span<Leaf> leaves);
  void insert(int item, const TreeBox& box);  // the item must be absent
  void remove(int item);                      // ... present
  void move(int item, const TreeBox& box);    // ... present

  bool contains(int item) const { return leaf_of_[static_cast<std::size_t>(item)] != kNone; }
  TreeBox box(int item) const;
  // Items with near places are mostly near in space, and their nodes in memory. Negative if absent.
  int place(int item) const { return leaf_of_[static_cast<std::size_t>(item)]; }

  // Items whose boxes overlap or touch `box`, in no particular order. Valid until the next call.
  std::span<const int> query(const TreeBox& box);

  // Nodes that queries have opened since the last build.
  long visits() const { return visits_; }
  // Longest way from the root to a leaf, in nodes; 0 for an empty tree.
  int depth() const;
  // Every box is the union of its children's, every link has its counterpart. For tests.
  bool is_consistent() const;

 private:
  static constexpr int kNone = -1;
  struct alignas(32) Node {
    TreeBox box;
    int link = kNone;    // first of two children (even), or ~item in a leaf
    int parent = kNone;  // none: the root, which is node 0
  };
  struct Range {
    int begin, end;
    int node;
  };

  Node& node(int i) { return nodes_[static_cast<std::size_t>(i)]; }
  const Node& node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  bool is_empty() const { return leaf_count_ == 0; }
  void place_leaf(int i, int item, const TreeBox& box, int parent);
  void copy_node(int from, int to);
  int unlink(int item);
  int best_sibling(int start, int item, const TreeBox& box) const;
  void insert_below(int start, int item, const TreeBox& box);
  void refit_from(int i);

  std::vector<Node> nodes_;
  std::vector<int> free_;     // first nodes of unused pairs
  std::vector<int> leaf_of_;  // node, by item
  int leaf_count_ = 0;
  long visits_ = 0;
  std::vector<int> stack_;  // scratch of query()
  std::vector<int> hits_;
  std::vector<Range> work_;  // scratch of build()
};

}  // namespace sarrus
