// Robots of plain design: an arm and a quadruped with the counts of docs/theory/benchmarks.md §1, a delta robot and a
// quadruped with closed legs.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

#include "sarrus/math/so3.h"
#include "sarrus/scenes/scenes_internal.h"

namespace sarrus::scenes {
namespace {

// A servo that starts at the reference pose: amplitude (sin(2 pi frequency t + phase) - sin(phase)); k_d = 0.1 k_p.
void drive_sinusoid(ModelBuilder& b, int joint, double kp, double amplitude, double frequency, double phase) {
  Drive& drive = b.dof(joint).drive;
  drive.mode = DriveMode::position;
  drive.kp = kp;
  drive.kd = 0.1 * kp;
  drive.target.amplitude = amplitude;
  drive.target.frequency = frequency;
  drive.target.phase = phase;
  drive.target.offset = -amplitude * std::sin(phase);
}

}  // namespace

// An arm of seven links on a welded base, like a KUKA LBR: axes alternate between twist (along the arm) and bend (y),
// lengths 0.15 to 0.4 m, masses geometric from 10 kg (base) to 10/19.54 kg (flange). 8 bodies, 7 R and the weld: 41
// rows of full rank, mobility 7, all driven by sinusoids of 0.3 rad. Source: docs/theory/benchmarks.md §1, Arm7D.
Model arm7d() {
  constexpr double ratio = 19.54;
  ModelBuilder b("arm7d", "Arm of seven driven hinges on a welded base.");
  b.add_floor();
  const Vec2 section(0.1, 0.1);
  const std::array<double, 7> length = {0.2, 0.2, 0.4, 0.2, 0.3, 0.18, 0.15};
  const std::array<double, 7> lean = {0, 30, 30, 100, 100, 160, 160};  // degrees from the vertical
  const Vec3 first(0, 0, 0.2);
  int parent = add_bar(b, "base", 10.0, Vec3::Zero(), first, Vec2(0.2, 0.2), Collides::yes);
  b.add_joint_at("weld", JointType::fixed, kWorld, parent, Vec3::Zero());
  Vec3 tip = first;
  for (std::size_t i = 0; i < length.size(); ++i) {
    const double angle = radians(lean[i]);
    const Vec3 along(std::sin(angle), 0, std::cos(angle));
    const double mass = i + 1 == length.size() ? 10.0 / ratio : 10.0 * std::pow(ratio, -static_cast<double>(i + 1) / 7);
    const int link =
        add_bar(b, fmt::format("link{}", i + 1), mass, tip, tip + length[i] * along, section, Collides::yes);
    const int hinge = b.add_joint_at(fmt::format("joint{}", i + 1), JointType::revolute, parent, link, tip,
                                     i % 2 == 0 ? frame_with_x(along) : hinge_y());
    drive_sinusoid(b, hinge, 2000 * std::pow(0.5, static_cast<double>(i)), 0.3, 0.5, 0.9 * static_cast<double>(i));
    if (i == 1) b.exclude(0, link);
    parent = link;
    tip += length[i] * along;
  }
  return b.build();
}

// A base of 20 kg on four legs of three hinges (roll, pitch, pitch) with spherical feet: 13 bodies, 12 R, 60 rows of
// full rank, mobility 18, 12 driven; the shanks have 20/29.07 kg. It trots on the spot at 1 Hz: diagonal legs bend
// together. Source: docs/theory/benchmarks.md §1, Quadruped.
Model quadruped() {
  ModelBuilder b("quadruped", "Quadruped of twelve driven hinges trotting on the spot.");
  b.add_floor();
  const double foot = 0.02;
  const double bend = radians(35);
  const double thigh_length = 0.22;
  const double hip_height = 2 * thigh_length * std::cos(bend) + foot;
  const Vec3 half(0.3, 0.1, 0.06);
  const int base = b.add_box_body("base", 20.0, half, {Vec3(0, 0, hip_height)});
  const double light = 20.0 / 29.07;
  for (const double front : {1.0, -1.0}) {
    for (const double left : {1.0, -1.0}) {
      const std::string leg = fmt::format("{}_{}", front > 0 ? "front" : "rear", left > 0 ? "left" : "right");
      const Vec3 shoulder(front * 0.24, left * half.y(), hip_height);
      const Vec3 hip = shoulder + Vec3(0, left * 0.08, 0);
      const Vec3 knee = hip + thigh_length * Vec3(-std::sin(bend), 0, -std::cos(bend));
      const Vec3 ankle = knee + thigh_length * Vec3(std::sin(bend), 0, -std::cos(bend));
      const int side = add_bar(b, leg + "_hip", 1.5, shoulder, hip, Vec2(0.06, 0.06), Collides::yes, Vec3::UnitX());
      const int thigh = add_bar(b, leg + "_thigh", 1.2, hip, knee, Vec2(0.04, 0.04), Collides::yes);
      const int shank = add_bar(b, leg + "_shank", light, knee, ankle, Vec2(0.025, 0.025), Collides::yes);
      b.add_geom(shank, Shape::sphere(foot), {Vec3(0.5 * thigh_length, 0, 0)}, 0, leg + "_foot");
      b.exclude(base, thigh);
      b.exclude(side, shank);
      const int roll = b.add_joint_at(leg + "_roll", JointType::revolute, base, side, shoulder);
      const int pitch = b.add_joint_at(leg + "_pitch", JointType::revolute, side, thigh, hip, hinge_y());
      const int knee_hinge = b.add_joint_at(leg + "_knee", JointType::revolute, thigh, shank, knee, hinge_y());
      const double phase = front * left > 0 ? 0 : kPi;
      drive_sinusoid(b, roll, 400, 0.02, 1, phase);
      drive_sinusoid(b, pitch, 400, 0.15, 1, phase);
      drive_sinusoid(b, knee_hinge, 400, -0.3, 1, phase);
    }
  }
  return b.build();
}

// A delta robot: three driven arms, each with two parallel rods to the platform, so that the platform moves without
// turning. The rods have a universal joint at the arm and a spherical one at the platform: none can spin about itself.
// A cube of 0.5 kg stands on the platform, held by friction only. 11 bodies, 3 R + 6 U + 6 S: 57 rows of full rank,
// mobility 3 and 6 for the cube. The platform goes round in a circle, 0.5 Hz.
Model delta_robot() {
  ModelBuilder b("delta_robot", "Delta robot of three driven arms and six rods carrying a cube.");
  const double base_radius = 0.15, arm_length = 0.2, rod_length = 0.45, platform_radius = 0.06;
  const double height = 0.8;
  const double droop = radians(20);  // of the arms, below the horizontal
  const double elbow_radius = base_radius + arm_length * std::cos(droop);
  const double elbow_height = height - arm_length * std::sin(droop);
  const double reach = elbow_radius - platform_radius;
  const double platform_height = elbow_height - std::sqrt(rod_length * rod_length - reach * reach);
  b.add_floor();
  const Vec3 half(0.08, 0.08, 0.01);
  const int platform = b.add_box_body("platform", 1.0, half, {Vec3(0, 0, platform_height)});
  b.add_box_body("load", 0.5, Vec3::Constant(0.03), {Vec3(0, 0, platform_height + half.z() + 0.03)});
  add_display_geom(b, kWorld, Shape::box(Vec3(base_radius, base_radius, 0.01)), {Vec3(0, 0, height + 0.03)});
  for (int i = 0; i < 3; ++i) {
    const double angle = 2 * kPi * i / 3;
    const Vec3 out(std::cos(angle), std::sin(angle), 0);
    const Vec3 tangent = Vec3::UnitZ().cross(out);
    const Vec3 shoulder = base_radius * out + Vec3(0, 0, height);
    const Vec3 elbow = elbow_radius * out + Vec3(0, 0, elbow_height);
    const Vec3 wrist = platform_radius * out + Vec3(0, 0, platform_height);
    const std::string arm = fmt::format("arm{}", i + 1);
    const int upper = add_bar(b, arm, 0.4, shoulder, elbow, Vec2(0.03, 0.03), Collides::no, tangent);
    const int hinge = b.add_joint_at(arm, JointType::revolute, kWorld, upper, shoulder, frame_with_x(tangent));
    drive_sinusoid(b, hinge, 200, 0.25, 0.5, angle);
    for (const double side : {-1.0, 1.0}) {
      const std::string rod_name = fmt::format("{}_rod_{}", arm, side < 0 ? "a" : "b");
      const Vec3 shift = 0.04 * side * tangent;
      const Vec3 along = (wrist - elbow).normalized();
      const int rod =
          add_bar(b, rod_name, 0.1, elbow + shift, wrist + shift, Vec2(0.015, 0.015), Collides::no, tangent);
      b.add_joint_at(rod_name + "_elbow", JointType::universal, upper, rod, elbow + shift,
                     frame_with_xy(tangent, along.cross(tangent)));
      b.add_joint_at(rod_name + "_wrist", JointType::spherical, rod, platform, wrist + shift);
    }
  }
  return b.build();
}

// A quadruped whose legs are five-bars, like Minitaur: two driven hinges on the body, 0.06 m apart, turn the upper
// links (0.1 m) forwards and backwards, two lower links (0.2 m) meet in a hinge at the toe. 17 bodies, 20 R: 100 rows
// of rank 88, mobility 14 (6 and two per leg), 8 driven. It trots on the spot: diagonal legs shorten together.
Model fivebar_leg() {
  ModelBuilder b("fivebar_leg", "Quadruped with four five-bar legs trotting on the spot.");
  b.add_floor();
  const double foot = 0.015, upper_length = 0.1, lower_length = 0.2, half_gap = 0.03;
  const double droop = radians(30);
  const double knee_x = half_gap + upper_length * std::cos(droop);
  const double knee_drop = upper_length * std::sin(droop);
  const double toe_drop = knee_drop + std::sqrt(lower_length * lower_length - knee_x * knee_x);
  const double hip_height = toe_drop + foot;
  const int body = b.add_box_body("body", 4.0, Vec3(0.22, 0.1, 0.03), {Vec3(0, 0, hip_height)});
  const Vec2 section(0.02, 0.015);
  for (const double front : {1.0, -1.0}) {
    for (const double left : {1.0, -1.0}) {
      const std::string leg = fmt::format("{}_{}", front > 0 ? "front" : "rear", left > 0 ? "left" : "right");
      const Vec3 centre(0.16 * front, 0.13 * left, hip_height);
      const Vec3 toe = centre - Vec3(0, 0, toe_drop);
      std::array<int, 2> lower{};
      for (const double way : {1.0, -1.0}) {
        const std::string name = fmt::format("{}_{}", leg, way > 0 ? "fore" : "aft");
        const Vec3 hip = centre + Vec3(way * half_gap, 0, 0);
        const Vec3 knee = centre + Vec3(way * knee_x, 0, -knee_drop);
        const int upper = add_bar(b, name + "_upper", 0.15, hip, knee, section, Collides::no);
        const int shank = add_bar(b, name + "_lower", 0.1, knee, toe, section, Collides::no);
        const int hinge = b.add_joint_at(name + "_hip", JointType::revolute, body, upper, hip, hinge_y());
        b.add_joint_at(name + "_knee", JointType::revolute, upper, shank, knee, hinge_y());
        drive_sinusoid(b, hinge, 60, -way * 0.25, 1.5, front * left > 0 ? 0 : kPi);
        lower[way > 0 ? 0 : 1] = shank;
      }
      b.add_joint_at(leg + "_toe", JointType::revolute, lower[0], lower[1], toe, hinge_y());
      b.add_geom(lower[0], Shape::sphere(foot), {Vec3(0.5 * lower_length, 0, 0)}, 0, leg + "_foot");
    }
  }
  return b.build();
}

}  // namespace sarrus::scenes
