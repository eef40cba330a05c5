#include "sarrus/scenes/jansen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "sarrus/scenes/scenes_internal.h"

namespace sarrus {

JansenLeg jansen_leg(double crank_angle, JansenSide side) {
  using scenes::circle_intersection;
  const double s = kJansenScale;
  const JansenLengths& n = kJansen;
  const bool front = side == JansenSide::front;
  const double angle = front ? std::numbers::pi - crank_angle : crank_angle;
  JansenLeg p;
  p.pin = s * n.m * Vec2(std::cos(angle), std::sin(angle));
  p.pivot = s * Vec2(-n.a, -n.l);
  p.upper = circle_intersection(p.pivot, s * n.b, p.pin, s * n.j);
  p.outer = circle_intersection(p.pivot, s * n.d, p.upper, s * n.e);
  p.lower = circle_intersection(p.pin, s * n.k, p.pivot, s * n.c);
  p.knee = circle_intersection(p.lower, s * n.g, p.outer, s * n.f);
  p.foot = circle_intersection(p.lower, s * n.i, p.knee, s * n.h);
  if (front) {
    for (Vec2* x : {&p.pin, &p.pivot, &p.upper, &p.outer, &p.lower, &p.knee, &p.foot}) x->x() = -x->x();
  }
  return p;
}

double jansen_ride_height(double crank_angle) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const double phase : kJansenThrow) {
    for (const JansenSide side : {JansenSide::rear, JansenSide::front}) {
      lowest = std::min(lowest, jansen_foot(crank_angle + scenes::radians(phase), side).y());
    }
  }
  return kJansenFootRadius - lowest;
}

namespace scenes {
namespace {

constexpr double kLineDensity = 0.35;  // kg/m of leg bars: links of 55 to 87 g, triangles of about 0.2 kg

// Bars are wide along y, like links on broad bearings: thin ones would have a tiny inertia about their own
// axis, which makes the rows that keep a leg in its plane needlessly stiff.
Vec2 bar_section() { return {0.05, 0.015}; }

// Collision groups: the floor, the feet and the chassis. Feet and chassis meet the floor but not each other.
constexpr std::uint32_t kFloorGroup = 1;
constexpr std::uint32_t kMachineGroup = 2;

// The parts that all legs hang on. Names of the machine begin with `prefix`.
struct Core {
  std::string prefix;
  int chassis = 0;
  int crankshaft = 0;
  int foot_material = 0;
  Vec3 crank_centre = Vec3::Zero();
};

void meet_floor_only(ModelBuilder& b, int geom) {
  b.geom(geom).group = kMachineGroup;
  b.geom(geom).collides_with = kFloorGroup;
}

int add_rough_floor(ModelBuilder& b) {
  const int material = b.add_material("foot", 0.8);
  b.add_floor(0, material);
  return material;
}

Core add_core(ModelBuilder& b, int foot_material, const std::string& prefix, const Vec3& origin) {
  Core core;
  core.prefix = prefix;
  core.foot_material = foot_material;
  const double reference = radians(kJansenReferenceAngle);
  core.crank_centre = origin + Vec3(0, 0, jansen_ride_height(reference));

  // A beam between the two pivot axes, wide enough to carry all throws.
  const Shape beam = Shape::box(Vec3(kJansenScale * kJansen.a, kJansenThrowY.back() + 0.02, 0.015));
  const Pose X_WC{core.crank_centre + Vec3(0, 0, -kJansenScale * kJansen.l)};
  core.chassis = b.add_body(prefix + "chassis", 2.0, solid_inertia(beam, 2.0), X_WC);
  meet_floor_only(b, b.add_geom(core.chassis, beam));

  std::vector<Segment> bars;
  const Vec3 half_shaft(0, kJansenThrowY.back() + 0.02, 0);
  bars.push_back({core.crank_centre - half_shaft, core.crank_centre + half_shaft});
  for (std::size_t t = 0; t < kJansenThrow.size(); ++t) {
    const Vec2 pin = jansen_leg(reference + radians(kJansenThrow[t])).pin;
    const Vec3 root = core.crank_centre + Vec3(0, kJansenThrowY[t], 0);
    bars.push_back({root, root + Vec3(pin.x(), 0, pin.y())});
  }
  core.crankshaft = add_frame(b, prefix + "crankshaft", 0.3, bars, Vec2(0.015, 0.015));
  return core;
}

// Six bodies (two triangles, links j k c f) and nine hinges: two on the pin, two on the chassis pivot, three
// where two bodies meet, and two at `lower`, where k, c and the foot triangle meet.
void add_leg(ModelBuilder& b, const Core& core, const std::string& leg_name, const JansenLeg& leg, double y) {
  const std::string name = core.prefix + leg_name;
  const auto world = [&](const Vec2& p) -> Vec3 { return core.crank_centre + Vec3(p.x(), y, p.y()); };
  const Vec3 pin = world(leg.pin);
  const Vec3 pivot = world(leg.pivot);
  const Vec3 upper = world(leg.upper);
  const Vec3 outer = world(leg.outer);
  const Vec3 lower = world(leg.lower);
  const Vec3 knee = world(leg.knee);
  const Vec3 foot = world(leg.foot);

  const auto bar = [&](const char* part, const Vec3& from, const Vec3& to) {
    const double mass = kLineDensity * (to - from).norm();
    return add_bar(b, fmt::format("{}_{}", name, part), mass, from, to, bar_section(), Collides::no);
  };
  const auto triangle = [&](const char* part, const Vec3& p, const Vec3& q, const Vec3& r) {
    const std::array<Segment, 3> sides = {{{p, q}, {q, r}, {r, p}}};
    const double mass = kLineDensity * ((q - p).norm() + (r - q).norm() + (p - r).norm());
    return add_frame(b, fmt::format("{}_{}", name, part), mass, sides, bar_section());
  };
  const int thigh = triangle("thigh", pivot, upper, outer);
  const int shank = triangle("shank", lower, knee, foot);
  const int j = bar("j", pin, upper);
  const int k = bar("k", pin, lower);
  const int c = bar("c", pivot, lower);
  const int f = bar("f", outer, knee);
  const Vec3 foot_in_shank = foot - b.body(shank).X_WB0.p;  // frames have world axes at the reference pose
  meet_floor_only(b, b.add_geom(shank, Shape::sphere(kJansenFootRadius), {foot_in_shank}, core.foot_material));

  const auto hinge = [&](const char* joint, int base, int follower, const Vec3& anchor) {
    b.add_joint_at(fmt::format("{}_{}", name, joint), JointType::revolute, base, follower, anchor, hinge_y());
  };
  hinge("pin_j", core.crankshaft, j, pin);
  hinge("pin_k", core.crankshaft, k, pin);
  hinge("pivot_thigh", core.chassis, thigh, pivot);
  hinge("pivot_c", core.chassis, c, pivot);
  hinge("upper", j, thigh, upper);
  hinge("outer", thigh, f, outer);
  hinge("knee", f, shank, knee);
  hinge("lower_k", k, shank, lower);
  hinge("lower_c", c, shank, lower);
}

// `origin` is the point of the floor below the crank's centre.
void add_walker(ModelBuilder& b, int foot_material, const std::string& prefix, const Vec3& origin, double crank_speed) {
  const Core core = add_core(b, foot_material, prefix, origin);
  Drive& drive = b.dof(b.add_joint_at(prefix + "crank", JointType::revolute, core.chassis, core.crankshaft,
                                      core.crank_centre, hinge_y()))
                     .drive;
  drive.mode = DriveMode::velocity;
  drive.kd = 20;
  drive.effort_limit = 50;
  drive.target.offset = crank_speed;
  for (std::size_t t = 0; t < kJansenThrow.size(); ++t) {
    const double angle = radians(kJansenReferenceAngle + kJansenThrow[t]);
    add_leg(b, core, fmt::format("rear{}", t + 1), jansen_leg(angle, JansenSide::rear), kJansenThrowY[t]);
    add_leg(b, core, fmt::format("front{}", t + 1), jansen_leg(angle, JansenSide::front), kJansenThrowY[t]);
  }
}

}  // namespace

// Theo Jansen's walking machine: eight legs, rear and front on each of four crank throws. Throws on the same
// half of the machine (y < 0, y > 0) are 180 degrees apart and a foot stays within 8 mm of the ground for
// half a turn, so each half always has a rear and a front foot near the ground: four feet carry the machine
// and it leans by 1.5 degrees at most when at rest at any crank angle. At the reference angle of 45 degrees
// the four lowest feet are at equal heights to 0.12 mm, so it starts standing on all of them.
//
// Every hinge is a spatial revolute along y in maximal coordinates: 50 bodies, 73 joints, 365 rows of rank
// 293, mobility 7 (the free chassis and the crank), 72 redundant rows. Only the eight foot spheres (mu = 0.8)
// and the chassis beam can touch the floor.
//
// A velocity drive turns the crank about +y and the machine walks towards +x. From the foot path, a turn
// covers 0.51 m (following the lowest foot of one half) to 0.56 m (of all feet), 0.6 of its length: at half a
// turn per second about 0.28 m/s, over three lengths in 10 s. Lengths: jansen.h. Why it is here: many coupled
// redundant loops with alternating contacts, as in the legged machines of docs/theory/benchmarks.md §1.
Model jansen_walker() {
  ModelBuilder b("jansen_walker", "Theo Jansen's walking linkage: eight legs, one driven crankshaft, on a floor.");
  b.set_defaults({.dt = 1e-3, .duration = 10});
  add_walker(b, add_rough_floor(b), "", Vec3::Zero(), kJansenCrankSpeed);
  return b.build();
}

// Twenty walkers on one floor, five rows of four, all walking towards +x, with cranks between 0.9 and 1.1 times the
// speed of the single one so that they fall out of step: 1000 bodies, 1460 joints, 7300 rows of rank 5860, mobility
// 140. They do not collide with each other: twenty islands of equal size.
Model jansen_swarm20() {
  ModelBuilder b("jansen_swarm20", "Twenty of Theo Jansen's walking linkages on one floor.");
  b.set_defaults({.dt = 1e-3, .duration = 5});
  const int material = add_rough_floor(b);
  for (int i = 0; i < 20; ++i) {
    const int row = i / 4;
    const Vec3 origin(1.1 * row, 0.6 * (i % 4 - 1.5), 0);
    add_walker(b, material, fmt::format("walker{:02}_", i + 1), origin, kJansenCrankSpeed * (0.9 + 0.2 * i / 19));
  }
  return b.build();
}

}  // namespace scenes
}  // namespace sarrus
