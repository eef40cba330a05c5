// Soft joints of all models on mechanisms that nothing drives: the springs are unstretched at the beginning, so that
// the energy of the bodies must not rise above its start, whatever the time constants, impedances and steps.
//
// The MuJoCo-style row of a coordinate with the inverse mass D and the gap phi,
//   v+ = (1-d) v_free + d (v - dt (b v + k phi)),   b = 2/(dw T),   k = d/(dw T zeta)^2
// is explicit in v and phi. Without other forces its eigenvalues are inside of the unit circle if and only if
//   2 c + kappa < 4,   c = d b dt,   kappa = d k dt^2
// with d = dw and the T = 2 dt that is taken at least, if zeta > 1/sqrt(8) = 0.354; where d0 > dw, c is d0/dw times as
// large. Beyond that the energy grows by a factor in every step, in which every solve converges.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "physics/passive.h"
#include "sarrus/math/so3.h"

namespace sarrus::soft_joint_energy_test {
namespace {

using testing::EnergyRise;
using testing::expect_within;
using testing::passive_options;

constexpr double kGravity = 9.81;
constexpr double kBar = 0.2;  // m

// A chain of bars that begins level, with soft hinges; closed: its end is hinged to the world, too. Each bar has
// `ratio` times the mass of the one before.
Model chain(int bars, bool closed, double ratio, const Compliance& compliance) {
  ModelBuilder b("soft chain");
  const Quat axes = frame_with_x(Vec3::UnitY());
  const auto corner = [](int i) { return Vec3(kBar * i, 0, 0.02 * (i % 2)); };
  for (int i = 0; i < bars; ++i) {
    const Vec3 p = 0.5 * (corner(i) + corner(i + 1));
    b.add_box_body(fmt::format("bar{}", i), std::pow(ratio, i), Vec3(0.1, 0.02, 0.02), {p});
    const int joint =
        b.add_joint_at(fmt::format("hinge{}", i), JointType::revolute, i == 0 ? kWorld : i - 1, i, corner(i), axes);
    b.joint(joint).compliance = compliance;
  }
  if (closed) {
    const int joint = b.add_joint_at("last", JointType::revolute, kWorld, bars - 1, corner(bars), axes);
    b.joint(joint).compliance = compliance;
  }
  b.set_self_collision(false);
  return b.build();
}

struct Rise {
  double energy = 0;  // above the start, relative to the sum of m g times the length of the chain
  bool reported = false;
  bool told = false;  // energy was created, says the account
};

Rise run_chain(const Model& model, double dt, int steps) {
  Simulation sim(model, passive_options(dt));
  EnergyRise energy(sim);
  Rise rise;
  for (int i = 0; i < steps && std::isfinite(energy.now()); ++i) {
    rise.reported = rise.reported || sim.step().status == StepStatus::failed;
    if (rise.reported) break;
    energy.add(sim);
    rise.told = rise.told || sim.report().creates_energy;
  }
  double mass = 0;
  for (const Body& body : model.bodies()) mass += body.mass;
  rise.energy = energy.above_start() / (mass * model.body_count() * kGravity * kBar);
  return rise;
}

struct Impedance {
  double at_zero, at_width;
};

// Rises that no step has reported.
void expect_no_rise(const std::string& name, const Compliance& compliance, double dt) {
  double worst = 0;
  for (const int bars : {1, 4}) {
    for (const bool closed : {false, true}) {
      for (const double ratio : {1.0, 100.0}) {
        const Rise rise = run_chain(chain(bars, closed, ratio, compliance), dt, test::samples(500));
        if (!rise.reported) worst = std::max(worst, rise.energy);
      }
    }
  }
  // The bars fall by their length within the run. At most 4e-5 of it is what turning rows cost where the impedance, and
  // with it the inertia that the row adds, is largest.
  expect_within(name, worst, 1e-4);
}

constexpr double kStep = 1e-3;

TEST(MujocoSoftJoints, MakeNoEnergyWhateverTheTimeConstant) {
  for (const double ratio : {0.01, 0.5, 1.0, 2.0, 3.0, 10.0, 50.0}) {
    for (const double damping : {0.05, 0.3, 1.0, 5.0}) {
      expect_no_rise(fmt::format("T_{:g}_dt_zeta_{:g}", ratio, damping),
                     Compliance::soft_mujoco(ratio * kStep, damping), kStep);
    }
  }
}

TEST(MujocoSoftJoints, MakeNoEnergyWhateverTheImpedance) {
  for (const Impedance d : {Impedance{0.9, 0.95}, Impedance{0.9999, 0.9999}, Impedance{0.1, 0.2}, Impedance{0.9, 0.1},
                            Impedance{0.999, 0.001}, Impedance{0.001, 0.999}}) {
    for (const double ratio : {2.0, 5.0, 20.0}) {
      Compliance c = Compliance::soft_mujoco(ratio * kStep);
      c.d0 = d.at_zero;
      c.dw = d.at_width;
      expect_no_rise(fmt::format("d_{:g}_{:g}_T_{:g}_dt", d.at_zero, d.at_width, ratio), c, kStep);
    }
  }
}

TEST(SoftJoints, OfTheOtherModelsMakeNoEnergy) {
  for (const double stiffness : {1e2, 1e5, 1e9}) {
    for (const double time : {0.0, 1e-4, 1e-2}) {
      const std::string of = fmt::format("k_{:g}_tau_{:g}", stiffness, time);
      expect_no_rise("spring_damper_" + of, Compliance::soft_spring_damper(stiffness, stiffness * time), kStep);
      expect_no_rise("physical_" + of, Compliance::soft_physical(stiffness, time), kStep);
    }
  }
}

// The stiffness of such a row is erp/(cfm dt^2): nothing bounds it to what the step resolves.
TEST(SoftJoints, WithCfmAndErpMakeNoEnergy) {
  for (const double cfm : {1e-4, 1e-3, 1e-1}) {
    for (const double erp : {0.0, 0.2, 0.5}) {
      expect_no_rise(fmt::format("cfm_{:g}_erp_{:g}", cfm, erp), Compliance::soft_cfm_erp(cfm, erp), kStep);
    }
  }
}

// Where it is far beyond that, rows would live on what positions are off by: by up to 1e4 times the energy of the fall.
// They give little more than they hold (most where stiffness times what positions are off by is itself an energy), and
// a run in which it is more than a hundredth says so.
TEST(SoftJoints, FarTooStiffByCfmAndErpGiveLittleMoreThanTheyHoldAndTellIt) {
  for (const double cfm : {1e-9, 1e-7, 1e-5}) {
    for (const double erp : {0.2, 0.5, 0.8, 1.0}) {
      for (const double ratio : {1.0, 100.0}) {
        double worst = 0;
        for (const int bars : {1, 4}) {
          for (const bool closed : {false, true}) {
            const Model model = chain(bars, closed, ratio, Compliance::soft_cfm_erp(cfm, erp));
            const Rise rise = run_chain(model, kStep, test::samples(500));
            EXPECT_FALSE(rise.reported) << cfm << " " << erp << " " << ratio << " " << bars;
            worst = std::max(worst, rise.energy);
            EXPECT_TRUE(rise.told || !(rise.energy > 1e-2)) << cfm << " " << erp << " " << ratio << ": " << rise.energy;
          }
        }
        expect_within(fmt::format("cfm_{:g}_erp_{:g}_ratio_{:g}", cfm, erp, ratio), worst, 0.05);
      }
    }
  }
}

// A joint that is stretched at the start gives what it holds and no more.
TEST(SoftJoints, GiveBackWhatTheyHeldAtTheStart) {
  ModelBuilder b("stretched");
  const int bar = b.add_box_body("bar", 1, Vec3(0.1, 0.02, 0.02), {Vec3(0.1, 0, 0)});
  const int joint =
      b.add_joint_at("hinge", JointType::revolute, kWorld, bar, Vec3::Zero(), frame_with_x(Vec3::UnitY()));
  constexpr double kStiffness = 4e3;
  constexpr double kStretch = 0.01;
  b.joint(joint).compliance = Compliance::soft_spring_damper(kStiffness, 0);
  b.set_gravity(Vec3::Zero());
  Simulation sim(b.build(), passive_options(1e-4));
  State state = sim.state();
  state.X_WB[0].p.x() += kStretch;
  sim.set_state(state);
  double kinetic = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(sim.step().status, StepStatus::failed);
    kinetic = std::max(kinetic, testing::energy_parts(sim).kinetic());
  }
  const double held = 0.5 * kStiffness * kStretch * kStretch;
  EXPECT_LE(kinetic, held);
  EXPECT_GE(kinetic, 0.95 * held);
}

}  // namespace
}  // namespace sarrus::soft_joint_energy_test
