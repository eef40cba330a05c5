// Compliant scenes of the papers on convex contact (Castro et al., [S]) and on implicit compliant constraints
// (Drumwright, [D]); docs/papers.md says what they show. Data: docs/theory/benchmarks.md §3.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "sarrus/math/so3.h"
#include "sarrus/model/checks.h"
#include "sarrus/scenes/foundation.h"
#include "sarrus/scenes/scenes_internal.h"

namespace sarrus {

int add_foundation(ModelBuilder& builder, const std::string& name, int body, const Pose& X_BF, double half_x,
                   double half_y, const Foundation& f) {
  const std::string element = fmt::format("foundation '{}'", name);
  require_positive(element, "half_x", half_x);
  require_positive(element, "half_y", half_y);
  require_positive(element, "modulus", f.modulus);
  require_positive(element, "depth", f.depth);
  if (f.elements_x < 1 || f.elements_y < 1) {
    throw InputError(
        element, fmt::format("has {} x {} elements; give at least one in each direction", f.elements_x, f.elements_y));
  }
  const double side_x = 2 * half_x / f.elements_x;
  const double side_y = 2 * half_y / f.elements_y;
  Compliance spring = Compliance::soft_spring_damper(f.modulus * side_x * side_y / f.depth, f.damping);
  spring.friction_damping = f.friction_damping;
  const int material = builder.add_material(name, f.mu, 0, spring);
  const double radius = 0.5 * std::min(side_x, side_y);
  for (int i = 0; i < f.elements_x; ++i) {
    for (int j = 0; j < f.elements_y; ++j) {
      const Vec3 centre_F((i + 0.5) * side_x - half_x, (j + 0.5) * side_y - half_y, -radius);
      builder.add_geom(body, Shape::sphere(radius), {X_BF * centre_F, Quat::Identity()}, material,
                       fmt::format("{} {},{}", name, i, j));
    }
  }
  return material;
}

}  // namespace sarrus

namespace sarrus::scenes {
namespace {

// Turns z into y: the axis of a cylinder, the normal of a planar joint.
Quat z_along_y() { return so3_exp(Vec3(-0.5 * kPi, 0, 0)); }

// A cylinder of 0.5 kg, radius 0.05 m lies on a floor with its axis along y, held in the plane y = 0 by a planar joint.
// A spring of 100 N/m along x pulls it to x = 0 from x = 0.1 m, at rest. The contact has 1e4 N/m and tau_d = 0.02 s;
// the line of contact has two points, so each has half of that stiffness.
Model cylinder_on_spring(const std::string& name, const std::string& description, double mu) {
  constexpr double radius = 0.05;
  ModelBuilder b(name, description);
  b.set_defaults({.dt = 0.02, .duration = 10, .integrator = "midpoint"});
  const int floor = b.add_material("floor", mu);
  const int soft = b.add_material("soft", mu, 0, Compliance::soft_physical(0.5 * 1e4, 0.02));
  b.add_floor(0, floor);
  const Vec3 centre(0.1, 0, radius);
  const int cylinder = b.add_solid("cylinder", 0.5, Shape::cylinder(radius, radius), {centre, z_along_y()}, soft);
  const int plane = b.add_joint_at("plane", JointType::planar, kWorld, cylinder, centre, z_along_y());
  b.dof(plane, 0).stiffness = 100;
  b.dof(plane, 0).rest = -centre.x();
  b.include(kWorld, cylinder);
  return b.build();
}

}  // namespace

// See cylinder_on_spring. Without friction it slides: a harmonic oscillator with omega = sqrt(k/m).
Model spring_cylinder_smooth() {
  return cylinder_on_spring("spring_cylinder_smooth", "A cylinder on a spring slides on a soft floor without friction.",
                            0);
}

// See cylinder_on_spring. With mu = 1 it rolls: omega = sqrt(k/(m + I/R^2)), the effective mass is 0.75 kg.
Model spring_cylinder() {
  return cylinder_on_spring("spring_cylinder", "A cylinder on a spring rolls to and fro on a soft floor.", 1);
}

// A bob of 1 kg on 1 m, released from the horizontal, hits a stop where it hangs straight down. The stop is a spring of
// 1e12 N m/rad without damping: an elastic impact that lasts 3 microseconds.
Model pendulum_stop() {
  ModelBuilder b("pendulum_stop", "A pendulum falls from the horizontal against an elastic stop of 1e12 N m/rad.");
  b.set_defaults({.dt = 1e-5, .duration = 1, .integrator = "semi-implicit"});
  const int bob = b.add_sphere_body("bob", 1.0, 0.05, {Vec3(-1, 0, 0)});
  const int pivot = b.add_joint_at("pivot", JointType::revolute, kWorld, bob, Vec3::Zero(), hinge_y());
  b.dof(pivot).limit.lower = -0.5 * kPi;  // coordinates count from the start
  b.dof(pivot).limit.compliance = Compliance::soft_spring_damper(1e12, 0);
  return b.build();
}

// A cube of 8 kg, side 1 m, on an elastic foundation of 10 x 10 springs: E = 1e7 Pa, depth 1 m, B = 1 N s/m each, no
// friction. The moving load of the paper is an input of the run, not of the model
// (tests/physics/papers_drumwright_test).
Model foundation_cube() {
  ModelBuilder b("foundation_cube", "A cube on an elastic foundation of 100 springs.");
  b.set_defaults({.dt = 0.01, .duration = 1, .integrator = "semi-implicit"});
  b.add_floor(0, b.add_material("floor", 0));
  const Vec3 half = Vec3::Constant(0.5);
  const int cube = b.add_body("cube", 8.0, 8.0 / 6.0 * Mat3::Identity(), {Vec3(0, 0, half.z())});
  add_display_geom(b, cube, Shape::box(half));
  Foundation f;
  f.modulus = 1e7;
  f.depth = 1;
  f.damping = 1;
  f.mu = 0;
  add_foundation(b, "sole", cube, {Vec3(0, 0, -half.z()), so3_exp(Vec3(kPi, 0, 0))}, half.x(), half.y(), f);
  return b.build();
}

// Four boxes of 1 kg, 0.2 x 0.1 x 0.05 m, each on four spherical feet of radius 0.01 m, on a plane that falls by 15
// degrees towards +x; mu = 0, 0.125, 0.25, 0.375. The feet are Hertz contacts, E* = 1e11 Pa, B = 1 N s/m, and friction
// is a damper of 1e6/dt within the cone. The travel is that of the scene `incline`.
Model incline_hertz() {
  constexpr double foot = 0.01;
  ModelBuilder b("incline_hertz", "Four boxes on spherical Hertz feet on a 15 degree incline.");
  b.set_defaults({.dt = 0.01, .duration = 1, .integrator = "semi-implicit"});
  const Pose X_WP{Vec3::Zero(), so3_exp(Vec3(0, radians(15), 0))};
  const int slope = b.add_material("slope", 1.0);
  b.add_geom(kWorld, Shape::plane(), X_WP, slope);
  const Vec3 half(0.1, 0.05, 0.025);
  const Mat3 inertia = Vec3(half.y() * half.y() + half.z() * half.z(), half.x() * half.x() + half.z() * half.z(),
                            half.x() * half.x() + half.y() * half.y())
                           .asDiagonal();
  const std::array<double, 4> mus = {0, 0.125, 0.25, 0.375};
  for (std::size_t i = 0; i < mus.size(); ++i) {
    const int material = b.add_material(fmt::format("mu_{}", mus[i]), mus[i]);
    b.set_material_pair(slope, material, mus[i], 0, Compliance::soft_hertz(1e11, foot, 1));
    const Vec3 p_P(0, 0.3 * (static_cast<double>(i) - 1.5), half.z() + foot);
    const int box = b.add_body(fmt::format("box_mu_{}", mus[i]), 1.0, inertia / 3, X_WP * Pose{p_P});
    add_display_geom(b, box, Shape::box(half));
    for (const double x : {foot - half.x(), half.x() - foot}) {
      for (const double y : {foot - half.y(), half.y() - foot}) {
        b.add_geom(box, Shape::sphere(foot), {Vec3(x, y, -half.z())}, material);
      }
    }
  }
  return b.build();
}

// 100 spheres of radius 0.1 m, 1 kg above each other, 0.05 m apart, fall on each other: Hertz contacts, E* = 1e11 Pa
// and B = 1 N s/m of each sphere. All horizontal components are exactly zero, so an exact computation leaves the stack
// standing. Neighbours fall at the same speed until the lower one is stopped within a step; the margin is the way of a
// step at the largest speed, 10 m/s, so that the upper one is stopped in the same step instead of entering that far.
Model sphere_stack100() {
  constexpr double radius = 0.1;
  ModelBuilder b("sphere_stack100", "100 spheres with gaps fall on each other and stay stacked.");
  b.set_defaults({.dt = 0.01, .duration = 5, .integrator = "semi-implicit"});
  b.add_floor();
  const int steel = b.add_material("steel", 0.7, 0, Compliance::soft_hertz(1e11, radius, 1));
  for (int i = 0; i < 100; ++i) {
    const double height = 0.05 * (i + 1) + radius * (2 * i + 1);
    b.add_sphere_body(fmt::format("sphere{:03}", i + 1), 1.0, radius, {Vec3(0, 0, height)}, steel);
    b.geom(i + 1).margin = 0.1;
  }
  return b.build();
}

// A spatula held between two soft pads, a stand-in for the soft-bubble gripper of [S] slip control: 8 degrees of
// freedom (two fingers on slides, the spatula free), pads of 10 x 8 elements of 500 N/m, mu = 1. The grip is a square
// wave of period 6 s: 16 N for 75 % of it, in which the spatula is held although its weight acts 6 cm beside the pads,
// and 1 N, in which it turns and slips. A spring of long travel gives 8.5 N and a sinusoid clamped to +-7.5 N the rest;
// the sinusoid is so large that it changes sign within a step.
Model slip_control() {
  ModelBuilder b("slip_control", "A spatula slips and sticks between two soft pads as the grip changes.");
  b.set_defaults({.dt = 5e-3, .duration = 12, .integrator = "semi-implicit"});
  const int steel = b.add_material("steel", 1);
  const Vec3 plate(0.1, 0.005, 0.03);
  b.add_box_body("spatula", 0.1, plate, {Vec3(0.06, 0, 0.5)}, steel);
  Foundation f;
  f.elements_x = 10;
  f.elements_y = 8;
  f.modulus = 1e5;
  f.depth = 0.005;
  f.damping = 2;
  f.mu = 1;
  const Shape pad = Shape::box(Vec3(0.025, 0.01, 0.02));
  for (const double side : {-1.0, 1.0}) {
    const std::string name = side < 0 ? "right" : "left";
    const Vec3 inwards(0, -side, 0);
    const Vec3 centre(0, side * (plate.y() + pad.size.y()), 0.5);
    const int finger = b.add_body(name + "_finger", 0.3, solid_inertia(pad, 0.3), {centre});
    add_display_geom(b, finger, pad);
    add_foundation(b, name + "_pad", finger, {pad.size.y() * inwards, frame_with_z(inwards)}, 0.025, 0.02, f);
    const int slide =
        b.add_joint_at(name + "_slide", JointType::prismatic, kWorld, finger, centre, frame_with_x(inwards));
    b.dof(slide).stiffness = 8.5;
    b.dof(slide).rest = 1;
    b.dof(slide).damping = 10;
    Drive& drive = b.dof(slide).drive;
    drive.mode = DriveMode::force;
    drive.effort_limit = 7.5;
    drive.target.amplitude = 1e5;
    drive.target.frequency = 1.0 / 6;
    drive.target.phase = -0.25 * kPi;
    drive.target.offset = drive.target.amplitude * std::sin(0.25 * kPi);
  }
  return b.build();
}

}  // namespace sarrus::scenes
