// Scenes of shapes: a mixed pile, rolling bodies, sliding over meshes and terrain, gears of hulls, dominoes.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/scenes/scenes_internal.h"

namespace sarrus::scenes {
namespace {

// Repeatable numbers in [-1, 1] without a generator's state.
double scatter(int i, int k) { return std::sin(12.9898 * i + 78.233 * k + 1.0); }

Shape icosahedron(double radius) {
  const double g = std::numbers::phi;
  std::vector<Vec3> x;
  for (const double s : {-1.0, 1.0}) {
    for (const double t : {-g, g}) {
      x.insert(x.end(), {Vec3(0, s, t), Vec3(s, t, 0), Vec3(t, 0, s)});
    }
  }
  for (Vec3& v : x) v *= radius / std::hypot(1.0, g);
  return Shape::convex(ConvexHull::build(x, "icosahedron"));
}

// Two balls on a rod.
Shape dumbbell(double radius, double half_length) {
  return Shape::compound({{Shape::sphere(radius), {Vec3(0, 0, half_length)}},
                          {Shape::sphere(radius), {Vec3(0, 0, -half_length)}},
                          {Shape::cylinder(0.4 * radius, half_length), {}}});
}

// An L of two boxes.
Shape angle_bracket(double size) {
  const double t = 0.3 * size;
  return Shape::compound(
      {{Shape::box(Vec3(size, size, t)), {}}, {Shape::box(Vec3(t, size, size)), {Vec3(size - t, 0, size + t)}}});
}

// A flat rectangle in the plane z = 0 around the origin, cut into triangles of irregular shape: inner grid points are
// moved by up to 0.3 cells and the diagonals alternate without a pattern.
std::shared_ptr<const TriangleMesh> irregular_floor(double half_x, double half_y, int nx, int ny) {
  std::vector<Vec3> x;
  for (int j = 0; j <= ny; ++j) {
    for (int i = 0; i <= nx; ++i) {
      const int id = j * (nx + 1) + i;
      const double sx = i > 0 && i < nx ? 0.3 * scatter(id, 1) : 0;
      const double sy = j > 0 && j < ny ? 0.3 * scatter(id, 2) : 0;
      x.emplace_back(half_x * (2 * (i + sx) / nx - 1), half_y * (2 * (j + sy) / ny - 1), 0);
    }
  }
  std::vector<TriangleMesh::Triangle> t;
  for (int j = 0; j < ny; ++j) {
    for (int i = 0; i < nx; ++i) {
      const int a = j * (nx + 1) + i;
      const int b = a + 1;
      const int d = a + nx + 1;
      const int c = d + 1;
      if (scatter(a, 3) > 0) {
        t.insert(t.end(), {{a, b, c}, {a, c, d}});
      } else {
        t.insert(t.end(), {{a, b, d}, {b, c, d}});
      }
    }
  }
  return TriangleMesh::build(x, t, "irregular floor");
}

int add_rolling(ModelBuilder& b, const std::string& name, const Shape& shape, double y, double radius, const Quat& turn,
                double speed, double spin, int material) {
  const int body = b.add_solid(name, 1.0, shape, {Vec3(0, y, radius - 1e-5), turn}, material);
  b.set_velocity(body, Vec3(speed, 0, 0), Vec3(0, spin, 0));
  return body;
}

}  // namespace

// 36 bodies of eight shapes, about 10 cm and 1000 kg/m^3, fall in four columns into a box of 0.7 x 0.7 m with walls;
// mu = 0.6.
Model mixed_pile() {
  ModelBuilder b("mixed_pile", "36 bodies of eight shapes dropped in four columns into a box with walls.");
  b.set_defaults({.dt = 2e-3, .duration = 4});
  const int rough = b.add_material("rough", 0.6);
  b.add_floor(0, rough);
  const double inner = 0.35;
  const double wall = 0.05;  // half thickness
  for (const double sign : {-1.0, 1.0}) {
    b.add_geom(kWorld, Shape::box(Vec3(wall, inner + 2 * wall, inner)), {Vec3(sign * (inner + wall), 0, inner)}, rough);
    b.add_geom(kWorld, Shape::box(Vec3(inner, wall, inner)), {Vec3(0, sign * (inner + wall), inner)}, rough);
  }
  const std::array<Shape, 9> shapes = {Shape::box(Vec3(0.06, 0.045, 0.03)),
                                       Shape::cylinder(0.045, 0.05),
                                       Shape::ellipsoid(Vec3(0.07, 0.05, 0.035)),
                                       icosahedron(0.06),
                                       Shape::capsule(0.035, 0.05),
                                       prism(6, 0.05, 0.04),
                                       Shape::sphere(0.05),
                                       angle_bracket(0.045),
                                       dumbbell(0.035, 0.06)};
  constexpr double density = 1000;
  for (int i = 0; i < 36; ++i) {
    const int column = i % 4;
    const int level = i / 4;
    const Shape& shape = shapes[static_cast<std::size_t>((i + 2 * level) % 9)];
    const Vec3 centre(column % 2 == 0 ? -0.14 : 0.14, column / 2 == 0 ? -0.14 : 0.14, 0.12 + 0.17 * level);
    const Quat turn = so3_exp(1.5 * Vec3(scatter(i, 4), scatter(i, 5), scatter(i, 6)));
    b.add_solid(fmt::format("{}{:02}", name_of(shape.kind), i + 1), density * shape_volume(shape), shape,
                {centre, turn}, rough);
  }
  return b.build();
}

// On a floor, mu = 0.3, along +x: a cylinder and a sphere that slide at 2 m/s without spin, and one of each that rolls
// at 1 m/s. Friction turns sliding into rolling after t = 2 v / (7 mu g) at 5/7 v (sphere), v / (3 mu g) at 2/3 v
// (cylinder); nothing slows the rolling down.
Model cylinder_rolling() {
  ModelBuilder b("cylinder_rolling", "Cylinders and spheres slide into rolling, and roll on without loss.");
  b.set_defaults({.dt = 1e-3, .duration = 3});
  const int grip = b.add_material("grip", 0.3);
  b.add_floor(0, grip);
  const double r = 0.1;
  const Quat lying = so3_exp(Vec3(0.5 * kPi, 0, 0));
  add_rolling(b, "cylinder_sliding", Shape::cylinder(r, 0.15), -0.9, r, lying, 2, 0, grip);
  add_rolling(b, "cylinder_rolling", Shape::cylinder(r, 0.15), -0.3, r, lying, 1, 1 / r, grip);
  add_rolling(b, "sphere_sliding", Shape::sphere(r), 0.3, r, Quat::Identity(), 2, 0, grip);
  add_rolling(b, "sphere_rolling", Shape::sphere(r), 0.9, r, Quat::Identity(), 1, 1 / r, grip);
  return b.build();
}

// A spheroid that rolls about its axis of symmetry at 1 m/s, a spheroid that slides at 2 m/s into rolling, and an
// ellipsoid with semi-axes a = 0.15, b = 0.2, c = 0.1 m that rocks about y from a tilt of 0.02 rad: the floor meets it
// with the radius of curvature R = a^2/c, so with I = m (a^2 + c^2)/5 the rate of small rocking is
//   w^2 = g (R - c) / (I/m + c^2) = 52.9 / s^2, a period of 0.864 s.
Model ellipsoid_rolling() {
  ModelBuilder b("ellipsoid_rolling", "Spheroids roll on a floor; an ellipsoid rocks on it.");
  b.set_defaults({.dt = 1e-3, .duration = 3});
  const int grip = b.add_material("grip", 0.8);
  b.add_floor(0, grip);
  const double r = 0.1;
  const Quat lying = so3_exp(Vec3(0.5 * kPi, 0, 0));
  const Shape spheroid = Shape::ellipsoid(Vec3(r, r, 0.2));
  add_rolling(b, "spheroid_rolling", spheroid, -0.7, r, lying, 1, 1 / r, grip);
  add_rolling(b, "spheroid_sliding", spheroid, 0, r, lying, 2, 0, grip);

  const Vec3 e(0.15, 0.2, 0.1);
  const double tilt = 0.02;
  // Height of the centre over the floor: the support function of the tilted ellipsoid.
  const double height = std::hypot(e.x() * std::sin(tilt), e.z() * std::cos(tilt));
  b.add_solid("rocker", 1.0, Shape::ellipsoid(e), {Vec3(0, 0.8, height - 1e-5), so3_exp(Vec3(0, tilt, 0))}, grip);
  return b.build();
}

// Bodies of 1 kg on a flat mesh of irregular triangles, started along +x: a box and a cylinder stop after
// v^2 / (2 mu g) = 0.8155 m (mu = 0.25, v = 2 m/s); a box without friction glides on at 1 m/s; a ball rolls at 1 m/s.
Model mesh_floor() {
  ModelBuilder b("mesh_floor", "A box, a cylinder and a ball move over a flat mesh of irregular triangles.");
  b.set_defaults({.dt = 1e-3, .duration = 2.5});
  const int floor = b.add_material("floor", 0.25);
  const int slick = b.add_material("slick", 0);
  b.add_geom(kWorld, Shape::triangles(irregular_floor(3, 1.2, 40, 16)), {Vec3(2, 0, 0), Quat::Identity()}, floor,
             "mesh");
  const Quat turned = so3_exp(Vec3(0, 0, 0.3));
  const Shape box = Shape::box(Vec3(0.1, 0.08, 0.05));
  add_rolling(b, "box", box, -0.7, 0.05, turned, 2, 0, floor);
  add_rolling(b, "cylinder", Shape::cylinder(0.08, 0.04), -0.2, 0.04, turned, 2, 0, floor);
  add_rolling(b, "slider", box, 0.3, 0.05, turned, 1, 0, slick);
  add_rolling(b, "ball", Shape::sphere(0.1), 0.8, 0.1, Quat::Identity(), 1, 10, floor);
  return b.build();
}

// A height field that falls by 15 degrees towards +x, flat for y < 0 and with bumps of 3 cm for y > 0.5. A box with
// mu = 0.125 slides g (sin 15 - mu cos 15) t^2 / 2 = 0.6773 m in the first second on the flat part; balls, a capsule
// and a brick tumble over the bumps.
Model height_field() {
  ModelBuilder b("height_field", "A box slides down a slope of a height field; others tumble over its bumps.");
  b.set_defaults({.dt = 1e-3, .duration = 2});
  const int ground = b.add_material("ground", 0.125);
  constexpr int columns = 101;
  constexpr int rows = 51;
  constexpr double spacing = 0.06;
  const double fall = std::tan(radians(15));
  std::vector<double> heights;
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < columns; ++i) {
      const double x = (i - (columns - 1) / 2) * spacing;
      const double y = (j - (rows - 1) / 2) * spacing;
      const double bumps = y > 0.5 ? 0.03 * std::sin(5 * x) * std::sin(5 * (y - 0.5)) : 0;
      heights.push_back(bumps - fall * x);
    }
  }
  b.add_geom(kWorld, Shape::terrain(HeightField::build(columns, rows, spacing, spacing, heights, "slope")), {}, ground,
             "terrain");
  const Pose X_WP{Vec3::Zero(), so3_exp(Vec3(0, radians(15), 0))};
  b.add_solid("box", 1.0, Shape::box(Vec3(0.1, 0.08, 0.05)), X_WP * Pose{Vec3(-2, -0.7, 0.05 - 1e-5)}, ground);
  const std::array<Shape, 4> tumblers = {Shape::sphere(0.08), Shape::capsule(0.05, 0.08),
                                         Shape::box(Vec3(0.1, 0.06, 0.04)), icosahedron(0.09)};
  for (std::size_t i = 0; i < tumblers.size(); ++i) {
    const Vec3 p(-2.2 + 0.4 * static_cast<double>(i), 1.0, 0.18);
    b.add_solid(fmt::format("tumbler{}", i + 1), 1.0, tumblers[i], X_WP * Pose{p, so3_exp(Vec3(0.4, 0.3, 0.2))},
                ground);
  }
  return b.build();
}

namespace {

// Involute gears (12 teeth, pressure angle 25 degrees, addendum 0.8 modules): the tooth flank at radius r has the half
// angle  pi/(2 N) + inv(25 deg) - inv(acos(r_b / r)) - backlash,  inv(a) = tan a - a.
constexpr int kTeeth = 12;
constexpr double kPitchRadius = 0.05;
constexpr double kGearHalfWidth = 0.01;

double involute(double angle) { return std::tan(angle) - angle; }

// A tooth is convex from its tip to the base circle, and goes on radially to the hub. Axis z, tooth along +x.
Shape gear_tooth() {
  const double pressure = radians(25);
  const double base = kPitchRadius * std::cos(pressure);
  const double tip = kPitchRadius * (1 + 0.8 * 2 / kTeeth);
  const double backlash = radians(0.2);
  const auto half_angle = [&](double r) {
    return 0.5 * kPi / kTeeth + involute(pressure) - involute(std::acos(std::min(1.0, base / r))) - backlash;
  };
  std::vector<Vec3> x;
  const auto add = [&](double r, double angle) {
    for (const double side : {-1.0, 1.0}) {
      for (const double z : {-kGearHalfWidth, kGearHalfWidth}) {
        x.emplace_back(r * std::cos(angle), side * r * std::sin(angle), z);
      }
    }
  };
  add(0.039, half_angle(base));
  for (int k = 0; k <= 8; ++k) {
    const double r = base + (tip - base) * k / 8;
    add(r, half_angle(r));
  }
  return Shape::convex(ConvexHull::build(x, "gear tooth"));
}

Shape gear() {
  const Shape tooth = gear_tooth();
  std::vector<CompoundChild> parts = {{Shape::cylinder(0.0395, kGearHalfWidth), {}}};
  for (int i = 0; i < kTeeth; ++i) {
    parts.push_back({tooth, {Vec3::Zero(), so3_exp(Vec3(0, 0, 2 * kPi * i / kTeeth))}});
  }
  return Shape::compound(std::move(parts));
}

}  // namespace

// Two equal gears, each a compound of 12 hulls and a hub, on fixed axles along y. A velocity drive turns the first at
// 5 rad/s; the second has a damper and is turned by the contact of the teeth alone, at -5 rad/s.
Model hull_gears() {
  ModelBuilder b("hull_gears", "A driven gear turns another one through the contact of their teeth.");
  b.set_defaults({.dt = 5e-4, .duration = 2});
  b.set_gravity(Vec3::Zero());
  const int steel = b.add_material("steel", 0.1);
  const Shape shape = gear();
  const double distance = 2 * kPitchRadius;
  const Quat upright = so3_exp(Vec3(0.5 * kPi, 0, 0));
  const std::array<double, 2> phase = {0, kPi / kTeeth};  // a tooth of one points into a gap of the other
  for (std::size_t i = 0; i < 2; ++i) {
    const Vec3 centre(distance * static_cast<double>(i), 0, 0.1);
    const int body =
        b.add_solid(i == 0 ? "driver" : "driven", 0.5, shape, {centre, upright * so3_exp(Vec3(0, 0, phase[i]))}, steel);
    const int axle = b.add_joint_at(i == 0 ? "drive" : "axle", JointType::revolute, kWorld, body, centre, hinge_y());
    if (i == 0) {
      b.dof(axle).drive = {DriveMode::velocity, 0, 10.0, kInf, Signal{.offset = 5.0}};
    } else {
      b.dof(axle).damping = 0.02;
    }
  }
  return b.build();
}

// 50 dominoes of 8 x 24 x 48 mm, 5 g, 20 mm apart; the first starts to tip over its lower edge at 4 rad/s, above the
// 2.9 rad/s that it needs to fall.
Model dominoes() {
  ModelBuilder b("dominoes", "50 dominoes in a row; the first one is tipped over.");
  b.set_defaults({.dt = 1e-3, .duration = 2.5});
  const int wood = b.add_material("wood", 0.5);
  b.add_floor(0, wood);
  const Vec3 half(0.004, 0.012, 0.024);
  const double density = 540;
  for (int i = 0; i < 50; ++i) {
    b.add_box_body(fmt::format("domino{:02}", i + 1), density * shape_volume(Shape::box(half)), half,
                   {Vec3(0.02 * i, 0, half.z())}, wood);
  }
  const Vec3 w(0, 4, 0);
  b.set_velocity(0, w.cross(Vec3(-half.x(), 0, half.z())), w);
  return b.build();
}

}  // namespace sarrus::scenes
