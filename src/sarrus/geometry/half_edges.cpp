#include "sarrus/geometry/half_edges.h"

#include <algorithm>
#include <tuple>

namespace sarrus {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

// Buckets by the lower vertex first, so that only the few sides of one vertex have to be compared.
std::vector<EdgeUse> sorted_edge_uses(std::span<const int> tail, std::span<const int> head, int vertex_count) {
  std::vector<int> begin(at(vertex_count) + 1, 0);
  for (std::size_t k = 0; k < tail.size(); ++k) ++begin[at(std::min(tail[k], head[k])) + 1];
  for (std::size_t v = 0; v < at(vertex_count); ++v) begin[v + 1] += begin[v];
  std::vector<int> next(begin.begin(), begin.end() - 1);
  std::vector<EdgeUse> uses(tail.size());
  for (std::size_t k = 0; k < tail.size(); ++k) {
    const int lo = std::min(tail[k], head[k]);
    uses[at(next[at(lo)]++)] = {lo, std::max(tail[k], head[k]), static_cast<int>(k), tail[k] < head[k]};
  }
  for (std::size_t v = 0; v < at(vertex_count); ++v) {
    std::sort(uses.begin() + begin[v], uses.begin() + begin[v + 1],
              [](const EdgeUse& a, const EdgeUse& b) { return std::tie(a.hi, a.side) < std::tie(b.hi, b.side); });
  }
  return uses;
}

void link_rows(std::span<const EdgeUse> uses, int vertex_count, std::vector<int>& begin, std::vector<int>& links) {
  const auto is_first = [&](std::size_t k) { return k == 0 || !uses[k].same_edge(uses[k - 1]); };
  begin.assign(at(vertex_count) + 1, 0);
  for (std::size_t k = 0; k < uses.size(); ++k) {
    if (!is_first(k)) continue;
    ++begin[at(uses[k].lo) + 1];
    ++begin[at(uses[k].hi) + 1];
  }
  for (std::size_t v = 0; v < at(vertex_count); ++v) begin[v + 1] += begin[v];
  std::vector<int> next(begin.begin(), begin.end() - 1);
  links.assign(at(begin.back()), 0);
  // Lexicographic order of the edges fills every row in ascending order: first the lower ends, then the higher ones.
  for (std::size_t k = 0; k < uses.size(); ++k) {
    if (!is_first(k)) continue;
    links[at(next[at(uses[k].lo)]++)] = uses[k].hi;
    links[at(next[at(uses[k].hi)]++)] = uses[k].lo;
  }
}

}  // namespace sarrus
