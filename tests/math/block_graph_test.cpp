// The symbolic phase against plain elimination, and how its work grows with the graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "math/random_graph.h"
#include "sarrus/math/block_graph.h"

namespace sarrus::block_graph_test {
namespace {

using testing::Edges;
using testing::keys;

BlockGraph analysed(int nodes, const Edges& edges) {
  BlockGraph graph;
  graph.set_nodes(std::vector<int>(static_cast<std::size_t>(nodes), 6));
  graph.analyse(keys(edges));
  return graph;
}

std::vector<int> rows_of(const BlockGraph& graph, int position) {
  std::vector<int> out;
  for (int r = graph.column_begin(position); r < graph.column_begin(position + 1); ++r) out.push_back(graph.row(r));
  return out;
}

// The node of least degree, the lowest of several, is eliminated, and its neighbours are joined with each other.
void expect_plain_elimination(int nodes, const Edges& edges) {
  const BlockGraph graph = analysed(nodes, edges);
  std::vector<std::set<int>> neighbours(static_cast<std::size_t>(nodes));
  const auto of = [&](int i) -> std::set<int>& { return neighbours[static_cast<std::size_t>(i)]; };
  for (const auto& [a, b] : edges) {
    of(a).insert(b);
    of(b).insert(a);
  }
  std::set<int> left;
  for (int i = 0; i < nodes; ++i) left.insert(i);
  for (int k = 0; k < nodes; ++k) {
    const int p = *std::ranges::min_element(left, {}, [&](int i) { return of(i).size(); });
    ASSERT_EQ(graph.node_at(k), p) << "position " << k << " of " << nodes;
    ASSERT_EQ(graph.position(p), k);
    left.erase(p);
    std::vector<int> rows;
    for (const int i : of(p)) {
      rows.push_back(graph.position(i));
      of(i).erase(p);
      for (const int j : of(p)) {
        if (j != i) of(i).insert(j);
      }
    }
    std::ranges::sort(rows);
    ASSERT_EQ(rows_of(graph, k), rows) << "position " << k << " of " << nodes;
  }
}

TEST(BlockGraph, OrderAndFillAreThoseOfPlainElimination) {
  std::mt19937 rng(200);
  std::uniform_real_distribution<double> chance(0, 1);
  for (int trial = 0; trial < 300; ++trial) {
    const int nodes = 1 + trial % 40;
    const double density = 0.4 * chance(rng);
    Edges edges;
    for (int i = 0; i < nodes; ++i) {
      for (int j = i + 1; j < nodes; ++j) {
        if (chance(rng) < density) edges.insert({i, j});
      }
    }
    expect_plain_elimination(nodes, edges);
  }
}

// A lattice of width x height nodes.
Edges lattice(int width, int height) {
  Edges edges;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int i = y * width + x;
      if (x + 1 < width) edges.insert({i, i + 1});
      if (y + 1 < height) edges.insert({i, i + width});
    }
  }
  return edges;
}

TEST(BlockGraph, ALatticeIsThatOfPlainElimination) { expect_plain_elimination(20 * 15, lattice(20, 15)); }

// Power of the number of nodes with which the ordering's work grows.
double growth(int nodes, const Edges& edges, int more_nodes, const Edges& more_edges) {
  const BlockGraph small = analysed(nodes, edges);
  const BlockGraph large = analysed(more_nodes, more_edges);
  return std::log(static_cast<double>(large.work()) / static_cast<double>(small.work())) /
         std::log(static_cast<double>(more_nodes) / nodes);
}

TEST(BlockGraph, TheWorkOfTheOrderingIsNearlyLinear) {
  const auto tree = [](int nodes) {
    Edges edges;
    for (int i = 1; i < nodes; ++i) edges.insert({(i - 1) / 2, i});
    return edges;
  };
  EXPECT_NEAR(growth(1000, lattice(1000, 1), 16000, lattice(16000, 1)), 1, 0.01);
  EXPECT_NEAR(growth(1000, tree(1000), 16000, tree(16000)), 1, 0.01);
  EXPECT_LT(growth(30 * 30, lattice(30, 30), 120 * 120, lattice(120, 120)), 1.4);
}

// The phase knows nothing of earlier graphs: simulations that came to one state by different ways go on alike.
TEST(BlockGraph, TheOrderDependsOnTheEdgesAlone) {
  std::mt19937 rng(201);
  const Edges edges = lattice(12, 9);
  BlockGraph used;
  used.set_nodes(std::vector<int>(108, 6));
  for (int trial = 0; trial < 20; ++trial) {
    Edges others = edges;
    for (int i = 0; i < 10; ++i) others.insert({i, 50 + static_cast<int>(rng() % 58)});
    used.analyse(keys(others));
  }
  EXPECT_TRUE(used.analyse(keys(edges)));
  EXPECT_FALSE(used.analyse(keys(edges)));
  const BlockGraph fresh = analysed(108, edges);
  for (int k = 0; k < 108; ++k) {
    ASSERT_EQ(used.node_at(k), fresh.node_at(k));
    ASSERT_EQ(rows_of(used, k), rows_of(fresh, k));
  }
}

}  // namespace
}  // namespace sarrus::block_graph_test
