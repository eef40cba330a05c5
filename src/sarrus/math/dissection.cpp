#include "sarrus/math/dissection.h"

#include <algorithm>
#include <numeric>

#include "sarrus/math/tools.h"

namespace sarrus {

std::span<const std::uint8_t> Dissection::find(std::span<const int> start, std::span<const int> end,
                                               std::span<const int> adjacent) {
  start_ = start;
  end_ = end;
  adjacent_ = adjacent;
  const std::size_t n = start.size();
  stage_.assign(n, 0);
  label_.assign(n, 0);
  level_.assign(n, -1);
  side_.assign(n, 0);
  nodes_.resize(n);
  found_.resize(n);
  std::iota(nodes_.begin(), nodes_.end(), 0);
  labels_ = 0;
  parts_.clear();
  parts_.push_back({0, static_cast<int>(n), 0});
  while (!parts_.empty()) {
    const Part part = parts_.back();
    parts_.pop_back();
    divide(part);
  }
  return stage_;
}

// Cuts the connected components of a part, each for itself, in one pass over all of them.
void Dissection::divide(const Part& part) {
  if (part.end - part.begin <= kLeaf || part.depth + 1 >= kStages) return;
  const int label = ++labels_;
  for (int i = part.begin; i < part.end; ++i) {
    label_[at(nodes_[at(i)])] = label;
    level_[at(nodes_[at(i)])] = -1;
  }
  int end = part.begin;
  for (int i = part.begin; i < part.end; ++i) {
    if (level_[at(nodes_[at(i)])] < 0) end = search(nodes_[at(i)], end);
  }
  std::copy(found_.begin() + part.begin, found_.begin() + part.end, nodes_.begin() + part.begin);
  // A component begins with its root, the only one of level 0.
  for (int begin = part.begin; begin < part.end; begin = end) {
    end = begin + 1;
    while (end < part.end && level_[at(nodes_[at(end)])] > 0) ++end;
    if (end - begin > kLeaf) cut({begin, end, part.depth});
  }
}

// Levels of what is connected with the root and has its label; they are found_ from `begin` on. Returns the end.
int Dissection::search(int root, int begin) {
  const int label = label_[at(root)];
  int end = begin;
  found_[at(end++)] = root;
  level_[at(root)] = 0;
  for (int i = begin; i < end; ++i) {
    const int node = found_[at(i)];
    for_each_neighbour(node, [&](int k) {
      if (label_[at(k)] != label || level_[at(k)] >= 0) return;
      level_[at(k)] = level_[at(node)] + 1;
      found_[at(end++)] = k;
    });
  }
  return end;
}

// A connected part, whose nodes are in the order of a search from any of them. The next one is from an end of that, as
// long as there are more levels then.
void Dissection::cut(const Part& part) {
  constexpr int kSearches = 4;
  const int label = ++labels_;
  for (int i = part.begin; i < part.end; ++i) label_[at(nodes_[at(i)])] = label;
  const auto degree = [this](int node) { return end_[at(node)] - start_[at(node)]; };
  int levels = level_[at(nodes_[at(part.end - 1)])] + 1;
  for (int k = 0; k < kSearches; ++k) {
    int root = nodes_[at(part.end - 1)];
    for (int i = part.end - 1; i >= part.begin && level_[at(nodes_[at(i)])] == levels - 1; --i) {
      if (degree(nodes_[at(i)]) < degree(root)) root = nodes_[at(i)];
    }
    for (int i = part.begin; i < part.end; ++i) level_[at(nodes_[at(i)])] = -1;
    search(root, part.begin);
    std::copy(found_.begin() + part.begin, found_.begin() + part.end, nodes_.begin() + part.begin);
    const int more = level_[at(nodes_[at(part.end - 1)])] + 1;
    const bool enough = more <= levels;
    levels = more;
    if (enough) break;
  }
  if (levels < 3) return;
  width_.assign(at(levels), 0);
  for (int i = part.begin; i < part.end; ++i) ++width_[at(level_[at(nodes_[at(i)])])];
  const int level = best_level(part.end - part.begin, levels);
  thin(part, level);
  // Those below, those above, the cut.
  int place = part.begin;
  int ends[2] = {};
  for (const int side : {-1, 1, 0}) {
    for (int i = part.begin; i < part.end; ++i) {
      if (side_[at(nodes_[at(i)])] == side) found_[at(place++)] = nodes_[at(i)];
    }
    if (side != 0) ends[side > 0 ? 1 : 0] = place;
  }
  std::copy(found_.begin() + part.begin, found_.begin() + part.end, nodes_.begin() + part.begin);
  for (int i = ends[1]; i < part.end; ++i) {
    stage_[at(nodes_[at(i)])] = static_cast<std::uint8_t>(kStages - 1 - part.depth);
  }
  parts_.push_back({part.begin, ends[0], part.depth + 1});
  parts_.push_back({ends[0], ends[1], part.depth + 1});
}

// The narrowest with a quarter of the nodes on either side, halves preferred; the one in the middle if there is none.
int Dissection::best_level(int count, int levels) {
  int best = -1;
  int middle = -1;
  double least = 0;
  int below = 0;
  for (int l = 0; l < levels; ++l) {
    const int above = count - below - width_[at(l)];
    if (middle < 0 && 2 * (below + width_[at(l)]) >= count) middle = std::clamp(l, 1, levels - 2);
    const double price = width_[at(l)] * (1 + 0.5 * std::abs(below - above) / count);
    if (4 * std::min(below, above) >= count && (best < 0 || price < least)) {
      best = l;
      least = price;
    }
    below += width_[at(l)];
  }
  return best < 0 ? middle : best;
}

// Sides of the nodes of a part.
void Dissection::thin(const Part& part, int level) {
  for (int i = part.begin; i < part.end; ++i) {
    const int node = nodes_[at(i)];
    const int l = level_[at(node)];
    side_[at(node)] = static_cast<std::int8_t>(l < level ? -1 : l > level ? 1 : 0);
  }
  const int label = label_[at(nodes_[at(part.begin)])];
  for (int i = part.begin; i < part.end; ++i) {
    const int node = nodes_[at(i)];
    if (side_[at(node)] != 0) continue;
    bool below = false, above = false;
    for_each_neighbour(node, [&](int k) {
      if (label_[at(k)] != label) return;
      below = below || side_[at(k)] < 0;
      above = above || side_[at(k)] > 0;
    });
    if (!above)
      side_[at(node)] = -1;
    else if (!below)
      side_[at(node)] = 1;
  }
}

}  // namespace sarrus
