// The block Cholesky factorisation against dense algebra on graphs of every shape.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <limits>
#include <random>
#include <vector>

#include "math/random_graph.h"
#include "sarrus/math/block_llt.h"
#include "support/dense.h"

namespace sarrus::block_llt_test {
namespace {

using namespace testing;  // graphs

void write(BlockLLT& llt, const Graph& g, const MatX& H) {
  llt.set_zero();
  const std::vector<int> start = offsets(g.sizes);
  const auto put = [&](const BlockLLT::BlockRef& ref, int row, int column) {
    const int nr = g.sizes[static_cast<std::size_t>(row)];
    const int nc = g.sizes[static_cast<std::size_t>(column)];
    for (int c = 0; c < nc; ++c) {
      for (int r = 0; r < nr; ++r) {
        llt.values()[ref.offset + c * ref.ld + r] =
            H(start[static_cast<std::size_t>(row)] + r, start[static_cast<std::size_t>(column)] + c);
      }
    }
  };
  for (int i = 0; i < llt.node_count(); ++i) put(llt.diagonal(i), i, i);
  for (const auto& [a, b] : g.edges) {
    const BlockLLT::BlockRef ref = llt.off_diagonal(a, b);
    put(ref, ref.row_is_a ? a : b, ref.row_is_a ? b : a);
  }
}

void expect_solves(BlockLLT& llt, const Graph& g, std::mt19937& rng, double diagonal, double bound) {
  const MatX H = random_matrix(g, rng, diagonal);
  const VecX b = random_vector(H.rows(), rng);
  llt.analyse(keys(g.edges));
  write(llt, g, H);
  ASSERT_TRUE(llt.factor()) << g.name;
  VecX x = b;
  llt.solve(x);
  const double backward = (H * x - b).cwiseAbs().maxCoeff() /
                          (H.cwiseAbs().rowwise().sum().maxCoeff() * x.cwiseAbs().maxCoeff() + b.cwiseAbs().maxCoeff());
  EXPECT_LT(backward, bound) << g.name << ", " << g.sizes.size() << " nodes";
  const VecX reference = test::solve_spd(H, b);
  EXPECT_LT((x - reference).norm(), 1e-9 * reference.norm()) << g.name;
}

TEST(BlockLlt, NodesOfSixMatchDense) {
  std::mt19937 rng(100);
  for (const int nodes : {1, 2, 3, 7, 12, 20}) {
    BlockLLT llt;
    const std::vector<int> sizes(static_cast<std::size_t>(nodes), 6);
    llt.set_nodes(sizes);
    for (const Graph& g : graphs(nodes, sizes, rng)) expect_solves(llt, g, rng, 0.5, 1e-14);
  }
}

TEST(BlockLlt, NodesOfMixedSizesMatchDense) {
  std::mt19937 rng(101);
  std::uniform_int_distribution<int> size(1, 12);
  for (int trial = 0; trial < 12; ++trial) {
    const int nodes = 1 + trial;
    std::vector<int> sizes;
    for (int i = 0; i < nodes; ++i) sizes.push_back(size(rng));
    BlockLLT llt;
    llt.set_nodes(sizes);
    for (const Graph& g : graphs(nodes, sizes, rng)) expect_solves(llt, g, rng, 0.5, 1e-14);
  }
}

// A diagonal of 1e-6 next to entries of order 1 to 100: the explicit triangular inverses must stay backward stable.
TEST(BlockLlt, IllConditionedMatricesKeepASmallBackwardError) {
  std::mt19937 rng(102);
  const std::vector<int> sizes(10, 6);
  BlockLLT llt;
  llt.set_nodes(sizes);
  for (const Graph& g : graphs(10, sizes, rng)) {
    const MatX H = random_matrix(g, rng, 1e-6);
    const VecX b = random_vector(H.rows(), rng);
    llt.analyse(keys(g.edges));
    write(llt, g, H);
    ASSERT_TRUE(llt.factor()) << g.name;
    VecX x = b;
    llt.solve(x);
    const double scale = H.cwiseAbs().rowwise().sum().maxCoeff() * x.cwiseAbs().maxCoeff() + b.cwiseAbs().maxCoeff();
    EXPECT_LT((H * x - b).cwiseAbs().maxCoeff() / scale, 1e-13) << g.name;
  }
}

TEST(BlockLlt, MoreThanSixtyFourNodes) {
  std::mt19937 rng(103);
  const int nodes = 130;
  std::vector<int> sizes(static_cast<std::size_t>(nodes), 3);
  Graph g{"ring of 130", sizes, {}};
  for (int i = 0; i + 1 < nodes; ++i) g.edges.insert({i, i + 1});
  g.edges.insert({0, nodes - 1});
  g.edges.insert({5, 100});
  BlockLLT llt;
  llt.set_nodes(sizes);
  expect_solves(llt, g, rng, 0.5, 1e-14);
}

// A chain and a star have elimination orders without fill, a ring fills one block per eliminated node.
TEST(BlockLlt, MinimumDegreeOrderKeepsFillLow) {
  std::mt19937 rng(104);
  const int nodes = 20;
  const std::vector<int> sizes(nodes, 6);
  BlockLLT llt;
  llt.set_nodes(sizes);
  for (const Graph& g : graphs(nodes, sizes, rng)) {
    llt.analyse(keys(g.edges));
    const int stored = llt.block_count() - nodes;
    if (g.name == "ring") {
      EXPECT_EQ(stored, nodes + (nodes - 3));
    } else if (g.name != "random") {
      EXPECT_EQ(stored, static_cast<int>(g.edges.size())) << g.name;
    } else {
      EXPECT_GE(stored, static_cast<int>(g.edges.size()));
      EXPECT_LE(stored, nodes * (nodes - 1) / 2);
    }
  }
}

TEST(BlockLlt, SymbolicPhaseRunsOnlyForNewEdges) {
  BlockLLT llt;
  const std::vector<int> sizes(4, 6);
  llt.set_nodes(sizes);
  const Edges chain = {{0, 1}, {1, 2}, {2, 3}};
  EXPECT_TRUE(llt.analyse(keys(chain)));
  EXPECT_EQ(llt.analyses(), 1);
  EXPECT_FALSE(llt.analyse(keys(chain)));
  EXPECT_EQ(llt.analyses(), 1);
  EXPECT_TRUE(llt.analyse(keys({{0, 1}, {1, 2}})));
  EXPECT_EQ(llt.analyses(), 2);
  EXPECT_TRUE(llt.analyse(keys(chain)));
  EXPECT_EQ(llt.analyses(), 3);
  EXPECT_TRUE(llt.analyse(keys({{0, 1}, {1, 3}, {2, 3}})));  // as many edges, another set
  EXPECT_EQ(llt.analyses(), 4);
  llt.set_nodes(sizes);
  EXPECT_TRUE(llt.analyse(keys({{0, 1}, {1, 3}, {2, 3}})));  // new nodes forget
  EXPECT_EQ(llt.analyses(), 5);
}

TEST(BlockLlt, EmptyEdgeListIsAnalysedOnce) {
  BlockLLT llt;
  llt.set_nodes(std::vector<int>{6, 6});
  EXPECT_TRUE(llt.analyse({}));
  EXPECT_FALSE(llt.analyse({}));
}

// One object, many graphs and sizes in a row: nothing of an earlier factorisation may leak into a later one.
TEST(BlockLlt, ReuseLeavesNoTrace) {
  std::mt19937 rng(105);
  BlockLLT reused;
  const std::vector<int> sizes = {6, 3, 7, 1, 12, 6, 2};
  reused.set_nodes(sizes);
  for (int round = 0; round < 3; ++round) {
    for (const Graph& g : graphs(static_cast<int>(sizes.size()), sizes, rng)) {
      const MatX H = random_matrix(g, rng, 0.5);
      const VecX b = random_vector(H.rows(), rng);
      BlockLLT fresh;
      fresh.set_nodes(sizes);
      VecX x[2] = {b, b};
      BlockLLT* solvers[2] = {&fresh, &reused};
      for (int i = 0; i < 2; ++i) {
        solvers[i]->analyse(keys(g.edges));
        write(*solvers[i], g, H);
        ASSERT_TRUE(solvers[i]->factor());
        solvers[i]->solve(x[i]);
      }
      EXPECT_EQ(x[0], x[1]) << g.name;  // bit for bit
    }
  }
}

// Padding rows are zero after a factorisation, and the strict upper part of diagonal blocks is never read.
TEST(BlockLlt, PaddingStaysZeroAndUpperTrianglesAreIgnored) {
  std::mt19937 rng(106);
  for (const std::vector<int>& sizes : {std::vector<int>(5, 6), std::vector<int>{5, 1, 7, 3, 10}}) {
    Graph g{"ring", sizes, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}}};
    const MatX H = random_matrix(g, rng, 0.5);
    const VecX b = random_vector(H.rows(), rng);
    VecX clean = b;
    VecX dirty = b;
    for (VecX* x : {&clean, &dirty}) {
      BlockLLT llt;
      llt.set_nodes(sizes);
      llt.analyse(keys(g.edges));
      write(llt, g, H);
      for (int i = 0; x == &dirty && i < llt.node_count(); ++i) {
        const BlockLLT::BlockRef d = llt.diagonal(i);
        for (int c = 0; c < sizes[static_cast<std::size_t>(i)]; ++c) {
          for (int r = 0; r < c; ++r) llt.values()[d.offset + c * d.ld + r] = 1e6;
        }
      }
      ASSERT_TRUE(llt.factor());
      for (const auto& [p, q] : g.edges) {
        const BlockLLT::BlockRef ref = llt.off_diagonal(p, q);
        const int rows = sizes[static_cast<std::size_t>(ref.row_is_a ? p : q)];
        const int columns = sizes[static_cast<std::size_t>(ref.row_is_a ? q : p)];
        ASSERT_EQ(ref.ld % 4, 0);
        for (int c = 0; c < columns; ++c) {
          for (int r = rows; r < ref.ld; ++r) ASSERT_EQ(llt.values()[ref.offset + c * ref.ld + r], 0.0);
        }
      }
      llt.solve(*x);
    }
    EXPECT_EQ(clean, dirty);
  }
}

TEST(BlockLlt, RefusesWhatIsNotPositiveDefinite) {
  std::mt19937 rng(107);
  for (const std::vector<int>& sizes : {std::vector<int>(4, 6), std::vector<int>{2, 6, 9, 4}}) {
    const Graph g{"chain", sizes, {{0, 1}, {1, 2}, {2, 3}}};
    const MatX good = random_matrix(g, rng, 0.5);
    BlockLLT llt;
    llt.set_nodes(sizes);
    llt.analyse(keys(g.edges));
    const auto factors = [&](const MatX& H) {
      write(llt, g, H);
      return llt.factor();
    };
    EXPECT_TRUE(factors(good));
    const double smallest = good.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff();
    const MatX one = MatX::Identity(good.rows(), good.rows());
    EXPECT_TRUE(factors(good - 0.999 * smallest * one));
    EXPECT_FALSE(factors(good - 1.001 * smallest * one));
    EXPECT_FALSE(factors(MatX::Zero(good.rows(), good.rows())));
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      for (int i = 0; i < 4; ++i) {  // one in each diagonal block
        MatX H = good;
        const int at = offsets(sizes)[static_cast<std::size_t>(i)];
        H(at, at) = bad;
        EXPECT_FALSE(factors(H)) << i;
      }
      MatX H = good;  // and one off the diagonal, between nodes 1 and 2
      H(sizes[0], sizes[0] + sizes[1]) = H(sizes[0] + sizes[1], sizes[0]) = bad;
      EXPECT_FALSE(factors(H));
    }
    EXPECT_TRUE(factors(good)) << "a failure must not spoil the next factorisation";
  }
}

TEST(BlockLlt, EdgeKeysDoNotDependOnTheOrderOfNodes) {
  EXPECT_EQ(BlockLLT::edge_key(3, 7), BlockLLT::edge_key(7, 3));
  EXPECT_LT(BlockLLT::edge_key(3, 7), BlockLLT::edge_key(3, 8));
  EXPECT_LT(BlockLLT::edge_key(3, 900), BlockLLT::edge_key(4, 5));
}

}  // namespace
}  // namespace sarrus::block_llt_test
