// Rigid contacts that yield by option (docs/theory/rows.md §5.1): how deep and how fast, and that they gain nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "effort.h"
#include "physics/harness.h"

namespace sarrus::contact_give_test {
namespace {

constexpr double kPull = 3;  // m/s^2 along the floor, within friction
constexpr double kGive = 1e-4;

// A cube of 1 kg on a floor that its weight does not make it slide on, and on it another one.
Simulation cube(double rho, double load) {
  ModelBuilder b("cube");
  b.set_gravity(Vec3(kPull, 0, -9.81));
  const int floor = b.add_material("floor", 0.5);
  b.add_geom(kWorld, Shape::plane(), {}, floor, "floor");
  b.add_box_body("cube", 1, Vec3(0.1, 0.1, 0.1), {Vec3(0, 0, 0.1)}, floor);
  if (load > 0) b.add_box_body("load", load, Vec3(0.1, 0.1, 0.1), {Vec3(0, 0, 0.3)}, floor);
  SimulationOptions o;
  o.dt = 1e-3;
  o.rows.contact_compliance = rho;
  return Simulation(b.build(), o);
}

// m/s over the second after the first half.
double creep(Simulation& sim) {
  for (int i = 0; i < 500; ++i) sim.step();
  const double before = sim.state().X_WB[0].p.x();
  for (int i = 0; i < 1000; ++i) sim.step();
  return sim.state().X_WB[0].p.x() - before;
}

// Of a cube D = 4/m, so R_n = rho 4/m and R_t = 0.1 R_n. Each corner holds m g dt/4 of the pull: the cube creeps at 0.1
// rho g dt. Its moment loads and unloads the corners by as much, so the cube tilts, and its centre moves at rho g dt.
// Poses move by half of u+ where the law of what lasts is on the mean velocity: 0.55 rho g dt.
TEST(ContactGive, StickingContactsCreepAsTheyAreTold) {
  for (const double rho : {1e-3, 1e-4}) {
    Simulation sim = cube(rho, 0);
    const double expected = 0.55 * rho * kPull * sim.dt();
    EXPECT_NEAR(creep(sim), expected, 0.01 * expected) << rho;
    EXPECT_FALSE(sim.report().creates_energy);
  }
  Simulation rigid = cube(0, 0);
  EXPECT_LE(std::abs(creep(rigid)), 1e-11);
}

// Under a load of ten tonnes it yields by no more than e_v, tilting included.
TEST(ContactGive, IsLimitedUnderLoad) {
  Simulation sim = cube(1e-3, 1e4);
  const double speed = std::abs(creep(sim));
  EXPECT_GT(speed, 1e-9);
  EXPECT_LE(speed, kGive);
  EXPECT_FALSE(sim.report().creates_energy);
}

// It sinks in by steps until the pass over positions takes it out again: never deeper than the slop and one step.
TEST(ContactGive, DepthsStayWithinTheSlop) {
  for (const char* scene : {"box_on_plane", "stack15", "stack15_equal"}) {
    double deepest[2] = {};
    for (const int give : {0, 1}) {
      SimulationOptions o;
      o.rows.contact_compliance = give == 0 ? 0 : 1e-3;
      Simulation sim = testing::simulate(scene, o);
      double slop = 0;
      for (int i = 0; i < test::samples(300); ++i) {
        const StepReport& r = sim.step();
        ASSERT_NE(r.status, StepStatus::failed) << scene << ": " << r.message;
        EXPECT_LE(r.residuals.error(), 1e-9) << scene;
        deepest[give] = std::max(deepest[give], r.penetration);
        for (const Contact& c : sim.contacts()) slop = std::max(slop, 1e-5 * c.size);
      }
      EXPECT_FALSE(sim.report().creates_energy) << scene;
      if (give == 1) {
        EXPECT_LE(deepest[1], deepest[0] + slop + kGive * sim.dt()) << scene;
      }
    }
  }
}

}  // namespace
}  // namespace sarrus::contact_give_test
