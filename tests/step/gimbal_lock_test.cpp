// A gimbal whose second angle comes to 90 deg says so, if something acts on its angles.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sarrus/model/builder.h"
#include "sarrus/step/simulation.h"

namespace sarrus::gimbal_lock_test {
namespace {

constexpr double kSpin = 2;  // rad/s about the second axis

Model gimbal(double damping) {
  ModelBuilder b("gimbal");
  b.set_gravity(Vec3::Zero());
  const int body = b.add_box_body("body", 1, Vec3(0.1, 0.1, 0.1), {});
  const int joint = b.add_joint_at("ankle", JointType::gimbal, kWorld, body, Vec3::Zero(), Quat::Identity());
  b.dof(joint).damping = damping;  // of the first angle
  b.set_velocity(body, Vec3::Zero(), Vec3(0, kSpin, 0));
  return b.build();
}

TEST(GimbalLock, IsToldWhereItIs) {
  Simulation sim(gimbal(1e-6), {.dt = 1e-3});
  int told = 0;
  for (int i = 0; i < 1200; ++i) {
    const StepReport& report = sim.step();
    ASSERT_NE(report.status, StepStatus::failed) << report.message;
    const double off = std::abs(kSpin * sim.time() - 0.5 * std::numbers::pi);
    // 0.03 is 2.4 deg; the damper brakes by a little.
    if (off > 0.06) {
      EXPECT_EQ(report.locked_joint, "") << sim.time();
    }
    if (off < 0.03) {
      EXPECT_EQ(report.locked_joint, "ankle") << sim.time();
    }
    told += report.locked_joint.empty() ? 0 : 1;
  }
  EXPECT_GT(told, 20);
}

TEST(GimbalLock, OfAFreeGimbalIsNoMatter) {
  Simulation sim(gimbal(0), {.dt = 1e-3});
  for (int i = 0; i < 1200; ++i) {
    EXPECT_EQ(sim.step().locked_joint, "");
    EXPECT_NEAR(sim.state().twist[0][4], kSpin, 1e-9);
  }
}

}  // namespace
}  // namespace sarrus::gimbal_lock_test
