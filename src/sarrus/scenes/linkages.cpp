// Planar linkages in the x-z plane with hinges along y. The bars are drawn but do not collide: they share one
// plane, and a real machine would stagger them along y.
#include <cmath>
#include <numbers>

#include "sarrus/scenes/scenes_internal.h"

namespace sarrus::scenes {

// A four-bar of unequal bars that swings under gravity from rest; no drive, no damping.
//
//   ground  A = (0, 0, 1), D = (0.7, 0, 1): the world itself carries the hinges "crank" (A) and "rocker" (D)
//   AB = 0.4 m, 0.8 kg   AB starts 60 degrees from the vertical, on the side away from D (towards -x):
//                        B = A + 0.4 (-sin 60, 0, -cos 60) = (-0.346410, 0, 0.8)
//   BC = 0.8 m, 1.6 kg   C is the lower of the two circle intersections (the linkage hangs below its pivots):
//   DC = 0.6 m, 1.2 kg   C = (0.389614, 0, 0.486521)
//
// Bars are solid boxes of 0.05 x 0.05 m section, 2 kg/m. The linkage is a Grashof crank-rocker
// (0.4 + 0.8 < 0.7 + 0.6), so BC and DC never align and the two assembly branches never meet; from this side
// the crank angle swings between -60 and about +50 degrees and no two neighbouring bars come within 24
// degrees of alignment. Released on the other side, AB and BC come within 13 degrees of their dead point.
// 3 bodies, 4 joints, 20 rows of rank 17 (redundant rows of a planar loop, docs/theory/model.md §8). The tests
// integrate the motion in one coordinate and check that its energy is constant over the whole range.
Model fourbar_swing() {
  ModelBuilder b("fourbar_swing", "Four-bar of unequal bars swinging under gravity, released from rest.");
  b.set_defaults({.dt = 1e-3, .duration = 10});
  const double angle = radians(60);
  FourBarPoints p;
  p.A = Vec3(0, 0, 1);
  p.D = Vec3(0.7, 0, 1);
  p.B = p.A + 0.4 * Vec3(-std::sin(angle), 0, -std::cos(angle));
  const Vec2 c = circle_intersection(Vec2(p.D.x(), p.D.z()), 0.6, Vec2(p.B.x(), p.B.z()), 0.8);
  p.C = Vec3(c.x(), 0, c.y());

  const Vec2 section(0.05, 0.05);
  const double line_density = 2;  // kg/m
  const int crank = add_bar(b, "AB", line_density * 0.4, p.A, p.B, section, Collides::no);
  const int coupler = add_bar(b, "BC", line_density * 0.8, p.B, p.C, section, Collides::no);
  const int rocker = add_bar(b, "DC", line_density * 0.6, p.D, p.C, section, Collides::no);
  add_fourbar_hinges(b, p, kWorld, crank, coupler, rocker);
  return b.build();
}

// Four bars of 0.5 m, 1 kg each: the ground bar is welded to the world 1 m up, the others hang from it as a
// rhombus with the arms 45 degrees from the vertical, released from rest. The swing stays within +-45 degrees
// and so away from the flat pose at 90 degrees, where the rhombus could change to an antiparallelogram.
// 4 bodies, 5 joints, 26 rows of rank 23, as in docs/theory/benchmarks.md §1 Fourbar (fixed).
Model fourbar_parallelogram() {
  ModelBuilder b("fourbar_parallelogram", "Rhombus of four 0.5 m bars swinging from 45 degrees.");
  b.set_defaults({.dt = 1e-3, .duration = 10});
  const double angle = radians(45);
  const Vec3 arm = 0.5 * Vec3(std::sin(angle), 0, -std::cos(angle));
  const Vec3 A(-0.25, 0, 1);
  const Vec3 D(0.25, 0, 1);
  const FourBarPoints p{A, A + arm, D + arm, D};
  const Vec2 section(0.04, 0.04);
  const int ground = add_bar(b, "ground", 1.0, p.A, p.D, section, Collides::no);
  const int crank = add_bar(b, "crank", 1.0, p.A, p.B, section, Collides::no);
  const int coupler = add_bar(b, "coupler", 1.0, p.B, p.C, section, Collides::no);
  const int rocker = add_bar(b, "rocker", 1.0, p.D, p.C, section, Collides::no);
  b.add_joint_at("weld", JointType::fixed, kWorld, ground, Vec3(0, 0, 1));
  add_fourbar_hinges(b, p, ground, crank, coupler, rocker);
  return b.build();
}

// Two bars of 1 m, 1 kg, section 0.05 m, pivot 2.2 m up, both released at rest from the horizontal: chaotic
// motion of known energy, an open chain for comparisons with reduced coordinates.
Model double_pendulum() {
  ModelBuilder b("double_pendulum", "Planar double pendulum of 1 m bars released from the horizontal.");
  b.set_defaults({.dt = 1e-3, .duration = 10});
  const Vec3 pivot(0, 0, 2.2);
  const Vec3 elbow = pivot + Vec3::UnitX();
  const Vec2 section(0.05, 0.05);
  const int upper = add_bar(b, "upper", 1.0, pivot, elbow, section, Collides::no);
  const int lower = add_bar(b, "lower", 1.0, elbow, elbow + Vec3::UnitX(), section, Collides::no);
  b.add_joint_at("shoulder", JointType::revolute, kWorld, upper, pivot, hinge_y());
  b.add_joint_at("elbow", JointType::revolute, upper, lower, elbow, hinge_y());
  return b.build();
}

// Crank of 0.1 m (0.5 kg), rod of 0.3 m (0.5 kg) and a slider of 1 kg on a rail along x at the height of the
// crank's axis; a velocity drive turns the crank at one turn per second. Three revolutes and a prismatic
// joint close one loop: 20 rows of rank 17. The slider follows x = r cos a + sqrt(l^2 - r^2 sin^2 a), with a
// starting at 90 degrees so that the first step is not at a dead point.
Model slider_crank() {
  ModelBuilder b("slider_crank", "Slider-crank driven at one turn per second.");
  const double r = 0.1;
  const double l = 0.3;
  const double z = 0.5;
  const Vec3 axis(0, 0, z);
  const Vec3 pin(0, 0, z + r);
  const Vec3 wrist(std::sqrt(l * l - r * r), 0, z);
  const Vec2 section(0.02, 0.02);
  const int crank = add_bar(b, "crank", 0.5, axis, pin, section, Collides::no);
  const int rod = add_bar(b, "rod", 0.5, pin, wrist, section, Collides::no);
  const Shape block = Shape::box(Vec3(0.05, 0.04, 0.04));
  const int slider = b.add_body("slider", 1.0, solid_inertia(block, 1.0), {wrist});
  add_display_geom(b, slider, block);

  Drive& drive = b.dof(b.add_joint_at("crank", JointType::revolute, kWorld, crank, axis, hinge_y())).drive;
  drive.mode = DriveMode::velocity;
  drive.kd = 20;
  drive.effort_limit = 50;
  drive.target.offset = 2 * std::numbers::pi;
  b.add_joint_at("pin", JointType::revolute, crank, rod, pin, hinge_y());
  b.add_joint_at("wrist", JointType::revolute, rod, slider, wrist, hinge_y());
  b.add_joint_at("rail", JointType::prismatic, kWorld, slider, wrist);
  return b.build();
}

}  // namespace sarrus::scenes
