// The four scenarios of the comparison of MLCP solvers [M] (docs/theory/benchmarks.md §3), with its step of 1/60 s,
// friction mu = 1 and regularisation: k = 1e10, b = 1e8 for joints, k = 1e5, b = 1e4 for contacts. The ring is in
// stacks.cpp. Sizes and masses that the paper does not give are choices.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>

#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/scenes/scenes_internal.h"

namespace sarrus::scenes {

int begin_mlcp_scene(ModelBuilder& b) {
  b.set_defaults({.dt = 1.0 / 60.0, .duration = 500.0 / 60.0, .integrator = "semi-implicit"});
  const int grip = b.add_material("grip", 1.0, 0, Compliance::mlcp_unilateral());
  b.set_material_pair(grip, grip, 1.0, 0, Compliance::mlcp_unilateral());
  return grip;
}

namespace {

int add_soft_joint(ModelBuilder& b, std::string name, JointType type, int base, int follower, const Vec3& anchor,
                   const Vec3& axis) {
  const int joint = b.add_joint_at(std::move(name), type, base, follower, anchor, frame_with_x(axis));
  b.joint(joint).compliance = Compliance::mlcp_bilateral();
  return joint;
}

void hold(ModelBuilder& b, int joint, double kp, double kd, const Signal& target = {}) {
  b.dof(joint).drive = {DriveMode::position, kp, kd, kInf, target};
}

// From 0 to `height` in half a period, at rest at both ends: the 500 steps of the run.
Signal smooth_rise(double height) {
  return {.offset = 0.5 * height, .amplitude = 0.5 * height, .frequency = 0.06, .phase = -0.5 * std::numbers::pi};
}

// Barrel and rod between two points with hinges along y at both ends; returns the sliding joint between them.
int add_ram(ModelBuilder& b, const std::string& name, JointType slide, int base, int moved, const Vec3& from,
            const Vec3& to) {
  const Vec3 middle = 0.5 * (from + to);
  const int barrel = add_bar(b, name + "_barrel", 100, from, middle, Vec2(0.08, 0.08), Collides::no);
  const int rod = add_bar(b, name + "_rod", 100, middle, to, Vec2(0.05, 0.05), Collides::no);
  add_soft_joint(b, name + "_foot", JointType::revolute, base, barrel, from, Vec3::UnitY());
  const int joint = add_soft_joint(b, name, slide, barrel, rod, middle, to - from);
  add_soft_joint(b, name + "_head", JointType::revolute, rod, moved, to, Vec3::UnitY());
  return joint;
}

constexpr double kLogRadius = 0.15;  // m, of the inscribed circle
constexpr int kLogSides = 24;        // faces at 7.5 degrees and multiples of 15 degrees from there
double log_corner_radius() { return kLogRadius / std::cos(std::numbers::pi / kLogSides); }

// One jaw: three tines of four plates each, flat on four faces of the log between 37.5 degrees above
// and 52.5 below the horizontal of its side (1: +x, -1: -x), hung on the palm and pushed by a ram of its own.
void add_jaw(ModelBuilder& b, const std::string& name, double side, int palm, const Vec3& log_centre, int material) {
  const auto at = [&](double x, double z) -> Vec3 { return log_centre + Vec3(side * x, 0, z); };
  const Vec3 middle = at(0.2, 0.1);
  const int jaw = b.add_body(name, 100, solid_inertia(Shape::box(Vec3(0.06, 0.3, 0.3)), 100), {middle});
  const Vec3 plate(0.02, 0.04, (kLogRadius + 0.04) * std::tan(radians(12)));
  for (const double y : {-0.25, 0.0, 0.25}) {
    for (const double degrees : {37.5, 7.5, -22.5, -52.5}) {
      const double angle = radians(degrees);
      const Vec3 out(side * std::cos(angle), 0, std::sin(angle));
      const Vec3 centre = log_centre + (kLogRadius + plate.x()) * out + Vec3(0, y, 0);
      const int geom =
          b.add_geom(jaw, Shape::box(plate), {centre - middle, frame_with_xy(out, Vec3::UnitY())}, material);
      b.geom(geom).group = 2;
      b.geom(geom).collides_with = 4;
    }
    add_display_geom(b, jaw, Shape::box(Vec3(0.17, 0.03, 0.02)),
                     {at(0.13, 0.29) + Vec3(0, y, 0) - middle, bar_pose(at(0.1, 0.45), at(0.16, 0.13)).q});
  }
  add_display_geom(b, jaw, Shape::box(Vec3(0.02, 0.28, 0.02)), {at(0.1, 0.45) - middle});
  add_soft_joint(b, name + "_hinge", JointType::revolute, palm, jaw, at(0.1, 0.45), Vec3::UnitY());
  const int ram = add_ram(b, name + "_ram", JointType::cylindrical, palm, jaw, at(0.12, 0.77), at(0.32, 0.47));
  b.dof(ram).drive = {.mode = DriveMode::force, .target = {.offset = 15e3}};
  b.dof(ram).damping = 5e4;
}

}  // namespace

// A crane takes a log of 200 kg (a prism of 24 sides, inscribed radius 0.15 m, 3 m long) from two bearers, lifts it and
// turns it by a quarter about the vertical. 13 bodies of 100 to 500 kg besides the log; 12 hinges, 2 prismatic and 2
// cylindrical joints: 78 rows, of which 7 are redundant. Column, boom with its ram, telescopic stick, hanger, palm and
// two jaws with a ram each; the jaws lie against the log from the beginning and are pressed on by 15 kN per ram, with
// up to 96 contacts. Source: docs/theory/benchmarks.md §3 [M] log grasping.
Model log_grasp() {
  ModelBuilder b("log_grasp", "A crane grasps a log, lifts it and turns it (MLCP benchmark).");
  const int grip = begin_mlcp_scene(b);
  b.add_floor(0, grip);
  const Vec3 shoulder(0, 0, 1), tip(3.2, 0, 1.3), log_centre(3.2, 0, 0.25);
  const Vec3 along = (tip - shoulder).normalized();
  const auto on_boom = [&](double s) -> Vec3 { return shoulder + s * along; };
  const Vec3 wrist = tip - Vec3(0, 0, 0.2);

  const int column = add_bar(b, "column", 500, Vec3::Zero(), shoulder, Vec2(0.3, 0.3), Collides::no);
  const int boom = add_bar(b, "boom", 300, shoulder, on_boom(2.2), Vec2(0.2, 0.2), Collides::no);
  const int stick = add_bar(b, "stick", 150, on_boom(1.5), tip, Vec2(0.12, 0.12), Collides::no);
  const int hanger = add_bar(b, "hanger", 100, tip, wrist, Vec2(0.1, 0.1), Collides::no);
  const int palm = add_bar(b, "palm", 100, wrist, log_centre + Vec3(0, 0, 0.45), Vec2(0.3, 0.2), Collides::no);

  const int slew = add_soft_joint(b, "slew", JointType::revolute, kWorld, column, Vec3::Zero(), Vec3::UnitZ());
  hold(b, slew, 1e7, 1e6, smooth_rise(0.5 * std::numbers::pi));
  add_soft_joint(b, "shoulder", JointType::revolute, column, boom, shoulder, Vec3::UnitY());
  const int lift = add_ram(b, "lift", JointType::prismatic, column, boom, Vec3(0.1, 0, 0.3), on_boom(1.0));
  hold(b, lift, 1e7, 1e6, smooth_rise(0.2));
  const int telescope = add_soft_joint(b, "telescope", JointType::prismatic, boom, stick, on_boom(1.85), along);
  hold(b, telescope, 1e7, 1e6);
  const int pitch = add_soft_joint(b, "pitch", JointType::revolute, stick, hanger, tip, Vec3::UnitY());
  const int roll = add_soft_joint(b, "roll", JointType::revolute, hanger, palm, wrist, Vec3::UnitX());
  for (const int joint : {pitch, roll}) b.dof(joint).damping = 500;
  add_jaw(b, "right_jaw", 1, palm, log_centre, grip);
  add_jaw(b, "left_jaw", -1, palm, log_centre, grip);

  const Shape prism24 = prism(kLogSides, log_corner_radius(), 1.5);
  const Quat along_y = so3_exp(Vec3(0.5 * std::numbers::pi, 0, 0));
  const int log = b.add_body("log", 200, solid_inertia(prism24, 200), {log_centre, along_y});
  b.geom(b.add_geom(log, prism24, {}, grip)).group = 4;
  const double height = 0.5 * (log_centre.z() - log_corner_radius());
  for (const double y : {-1.0, 1.0}) {
    b.add_geom(kWorld, Shape::box(Vec3(0.1, 0.05, height)), {Vec3(3.2, y, height)}, grip);
  }
  return b.build();
}

// A chain of 50 capsules (radius 0.03 m, 0.12 m long over all, 0.3 kg) on spherical joints, hung with one end on a
// driven drum of radius 0.12 m between flanges; at first it lies horizontally in the air, and falls while the drum
// winds it up at 160 turns per minute. Source: docs/theory/benchmarks.md §3 [M] winch, which leaves the sizes open. The
// drum turns by 0.28 rad per step, which opens the joints on it by r (1 - cos 0.28) each time: with r = 0.25 m and
// without damping in the joints they gape by 0.5 m after 36 steps; with 0.12 m and 1 N m s/rad by 11 mm at most in 50
// steps.
Model winch() {
  ModelBuilder b("winch", "A drum at 160 rpm winds up a chain of 50 capsules (MLCP benchmark).");
  const int grip = begin_mlcp_scene(b);
  b.add_floor(0, grip);
  constexpr double kDrumRadius = 0.12, kRadius = 0.03, kLength = 0.12;
  const Vec3 axle(0, 0, 1.5);
  const Quat along_y = so3_exp(Vec3(0.5 * std::numbers::pi, 0, 0));
  const Shape core = Shape::cylinder(kDrumRadius, 0.1);
  const int drum = b.add_body("drum", 100, solid_inertia(core, 100), {axle, along_y});
  b.add_geom(drum, core, {}, grip);
  for (const double z : {-0.12, 0.12})
    b.add_geom(drum, Shape::cylinder(kDrumRadius + 0.25, 0.02), {Vec3(0, 0, z)}, grip);
  const int axis = add_soft_joint(b, "axle", JointType::revolute, kWorld, drum, axle, Vec3::UnitY());
  b.dof(axis).drive = {.mode = DriveMode::velocity, .kd = 1e4, .target = {.offset = -160 * 2 * std::numbers::pi / 60}};

  int previous = drum;
  Vec3 joint = axle + Vec3(0, 0, kDrumRadius + kRadius);
  for (int i = 0; i < 50; ++i) {
    const Pose X_WC{joint + Vec3(0.5 * kLength, 0, 0), so3_exp(Vec3(0, 0.5 * std::numbers::pi, 0))};
    const int link =
        b.add_capsule_body(fmt::format("link{:02}", i + 1), 0.3, kRadius, 0.5 * kLength - kRadius, X_WC, grip);
    const std::string name = fmt::format("joint{:02}", i + 1);
    const int ball = add_soft_joint(b, name, JointType::spherical, previous, link, joint, Vec3::UnitX());
    for (int k = 0; k < 3; ++k) b.dof(ball, k).damping = 1;
    previous = link;
    joint.x() += kLength;
  }
  return b.build();
}

// 30 bricks of 0.4 x 0.2 x 0.1 m, 10 kg: 12 courses of 3 and 2 in turn, half a brick shifted, 1 mm between neighbours;
// the top course of 2 holds down the ends of the one below. 188 contacts. Source: docs/theory/benchmarks.md §3 [M]
// brick wall.
Model brick_wall() {
  ModelBuilder b("brick_wall", "A wall of 30 bricks in 12 courses (MLCP benchmark).");
  const int grip = begin_mlcp_scene(b);
  b.add_floor(0, grip);
  const Vec3 half(0.2, 0.1, 0.05);
  const double pitch = 2 * half.x() + 1e-3;
  for (int course = 0; course < 12; ++course) {
    const int count = course % 2 == 0 ? 3 : 2;
    for (int i = 0; i < count; ++i) {
      const Vec3 centre((i - 0.5 * (count - 1)) * pitch, 0, (2 * course + 1) * half.z());
      const int brick = b.add_body(fmt::format("brick_{:02}_{}", course + 1, i + 1), 10,
                                   solid_inertia(Shape::box(half), 10), {centre});
      b.geom(b.add_geom(brick, Shape::box(half), {}, grip)).margin = 5e-4;  // neighbours do not touch
    }
  }
  return b.build();
}

}  // namespace sarrus::scenes
