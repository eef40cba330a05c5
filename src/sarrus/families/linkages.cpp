// Four-bar chain, Stewart platform and ring of boxes (docs/theory/benchmarks.md §6). Lengths are choices of ours: that
// table gives topology, masses, friction and noise.
#include <cmath>
#include <numbers>

#include "sarrus/families/makers.h"
#include "sarrus/families/plan.h"
#include "sarrus/math/so3.h"

namespace sarrus::families {
namespace {

// Half of the limits are reached already, the others are up to 1 mm or 1 mrad away.
double limit_gap(Random& random) {
  const bool reached = random.chance(0.5);
  const double gap = random.uniform(0, 1e-3);
  return reached ? 0.0 : gap;
}

// Cell on the link with the corners A, D; returns its corners: B, C carry the next cell.
Quadrilateral add_cell(Plan& plan, Random& random, int& ground, const Vec3& A, const Vec3& D, bool limited) {
  const double length = (D - A).norm();
  const Vec3 e1 = (D - A) / length;
  const Vec3 axis = Vec3::UnitY();
  const double crank = 0.3 * random.uniform(0.9, 1.1);
  const double rocker = 0.3 * random.uniform(0.9, 1.1);
  const double coupler = length * random.uniform(0.9, 1.1);
  const double angle = random.uniform(1.3, 1.8);
  Quadrilateral q = quadrilateral(A, e1, e1.cross(axis), length, crank, coupler, rocker, angle);
  const FourBar f = add_fourbar(plan, ground, q, axis, JointType::revolute);
  plan.set_mass(f.crank, 0.1 * std::pow(100.0, random.uniform()));
  plan.set_mass(f.coupler, std::pow(100.0, random.uniform()));
  plan.set_mass(f.rocker, 0.1 * std::pow(100.0, random.uniform()));
  if (limited) {
    const double side = random.chance(0.5) ? 1.0 : -1.0;
    plan.add_limit(f.crank_joint, side, limit_gap(random));
  }
  ground = f.coupler;
  return q;
}

// One UPS leg: universal joint on the base, prismatic joint with a limit, spherical joint at the platform.
void add_leg(Plan& plan, Random& random, int base, int platform, const Vec3& foot, const Vec3& head) {
  const Vec3 span = head - foot;
  const Vec3 along = span.normalized();
  const Vec3 across = along.unitOrthogonal();
  const int cylinder = plan.add_bar(2.0 / 30, foot, foot + 0.6 * span);
  const int rod = plan.add_bar(1.0 / 30, head - 0.6 * span, head);
  plan.add_joint(JointType::universal, base, cylinder, foot, frame_with_xy(across, along.cross(across)));
  const int slide =
      plan.add_joint(JointType::prismatic, cylinder, rod, foot + 0.5 * span, frame_with_xy(along, across));
  plan.add_joint(JointType::spherical, platform, rod, head);
  plan.add_limit(slide, 1.0, limit_gap(random));
}

}  // namespace

ConstraintProblem fourbar_chain(std::uint64_t seed) {
  Random random(seed);
  Plan plan(0.05);
  const Vec3 half(0.25, 0.1, 0.05);
  int ground = plan.add_box(std::pow(100.0, random.uniform()), half, {Vec3(0, 0, half.z())});
  add_corner_contacts(plan, kWorld, ground, Vec3::Zero(), half.x() * Vec3::UnitX(), half.y() * Vec3::UnitY(), 0.6);
  Vec3 A(-0.15, 0, 2 * half.z());
  Vec3 D(0.15, 0, 2 * half.z());
  for (int cell = 0; cell < 5; ++cell) {
    const Quadrilateral q = add_cell(plan, random, ground, A, D, cell % 2 == 0);
    A = q.B;
    D = q.C;
  }
  return plan.assemble(random);
}

ConstraintProblem stewart(std::uint64_t seed) {
  Random random(seed);
  Plan plan(0.1);
  const double mid = 0.6;  // height of the platform's joints
  const int base = plan.add_box(5.0, Vec3(0.5, 0.5, 0.05), {Vec3(0, 0, 0.05)});
  const int platform = plan.add_box(2.0, Vec3(0.3, 0.3, 0.02), {Vec3(0, 0, mid + 0.02)});
  for (int i = 0; i < 6; ++i) {
    // Pairs of base points 20 degrees apart meet pairs of platform points turned by 60 degrees.
    const double degree = std::numbers::pi / 180;
    const double sign = i % 2 == 0 ? 1.0 : -1.0;
    const int foot_pair = (i + 1) / 2;
    const int head_pair = i / 2;
    const double foot = degree * (120.0 * foot_pair + 10.0 * sign + random.uniform(-3, 3));
    const double head = degree * (60.0 + 120.0 * head_pair - 10.0 * sign + random.uniform(-3, 3));
    add_leg(plan, random, base, platform, Vec3(0.45 * std::cos(foot), 0.45 * std::sin(foot), 0.1),
            Vec3(0.28 * std::cos(head), 0.28 * std::sin(head), mid));
  }
  Vec3 offset = random.in_box(0.05);
  offset.z() = 0;
  const double top = mid + 0.04;
  const int load = plan.add_box(300.0, Vec3(0.15, 0.15, 0.1), {offset + Vec3(0, 0, top + 0.1)});
  const double heading = random.uniform(0, 2 * std::numbers::pi);
  plan.set_velocity(load, 0.3 * Vec3(std::cos(heading), std::sin(heading), 0));
  add_corner_contacts(plan, kWorld, base, Vec3::Zero(), 0.5 * Vec3::UnitX(), 0.5 * Vec3::UnitY(), 0.7);
  add_corner_contacts(plan, platform, load, offset + top * Vec3::UnitZ(), 0.15 * Vec3::UnitX(), 0.15 * Vec3::UnitY(),
                      0.4);
  return plan.assemble(random);
}

ConstraintProblem ring20(std::uint64_t seed) {
  Random random(seed);
  Plan plan(0.3);
  constexpr int kBoxes = 20;
  const Vec3 half(0.17, 0.1, 0.1);
  const double radius = 0.2 / std::sin(std::numbers::pi / kBoxes);
  for (int i = 0; i < kBoxes; ++i) {
    const double angle = 2 * std::numbers::pi * i / kBoxes;
    const double r = radius + random.uniform(-0.02, 0.02);
    const double yaw = angle + 0.5 * std::numbers::pi + random.uniform(-0.05, 0.05);
    const Quat q = so3_exp(yaw * Vec3::UnitZ());
    const Vec3 centre(r * std::cos(angle), r * std::sin(angle), half.z());
    const int box = plan.add_box(std::pow(10.0, random.uniform(-1, 1)), half, {centre, q});
    add_corner_contacts(plan, kWorld, box, Vec3(centre.x(), centre.y(), 0), q * Vec3(half.x(), 0, 0),
                        q * Vec3(0, half.y(), 0), 0.5);
  }
  for (int i = 0; i < kBoxes; ++i) {
    const int next = (i + 1) % kBoxes;
    plan.add_hinge(i, next, 0.5 * (plan.centre(i) + plan.centre(next)), Vec3::UnitZ());
  }
  return plan.assemble(random);
}

}  // namespace sarrus::families
