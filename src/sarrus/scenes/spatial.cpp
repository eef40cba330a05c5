// Spatial closed loops: overconstrained linkages that move only because of their special geometry, and a
// parallel robot. Nothing collides here; the bars and plates are drawn only.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "sarrus/math/so3.h"
#include "sarrus/scenes/scenes_internal.h"

namespace sarrus::scenes {

// Bennett's linkage: four revolutes at the corners of a skew quadrilateral whose sides a, b, a, b are the
// common normals of neighbouring axes, with twists alpha, beta, alpha, beta and
//   a / sin(alpha) = b / sin(beta)
//   tan(t1 / 2) tan(t2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2),   t3 = -t1,   t4 = -t2
// for the joint angles t. a = 0.3 m, alpha = 40 degrees, beta = 75 degrees; the last side is the world, the
// other three are bars of 1 kg. Hinge 1 is horizontal (along y). Released from rest at t1 = -30 degrees it
// swings through about 255 degrees of t1 and back; there is no singular pose on the way, the stretched ones
// (t1 = 0, 180) included. Gruebler's count gives 6*3 - 5*4 = -2, yet the mobility is 1: 20 rows of rank 17,
// redundant although no two axes are parallel. A solver must accept it (docs/theory/model.md §8).
Model bennett_linkage() {
  ModelBuilder b("bennett_linkage", "Bennett's skew four-hinge loop swinging under gravity; mobility 1, Gruebler -2.");
  b.set_defaults({.dt = 1e-3, .duration = 10});
  const double alpha = radians(40);
  const double beta = radians(75);
  const double side_a = 0.3;
  const double side_b = side_a * std::sin(beta) / std::sin(alpha);
  const double t1 = radians(-30);
  const double t2 = 2 * std::atan(std::sin(0.5 * (beta + alpha)) / std::sin(0.5 * (beta - alpha)) / std::tan(0.5 * t1));
  const std::array<double, 3> angle = {t1, t2, -t1};
  const std::array<double, 3> length = {side_a, side_b, side_a};
  const std::array<double, 3> twist = {alpha, beta, alpha};

  // Hinge frames, axis along z: the next one is reached by a turn about z, a step along x and a turn about x.
  std::array<Pose, 4> hinge;
  hinge[0] = {Vec3(0, 0, 1), so3_exp(Vec3(-0.5 * std::numbers::pi, 0, 0))};
  for (std::size_t i = 0; i < 3; ++i) {
    const Quat turn = so3_exp(Vec3(0, 0, angle[i]));
    hinge[i + 1] = hinge[i] * Pose{turn * Vec3(length[i], 0, 0), turn * so3_exp(Vec3(twist[i], 0, 0))};
  }

  const Vec2 section(0.03, 0.03);
  std::array<int, 3> link{};
  for (std::size_t i = 0; i < 3; ++i) {
    link[i] = add_bar(b, fmt::format("link{}", i + 1), 1.0, hinge[i].p, hinge[i + 1].p, section, Collides::no,
                      hinge[i].q * Vec3::UnitZ());
  }
  const Shape ground = Shape::box(0.5 * Vec3(side_b, section[0], section[1]));
  add_display_geom(b, kWorld, ground, bar_pose(hinge[3].p, hinge[0].p, hinge[0].q * Vec3::UnitZ()));

  const std::array<int, 4> base = {kWorld, link[0], link[1], kWorld};
  const std::array<int, 4> follower = {link[0], link[1], link[2], link[2]};
  for (std::size_t i = 0; i < 4; ++i) {
    b.add_joint_at(fmt::format("hinge{}", i + 1), JointType::revolute, base[i], follower[i], hinge[i].p,
                   frame_with_x(hinge[i].q * Vec3::UnitZ()));
  }
  return b.build();
}

// Sarrus' linkage, after which this project is named: a platform on two legs of two hinged plates each. The
// three hinges of a leg are parallel; the legs fold in the vertical planes x-z and y-z, so the platform can
// only move straight up and down, without any sliding joint. Platforms 0.4 x 0.4 x 0.02 m, plates 0.25 m
// long; the plates start 60 degrees from the horizontal and the 2 kg top falls until a limit on the first
// hinge stops it at 10 degrees. 6 bodies, 7 joints, 36 rows of rank 35: Gruebler says 0, the mobility is 1.
Model sarrus_linkage() {
  ModelBuilder b("sarrus_linkage", "A platform guided along a vertical line by two pairs of hinged plates.");
  b.set_defaults({.dt = 1e-3, .duration = 3});
  const double half_width = 0.2;
  const double plate = 0.25;
  const double start = radians(60);
  const double stop = radians(10);
  const double low = 0.02;  // height of the lower hinges, the top face of the base
  const double high = low + 2 * plate * std::sin(start);

  const Shape platform = Shape::box(Vec3(half_width, half_width, 0.01));
  const int base = b.add_body("base", 2.0, solid_inertia(platform, 2.0), {Vec3(0, 0, low - 0.01)});
  const int top = b.add_body("top", 2.0, solid_inertia(platform, 2.0), {Vec3(0, 0, high + 0.01)});
  add_display_geom(b, base, platform);
  add_display_geom(b, top, platform);
  b.add_joint_at("weld", JointType::fixed, kWorld, base, Vec3::Zero());

  const std::array<Vec3, 2> outward = {Vec3::UnitX(), Vec3::UnitY()};
  for (std::size_t i = 0; i < 2; ++i) {
    const Vec3& o = outward[i];
    const Vec3 axis = Vec3::UnitZ().cross(o);  // positive angles fold the lower plate down and outwards
    const Quat axes = frame_with_x(axis);
    const Vec3 foot = half_width * o + low * Vec3::UnitZ();
    const Vec3 knee = foot + plate * (std::cos(start) * o + std::sin(start) * Vec3::UnitZ());
    const Vec3 head = half_width * o + high * Vec3::UnitZ();
    const std::string leg = i == 0 ? "x" : "y";
    const Vec2 section(0.2, 0.01);
    const int lower = add_bar(b, leg + "_lower", 0.3, foot, knee, section, Collides::no, axis);
    const int upper = add_bar(b, leg + "_upper", 0.3, knee, head, section, Collides::no, axis);
    const int foot_hinge = b.add_joint_at(leg + "_foot", JointType::revolute, base, lower, foot, axes);
    b.add_joint_at(leg + "_knee", JointType::revolute, lower, upper, knee, axes);
    b.add_joint_at(leg + "_head", JointType::revolute, upper, top, head, axes);
    if (i == 0) b.dof(foot_hinge).limit.upper = start - stop;
  }
  return b.build();
}

// Stewart platform: 6 legs, each a universal joint on the world, a prismatic joint and a spherical joint at
// the platform (UPS). Base points on a circle of 0.5 m in pairs 20 degrees apart, platform points on a circle
// of 0.3 m, 0.6 m higher, in pairs 20 degrees apart and turned by 60 degrees. Platform 5 kg, leg halves
// 0.5 kg. 13 bodies, 18 joints, 72 rows of full rank: mobility 6, all six prismatic joints under position
// control. Their targets are sinusoids of 0.04 m, 0.5 Hz, 60 degrees apart, shifted to start at zero; the
// platform's tilt goes round once per period.
Model stewart_platform() {
  ModelBuilder b("stewart_platform", "Platform on six universal-prismatic-spherical legs with position servos.");
  b.set_defaults({.dt = 1e-3, .duration = 10});
  const double height = 0.6;
  const double ground = 0.1;
  const Shape plate = Shape::box(Vec3(0.25, 0.25, 0.02));
  const int platform = b.add_body("platform", 5.0, solid_inertia(plate, 5.0), {Vec3(0, 0, ground + height)});
  add_display_geom(b, platform, plate);

  const auto on_circle = [](double radius, double degrees, double z) {
    return Vec3(radius * std::cos(radians(degrees)), radius * std::sin(radians(degrees)), z);
  };
  for (int i = 0; i < 6; ++i) {
    // Leg i joins the base pair at 120 ceil(i/2) degrees to the platform pair at 60 + 120 floor(i/2) degrees.
    const bool even = i % 2 == 0;
    const Vec3 foot = on_circle(0.5, 120.0 * ((i + 1) / 2) + (even ? 10 : -10), ground);
    const Vec3 head = on_circle(0.3, 60.0 + 120.0 * (i / 2) + (even ? -10 : 10), ground + height);
    const Vec3 along = (head - foot).normalized();
    const Vec3 across = Vec3::UnitZ().cross(along).normalized();
    const double length = (head - foot).norm();
    const std::string leg = fmt::format("leg{}", i + 1);
    const int cylinder =
        add_bar(b, leg + "_cylinder", 0.5, foot, foot + 0.6 * length * along, Vec2(0.04, 0.04), Collides::no, across);
    const int rod =
        add_bar(b, leg + "_rod", 0.5, head - 0.6 * length * along, head, Vec2(0.02, 0.02), Collides::no, across);

    b.add_joint_at(leg + "_universal", JointType::universal, kWorld, cylinder, foot,
                   frame_with_xy(across, along.cross(across)));
    const int slide = b.add_joint_at(leg, JointType::prismatic, cylinder, rod, foot + 0.5 * length * along,
                                     frame_with_xy(along, across));
    Drive& drive = b.dof(slide).drive;
    drive.mode = DriveMode::position;
    drive.kp = 2e4;
    drive.kd = 5e2;
    drive.effort_limit = 2e3;
    drive.target.amplitude = 0.04;
    drive.target.frequency = 0.5;
    drive.target.phase = radians(60.0 * i);
    drive.target.offset = -drive.target.amplitude * std::sin(drive.target.phase);
    b.add_joint_at(leg + "_spherical", JointType::spherical, rod, platform, head);
  }
  return b.build();
}

}  // namespace sarrus::scenes
