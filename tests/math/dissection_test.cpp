// Nested dissection: cuts separate, parts become small, and large graphs are ordered by it where that saves updates.
#include "sarrus/math/dissection.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "math/random_graph.h"
#include "sarrus/math/block_llt.h"

namespace sarrus::dissection_test {
namespace {

using namespace testing;  // graphs

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A stack of layers, each a lattice.
Edges block(int a, int b, int c) {
  Edges edges;
  const auto node = [&](int i, int j, int k) { return (i * b + j) * c + k; };
  for (int i = 0; i < a; ++i) {
    for (int j = 0; j < b; ++j) {
      for (int k = 0; k < c; ++k) {
        if (i + 1 < a) edges.insert({node(i, j, k), node(i + 1, j, k)});
        if (j + 1 < b) edges.insert({node(i, j, k), node(i, j + 1, k)});
        if (k + 1 < c) edges.insert({node(i, j, k), node(i, j, k + 1)});
      }
    }
  }
  return edges;
}

struct Lists {
  std::vector<int> start, end, adjacent;
  Lists(int nodes, const Edges& edges) {
    std::vector<std::vector<int>> of(at(nodes));
    for (const auto& [a, b] : edges) {
      of[at(a)].push_back(b);
      of[at(b)].push_back(a);
    }
    for (const std::vector<int>& list : of) {
      start.push_back(static_cast<int>(adjacent.size()));
      adjacent.insert(adjacent.end(), list.begin(), list.end());
      end.push_back(static_cast<int>(adjacent.size()));
    }
  }
};

std::vector<std::uint8_t> stages_of(int nodes, const Edges& edges, Dissection& d) {
  const Lists lists(nodes, edges);
  const auto stages = d.find(lists.start, lists.end, lists.adjacent);
  return {stages.begin(), stages.end()};
}

// Largest connected part of the nodes up to a stage.
int largest_part(int nodes, const Edges& edges, const std::vector<std::uint8_t>& stages, int most) {
  std::vector<int> parent(at(nodes));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  for (const auto& [a, b] : edges) {
    if (stages[at(a)] <= most && stages[at(b)] <= most) parent[at(root(a))] = root(b);
  }
  std::vector<int> size(at(nodes), 0);
  for (int i = 0; i < nodes; ++i) size[at(root(i))] += stages[at(i)] <= most;
  return *std::max_element(size.begin(), size.end());
}

TEST(Dissection, WithoutItsCutsALatticeFallsIntoSmallParts) {
  Dissection d;
  const Edges edges = block(5, 24, 24);
  const int n = 5 * 24 * 24;
  const auto stages = stages_of(n, edges, d);
  EXPECT_LE(largest_part(n, edges, stages, 0), Dissection::kLeaf);
  // Without the first cut neither side has more than three quarters.
  const int first = *std::max_element(stages.begin(), stages.end());
  EXPECT_EQ(first, Dissection::kStages - 1);
  EXPECT_LE(largest_part(n, edges, stages, first - 1), 3 * n / 4);
  const auto cut = std::count(stages.begin(), stages.end(), first);
  EXPECT_LE(cut, 3 * 5 * 24 / 2);
}

TEST(Dissection, PartsThatAreSmallStayWhole) {
  Dissection d;
  Edges edges;
  for (int i = 0; i < 20000; ++i) {  // 20 000 triangles
    edges.insert({3 * i, 3 * i + 1});
    edges.insert({3 * i + 1, 3 * i + 2});
  }
  const auto stages = stages_of(60000, edges, d);
  EXPECT_EQ(*std::max_element(stages.begin(), stages.end()), 0);
}

TEST(Dissection, DependsOnTheGraphAlone) {
  std::mt19937 rng(203);
  Dissection used;
  const Edges edges = block(2, 20, 30);
  for (int trial = 0; trial < 5; ++trial) {
    Edges others = edges;
    for (int i = 0; i < 30; ++i) others.insert({i, 100 + static_cast<int>(rng() % 1000)});
    stages_of(1200, others, used);
  }
  Dissection fresh;
  EXPECT_EQ(stages_of(1200, edges, used), stages_of(1200, edges, fresh));
}

// Updates of plain minimum degree, ties to the lower node.
std::int64_t plain_updates(int nodes, const Edges& edges) {
  std::vector<std::set<int>> of(at(nodes));
  for (const auto& [a, b] : edges) {
    of[at(a)].insert(b);
    of[at(b)].insert(a);
  }
  std::set<std::pair<std::size_t, int>> queue;
  for (int i = 0; i < nodes; ++i) queue.insert({of[at(i)].size(), i});
  std::int64_t updates = 0;
  while (!queue.empty()) {
    const int p = queue.begin()->second;
    queue.erase(queue.begin());
    const auto rows = static_cast<std::int64_t>(of[at(p)].size());
    updates += rows * (rows + 1) / 2;
    for (const int i : of[at(p)]) {
      queue.erase({of[at(i)].size(), i});
      of[at(i)].erase(p);
      for (const int k : of[at(p)]) {
        if (k != i) of[at(i)].insert(k);
      }
      queue.insert({of[at(i)].size(), i});
    }
  }
  return updates;
}

BlockGraph analysed(int nodes, const Edges& edges) {
  BlockGraph graph;
  graph.set_nodes(std::vector<int>(at(nodes), 6));
  graph.analyse(keys(edges));
  return graph;
}

TEST(Dissection, LargeGraphsAreOrderedByItWhereThatSavesUpdates) {
  const Edges stack = block(5, 22, 22);
  EXPECT_LT(analysed(5 * 22 * 22, stack).update_count(), 0.9 * static_cast<double>(plain_updates(5 * 22 * 22, stack)));
  const Edges chain = block(1, 1, 3000);
  EXPECT_EQ(analysed(3000, chain).update_count(), plain_updates(3000, chain));
}

TEST(Dissection, TheFillIsThatOfTheOrder) {
  const int n = 5 * 20 * 20;
  const Edges edges = block(5, 20, 20);
  const BlockGraph graph = analysed(n, edges);
  std::vector<std::set<int>> columns(at(n));
  for (const auto& [a, b] : edges) {
    const int i = std::min(graph.position(a), graph.position(b));
    const int k = std::max(graph.position(a), graph.position(b));
    columns[at(i)].insert(k);
  }
  for (int k = 0; k < n; ++k) {
    ASSERT_EQ(graph.position(graph.node_at(k)), k);
    std::vector<int> rows;
    for (int i = graph.column_begin(k); i < graph.column_begin(k + 1); ++i) rows.push_back(graph.row(i));
    ASSERT_EQ(rows, std::vector<int>(columns[at(k)].begin(), columns[at(k)].end())) << "column " << k;
    if (columns[at(k)].empty()) continue;
    const int parent = *columns[at(k)].begin();
    columns[at(parent)].insert(std::next(columns[at(k)].begin()), columns[at(k)].end());
  }
}

TEST(Dissection, FactorsOfALargeStackSolve) {
  const int n = 5 * 20 * 20;
  const Edges edges = block(5, 20, 20);
  BlockLLT llt;
  llt.set_nodes(std::vector<int>(at(n), 1));
  llt.analyse(keys(edges));
  llt.set_zero();
  for (int i = 0; i < n; ++i) llt.values()[llt.diagonal(i).offset] = 7;
  for (const auto& [a, b] : edges) llt.values()[llt.off_diagonal(a, b).offset] = -1;
  ASSERT_TRUE(llt.factor());
  VecX x = VecX::LinSpaced(n, -1, 2);
  VecX b = 7 * x;
  for (const auto& [i, k] : edges) {
    b[i] -= x[k];
    b[k] -= x[i];
  }
  llt.solve(b);
  EXPECT_LT((b - x).cwiseAbs().maxCoeff(), 1e-13);
}

}  // namespace
}  // namespace sarrus::dissection_test
