// Random passive hands: trees of serial joints, hinges and slides with tendons (combinations), polynomial couplings,
// contact pairs and shares of gravity. Energy may fall and must not rise; steps allocate nothing; a snapshot goes on in
// the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/random.h"
#include "sarrus/math/so3.h"
#include "support/allocations.h"

namespace sarrus::hand_test {
namespace {

using testing::energy_of;
using testing::options_with;

constexpr double kLength = 0.1;  // m, of a link

void add_elements(Random& r, double mass, Dof& dof) {
  const double torque = mass * 9.81 * kLength;
  if (r.chance(0.4)) dof.stiffness = torque * r.log_uniform(0.1, 20), dof.rest = r.uniform(-0.3, 0.3);
  if (r.chance(0.4)) dof.damping = torque * 0.1 * r.log_uniform(0.01, 10);
  if (r.chance(0.3)) dof.dry_friction = torque * r.log_uniform(0.01, 1);
  if (r.chance(0.4)) {
    dof.limit.lower = -r.uniform(0.1, 1);
    dof.limit.upper = r.uniform(0.1, 1);
    dof.limit.restitution = r.chance(0.7) ? 0 : r.uniform();
  }
}

Model random_hand(std::uint64_t seed) {
  Random r(seed);
  ModelBuilder b("hand " + std::to_string(seed));
  const int links = 3 + r.below(4);
  std::vector<int> turning;  // dofs that are angles
  std::vector<Vec3> place;
  for (int i = 0; i < links; ++i) {
    const int parent = i == 0 ? kWorld : r.below(i);
    const Vec3 from = parent == kWorld ? Vec3(Vec3::Zero()) : place[static_cast<std::size_t>(parent)];
    const Vec3 at = from + kLength * r.direction();
    const double mass = r.uniform(0.05, 0.5);
    place.push_back(at);
    const int body = b.add_sphere_body("link" + std::to_string(i), mass, 0.2 * kLength, {at, so3_exp(r.in_box(2))});
    b.body(body).gravity_scale = r.chance(0.2) ? r.uniform(0, 1) : 1;
    b.geom(body).collides_with = b.geom(body).group = 0;
    const Vec3 anchor = from + 0.3 * (at - from);
    const std::string name = "joint" + std::to_string(i);
    int joint = 0;
    if (r.chance(0.6)) {
      std::vector<SerialAxis> axes;
      const int count = 2 + r.below(2);
      for (int k = 0; k < count; ++k) {
        SerialAxis a;
        a.angular = k < 2 || r.chance(0.5);
        a.p_J = anchor + r.in_box(0.2 * kLength);
        a.axis_J = k == 1 ? axes[0].axis_J.cross(r.direction()).normalized() : r.direction();
        axes.push_back(a);
      }
      joint = b.add_serial_at(name, parent, body, axes);
    } else {
      joint = b.add_joint_at(name, JointType::revolute, parent, body, anchor, frame_with_x(r.direction()));
    }
    const int dofs = joint_dofs(b.joint(joint));
    for (int k = 0; k < dofs; ++k) {
      Dof& dof = b.dof(joint, k);
      add_elements(r, mass, dof);
      if (r.chance(0.2)) dof.armature = mass * kLength * kLength * r.log_uniform(0.01, 1);
      if (coordinate_is_angular(b.joint(joint), k)) turning.push_back(b.dof_index(joint, k));
    }
  }
  const auto some = [&] { return turning[static_cast<std::size_t>(r.below(static_cast<int>(turning.size())))]; };
  for (int i = 0; i < 2; ++i) {
    Combination c{.name = "tendon" + std::to_string(i), .terms = {}, .law = {}};
    for (int k = 0; k < 3; ++k) {
      const int dof = some();
      const auto same = [dof](const CombinationTerm& t) { return t.dof == dof; };
      if (std::none_of(c.terms.begin(), c.terms.end(), same)) c.terms.push_back({dof, r.uniform(0.3, 2)});
    }
    add_elements(r, 0.2, c.law);
    if (r.chance(0.3)) c.law.limit = {.lower = 0, .upper = 0};  // a rope
    b.add_combination(c);
  }
  const int first = some();
  const int second = some();
  if (first != second && r.chance(0.7)) {
    Coupling cam{.name = "cam", .dof_a = first, .dof_b = second, .ratio = r.uniform(-1, 1)};
    cam.higher = {r.uniform(-1, 1), r.uniform(-1, 1), r.uniform(-0.3, 0.3)};
    b.add_coupling(cam);
  }
  double lowest = 0;
  for (const Vec3& p : place) lowest = std::min(lowest, p.z());
  const int floor = b.add_floor(lowest - kLength * r.uniform(0.25, 1));
  b.geom(floor).collides_with = b.geom(floor).group = 0;
  for (int i = 0; i < links; ++i) {
    if (r.chance(0.5))
      b.add_contact_pair({.a = i, .b = floor, .mu = r.uniform(), .restitution = r.chance(0.5) ? 0 : 0.6});
    const auto at = [&](int k) { return place[static_cast<std::size_t>(k)]; };
    const bool apart = i > 0 && (at(i) - at(i - 1)).norm() > 0.5 * kLength;  // nothing is pushed out at the start
    if (apart && r.chance(0.3)) b.add_contact_pair({.a = i - 1, .b = i, .mu = r.uniform()});
  }
  return b.build();
}

TEST(RandomHands, EnergyDoesNotRise) {
  int failed = 0;
  double worst = 0;
  const int worlds = test::samples(200);
  for (int seed = 1; seed <= worlds; ++seed) {
    const Model model = random_hand(static_cast<std::uint64_t>(seed));
    Simulation sim(model, options_with(1e-3, Integrator::moreau));
    const double start = energy_of(sim).total();
    double scale = energy_of(sim).potential;  // springs, and weights about the world's origin
    for (const Body& body : model.bodies()) scale += 2 * body.mass * 9.81 * kLength;
    double rise = 0;
    for (int i = 0; i < (test::sample_divisor() > 1 ? 100 : 600); ++i) {
      const StepReport& report = sim.step();
      if (report.status == StepStatus::failed) {
        ++failed;  // the state stays, and so would the failure
        break;
      }
      rise = std::max(rise, energy_of(sim).total() - start);
      // The account is complete, whatever is there.
      const EnergyFlow& e = report.energy;
      const double known = e.drives + e.external + e.friction + e.impacts + e.damping + e.correction + e.taken_back;
      ASSERT_NEAR(e.change, known + e.unaccounted, 1e-12 * scale) << seed;
    }
    worst = std::max(worst, rise / scale);
    EXPECT_LE(rise, 6e-4 * scale) << "seed " << seed;
  }
  EXPECT_LE(failed, 0.005 * worlds);
  ::testing::Test::RecordProperty("largest_rise", fmt::format("{:.3g} in {} worlds, {} failed", worst, worlds, failed));
}

// Schemes with explicit dampers need dt d D < 2: 0.07 N m s on links of 1.2e-5 kg m^2.
TEST(RandomHands, EverySchemeClosesTheirJoints) {
  for (const Scheme& scheme : schemes()) {
    if (scheme.integrator == Integrator::explicit_euler) continue;  // it gains energy until a step fails
    for (int seed = 1; seed <= test::samples(20); ++seed) {
      const Model model = random_hand(static_cast<std::uint64_t>(1000 + seed));
      Simulation sim(model, options_with(2e-4, scheme.integrator));
      for (int i = 0; i < 100; ++i) {
        const StepReport& report = sim.step();
        ASSERT_NE(report.status, StepStatus::failed) << scheme.name << " " << seed << ": " << report.message;
        ASSERT_LE(report.joint_gap, 1e-10) << scheme.name << " " << seed;
        ASSERT_LE(report.joint_angle, 1e-9) << scheme.name << " " << seed;
      }
    }
  }
}

TEST(RandomHands, GoOnInTheSameBitsFromASnapshot) {
  for (int seed = 1; seed <= test::samples(20); ++seed) {
    const Model model = random_hand(static_cast<std::uint64_t>(2000 + seed));
    Simulation a(model, options_with(1e-3));
    for (int i = 0; i < 60 + seed; ++i) a.step();
    Simulation b(model, options_with(1e-3));
    b.restore(a.snapshot());
    for (int i = 0; i < 60; ++i) {
      a.step();
      b.step();
      ASSERT_EQ(a.state().hash(), b.state().hash()) << seed << " " << i;
    }
  }
}

TEST(RandomHands, StepsAllocateNothing) {
  for (int seed = 1; seed <= test::samples(10); ++seed) {
    const Model model = random_hand(static_cast<std::uint64_t>(3000 + seed));
    Simulation sim(model, options_with(1e-3));
    const State start = sim.state();
    for (int i = 0; i < 300; ++i) sim.step();
    sim.set_state(start);
    const long n = test::allocations_of([&] {
      for (int i = 0; i < 250; ++i) sim.step();
    });
    EXPECT_EQ(n, 0) << seed;
  }
}

}  // namespace
}  // namespace sarrus::hand_test
