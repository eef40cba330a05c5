// Closed-form motion of bodies with the shapes beyond spheres and boxes, and the scenes that show them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "physics/shape_models.h"
#include "sarrus/math/tools.h"

namespace sarrus::shapes_test {
namespace {

using testing::coordinate;
using testing::energy_of;
using testing::expect_near;
using testing::expect_within;
using testing::pose;
using testing::run;
using testing::simulate;
using testing::twist;
using testing::Worst;

// Sliding friction mu g until v = w r; from then on nothing changes. Speed of rolling v0 / (1 + I/(m r^2)).
TEST(Rolling, CylinderAndSphereRollWithoutLoss) {
  Simulation sim = simulate("cylinder_rolling");
  run(sim, 150);
  const double mu_g = 0.3 * 9.81;
  expect_near("sliding_cylinder_speed", twist(sim, "cylinder_sliding")[0], 2 - mu_g * 0.15, 2e-4);
  expect_near("sliding_sphere_speed", twist(sim, "sphere_sliding")[0], 2 - mu_g * 0.15, 2e-4);
  expect_near("sliding_cylinder_spin", twist(sim, "cylinder_sliding")[4], 2 * mu_g / 0.1 * 0.15, 2e-2);
  run(sim, 350);
  expect_near("cylinder_speed", twist(sim, "cylinder_sliding")[0], 4.0 / 3.0, 1e-4);
  expect_near("sphere_speed", twist(sim, "sphere_sliding")[0], 10.0 / 7.0, 1e-4);
  const std::vector<std::string> names = {"cylinder_sliding", "cylinder_rolling", "sphere_sliding", "sphere_rolling"};
  std::vector<double> speed;
  for (const std::string& name : names) speed.push_back(twist(sim, name)[0]);
  const Worst worst = run(sim, 2500);
  for (std::size_t i = 0; i < names.size(); ++i) {
    expect_within(names[i] + "_deceleration", (twist(sim, names[i])[0] - speed[i]) / 2.5, 1e-5);
    // The floor is met at the height of the centre, which is the radius less the tolerated penetration.
    const double arm = pose(sim, names[i]).p.z();
    expect_within(names[i] + "_slip", twist(sim, names[i])[0] - arm * twist(sim, names[i])[4], 1e-8);
  }
  expect_within("sideways_m", pose(sim, "cylinder_rolling").p.y() + 0.3, 1e-5);
  expect_near("way_m", pose(sim, "cylinder_rolling").p.x(), 3.0, 1e-3);
  expect_within("penetration_m", worst.penetration, 1e-4);
}

TEST(Rolling, SpheroidRollsAndEllipsoidRocks) {
  Simulation sim = simulate("ellipsoid_rolling");
  // Period from the times at which the rocker passes the upright pose, going forward.
  std::vector<double> crossings;
  double last = 0.02;
  double height = 0;
  const auto tilt = [&] { return so3_log(pose(sim, "rocker").q).y(); };
  run(sim, 3000, [&](const StepReport&) {
    const double now = tilt();
    if (last < 0 && now >= 0) crossings.push_back(sim.time() - sim.dt() * now / (now - last));
    last = now;
    height = std::max(height, std::abs(pose(sim, "spheroid_rolling").p.z() - 0.1));
  });
  ASSERT_GE(crossings.size(), 3u);
  const double period = (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
  const double R = 0.15 * 0.15 / 0.1;
  const double w2 = 9.81 * (R - 0.1) / ((0.15 * 0.15 + 0.1 * 0.1) / 5 + 0.1 * 0.1);
  expect_near("period_s", period, 2 * std::numbers::pi / std::sqrt(w2), 2e-3);
  expect_near("rolling_speed", twist(sim, "spheroid_rolling")[0], 1.0, 1e-3);
  expect_near("sliding_ends_at", twist(sim, "spheroid_sliding")[0], 2 / 1.4, 2e-3);
  expect_within("height_m", height, 5e-5);
}

// v^2 / (2 mu g), whatever triangles are below; without friction nothing holds a body back.
TEST(MeshFloor, BodiesSlideAsOnAPlane) {
  Simulation sim = simulate("mesh_floor");
  double up = 0;
  const Worst worst = run(sim, 2500, [&](const StepReport&) {
    up = std::max({up, std::abs(pose(sim, "slider").p.z() - 0.05), std::abs(pose(sim, "box").p.z() - 0.05),
                   std::abs(pose(sim, "ball").p.z() - 0.1)});
  });
  const double way = 4 / (2 * 0.25 * 9.81);
  expect_near("box_way_m", pose(sim, "box").p.x(), way, 2e-3);
  expect_near("cylinder_way_m", pose(sim, "cylinder").p.x(), way, 2e-3);
  expect_within("box_sideways_m", pose(sim, "box").p.y() + 0.7, 1e-3);
  expect_near("slider_way_m", pose(sim, "slider").p.x(), 2.5, 1e-6);
  expect_near("slider_speed", twist(sim, "slider")[0], 1.0, 1e-9);
  expect_near("ball_way_m", pose(sim, "ball").p.x(), 2.5, 1e-4);
  expect_near("ball_speed", twist(sim, "ball")[0], 1.0, 1e-4);
  expect_within("height_m", up, 3e-5);
  expect_within("penetration_m", worst.penetration, 5e-5);
}

TEST(HeightField, BoxSlidesDownWithCoulombsAcceleration) {
  SARRUS_FULL_SIZE_ONLY();
  Simulation sim = simulate("height_field");
  const Vec3 start = pose(sim, "box").p;
  run(sim, 1000);
  const double angle = 15 * std::numbers::pi / 180;
  const double way = 0.5 * 9.81 * (std::sin(angle) - 0.125 * std::cos(angle));
  // Semi-implicit Euler is ahead by a dt t / 2.
  expect_near("way_m", (pose(sim, "box").p - start).norm(), way, 1.1e-3);
  expect_within("sideways_m", pose(sim, "box").p.y() - start.y(), 1e-5);
  const Worst worst = run(sim, test::samples(1000));
  expect_within("penetration_m", worst.penetration, 5e-3);
  for (int i = 0; i < sim.model().body_count(); ++i) {
    const Vec3 p = pose(sim, i).p;
    EXPECT_GT(p.z(), -std::tan(angle) * p.x() - 0.03) << sim.model().bodies()[static_cast<std::size_t>(i)].name;
  }
}

// Involute teeth: the ratio is -1 at every instant but for the facets of the flanks.
TEST(Gears, DrivenGearKeepsTheRatio) {
  Simulation sim = simulate("hull_gears");
  run(sim, 1000);
  const double a0 = coordinate(sim, "drive.angle");
  const double b0 = coordinate(sim, "axle.angle");
  double play = 0;
  const Worst worst = run(sim, 3000, [&](const StepReport&) {
    play = std::max(play, std::abs((coordinate(sim, "axle.angle") - b0) + (coordinate(sim, "drive.angle") - a0)));
  });
  EXPECT_GT(coordinate(sim, "drive.angle") - a0, 6.0);
  expect_within("angle_error_rad", play, 0.01);
  expect_within("penetration_m", worst.penetration, 2e-4);
}

TEST(Dominoes, FallInOrder) {
  SARRUS_FULL_SIZE_ONLY();
  Simulation sim = simulate("dominoes");
  std::vector<double> fallen(50, -1);
  const auto tilt = [&](int i) { return std::acos(std::clamp((pose(sim, i).q * Vec3::UnitZ()).z(), -1.0, 1.0)); };
  const Worst worst = run(sim, 2500, [&](const StepReport&) {
    for (int i = 0; i < 50; ++i) {
      double& t = fallen[static_cast<std::size_t>(i)];
      if (t < 0 && tilt(i) > 0.5) t = sim.time();
    }
  });
  for (std::size_t i = 0; i < fallen.size(); ++i) {
    ASSERT_GT(fallen[i], 0) << "domino " << i + 1 << " stands";
  }
  for (std::size_t i = 1; i < fallen.size(); ++i) EXPECT_GT(fallen[i], fallen[i - 1]) << "domino " << i + 1;
  // The wave moves at a steady speed once it runs: no domino is ahead of it or behind by as much as the next one.
  // (Single times differ: one that is struck late falls early behind its neighbour.)
  const double gap = (fallen[45] - fallen[20]) / 25;
  double off = 0;
  for (std::size_t i = 20; i <= 45; ++i) {
    off = std::max(off, std::abs(fallen[i] - fallen[20] - gap * static_cast<double>(i - 20)));
  }
  expect_within("off_the_wave_in_dominoes", off / gap, 1.0);
  expect_within("penetration_m", worst.penetration, 1e-3);
}

// All 36 bodies stay inside the walls, come to rest, and overlap by no more than a fraction of a millimetre.
TEST(MixedPile, ComesToRestInTheBox) {
  SARRUS_FULL_SIZE_ONLY();
  Simulation sim = simulate("mixed_pile");
  run(sim, 1500);
  const Worst worst = run(sim, 500);
  double fastest = 0;
  for (int i = 0; i < sim.model().body_count(); ++i) {
    const Vec3 p = pose(sim, i).p;
    EXPECT_LT(std::max(std::abs(p.x()), std::abs(p.y())), 0.35) << i;
    EXPECT_GT(p.z(), 0) << i;
    fastest = std::max(fastest, twist(sim, i).head<3>().norm());
  }
  expect_within("speed", fastest, 0.5);
  expect_within("penetration_m", worst.penetration, 5e-4);
}

// Impulses are found again from step to step while bodies slide over triangles and roll.
TEST(WarmStart, SurvivesSlidingAndRolling) {
  for (const char* scene : {"mesh_floor", "cylinder_rolling", "ellipsoid_rolling", "height_field", "hull_gears"}) {
    Simulation sim = simulate(scene);
    run(sim, 20);
    int contacts = 0;
    int matched = 0;
    int before = sim.report().contacts;
    run(sim, 500, [&](const StepReport& r) {
      contacts += std::min(r.contacts, before);  // what is new has nothing to be found
      matched += r.contacts_matched;
      before = r.contacts;
    });
    EXPECT_GT(contacts, 400) << scene;
    EXPECT_GE(matched, 0.97 * contacts) << scene;
    RecordProperty(std::string(scene) + "_matched", fmt::format("{} of {}", matched, contacts));
  }
}

// A body that crosses a plate in a fifth of a step is stopped at it.
TEST(FastBodies, CubeDoesNotPassAThinPlate) {
  for (const double angle : {0.0, 0.4, 0.9}) {
    ModelBuilder b("bullet");
    b.set_gravity(Vec3::Zero());
    b.add_geom(kWorld, Shape::box(Vec3(0.5, 0.5, 0.005)), {});
    const int cube =
        b.add_box_body("cube", 1.0, Vec3::Constant(0.05), {Vec3(0.01, 0.02, 1.003), so3_exp({angle, angle, 0})});
    b.set_velocity(cube, Vec3(0, 0, -50), Vec3(1, 2, 3));
    Simulation sim(b.build(), {.dt = 1e-3});
    const Worst worst = run(sim, 100);
    EXPECT_GT(pose(sim, 0).p.z(), 0) << "it went through";
    expect_within("penetration_m", worst.penetration, 1e-3);
  }
}

// The same for plates of every kind and projectiles of every kind.
TEST(FastBodies, NothingPassesAnything) {
  const Quat across = so3_exp({0.5 * std::numbers::pi, 0, 0});
  const std::vector<Shape> plates = {Shape::box(Vec3(0.5, 0.5, 0.005)), testing::flat_mesh(10, 0.1),
                                     testing::flat_field(10, 0.1)};
  for (const Shape& plate : plates) {
    for (const testing::Resting& projectile : testing::resting_shapes()) {
      if (projectile.name == "mesh") continue;
      ModelBuilder b("bullet_" + projectile.name + "_" + std::string(name_of(plate.kind)));
      b.set_gravity(Vec3::Zero());
      b.add_geom(kWorld, plate, {});
      const int body = b.add_solid("body", 1.0, projectile.shape, {Vec3(0.01, 0.02, 1.0), across});
      b.set_velocity(body, Vec3(2, 1, -80), Vec3(5, -3, 2));
      Simulation sim(b.build(), {.dt = 2e-3});
      run(sim, 20);
      EXPECT_GT(pose(sim, 0).p.z(), 0) << sim.model().name();
    }
  }
}

// A ball that passes the edge of a box at 1 cm keeps its speed: no ghost contact (docs/theory/collision.md §7).
TEST(FastBodies, NearMissIsNotTouched) {
  ModelBuilder b("near_miss");
  b.set_gravity(Vec3::Zero());
  b.add_geom(kWorld, Shape::box(Vec3(0.1, 0.1, 0.1)), {});
  const int ball = b.add_sphere_body("ball", 1.0, 0.02, {Vec3(0.13, 0, 2)});
  b.set_velocity(ball, Vec3(0, 0, -100), Vec3::Zero());
  Simulation sim(b.build(), {.dt = 1e-2});
  run(sim, 5);
  EXPECT_EQ(twist(sim, 0)[2], -100);
  EXPECT_EQ(twist(sim, 0)[0], 0);
}

}  // namespace
}  // namespace sarrus::shapes_test
