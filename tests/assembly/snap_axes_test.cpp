// Planar loops whose axes are rounded are rigid on paper: they get back the freedom that they are meant to have, and
// loops that are meant to be spatial are left alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sarrus/assembly/snap_axes.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::snap_axes_test {
namespace {

// The scene with the axis of one joint of a loop tilted, in the follower and in the base, about a perpendicular.
Model tilted(const char* scene, int joint, double angle) {
  const Model model = make_scene(scene);
  ModelData data = model.data();
  Joint& j = data.joints[static_cast<std::size_t>(joint)];
  const Quat turn = so3_exp(angle * Vec3(0, 0.6, 0.8));
  j.q_BJ = j.q_BJ * turn;
  j.q_FJ = j.q_FJ * turn;
  return finish_model(std::move(data));
}

TEST(SnapAxes, RoundedFourBarsMoveAgain) {
  for (const double angle : {1e-6, 1e-5, 1e-4, 5e-4}) {
    const Model model = tilted("fourbar_swing", 2, angle);
    const Assembly rigid = assemble(model, State::initial(model));
    ASSERT_TRUE(rigid.report.closed()) << angle;
    EXPECT_EQ(rigid.report.rank, 18) << angle;
    const SnapResult snapped = snap_axes(model, rigid.state);
    ASSERT_EQ(snapped.loops.size(), 1u) << angle;
    EXPECT_EQ(snapped.loops[0].joints.size(), 4u);
    EXPECT_LT(snapped.loops[0].angle, 1.1 * angle);
    const Assembly free = assemble(snapped.model, rigid.state);
    EXPECT_EQ(free.report.status, AssemblyStatus::already) << angle;  // poses stay as they are
    EXPECT_EQ(free.report.rank, 17) << angle;
    EXPECT_EQ(free.report.mobility, 1) << angle;
    EXPECT_FALSE(free.report.near_singular);
    // It turns, and closes exactly wherever it goes; coordinates began with the same values.
    for (std::size_t i = 0; i < rigid.state.q.size(); ++i) EXPECT_NEAR(free.state.q[i], rigid.state.q[i], 1e-12);
    const std::vector<CoordinateValue> wanted = {{0, free.state.q[0] + 0.3}};
    const Assembly turned = forward_kinematics(snapped.model, free.state, wanted);
    EXPECT_EQ(turned.report.status, AssemblyStatus::assembled);
    EXPECT_LT(turned.report.residual, 1e-11);
  }
}

TEST(SnapAxes, WhatIsMeantIsLeftAlone) {
  for (const char* scene :
       {"fourbar_swing", "bennett_linkage", "sarrus_linkage", "stewart_platform", "double_pendulum"}) {
    const Model model = make_scene(scene);
    EXPECT_TRUE(snap_axes(model, State::initial(model)).loops.empty()) << scene;
  }
  // Beyond the angle an axis is meant as it is.
  const Model model = tilted("fourbar_swing", 2, 5e-3);
  EXPECT_TRUE(snap_axes(model, State::initial(model)).loops.empty());
}

TEST(SnapAxes, SlidersOfALoopToo) {
  const Model model = tilted("slider_crank", 3, 1e-5);
  const Assembly rigid = assemble(model, State::initial(model));
  ASSERT_TRUE(rigid.report.closed());
  const SnapResult snapped = snap_axes(model, rigid.state);
  const Assembly free = assemble(snapped.model, rigid.state);
  EXPECT_EQ(free.report.status, AssemblyStatus::already);
  EXPECT_EQ(free.report.mobility, 1);
}

// Of many mechanisms each is judged by itself: the tilted ones are freed, at no more than the cost of each.
TEST(SnapAxes, EachMechanismByItself) {
  const ModelData one = make_scene("fourbar_swing").data();
  ModelData many;
  constexpr int kCount = 60;
  for (int k = 0; k < kCount; ++k) {
    const int bodies = static_cast<int>(many.bodies.size());
    const int dofs = static_cast<int>(many.dofs.size());
    for (Body b : one.bodies) {
      b.name += std::to_string(k);
      many.bodies.push_back(b);
    }
    for (std::size_t i = 0; i < one.joints.size(); ++i) {
      Joint j = one.joints[i];
      j.name += std::to_string(k);
      if (j.base != kWorld) j.base += bodies;
      if (j.follower != kWorld) j.follower += bodies;
      j.first_dof += dofs;
      if (i == 2 && k % 3 == 1) {
        const Quat turn = so3_exp(3e-5 * Vec3(0, 0.6, 0.8));
        j.q_BJ = j.q_BJ * turn;
        j.q_FJ = j.q_FJ * turn;
      }
      many.joints.push_back(j);
    }
    many.dofs.insert(many.dofs.end(), one.dofs.begin(), one.dofs.end());
  }
  const Model model = finish_model(std::move(many));
  const State start = State::initial(model);
  EXPECT_EQ(locked_loops(model, start).size(), kCount / 3);
  const SnapResult snapped = snap_axes(model, start);
  ASSERT_EQ(snapped.loops.size(), kCount / 3);
  for (std::size_t i = 0; i < snapped.loops.size(); ++i) {
    const int k = static_cast<int>(3 * i + 1);
    for (const int j : snapped.loops[i].joints) EXPECT_EQ(j / static_cast<int>(one.joints.size()), k);
  }
  EXPECT_TRUE(locked_loops(snapped.model, start).empty());
  EXPECT_TRUE(snap_axes(snapped.model, start).loops.empty());
}

// What the step frees is not called locked.
TEST(SnapAxes, LoopsThatTheStepFreesAreNotLocked) {
  for (const double angle : {1e-7, 1e-6}) {
    const Model model = tilted("fourbar_swing", 2, angle);
    EXPECT_TRUE(locked_loops(model, State::initial(model)).empty()) << angle;
  }
  for (const double angle : {1e-5, 1e-4}) {
    const Model model = tilted("fourbar_swing", 2, angle);
    EXPECT_EQ(locked_loops(model, State::initial(model)).size(), 1u) << angle;
  }
}

}  // namespace
}  // namespace sarrus::snap_axes_test
