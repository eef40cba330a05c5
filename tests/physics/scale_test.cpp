// Bodies of very different mass in one solve: the judge's scale lets neither hide the other's error.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "physics/harness.h"

namespace sarrus {
namespace {

using testing::expect_near;
using testing::expect_within;
using testing::options_with;
using testing::pose;
using testing::twist;

constexpr double kGravity = 9.81;
constexpr double kGram = 1e-3, kTonnes = 1e4;  // kg
constexpr double kSlop = 1e-5;                 // m, the rest position of a contact
constexpr int kSteps = 100;
constexpr double kTime = 0.1;

// A flat box that rests at this height of its lower face.
int add_slab(ModelBuilder& b, const char* name, double mass, const Vec3& half, double x, double floor, double speed,
             int material) {
  const int body = b.add_box_body(name, mass, half, {Vec3(x, 0, floor + half.z() - kSlop)}, material);
  b.set_velocity(body, Vec3(speed, 0, 0), Vec3::Zero());
  return body;
}

// Every step is solved; x velocities after kSteps.
std::vector<double> speeds(Model model) {
  Simulation sim(std::move(model), options_with(1e-3, Integrator::semi_implicit));
  for (int i = 0; i < kSteps; ++i) {
    const StepReport& r = sim.step();
    EXPECT_EQ(r.status, StepStatus::converged) << "step " << i << ", error " << r.residuals.error();
  }
  std::vector<double> out;
  for (const Vec6& t : sim.state().twist) out.push_back(t[0]);
  return out;
}

struct Floor {
  ModelBuilder b{"scale"};
  int light, heavy, ground;
  Floor() {
    light = b.add_material("light", 0);
    heavy = b.add_material("heavy", 0);
    ground = b.add_material("ground", 0);
    b.set_material_pair(light, ground, 0.3, 0);
    b.set_material_pair(heavy, ground, 0.2, 0);
    b.set_material_pair(light, heavy, 0.5, 0);
    b.add_floor(0, ground);
  }
};

TEST(GramAndTonnes, BesideEachOther) {
  Floor f;
  add_slab(f.b, "gram", kGram, Vec3(0.02, 0.02, 0.002), 0, 0, 1, f.light);
  add_slab(f.b, "tonnes", kTonnes, Vec3(1, 1, 0.2), 5, 0, 3, f.heavy);
  const std::vector<double> v = speeds(f.b.build());
  expect_near("gram", v[0], 1 - 0.3 * kGravity * kTime, 1e-6 * v[0]);
  expect_near("tonnes", v[1], 3 - 0.2 * kGravity * kTime, 1e-6 * v[1]);
}

// Slides on its back while that slides on the floor.
TEST(GramAndTonnes, OnTop) {
  Floor f;
  add_slab(f.b, "tonnes", kTonnes, Vec3(1, 1, 0.2), 0, 0, 5, f.heavy);
  add_slab(f.b, "gram", kGram, Vec3(0.02, 0.02, 0.002), 0, 0.4 - kSlop, 4, f.light);
  const std::vector<double> v = speeds(f.b.build());
  const double ratio = kGram / kTonnes;
  expect_near("tonnes", v[0], 5 - kGravity * kTime * (0.2 * (1 + ratio) + 0.5 * ratio), 1e-6 * v[0]);
  expect_near("gram", v[1], 4 + 0.5 * kGravity * kTime, 1e-6 * v[1]);
}

// A pad that carries it and slides with it.
TEST(GramAndTonnes, Under) {
  Floor f;
  add_slab(f.b, "gram", kGram, Vec3(0.5, 0.5, 0.01), 0, 0, 2, f.light);
  add_slab(f.b, "tonnes", kTonnes, Vec3(0.5, 0.5, 0.1), 0, 0.02 - kSlop, 2, f.heavy);
  const std::vector<double> v = speeds(f.b.build());
  const double expected = 2 - 0.3 * kGravity * kTime;
  expect_near("gram", v[0], expected, 1e-6 * expected);
  expect_near("tonnes", v[1], expected, 1e-6 * expected);
}

// A table that slides over it, without touching.
TEST(GramAndTonnes, UnderATable) {
  Floor f;
  add_slab(f.b, "gram", kGram, Vec3(0.02, 0.02, 0.002), 0, 0, 1, f.light);
  const Mat3 inertia = Vec3(4e3, 4e3, 6e3).asDiagonal();
  const int table = f.b.add_body("table", kTonnes, inertia, {Vec3(0, 0, 0.3 - kSlop)});
  f.b.add_geom(table, Shape::box(Vec3(1, 1, 0.05)), {Vec3(0, 0, 0.05)}, f.heavy);
  for (const double x : {-0.9, 0.9}) {
    for (const double y : {-0.9, 0.9})
      f.b.add_geom(table, Shape::box(Vec3(0.1, 0.1, 0.15)), {Vec3(x, y, -0.15)}, f.heavy);
  }
  f.b.set_velocity(table, Vec3(2, 0, 0), Vec3::Zero());
  const std::vector<double> v = speeds(f.b.build());
  expect_near("gram", v[0], 1 - 0.3 * kGravity * kTime, 1e-6 * v[0]);
  expect_near("table", v[1], 2 - 0.2 * kGravity * kTime, 1e-6 * v[1]);
}

// All masses times a factor: the same motion, the same judged error.
TEST(HeavyBodies, AFactorOfAllMassesChangesNothing) {
  const auto end = [](double factor) {
    ModelBuilder b("blocks");
    const int wood = b.add_material("wood", 0.4, 0.3);
    b.add_floor(0, wood);
    for (int i = 0; i < 3; ++i) {
      const int box = b.add_box_body("box" + std::to_string(i), factor * (1 + i), Vec3(0.2, 0.1, 0.05),
                                     {Vec3(0.05 * i, 0.02 * i, 0.1 + 0.15 * i)}, wood);
      b.set_velocity(box, Vec3(1.0 - i, 0.3, 0), Vec3(0, 0.5 * i, 1));
    }
    Simulation sim(b.build(), options_with(1e-3, Integrator::semi_implicit));
    for (int i = 0; i < 100; ++i) EXPECT_LE(sim.step().residuals.error(), 1e-9) << factor;
    VecX u(18);
    for (int i = 0; i < 3; ++i) u.segment<6>(6 * i) = twist(sim, i);
    return u;
  };
  const VecX u = end(1);
  for (const double factor : {1e-6, 1e-3, 1e3, 1e6}) {
    expect_within(fmt::format("difference_{:g}", factor), (end(factor) - u).cwiseAbs().maxCoeff(), 1e-6);
  }
}

}  // namespace
}  // namespace sarrus
