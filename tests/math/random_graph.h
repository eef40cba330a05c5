// Graphs of nodes of every shape, and matrices with their pattern, for the tests of the block factorisations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sarrus/math/block_graph.h"
#include "sarrus/math/types.h"

namespace sarrus::testing {

using Edges = std::set<std::pair<int, int>>;  // a < b

struct Graph {
  std::string name;
  std::vector<int> sizes;
  Edges edges;
};

inline std::vector<std::uint64_t> keys(const Edges& edges) {
  std::vector<std::uint64_t> out;
  for (const auto& [a, b] : edges) out.push_back(BlockGraph::edge_key(a, b));
  std::sort(out.begin(), out.end());
  return out;
}

inline int total(const std::vector<int>& sizes) {
  int n = 0;
  for (const int s : sizes) n += s;
  return n;
}

inline std::vector<int> offsets(const std::vector<int>& sizes) {
  std::vector<int> out;
  int n = 0;
  for (const int s : sizes) {
    out.push_back(n);
    n += s;
  }
  return out;
}

// Positive definite with the graph's pattern: H = sum over nodes and edges of B B', plus a small diagonal.
inline MatX random_matrix(const Graph& g, std::mt19937& rng, double diagonal) {
  const auto random = [&](int r, int c) {
    std::normal_distribution<double> d;
    MatX m(r, c);
    for (double& x : m.reshaped()) x = d(rng);
    return m;
  };
  const std::vector<int> start = offsets(g.sizes);
  const int n = total(g.sizes);
  MatX H = diagonal * MatX::Identity(n, n);
  const auto size = [&](int i) { return g.sizes[static_cast<std::size_t>(i)]; };
  const auto at = [&](int i) { return start[static_cast<std::size_t>(i)]; };
  for (const auto& [a, b] : g.edges) {
    const MatX Ja = random(3, size(a));
    const MatX Jb = random(3, size(b));
    H.block(at(a), at(a), size(a), size(a)) += Ja.transpose() * Ja;
    H.block(at(b), at(b), size(b), size(b)) += Jb.transpose() * Jb;
    H.block(at(a), at(b), size(a), size(b)) += Ja.transpose() * Jb;
    H.block(at(b), at(a), size(b), size(a)) += Jb.transpose() * Ja;
  }
  return H;
}

inline VecX random_vector(Eigen::Index n, std::mt19937& rng) {
  std::normal_distribution<double> d;
  VecX v(n);
  for (double& x : v) x = d(rng);
  return v;
}

inline std::vector<Graph> graphs(int nodes, const std::vector<int>& sizes, std::mt19937& rng) {
  std::vector<Graph> out;
  const auto add = [&](const std::string& name, Edges edges) { out.push_back({name, sizes, std::move(edges)}); };
  Edges chain;
  Edges star;
  Edges reversed_star;
  Edges dense;
  Edges random;
  Edges islands;
  std::uniform_real_distribution<double> chance(0, 1);
  for (int i = 0; i + 1 < nodes; ++i) {
    chain.insert({i, i + 1});
    star.insert({0, i + 1});
    reversed_star.insert({i, nodes - 1});
    if (i % 4 != 3) islands.insert({i, i + 1});
    for (int j = i + 1; j < nodes; ++j) {
      dense.insert({i, j});
      if (chance(rng) < 0.2) random.insert({i, j});
    }
  }
  Edges ring = chain;
  if (nodes > 2) ring.insert({0, nodes - 1});
  add("no edges", {});
  add("chain", chain);
  add("ring", ring);
  add("star", star);
  add("reversed star", reversed_star);
  add("islands", islands);
  add("dense", dense);
  add("random", random);
  return out;
}

}  // namespace sarrus::testing
