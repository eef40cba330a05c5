#include "sarrus/scenes/random_extras.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/so3.h"

namespace sarrus {
namespace {

constexpr double kExtraGravity = 9.81;

void mark(RandomWorld& world, WorldFeature f) { world.has[static_cast<std::size_t>(f)] = true; }

// A closed mesh.
Shape mesh_around(const std::vector<Vec3>& points) {
  const auto hull = ConvexHull::build(points, "random mesh");
  return Shape::triangles(TriangleMesh::build(hull->vertices(), hull->triangles(), "random mesh"));
}

std::vector<Vec3> box_corners(const Vec3& half) {
  std::vector<Vec3> x;
  for (int i = 0; i < 8; ++i) {
    x.emplace_back((i & 1) != 0 ? half.x() : -half.x(), (i & 2) != 0 ? half.y() : -half.y(),
                   (i & 4) != 0 ? half.z() : -half.z());
  }
  return x;
}

bool is_angular(const Joint& joint, int k) { return joint_type_info(joint.type).angular[k]; }

double mass_of(const ModelBuilder& b, const Joint& joint) {
  return b.data().bodies[static_cast<std::size_t>(joint.follower == kWorld ? joint.base : joint.follower)].mass;
}

}  // namespace

RandomExtras::RandomExtras(std::uint64_t seed) : r_(seed ^ 0x5ca1ab1e0ddba11u) {}

double RandomExtras::speed_factor(RandomWorld& world) {
  driven_ = r_.chance(0.4);
  soft_joints_ = r_.chance(0.15);
  if (!r_.chance(0.15)) return 1;
  mark(world, WorldFeature::fast);
  return r_.uniform(2, 10);
}

Shape RandomExtras::shape(const Shape& usual, double length, RandomWorld& world) {
  const int kind = r_.below(8);
  if (kind > 1) return usual;
  mark(world, WorldFeature::odd_shapes);
  if (kind == 0) {
    std::vector<Vec3> x;
    for (int i = 0; i < 12; ++i) x.push_back(0.35 * length * r_.direction());
    return mesh_around(x);
  }
  const double side = length * r_.uniform(0.03, 0.1);
  return Shape::compound({{Shape::box(Vec3(0.3 * length, side, side)), {}},
                          {Shape::sphere(1.5 * side), {Vec3(0.2 * length, 0, side)}},
                          {Shape::capsule(side, 0.15 * length), {Vec3(-0.2 * length, 0, 0.1 * length)}}});
}

JointType RandomExtras::joint_type(JointType usual) {
  if (!r_.chance(0.2)) return usual;
  return r_.chance(0.5) ? JointType::gimbal : JointType::fixed;
}

void RandomExtras::shape_ground(ModelBuilder& b, int geom, RandomWorld& world) {
  const double L = world.length;
  Geom& ground = b.geom(geom);
  const int kind = r_.below(8);
  if (kind > 2) return;
  mark(world, WorldFeature::terrain);
  if (kind == 2) {
    constexpr int kSide = 24;
    std::vector<double> heights;
    for (int i = 0; i < kSide * kSide; ++i) heights.push_back(-r_.uniform(0, 0.2) * L);
    ground.shape = Shape::terrain(HeightField::build(kSide, kSide, 1.5 * L, 1.5 * L, heights, "random terrain"));
    return;
  }
  const Vec3 half(20 * L, 20 * L, 2 * L);
  ground.shape = kind == 0 ? Shape::box(half) : mesh_around(box_corners(half));
  ground.X_BG.p.z() -= half.z();
}

void RandomExtras::add(ModelBuilder& b, RandomWorld& world) {
  soften(b, world);
  close_loops(b, world);
  const int joints = static_cast<int>(b.data().joints.size());
  for (int j = 0; j < joints; ++j) furnish_joint(b, world, j);
  couple(b, world);
  overlap(b, world);
  speed_up(b, world);
  choose_laws(b, world);
}

RandomExtras::Scale RandomExtras::scale_of(const ModelBuilder& b, const RandomWorld& world, const Joint& joint,
                                           int k) const {
  Scale s;
  s.mass = mass_of(b, joint);
  s.way = is_angular(joint, k) ? 1 : world.length;
  s.force = s.mass * kExtraGravity * world.length / s.way;
  s.time = std::sqrt(world.length / kExtraGravity);
  return s;
}

// Gives way by 1e-5 to 1e-1 of the length under the weight.
Compliance RandomExtras::compliance(double mass, double length, double dt, bool contact) {
  const double give = length * r_.log_uniform(1e-5, 1e-1);
  const double stiffness = mass * kExtraGravity / give;
  const double period = std::sqrt(give / kExtraGravity);
  Compliance c;
  switch (r_.below(contact ? 5 : 4)) {
    case 0:
      c = Compliance::soft_cfm_erp(give / (mass * kExtraGravity * dt * dt), r_.uniform());
      break;
    case 1:
      c = Compliance::soft_mujoco(period * r_.log_uniform(1, 10));
      c.damping_ratio = r_.log_uniform(0.3, 3);
      c.width = length * r_.log_uniform(1e-3, 1e-1);
      break;
    case 2:
      c = Compliance::soft_physical(stiffness, r_.chance(0.5) ? 0 : period * r_.log_uniform(0.1, 3));
      break;
    case 3:
      c = Compliance::soft_spring_damper(stiffness, stiffness * period * r_.log_uniform(0.1, 3));
      break;
    default:
      c = Compliance::soft_hertz(mass * kExtraGravity / (std::sqrt(0.2 * length) * std::pow(give, 1.5)), 0.2 * length,
                                 stiffness * period * r_.log_uniform(0.01, 1));
  }
  c.length = length;
  return c;
}

void RandomExtras::soften(ModelBuilder& b, RandomWorld& world) {
  if (!r_.chance(0.15)) return;
  const double usual = 300 * std::pow(world.length, 3);
  b.material(static_cast<int>(b.data().materials.size()) - 1).compliance =
      compliance(usual, world.length, world.dt, true);
  mark(world, WorldFeature::soft_contact);
}

void RandomExtras::furnish_joint(ModelBuilder& b, RandomWorld& world, int j) {
  const JointTypeInfo& info = joint_type_info(b.joint(j).type);
  const double mass = mass_of(b, b.joint(j));
  if (soft_joints_ && r_.chance(0.5)) {
    b.joint(j).compliance = compliance(mass, world.length, world.dt, false);
    mark(world, WorldFeature::soft_joint);
  }
  if (b.joint(j).type == JointType::distance && r_.chance(0.4)) {
    b.joint(j).rope = true;
    mark(world, WorldFeature::rope);
  }
  if (b.joint(j).type == JointType::spherical) {
    if (r_.chance(0.2)) {
      b.joint(j).swing_limit = r_.uniform(0.2, 2.5);
      mark(world, WorldFeature::limit);
    }
    if (r_.chance(0.15)) {
      const Scale s = scale_of(b, world, b.joint(j), 0);
      const double stiffness = s.force * r_.log_uniform(0.1, 1e3);
      b.set_ball_spring(j, stiffness, s.force * s.time * r_.log_uniform(1e-2, 10));
      mark(world, WorldFeature::spring);
    }
  }
  for (int k = 0; k < info.dofs; ++k) {
    // Hinges and slides have theirs from the passive world.
    const bool furnished = b.joint(j).type == JointType::revolute || b.joint(j).type == JointType::prismatic;
    if (!furnished) furnish_coordinate(b, world, j, k);
    if (driven_ && r_.chance(0.5)) drive_coordinate(b, world, j, k);
  }
}

void RandomExtras::furnish_coordinate(ModelBuilder& b, RandomWorld& world, int j, int k) {
  const Scale s = scale_of(b, world, b.joint(j), k);
  const bool coordinate = joint_type_info(b.joint(j).type).coordinates;
  Dof& dof = b.dof(j, k);
  if (coordinate && r_.chance(0.15)) {
    dof.stiffness = s.force / s.way * r_.log_uniform(0.1, 1e3);
    mark(world, WorldFeature::spring);
  }
  if (r_.chance(0.15)) {
    dof.damping = s.force / s.way * s.time * r_.log_uniform(1e-3, 1e2);
    mark(world, WorldFeature::damper);
  }
  if (r_.chance(0.1)) {
    dof.dry_friction = s.force * r_.log_uniform(1e-3, 1);
    mark(world, WorldFeature::dry_friction);
  }
  if (coordinate && r_.chance(0.1)) {
    dof.armature = s.mass * world.length * world.length / (s.way * s.way) * r_.log_uniform(1e-2, 10);
    mark(world, WorldFeature::armature);
  }
  if (coordinate && r_.chance(0.2)) {
    dof.limit.lower = -s.way * r_.uniform(0.05, 0.6);
    dof.limit.upper = r_.chance(0.1) ? dof.limit.lower : s.way * r_.uniform(0.05, 0.6);
    if (dof.limit.locked()) dof.limit.lower = dof.limit.upper = 0;
    mark(world, WorldFeature::limit);
  }
}

void RandomExtras::drive_coordinate(ModelBuilder& b, RandomWorld& world, int j, int k) {
  const Scale s = scale_of(b, world, b.joint(j), k);
  const bool coordinate = joint_type_info(b.joint(j).type).coordinates;
  Drive& drive = b.dof(j, k).drive;
  drive.effort_limit = s.force * r_.log_uniform(1e-2, 1e2);
  const double damper = s.force / s.way * s.time;
  const int kind = r_.below(3);
  if (kind == 0 && coordinate) {
    drive.mode = DriveMode::position;
    drive.kp = s.force / s.way * r_.log_uniform(1, 1e4);
    drive.kd = r_.chance(0.2) ? 0 : damper * r_.log_uniform(0.1, 1e2);
  } else if (kind == 1) {
    drive.mode = DriveMode::force;
  } else {
    drive.mode = DriveMode::velocity;
    drive.kd = damper * r_.log_uniform(0.1, 1e3);
  }
  const double unit = drive.mode == DriveMode::force      ? s.force
                      : drive.mode == DriveMode::velocity ? s.way / s.time
                                                          : s.way;
  drive.target.offset = unit * r_.uniform(-0.5, 0.5);
  drive.target.amplitude = unit * r_.uniform(0, 0.5);
  drive.target.frequency = r_.log_uniform(0.02, 1) / s.time;
  drive.target.phase = r_.uniform(-3, 3);
  if (r_.chance(0.2)) {
    drive.target.table = {{0, 0}, {5 * s.time, unit * r_.uniform(-0.5, 0.5)}, {9 * s.time, 0}};
    drive.target.interpolation = r_.chance(0.5) ? Interpolation::cubic : Interpolation::linear;
  }
  mark(world, WorldFeature::drive);
}

void RandomExtras::couple(ModelBuilder& b, RandomWorld& world) {
  if (!r_.chance(0.15)) return;
  struct Coordinate {
    int dof;
    double way;
  };
  std::vector<Coordinate> all;
  for (const Joint& joint : b.data().joints) {
    const JointTypeInfo& info = joint_type_info(joint.type);
    for (int k = 0; info.coordinates && k < info.dofs; ++k) {
      all.push_back({joint.first_dof + k, is_angular(joint, k) ? 1 : world.length});
    }
  }
  if (all.size() < 2) return;
  const int a = r_.below(static_cast<int>(all.size()));
  const int c = (a + 1 + r_.below(static_cast<int>(all.size()) - 1)) % static_cast<int>(all.size());
  const Coordinate& first = all[static_cast<std::size_t>(a)];
  const Coordinate& second = all[static_cast<std::size_t>(c)];
  b.add_coupling("coupling", first.dof, second.dof, r_.uniform(-3, 3) * first.way / second.way);
  mark(world, WorldFeature::coupling);
}

// Joints between bodies that happen to be where they are: assembled, and maybe more than bodies have freedom.
void RandomExtras::close_loops(ModelBuilder& b, RandomWorld& world) {
  const int bodies = static_cast<int>(b.data().bodies.size());
  if (bodies < 3 || b.data().joints.empty() || !r_.chance(0.2)) return;
  constexpr std::array kTypes = {JointType::revolute,  JointType::spherical, JointType::distance,
                                 JointType::universal, JointType::cartesian, JointType::cylindrical,
                                 JointType::planar,    JointType::prismatic};
  const int count = 1 + r_.below(2);
  for (int i = 0; i < count; ++i) {
    const int a = r_.below(bodies);
    const int c = (a + 1 + r_.below(bodies - 1)) % bodies;
    const Vec3 p = b.body(a).X_WB0.p;
    const Vec3 q = b.body(c).X_WB0.p;
    const JointType type = kTypes[static_cast<std::size_t>(r_.below(static_cast<int>(kTypes.size())))];
    const std::string name = fmt::format("loop{}", i);
    if (type == JointType::distance) {
      b.add_distance(name, a, c, p, q);
    } else {
      b.add_joint_at(name, type, a, c, 0.5 * (p + q), frame_with_x(r_.direction()));
    }
  }
  mark(world, WorldFeature::redundant_loop);
}

// Bodies within others.
void RandomExtras::overlap(ModelBuilder& b, RandomWorld& world) {
  if (b.data().bodies.empty() || !r_.chance(0.1)) return;
  const int count = 1 + r_.below(3);
  for (int i = 0; i < count; ++i) {
    const int beside = r_.below(static_cast<int>(b.data().bodies.size()));
    const Vec3 p = b.body(beside).X_WB0.p + 0.15 * world.length * r_.direction();
    b.add_solid(fmt::format("within{}", i), b.body(beside).mass, Shape::sphere(0.2 * world.length), {p, {1, 0, 0, 0}},
                static_cast<int>(b.data().materials.size()) - 1);
  }
  mark(world, WorldFeature::overlap);
}

// Speeds that joints, or contacts, take back in the first step.
void RandomExtras::speed_up(ModelBuilder& b, RandomWorld& world) {
  if (b.data().joints.empty() || !r_.chance(0.1)) return;
  const double speed = std::sqrt(kExtraGravity * world.length) * r_.uniform(0.1, 2);
  const int bodies = static_cast<int>(b.data().bodies.size());
  for (int i = 0; i < bodies; ++i) {
    const Vec3 v = r_.in_box(speed);
    b.set_velocity(i, v, r_.in_box(speed / world.length));
  }
  mark(world, WorldFeature::forbidden_speed);
}

void RandomExtras::choose_laws(ModelBuilder& b, RandomWorld& world) {
  RunDefaults defaults = b.data().defaults;
  if (r_.chance(0.1)) {
    defaults.integrator = "semi-implicit";
    mark(world, WorldFeature::semi_implicit);
  }
  if (r_.chance(0.1)) defaults.restitution = RestitutionLaw::sequential;
  b.set_defaults(defaults);
  const bool mixed = r_.chance(0.2);
  for (std::size_t i = 0; mixed && i < b.data().bodies.size(); ++i) {
    if (!r_.chance(0.5)) continue;
    const bool off = r_.chance(0.5);
    b.body(static_cast<int>(i)).ccd = off ? Ccd::off : Ccd::speculative;
    if (off) mark(world, WorldFeature::no_ccd);
  }
}

}  // namespace sarrus
