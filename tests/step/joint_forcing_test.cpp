// Every joint holds while both of its bodies are pushed and twisted at random for a thousand steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "effort.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/builder.h"
#include "sarrus/step/simulation.h"

namespace sarrus::joint_forcing_test {
namespace {

constexpr int kSteps = 1000;
constexpr double kForce = 10.0;  // N
constexpr double kTorque = 1.0;  // N m

struct JointCase {
  JointType type;
  bool binary;
  bool rope;
  Integrator integrator;

  std::string label() const {
    return std::string(joint_type_info(type).name) + (rope ? " rope" : "") + (binary ? ", binary, " : ", unary, ") +
           std::string(name_of(integrator));
  }
};

// The base hangs on a ball joint, so that a binary joint is part of a chain and the pair stays near the origin.
Model two_bodies(const JointCase& s) {
  ModelBuilder b("forced");
  const Quat axes = so3_exp(Vec3(0.4, -0.7, 0.3));
  const Shape shape = Shape::box(Vec3(0.15, 0.1, 0.2));
  const auto add = [&](const char* name, double mass, const Pose& X) {
    return b.add_body(name, mass, solid_inertia(shape, mass), X);
  };
  int base = kWorld;
  if (s.binary) {
    base = add("base", 1.3, {Vec3(0, 0, 0), so3_exp(Vec3(0.2, 0.1, 0.5))});
    b.add_joint_at("hook", JointType::spherical, kWorld, base, Vec3(0, 0, 0.2));
  }
  const int follower = add("follower", 0.9, {Vec3(0.35, 0.1, -0.3), so3_exp(Vec3(-1, 0.5, 0.2))});
  if (s.type == JointType::distance) {
    b.add_distance("joint", base, follower, Vec3(0.1, 0, -0.1), Vec3(0.3, 0.1, -0.2), s.rope);
  } else {
    b.add_joint_at("joint", s.type, base, follower, Vec3(0.2, 0.05, -0.15), axes);
  }
  return b.build();
}

struct Worst {
  double gap = 0;     // m
  double angle = 0;   // rad
  double limit = 0;   // m, ropes
  double travel = 0;  // m, of the follower
  double turned = 0;  // rad
  bool failed = false;
};

Worst force(const JointCase& s, bool projection, unsigned seed) {
  SimulationOptions o;
  o.dt = 1e-3;
  o.integrator = s.integrator;
  o.projection = projection;
  Simulation sim(two_bodies(s), o);
  std::mt19937 rng(seed);
  std::normal_distribution<double> normal;
  const auto random = [&](double size) {
    const double x = normal(rng);
    const double y = normal(rng);
    return Vec3(size / std::sqrt(3.0) * Vec3(x, y, normal(rng)));
  };
  const int follower = sim.model().body("follower");
  const Pose start = sim.state().X_WB[static_cast<std::size_t>(follower)];
  Worst w;
  for (int i = 0; i < kSteps; ++i) {
    if (i % 10 == 0) {
      for (int b = 0; b < sim.model().body_count(); ++b) {
        const Vec3 f = random(kForce);
        sim.set_body_wrench(b, spatial(f, random(kTorque)));
      }
    }
    const StepReport& r = sim.step();
    w.failed = w.failed || r.status == StepStatus::failed || !sim.state().finite();
    w.gap = std::max(w.gap, r.joint_gap);
    w.angle = std::max(w.angle, r.joint_angle);
    w.limit = std::max(w.limit, r.limit_violation);
    const Pose& X = sim.state().X_WB[static_cast<std::size_t>(follower)];
    w.travel = std::max(w.travel, (X.p - start.p).norm());
    w.turned = std::max(w.turned, X.q.angularDistance(start.q));
  }
  return w;
}

template <class F>
void for_every_joint(F f) {
  for (int t = 0; t < kPlainJointTypeCount; ++t) {
    for (const bool rope : {false, true}) {
      const auto type = static_cast<JointType>(t);
      if (rope && type != JointType::distance) continue;
      for (const bool binary : {false, true}) {
        for (const Integrator i : {Integrator::semi_implicit, Integrator::moreau}) f(JointCase{type, binary, rope, i});
      }
    }
  }
}

TEST(JointForcing, ProjectedJointsHoldToNanometres) {
  SARRUS_FULL_SIZE_ONLY();
  for_every_joint([](const JointCase& s) {
    if (s.rope) return;
    const Worst w = force(s, true, 1);
    EXPECT_FALSE(w.failed) << s.label();
    EXPECT_LE(w.gap, 1e-9) << s.label();
    EXPECT_LE(w.angle, 1e-9) << s.label();
  });
}

TEST(JointForcing, UnprojectedJointsStayBounded) {
  SARRUS_FULL_SIZE_ONLY();
  for_every_joint([](const JointCase& s) {
    const Worst w = force(s, false, 2);
    EXPECT_FALSE(w.failed) << s.label();
    EXPECT_LE(w.gap, 1e-3) << s.label();
    EXPECT_LE(w.angle, 1e-3) << s.label();
  });
}

TEST(JointForcing, RopesHold) {
  for_every_joint([](const JointCase& s) {
    if (!s.rope) return;
    const Worst w = force(s, true, 3);
    EXPECT_FALSE(w.failed) << s.label();
    EXPECT_LE(w.limit, 1e-3) << s.label();
    EXPECT_GT(w.travel, 0.05) << s.label();
  });
}

// The forcing is strong enough to matter: what may move does move, what may not does not.
TEST(JointForcing, FreeDirectionsMove) {
  for_every_joint([](const JointCase& s) {
    if (s.binary || s.rope) return;
    const Worst w = force(s, true, 4);
    if (s.type == JointType::fixed) {
      EXPECT_LE(w.travel, 1e-9) << s.label();
      EXPECT_LE(w.turned, 2e-8) << s.label();
    } else {
      EXPECT_GT(w.travel, 0.02) << s.label();
    }
    const bool turns = s.type != JointType::fixed && s.type != JointType::prismatic && s.type != JointType::cartesian;
    if (turns) {
      EXPECT_GT(w.turned, 0.1) << s.label();
    } else {
      EXPECT_LE(w.turned, 2e-8) << s.label();
    }
  });
}

}  // namespace
}  // namespace sarrus::joint_forcing_test
