// Nested dissection of a graph: stages of elimination for large graphs whose separators are small, as those of piles
// are (docs/theory/newton.md §2.1).
//
// A connected part of more than `kLeaf` nodes is cut at a level of a breadth-first search from one of its ends: at the
// smallest that leaves at least a quarter on either side. Nodes of the cut that have neighbours on one side alone go to
// that side. Both sides are cut again. What is left of the parts has stage 0, the cuts have stages that rise towards
// the first one: who eliminates stage by stage connects no two parts before their cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sarrus {

class Dissection {
 public:
  static constexpr int kLeaf = 100;
  static constexpr int kStages = 30;  // at most

  // Neighbours of node i: adjacent[start[i]] up to adjacent[end[i]]. Returns the stages by node; valid until the next
  // call. Depends on the graph alone; keeps its memory.
  std::span<const std::uint8_t> find(std::span<const int> start, std::span<const int> end,
                                     std::span<const int> adjacent);

 private:
  struct Part {
    int begin, end, depth;  // of nodes_
  };
  template <class F>
  void for_each_neighbour(int node, const F& f) const {
    for (int i = start_[static_cast<std::size_t>(node)]; i < end_[static_cast<std::size_t>(node)]; ++i) {
      f(adjacent_[static_cast<std::size_t>(i)]);
    }
  }
  void divide(const Part& part);
  void cut(const Part& part);
  int search(int root, int begin);
  int best_level(int count, int levels);
  void thin(const Part& part, int level);

  std::span<const int> start_, end_, adjacent_;
  std::vector<std::uint8_t> stage_;
  std::vector<int> nodes_, found_;  // those of a part follow each other; in the order of the search
  std::vector<int> label_;          // by node: the part that it is in
  std::vector<int> level_;          // by node, of the last search; -1: not met
  std::vector<int> width_;          // by level: how many nodes
  std::vector<std::int8_t> side_;   // by node of the part that is cut: -1, 0 (the cut), 1
  std::vector<Part> parts_;
  int labels_ = 0;
};

}  // namespace sarrus
