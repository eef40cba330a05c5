// Small scenes: the primitives of docs/theory/benchmarks.md §1 and two single rigid bodies with known motions.
#include <cmath>

#include "sarrus/math/so3.h"
#include "sarrus/scenes/scenes_internal.h"

namespace sarrus::scenes {
namespace {

constexpr double kDropHeight = 0.05;  // m, clearance of the dropped primitives

Vec3 cube_half_extents() { return Vec3::Constant(0.1); }

}  // namespace

// A 0.2 m cube of 1 kg, bottom face 5 cm above the floor, mu = 0.7. Four coplanar contacts: 12 contact rows
// of rank 6. Source: docs/theory/benchmarks.md §1, Box-on-Plane.
Model box_on_plane() {
  ModelBuilder b("box_on_plane", "A 0.2 m cube of 1 kg dropped from 5 cm onto a floor, mu = 0.7.");
  b.add_floor();
  b.add_box_body("box", 1.0, cube_half_extents(), {Vec3(0, 0, 0.1 + kDropHeight)});
  return b.build();
}

// Two 0.2 m cubes, 1 kg below and 1000 kg above, welded at their common face. The light cube carries the
// heavy one: the weld and the contacts see a mass ratio of 1000. Source: docs/theory/benchmarks.md §1, Boxes-Fixed.
Model boxes_fixed() {
  ModelBuilder b("boxes_fixed", "Cubes of 1 kg (bottom) and 1000 kg (top) welded together, dropped on a floor.");
  b.add_floor();
  const int bottom = b.add_box_body("bottom", 1.0, cube_half_extents(), {Vec3(0, 0, 0.1 + kDropHeight)});
  const int top = b.add_box_body("top", 1000.0, cube_half_extents(), {Vec3(0, 0, 0.3 + kDropHeight)});
  b.add_joint_at("weld", JointType::fixed, bottom, top, Vec3(0, 0, 0.2 + kDropHeight));
  return b.build();
}

// Two bars of 0.5 x 0.1 x 0.1 m and a ball of radius 0.05 m between them, 1 kg each, one spherical joint
// where each bar's end face touches the ball. The straight chain is tilted by 10 degrees about y so that one
// end lands first. Source: docs/theory/benchmarks.md §1, Nunchuk.
Model nunchuk() {
  ModelBuilder b("nunchuk", "Two bars joined to a ball by spherical joints, dropped on a floor, tilted by 10 degrees.");
  b.add_floor();
  const double tilt = radians(10);
  const double lowest = 0.55 * std::sin(tilt) + 0.05 * std::cos(tilt);  // lower edge of the low end, below the ball
  const Pose X_WN{Vec3(0, 0, lowest + kDropHeight), so3_exp(Vec3(0, tilt, 0))};
  const Vec3 half(0.25, 0.05, 0.05);
  const int left = b.add_box_body("left", 1.0, half, X_WN * Pose{Vec3(-0.3, 0, 0)});
  const int ball = b.add_sphere_body("ball", 1.0, 0.05, X_WN);
  const int right = b.add_box_body("right", 1.0, half, X_WN * Pose{Vec3(0.3, 0, 0)});
  b.add_joint_at("left_ball", JointType::spherical, left, ball, X_WN * Vec3(-0.05, 0, 0), X_WN.q);
  b.add_joint_at("ball_right", JointType::spherical, ball, right, X_WN * Vec3(0.05, 0, 0), X_WN.q);
  return b.build();
}

namespace {

// A square of four bars 0.1 x 0.01 x 0.01 m, 1 kg each, in the plane y = 0; the base bar lies on z = 0. The
// hinge between base and crank follows 0.5 sin(2 pi 0.5 t) rad. Bars that share a hinge do not collide; the
// opposite ones are excluded because a square this small would jam when it shears.
Model small_fourbar(const std::string& name, const std::string& description, bool welded) {
  ModelBuilder b(name, description);
  const double z = 0.005;
  const double s = 0.05;
  const FourBarPoints p{Vec3(-s, 0, z), Vec3(-s, 0, z + 2 * s), Vec3(s, 0, z + 2 * s), Vec3(s, 0, z)};
  const Vec2 section(0.01, 0.01);
  const int base = add_bar(b, "base", 1.0, p.A, p.D, section, Collides::yes);
  const int crank = add_bar(b, "crank", 1.0, p.A, p.B, section, Collides::yes);
  const int coupler = add_bar(b, "coupler", 1.0, p.B, p.C, section, Collides::yes);
  const int rocker = add_bar(b, "rocker", 1.0, p.D, p.C, section, Collides::yes);
  if (welded) {
    b.add_joint_at("weld", JointType::fixed, kWorld, base, Vec3(0, 0, z));
  } else {
    b.add_floor();
  }
  Drive& drive = b.dof(add_fourbar_hinges(b, p, base, crank, coupler, rocker)).drive;
  drive.mode = DriveMode::position;
  drive.kp = 20;
  drive.kd = 0.5;
  drive.target.amplitude = 0.5;
  drive.target.frequency = 0.5;
  b.exclude(base, coupler);
  b.exclude(crank, rocker);
  return b.build();
}

}  // namespace

// 4 bodies, 5 joints, 26 joint rows of rank 23: the smallest overconstrained closed loop of the suite.
// Source: docs/theory/benchmarks.md §1, Fourbar (fixed).
Model fourbar_fixed() {
  return small_fourbar("fourbar_fixed", "Driven square four-bar, its base welded to the world.", true);
}

// The same four-bar standing on its base bar on a floor: 4 joints, 20 rows of rank 17, plus contacts.
// Source: docs/theory/benchmarks.md §1, Fourbar (free).
Model fourbar_free() {
  return small_fourbar("fourbar_free", "Driven square four-bar standing free on a floor.", false);
}

// A solid box of 0.2 x 0.12 x 0.04 m, 1 kg, without gravity, spinning at 6 rad/s about its middle axis (body
// y) with 0.1 % about the other two. The spin is unstable: the body flips over again and again while energy
// and angular momentum stay constant (Dzhanibekov effect; Euler's equations, docs/theory/model.md §1).
Model free_body() {
  ModelBuilder b("free_body", "Free box spinning about its middle axis without gravity: the Dzhanibekov effect.");
  b.set_gravity(Vec3::Zero());
  b.set_defaults({.dt = 1e-3, .duration = 20});
  const int box = b.add_box_body("box", 1.0, Vec3(0.1, 0.06, 0.02), {Vec3(0, 0, 1)});
  b.set_velocity(box, Vec3::Zero(), 6.0 * Vec3(1e-3, 1, 1e-3));
  return b.build();
}

// A disc of 0.5 kg, radius 0.06 m, 0.02 m thick, centre 0.06 m from the tip, which a spherical joint holds at
// the origin; the axis leans by 30 degrees. With axial spin w3 = 100 rad/s the slow root W of
//   I1 cos(lean) W^2 - I3 w3 W + m g l = 0          (I1 about the tip)
// is the rate of steady precession; the initial twist is exactly that motion, so the lean stays constant and
// any drift of it is numerical. The step is short because the nutation frequency is about I3 w3 / I1 = 40 rad/s.
Model spinning_top() {
  ModelBuilder b("spinning_top", "Symmetric top on a spherical joint, started in exact steady precession.");
  b.set_defaults({.dt = 2e-4, .duration = 5});
  const double gravity = 9.81;
  b.set_gravity(Vec3(0, 0, -gravity));
  const double mass = 0.5;
  const double radius = 0.06;
  const double thickness = 0.02;
  const double arm = 0.06;
  const double spin = 100;
  const double lean = radians(30);
  const double axial = 0.5 * mass * radius * radius;
  const double across = mass * (3 * radius * radius + thickness * thickness) / 12;

  const double i1_cos = (across + mass * arm * arm) * std::cos(lean);
  const double weight_arm = mass * gravity * arm;
  const double i3w3 = axial * spin;
  const double precession = 2 * weight_arm / (i3w3 + std::sqrt(i3w3 * i3w3 - 4 * i1_cos * weight_arm));

  const Quat q = so3_exp(Vec3(0, lean, 0));
  const Vec3 axis = q * Vec3::UnitZ();
  const Vec3 w = precession * Vec3::UnitZ() + (spin - precession * std::cos(lean)) * axis;
  const int top = b.add_body("top", mass, Vec3(across, across, axial).asDiagonal(), {arm * axis, q});
  b.set_velocity(top, w.cross(arm * axis), w);
  b.add_joint_at("tip", JointType::spherical, kWorld, top, Vec3::Zero(), q);

  // There is no cylinder shape: two square plates at 45 degrees draw the disc, a capsule the stem.
  const double side = radius / std::sqrt(2.0);
  for (const double turn : {0.0, 45.0}) {
    add_display_geom(b, top, Shape::box(Vec3(side, side, 0.5 * thickness)),
                     {Vec3::Zero(), so3_exp(Vec3(0, 0, radians(turn)))});
  }
  add_display_geom(b, top, Shape::capsule(0.004, arm), {});
  return b.build();
}

}  // namespace sarrus::scenes
