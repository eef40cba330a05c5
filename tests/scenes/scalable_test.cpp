// Models of any size: their counts, and rows, rank and mobility of small ones.
#include "sarrus/scenes/scalable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "physics/harness.h"
#include "sarrus/math/error.h"
#include "scenes/mobility.h"

namespace sarrus::scalable_test {
namespace {

TEST(Scalable, BodiesAreAsManyAsAskedFor) {
  for (const int n : {10, 11, 12, 40, 163, 1000}) {
    EXPECT_EQ(make_clutter(n, true).body_count(), n);
    EXPECT_EQ(make_clutter(n, false).body_count(), n);
    EXPECT_EQ(make_chain(n).body_count(), n);
    EXPECT_EQ(make_tree(n).body_count(), n);
    EXPECT_EQ(make_islands(n).body_count(), n);
  }
}

TEST(Scalable, GridAndPileFillUpToTheNumberAskedFor) {
  const auto grid = [](int n) { return make_linkage_grid(n).body_count(); };
  const auto pile = [](int n) { return make_pile(n).body_count(); };
  EXPECT_EQ(grid(10), 2 * 5);
  EXPECT_EQ(grid(100), 7 * 13);
  EXPECT_EQ(grid(1000), 22 * 45);
  EXPECT_EQ(grid(10000), 70 * 141);
  EXPECT_EQ(pile(10), 7);
  EXPECT_EQ(pile(100), 82);
  EXPECT_EQ(pile(1000), 982);
  EXPECT_EQ(pile(10000), 9901);
}

TEST(Scalable, TooFewBodiesAreRefused) {
  EXPECT_THROW(make_clutter(0, true), InputError);
  EXPECT_THROW(make_chain(0), InputError);
  EXPECT_THROW(make_tree(0), InputError);
  EXPECT_THROW(make_linkage_grid(2), InputError);
  EXPECT_THROW(make_pile(6), InputError);
  EXPECT_THROW(make_islands(0), InputError);
}

TEST(Scalable, ClutterOfFortyIsTheScene) {
  EXPECT_EQ(make_soft_clutter(40, false).bodies()[39].X_WB0.p, make_scene("clutter40_soft_open").bodies()[39].X_WB0.p);
  EXPECT_EQ(make_soft_clutter(40, true).defaults().dt, 0.01);
  const Model a = make_clutter(40, true);
  const Model b = make_scene("clutter40");
  ASSERT_EQ(a.geoms().size(), b.geoms().size());
  for (std::size_t i = 0; i < a.bodies().size(); ++i) {
    EXPECT_EQ(a.bodies()[i].name, b.bodies()[i].name);
    EXPECT_EQ(a.bodies()[i].mass, b.bodies()[i].mass);
    EXPECT_EQ(a.bodies()[i].X_WB0.p, b.bodies()[i].X_WB0.p);
    EXPECT_EQ(a.bodies()[i].X_WB0.q.coeffs(), b.bodies()[i].X_WB0.q.coeffs());
  }
  EXPECT_EQ(make_clutter(40, false).geoms().size() + 4, a.geoms().size());
}

void expect_mechanism(const Model& model, int rows, int mobility, int loops, int floating) {
  const std::vector<Pose> X = testing::reference_poses(model);
  EXPECT_LT(testing::closure_error(model, X), 1e-12);
  EXPECT_EQ(testing::row_count(model), rows);
  EXPECT_EQ(testing::mobility(model, X), mobility);
  EXPECT_EQ(model.loop_joints().size(), static_cast<std::size_t>(loops));
  EXPECT_EQ(model.floating_components(), floating);
}

TEST(Scalable, RowsAndMobilityOfTheMechanisms) {
  for (const int n : {1, 10, 21}) {
    SCOPED_TRACE(n);
    expect_mechanism(make_chain(n), 5 * n, n, 0, 0);
    expect_mechanism(make_tree(n), 5 * n, n, 0, 0);
    expect_mechanism(make_islands(n), 20 * (n / 3) + 5 * (n % 3), n / 3 + n % 3, n / 3, 0);
  }
  // Rows r and columns c of cells: 3c + 1 hinges per row, a loop per cell, one freedom per row.
  for (const auto& [n, r, c] : {std::array{3, 1, 1}, std::array{10, 2, 2}, std::array{28, 3, 4}}) {
    SCOPED_TRACE(n);
    expect_mechanism(make_linkage_grid(n), 5 * r * (3 * c + 1), r, r * c, 0);
  }
}

TEST(Scalable, TreeIsBinaryAndAsFlatAsCanBe) {
  const Model model = make_tree(1000);
  std::vector<int> depth(1000, 0);
  std::vector<int> children(1000, 0);
  for (const Joint& j : model.joints()) {
    if (j.base == kWorld) continue;
    depth[static_cast<std::size_t>(j.follower)] = depth[static_cast<std::size_t>(j.base)] + 1;
    ++children[static_cast<std::size_t>(j.base)];
  }
  EXPECT_EQ(*std::ranges::max_element(depth), 9);
  EXPECT_EQ(*std::ranges::max_element(children), 2);
}

// All boxes hang together through contacts, and they stay where they are.
TEST(Scalable, PileIsOneIslandAtRest) {
  const Model model = make_pile(100);
  Simulation sim(model);
  for (int i = 0; i < 100; ++i) ASSERT_NE(sim.step().status, StepStatus::failed);
  std::vector<int> island(static_cast<std::size_t>(model.body_count()));
  for (std::size_t i = 0; i < island.size(); ++i) island[i] = static_cast<int>(i);
  for (const Contact& c : sim.contacts()) {
    const int a = model.geoms()[static_cast<std::size_t>(c.geom_a)].body;
    const int b = model.geoms()[static_cast<std::size_t>(c.geom_b)].body;
    if (a == kWorld || b == kWorld) continue;
    const int from = island[static_cast<std::size_t>(a)];
    std::ranges::replace(island, from, island[static_cast<std::size_t>(b)]);
  }
  EXPECT_EQ(std::set<int>(island.begin(), island.end()).size(), 1u);
  for (std::size_t i = 0; i < island.size(); ++i) {
    EXPECT_LT((sim.state().X_WB[i].p - model.bodies()[i].X_WB0.p).norm(), 1e-4) << model.bodies()[i].name;
  }
}

TEST(Scalable, MechanismsRun) {
  for (const Model& model : {make_chain(60), make_tree(60), make_linkage_grid(60), make_islands(60)}) {
    Simulation sim(model);
    testing::Worst worst;
    for (int i = 0; i < 200; ++i) worst.add(sim.step());
    EXPECT_EQ(worst.failed, 0) << model.name();
    EXPECT_EQ(worst.not_finite, 0) << model.name();
    EXPECT_LT(worst.joint_gap, 1e-9) << model.name();
  }
}

}  // namespace
}  // namespace sarrus::scalable_test
