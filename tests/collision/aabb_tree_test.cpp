// The parts of the broad phase: the dynamic tree against a plain list of boxes, the pair list against std::set.
#include "sarrus/collision/aabb_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "collision/oracles.h"
#include "sarrus/collision/broad_phase.h"

namespace sarrus::aabb_tree_test {
namespace {

using oracle::Random;

TreeBox tree_box(const Vec3& centre, const Vec3& half) {
  TreeBox b;
  for (int k = 0; k < 3; ++k) {
    b.lo[k] = static_cast<float>(centre[k] - half[k]);
    b.hi[k] = static_cast<float>(centre[k] + half[k]);
  }
  return b;
}

TreeBox random_box(Random& random, double side) {
  return tree_box(random.vector(0.5 * side), {random.uniform(0, 0.2), random.uniform(0, 0.2), random.uniform(0, 0.2)});
}

bool meet(const TreeBox& a, const TreeBox& b) {
  for (int k = 0; k < 3; ++k) {
    if (a.lo[k] > b.hi[k] || b.lo[k] > a.hi[k]) return false;
  }
  return true;
}

// The tree and what should be in it.
class Checked {
 public:
  Checked(int item_limit, int capacity) : tree(item_limit, capacity) {}

  void build() {
    std::vector<AabbTree::Leaf> leaves;
    for (const auto& [item, box] : boxes) leaves.push_back({box, item});
    tree.build(leaves);
  }
  void put(int item, const TreeBox& box) {
    if (tree.contains(item)) {
      tree.move(item, box);
    } else {
      tree.insert(item, box);
    }
    boxes[item] = box;
  }
  void take(int item) {
    tree.remove(item);
    boxes.erase(item);
  }
  void expect_right_answer(const TreeBox& query) {
    std::vector<int> expected;
    for (const auto& [item, box] : boxes) {
      if (meet(query, box)) expected.push_back(item);
    }
    const std::span<const int> found = tree.query(query);
    std::vector<int> sorted(found.begin(), found.end());
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, expected);
  }

  AabbTree tree;
  std::map<int, TreeBox> boxes;
};

TEST(AabbTree, RandomChangesGiveTheAnswersOfAList) {
  constexpr int kLimit = 120;
  Random random(1);
  Checked t(kLimit, 100);
  for (int i = 0; i < 6000; ++i) {
    const int item = random.integer(0, kLimit - 1);
    const double what = random.uniform(0, 1);
    if (what < 0.002) {
      t.build();
    } else if (what < 0.3) {
      if (t.tree.contains(item)) t.take(item);
    } else if (t.tree.contains(item) || t.boxes.size() < 100) {
      t.put(item, random_box(random, 2));
    }
    ASSERT_TRUE(t.tree.is_consistent()) << "change " << i;
    ASSERT_EQ(t.tree.contains(item), t.boxes.count(item) == 1);
    t.expect_right_answer(random_box(random, 2));
  }
  while (!t.boxes.empty()) t.take(t.boxes.begin()->first);
  EXPECT_TRUE(t.tree.is_consistent());
  EXPECT_EQ(t.tree.depth(), 0);
  t.expect_right_answer(random_box(random, 2));
}

TEST(AabbTree, ExtremeSizesAndPlaces) {
  Random random(2);
  Checked t(300, 300);
  for (int i = 0; i < 300; ++i) {
    const double scale = std::pow(10.0, random.uniform(-30, 14.9));
    t.boxes[i] = tree_box(random.vector(scale), Vec3::Constant(scale * random.uniform(0, 0.1)));
  }
  t.build();
  EXPECT_TRUE(t.tree.is_consistent());
  for (int i = 0; i < 300; ++i) {
    t.expect_right_answer(t.boxes[i]);
    const TreeBox box = t.boxes[(i + 100) % 300];
    t.put(i, box);
    ASSERT_TRUE(t.tree.is_consistent());
    t.expect_right_answer(box);
  }
}

// Depth and nodes opened per query must grow like log n: boxes at constant density, every one queried.
TEST(AabbTree, CostOfAQueryGrowsLikeTheLogarithm) {
  std::map<int, double> opened;
  for (const int n : {1000, 16000}) {
    Random random(3);
    const double side = std::cbrt(0.02 * n);
    std::vector<AabbTree::Leaf> leaves;
    for (int i = 0; i < n; ++i) leaves.push_back({random_box(random, side), i});
    AabbTree grown(n, n);
    for (const AabbTree::Leaf& leaf : leaves) grown.insert(leaf.item, leaf.box);
    AabbTree built(n, n);
    built.build(leaves);
    EXPECT_LT(built.depth(), 3 * std::log2(n));
    EXPECT_TRUE(grown.is_consistent());
    EXPECT_LT(grown.depth(), 3 * std::log2(n));
    for (const AabbTree::Leaf& leaf : leaves) {
      built.query(leaf.box);
      grown.query(leaf.box);
    }
    opened[n] = static_cast<double>(built.visits()) / n;
    EXPECT_LT(static_cast<double>(grown.visits()), 2.0 * static_cast<double>(built.visits()));
  }
  EXPECT_LT(opened[16000], 1.6 * opened[1000]);
}

TEST(AabbTree, CoincidentBoxesStayBalanced) {
  constexpr int n = 4000;
  const TreeBox box = tree_box({1, 2, 3}, {0.1, 0.1, 0.1});
  AabbTree grown(n, n);
  std::vector<AabbTree::Leaf> leaves;
  for (int i = 0; i < n; ++i) {
    grown.insert(i, box);
    leaves.push_back({box, i});
  }
  EXPECT_LT(grown.depth(), 40);
  EXPECT_EQ(grown.query(box).size(), static_cast<std::size_t>(n));
  AabbTree built(n, n);
  built.build(leaves);
  EXPECT_LE(built.depth(), 13);
  EXPECT_EQ(built.query(box).size(), static_cast<std::size_t>(n));
}

TEST(PairList, AgreesWithASetOfPairs) {
  for (const int limit : {2, 40, 3000, 100000}) {
    Random random(4);
    PairList list(limit);
    std::set<std::pair<int, int>> expected;
    for (int round = 0; round < 60; ++round) {
      std::vector<char> leaves(static_cast<std::size_t>(limit), 0);
      for (int i = 0; i < limit / 20 + 1; ++i) leaves[static_cast<std::size_t>(random.integer(0, limit - 1))] = 1;
      std::erase_if(expected, [&](const std::pair<int, int>& p) {
        return leaves[static_cast<std::size_t>(p.first)] != 0 || leaves[static_cast<std::size_t>(p.second)] != 0;
      });
      const int joining = round % 3 == 0 ? 1000 : 30;  // radix and comparison sort
      for (int i = 0; i < joining; ++i) {
        const int a = i == 0 ? 0 : random.integer(0, limit - 1);
        const int b = i == 0 ? limit - 1 : random.integer(0, limit - 1);
        if (a != b && expected.emplace(std::min(a, b), std::max(a, b)).second) list.join(a, b);
      }
      list.update(leaves);
      ASSERT_EQ(list.pairs().size(), expected.size());
      auto it = expected.begin();
      for (const PairList::Key key : list.pairs()) {
        ASSERT_EQ(PairList::unpack(key), (GeomPair{it->first, it->second}));
        ++it;
      }
    }
  }
}

}  // namespace
}  // namespace sarrus::aabb_tree_test
