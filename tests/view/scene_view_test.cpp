// What is worked out of a scene for viewers: limbs, loops, glyphs, the box to look at; and the payload of a scene.
#include "sarrus/view/scene_view.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/model/joint_graph.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/view/motion_payload.h"
#include "view/decode.h"

namespace sarrus::scene_view_test {
namespace {

view::Scene scene_of(const Model& model) { return view::scene_of(model, State::initial(model).X_WB); }

TEST(SceneView, LimbsOfTheWalkerAreItsLegs) {
  const Model model = make_scene("jansen_walker");
  const view::Scene scene = scene_of(model);
  std::set<int> limbs;
  int hubs = 0;
  for (const view::Body& b : scene.bodies) {
    if (b.limb < 0) {
      ++hubs;
    } else {
      limbs.insert(b.limb);
    }
  }
  EXPECT_EQ(scene.bodies[static_cast<std::size_t>(model.body("chassis"))].limb, -1);
  EXPECT_GE(hubs, 1);
  EXPECT_GE(limbs.size(), 6u);
  EXPECT_EQ(*limbs.begin(), 0);
  EXPECT_EQ(*limbs.rbegin(), static_cast<int>(limbs.size()) - 1);
  EXPECT_EQ(scene.follow, model.body("chassis"));
}

// Each cycle closes: neighbours in it are the two bodies of the joint between them.
TEST(SceneView, LoopsAreCyclesThroughTheJointsThatCloseThem) {
  for (const char* name : {"jansen_walker", "stewart_platform", "fourbar_swing"}) {
    const Model model = make_scene(name);
    const view::Scene scene = scene_of(model);
    ASSERT_EQ(scene.loops.size(), model.loop_joints().size()) << name;
    for (std::size_t l = 0; l < scene.loops.size(); ++l) {
      const view::LoopCycle& loop = scene.loops[l];
      EXPECT_EQ(loop.joints[0], model.loop_joints()[l]);
      ASSERT_EQ(loop.joints.size(), loop.bodies.size());
      for (std::size_t i = 0; i < loop.joints.size(); ++i) {
        const view::Joint& j = scene.joints[static_cast<std::size_t>(loop.joints[i])];
        const std::set<int> ends = {loop.bodies[i], loop.bodies[(i + 1) % loop.bodies.size()]};
        EXPECT_EQ(ends, (std::set<int>{j.base, j.follower})) << name << " joint " << j.name;
      }
    }
  }
}

TEST(SceneView, AShaftTurnsInPlaceAndCarriesCranks) {
  ModelBuilder b("shaft");
  const auto box = [&](const char* name) { return b.add_box_body(name, 1, Vec3(0.1, 0.1, 0.1), {}); };
  const int shaft = box("shaft");
  const int left = box("left");
  const int right = box("right");
  const auto hinge = [&](const char* name, int base, int follower) {
    b.add_joint_at(name, JointType::revolute, base, follower, Vec3::Zero(), Quat::Identity());
  };
  hinge("a", kWorld, shaft);
  hinge("b", shaft, left);
  hinge("c", shaft, right);
  const view::Scene scene = scene_of(b.build());
  EXPECT_TRUE(scene.bodies[static_cast<std::size_t>(shaft)].shaft);
  EXPECT_FALSE(scene.bodies[static_cast<std::size_t>(left)].shaft);
}

// A pin is as thick as the thinner link and stands out of the wider one.
TEST(SceneView, PinsFitTheirLinks) {
  ModelBuilder b("pin");
  const int thin = b.add_box_body("thin", 1, Vec3(0.5, 0.02, 0.01), {Vec3(0.5, 0, 0)});
  const int thick = b.add_box_body("thick", 1, Vec3(0.5, 0.03, 0.03), {Vec3(-0.5, 0, 0)});
  b.add_joint_at("pin", JointType::revolute, thin, thick, Vec3::Zero(), frame_with_x(Vec3::UnitY()));
  const view::Scene scene = scene_of(b.build());
  const double scale = scene.radius / 0.5;
  EXPECT_NEAR(scene.joints[0].glyph_radius, 1.05 * 0.01, 1e-12);
  EXPECT_NEAR(scene.joints[0].glyph_half_width, 0.03 + 0.004 * scale, 1e-12);
}

TEST(SceneView, BoxFloorAndWeight) {
  ModelBuilder b("box");
  b.set_gravity(Vec3(0, 0, -10));
  b.add_geom(kWorld, Shape::plane(), {Vec3(0, 0, -0.25)});
  b.add_geom(kWorld, Shape::plane(), {Vec3::Zero(), Quat(Eigen::AngleAxisd(0.3, Vec3::UnitX()))});
  b.add_box_body("a", 2, Vec3(1, 2, 3), {Vec3(5, 0, 0)});
  const view::Scene scene = scene_of(b.build());
  EXPECT_EQ(scene.floor, -0.25);
  EXPECT_NEAR(scene.weight, 20, 1e-12);
  EXPECT_NEAR(scene.radius, std::sqrt(14.0), 1e-12);
  EXPECT_NEAR((scene.centre - Vec3(5, 0, 0)).norm(), 0, 1e-12);
  EXPECT_EQ(scene.follow, 0);
}

TEST(SceneView, NobodyIsFollowedAmongMany) {
  ModelBuilder b("crowd");
  for (int i = 0; i < 5; ++i) b.add_sphere_body(fmt::format("s{}", i), 1, 0.1, {Vec3(i, 0, 0)});
  EXPECT_EQ(scene_of(b.build()).follow, -1);
}

TEST(ScenePayload, HasWhatTheFormatSays) {
  const Model model = make_scene("jansen_walker");
  const view::Scene scene = scene_of(model);
  const view::RunFacts facts{1e-3, "cascade", "moreau", 1e-9, 1e-3, "0.1.0"};
  const test::Decoded d = test::decode(view::scene_payload(scene, facts));
  const nlohmann::json& h = d.header;
  EXPECT_EQ(h["version"], 1);
  EXPECT_EQ(h["kind"], "scene");
  EXPECT_EQ(h["scene"], "jansen_walker");
  EXPECT_EQ(h["tolerance"], 1e-9);
  EXPECT_FALSE(h.contains("frames"));
  const auto n = model.bodies().size();
  const auto nj = model.joints().size();
  for (const char* key : {"names", "mass", "inertia", "limb", "shaft"}) EXPECT_EQ(h["bodies"][key].size(), n) << key;
  for (const char* key : {"names", "type", "base", "follower", "anchor_base", "anchor_follower", "axes_base",
                          "axes_follower", "length", "closes_loop", "first_dof", "dofs", "glyph", "axes"}) {
    EXPECT_EQ(h["joints"][key].size(), nj) << key;
  }
  for (const char* key : {"names", "unit", "joint", "mode", "lower", "upper", "target_lower", "target_upper",
                          "effort_lower", "effort_upper", "drive"}) {
    EXPECT_EQ(h["dofs"][key].size(), model.scalars().size()) << key;
  }
  for (const char* key : {"body", "geom", "kind", "size", "position", "quaternion", "mesh", "height_field", "colour"}) {
    EXPECT_EQ(h["parts"][key].size(), scene.drawn.parts.size()) << key;
  }
  EXPECT_EQ(h["loops"].size(), model.loop_joints().size());
  EXPECT_EQ(h["view"]["radius"].get<double>(), std::stod(fmt::format("{:.9g}", scene.radius)));
  EXPECT_NEAR(h["joints"]["anchor_base"][3][0].get<double>(), model.joints()[3].p_BJ.x(), 1e-9);
}

TEST(ScenePayload, IsTheSameBytesEveryTime) {
  const Model model = make_scene("stewart_platform");
  const view::RunFacts facts{1e-3, "cascade", "moreau", 1e-9, 1e-3, "0.1.0"};
  EXPECT_EQ(view::scene_payload(scene_of(model), facts),
            view::scene_payload(scene_of(make_scene("stewart_platform")), facts));
}

TEST(ScenePayload, NamesMayHoldAnything) {
  ModelBuilder b("</script><script>alert(1)</script>");
  b.add_box_body("a\"b'c\n\t\x01 \xE2\x80\xAE", 1, Vec3(1, 1, 1), {});
  b.add_box_body("no UTF-8: \xff\xfe", 1, Vec3(1, 1, 1), {Vec3(5, 0, 0)});
  const test::Decoded d = test::decode(view::scene_payload(scene_of(b.build()), {}));
  EXPECT_EQ(d.header["scene"], "</script><script>alert(1)</script>");
  EXPECT_EQ(d.header["bodies"]["names"][0], "a\"b'c\n\t\x01 \xE2\x80\xAE");
  EXPECT_EQ(d.header["bodies"]["names"][1], "no UTF-8: \xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace sarrus::scene_view_test
