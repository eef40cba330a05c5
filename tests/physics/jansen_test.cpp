// Jansen's walker walks forwards on feet that obey Coulomb's law.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "effort.h"
#include "physics/harness.h"

namespace sarrus::jansen_test {
namespace {

using testing::expect_within;
using testing::pose;
using testing::run;
using testing::simulate;
using testing::Worst;

// Velocities of all constraint rows in the solved step, J u+.
VecX row_velocities(const Simulation& sim) {
  const ConstraintProblem& p = sim.problem();
  VecX impulse(p.velocity_size()), u(p.velocity_size()), v(p.rows());
  p.multiply_Jt(sim.impulses(), impulse);
  p.multiply_M_inverse(impulse, u);
  u += p.u_free;
  p.multiply_J(u, v);
  return v;
}

// What the loaded feet do.
struct Feet {
  double off_cone = 0;      // of sliding feet: 1 - |l_T| / (mu l_N)
  double wrong_way = 0;     // of sliding feet: 1 + cos(angle between l_T and v_T)
  double outside_cone = 0;  // of all feet: |l_T| - mu l_N, N s
  double slip = 0;          // m, mean over the loaded feet, weighted by their load
  int sliding = 0;
  int sticking = 0;

  void add(const Simulation& sim) {
    const VecX v = row_velocities(sim);
    double load = 0;
    double loaded_slip = 0;
    for (const ConstraintBlock& b : sim.problem().blocks) {
      if (b.kind != BlockKind::contact) continue;
      const Vec3 l = sim.contact_impulse(b.source);
      // What the law is on: the end velocity, or the sum of both where the foot stuck before.
      const Vec2 slide(v[b.row] + sim.problem().bias[static_cast<std::size_t>(b.row)],
                       v[b.row + 1] + sim.problem().bias[static_cast<std::size_t>(b.row + 1)]);
      outside_cone = std::max(outside_cone, l.head<2>().norm() - b.mu * l.z());
      if (l.z() < 1e-4) continue;  // 0.1 N
      load += l.z();
      loaded_slip += l.z() * slide.norm() * sim.dt();
      if (slide.norm() < 1e-4) {
        ++sticking;
        continue;
      }
      ++sliding;
      off_cone = std::max(off_cone, 1 - l.head<2>().norm() / (b.mu * l.z()));
      wrong_way = std::max(wrong_way, 1 + slide.dot(l.head<2>()) / (slide.norm() * l.head<2>().norm()));
    }
    if (load > 0) slip += loaded_slip / load;
  }
};

TEST(JansenWalker, WalksForwardsOnFeetThatObeyCoulomb) {
  SARRUS_FULL_SIZE_ONLY();
  Simulation sim = simulate("jansen_walker");
  const double length = 0.86;  // m, from the rearmost to the foremost foot
  const Vec3 start = pose(sim, "chassis").p;
  const double duration = 4;
  Feet feet;
  double limit = 0;
  const Worst worst = run(sim, static_cast<int>(std::lround(duration / sim.dt())), [&](const StepReport& r) {
    feet.add(sim);
    limit = std::max(limit, r.joint_angle);
  });
  const Vec3 way = pose(sim, "chassis").p - start;
  RecordProperty("travel_m", fmt::format("{:.4f} (required {:.4f})", way.x(), 0.1 * duration * length));
  EXPECT_GE(way.x(), 0.1 * duration * length);
  expect_within("sideways_m", way.y(), 0.1 * way.x());
  expect_within("up_or_down_m", way.z(), 0.02);
  expect_within("joint_gap_m", worst.joint_gap, 1e-9);
  expect_within("joint_angle_rad", limit, 1e-9);
  expect_within("off_cone_while_sliding", feet.off_cone, 1e-3);
  expect_within("against_the_slip", feet.wrong_way, 1e-3);
  expect_within("outside_cone_Ns", std::max(0.0, feet.outside_cone), 1e-9);
  expect_within("slip_over_travel", feet.slip / way.x(), 0.1);
  EXPECT_GT(feet.sticking, feet.sliding / 4);
  RecordProperty("sticking", feet.sticking);
  RecordProperty("sliding", feet.sliding);
  RecordProperty("not_converged", worst.not_converged);
}

}  // namespace
}  // namespace sarrus::jansen_test
