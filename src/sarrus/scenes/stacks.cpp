// Scenes of many contacts: stacks, a wall, clutter, an incline and the closed ring of cubes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sarrus/math/so3.h"
#include "sarrus/scenes/scenes_internal.h"

namespace sarrus::scenes {
namespace {

constexpr double kSide = 0.2;  // m, side of the cubes here

Vec3 side_half_extents() { return Vec3::Constant(0.5 * kSide); }

// 20 cubes of 0.2 m, 5 kg on a circle of 0.8 m (22 mm between the inner edges of neighbours), a vertical
// hinge midway between neighbours, mu = 1. Dropped from one cube height, tilted about y. In the plane the
// ring has 17 internal degrees of freedom; 100 joint rows of rank 97. Step and duration (1/60 s, 500 steps)
// are those of docs/theory/benchmarks.md §3 [M] closed loop; the tangential forces of that benchmark are inputs of
// the run, not of the model. `regularised`: with the compliance of that benchmark.
enum class RingRows : bool { rigid, regularised };
Model ring_of_cubes(const std::string& name, const std::string& description, double tilt,
                    RingRows rows = RingRows::rigid) {
  constexpr int count = 20;
  constexpr double radius = 0.8;
  ModelBuilder b(name, description);
  b.set_defaults({.dt = 1.0 / 60.0, .duration = 500.0 / 60.0});
  const int grip = rows == RingRows::rigid ? b.add_material("grip", 1.0) : begin_mlcp_scene(b);
  b.add_floor(0, grip);

  const double sector = 2 * std::numbers::pi / count;
  const auto on_ring = [&](double r, double angle) {
    return Pose{Vec3(r * std::cos(angle), r * std::sin(angle), 0), so3_exp(Vec3(0, 0, angle))};
  };
  Pose X_WR{Vec3::Zero(), so3_exp(Vec3(0, tilt, 0))};
  double lowest = 0;
  for (int i = 0; i < count; ++i) {
    for (const double sx : {-0.1, 0.1}) {
      for (const double sy : {-0.1, 0.1}) {
        lowest = std::min(lowest, (X_WR * (on_ring(radius, i * sector) * Vec3(sx, sy, -0.1))).z());
      }
    }
  }
  X_WR.p.z() = kSide - lowest;

  for (int i = 0; i < count; ++i) {
    b.add_box_body(fmt::format("cube{:02}", i + 1), 5.0, side_half_extents(), X_WR * on_ring(radius, i * sector), grip);
  }
  const Quat axes = frame_with_x(X_WR.q * Vec3::UnitZ());
  for (int i = 0; i < count; ++i) {
    const Pose X_RJ = on_ring(radius * std::cos(0.5 * sector), (i + 0.5) * sector);
    const int hinge =
        b.add_joint_at(fmt::format("hinge{:02}", i + 1), JointType::revolute, i, (i + 1) % count, X_WR * X_RJ.p, axes);
    if (rows == RingRows::regularised) b.joint(hinge).compliance = Compliance::mlcp_bilateral();
  }
  return b.build();
}

// 15 cubes of 0.2 m resting on each other and on the floor without gaps, masses geometric from bottom to top.
Model stack_of_cubes(const std::string& name, const std::string& description, double top_mass) {
  constexpr int count = 15;
  ModelBuilder b(name, description);
  b.add_floor();
  for (int i = 0; i < count; ++i) {
    const double mass = std::pow(top_mass, static_cast<double>(i) / (count - 1));
    b.add_box_body(fmt::format("cube{:02}", i + 1), mass, side_half_extents(), {Vec3(0, 0, (i + 0.5) * kSide)});
  }
  return b.build();
}

// Four static walls around 0.8 x 0.8 m, 0.8 m high.
void add_walls(ModelBuilder& b, int material) {
  const double inner = 0.4;
  const double wall = 0.05;  // half thickness
  for (const double sign : {-1.0, 1.0}) {
    const double at = sign * (inner + wall);
    b.add_geom(kWorld, Shape::box(Vec3(wall, inner + 2 * wall, inner)), {Vec3(at, 0, inner)}, material);
    b.add_geom(kWorld, Shape::box(Vec3(inner, wall, inner)), {Vec3(0, at, inner)}, material);
  }
}

enum class Walls : bool { no, yes };

// Bodies in 4 columns (40: 10 in each), alternately spheres (radius 0.05 m, 0.524 kg) and cubes (0.1 m, 1 kg), fall on
// a floor, or into a box of 0.8 x 0.8 x 0.8 m made of it and four static walls; mu = 1, density 1000 kg/m^3. The cubes
// are turned by up to 0.1 rad about varying axes so that the columns collapse at once and the run is repeatable.
Model clutter(const std::string& name, const std::string& description, const RunDefaults& defaults,
              const Compliance& compliance, Walls walls, int bodies = 40) {
  ModelBuilder b(name, description);
  b.set_defaults(defaults);
  const int rough = b.add_material("rough", 1.0, 0, compliance);
  b.add_floor(0, rough);
  if (walls == Walls::yes) add_walls(b, rough);

  const double density = 1000;
  const Shape sphere = Shape::sphere(0.05);
  const Shape cube = Shape::box(Vec3::Constant(0.05));
  for (int column = 0; column < 4; ++column) {
    const double x = column % 2 == 0 ? -0.15 : 0.15;
    const double y = column / 2 == 0 ? -0.15 : 0.15;
    for (int level = 0; level < (bodies + 3 - column) / 4; ++level) {
      const Vec3 centre(x, y, 0.1 + 0.15 * level);
      if ((column + level) % 2 == 0) {
        b.add_sphere_body(fmt::format("sphere_{}_{}", column + 1, level + 1), density * shape_volume(sphere),
                          sphere.size[0], {centre}, rough);
      } else {
        const double n = 10 * column + level;
        const Vec3 turn = 0.1 / std::numbers::sqrt3 * Vec3(std::sin(1.7 * n), std::sin(2.3 * n), std::sin(3.1 * n));
        b.add_box_body(fmt::format("cube_{}_{}", column + 1, level + 1), density * shape_volume(cube), cube.size,
                       {centre, so3_exp(turn)}, rough);
      }
    }
  }
  return b.build();
}

// Two materials of this stiffness make a contact of 1e12 N/m.
constexpr double kClutterStiffness = 2e12;

}  // namespace

// See ring_of_cubes. Landing flat, all 80 corners touch in the same step.
// Source: docs/theory/benchmarks.md §3 [M] closed loop.
Model ring20() { return ring_of_cubes("ring20", "Closed ring of 20 hinged cubes dropped flat on a floor.", 0); }

// See ring_of_cubes. One side lands first and the ring rolls flat: the hinges carry the impact around.
Model ring20_tilted() {
  return ring_of_cubes("ring20_tilted", "Closed ring of 20 hinged cubes dropped with a tilt of 10 degrees.",
                       radians(10));
}

// See ring_of_cubes: ring20 as the comparison of MLCP solvers has it. The run adds 100 N along the circle on each cube
// until the first contact.
Model closed_loop_drop() {
  return ring_of_cubes("closed_loop_drop", "Closed ring of 20 cubes, regularised, dropped flat (MLCP benchmark).", 0,
                       RingRows::regularised);
}

// See stack_of_cubes. 1 kg carries 10 t: the mass ratio that breaks Gauss-Seidel-type solvers, with the mass
// range of docs/theory/benchmarks.md §2 Box wall.
Model stack15() { return stack_of_cubes("stack15", "15 cubes at rest, 1 kg at the bottom to 10 t at the top.", 1e4); }

// See stack_of_cubes. The well-conditioned counterpart of stack15.
Model stack15_equal() { return stack_of_cubes("stack15_equal", "15 cubes of 1 kg at rest.", 1.0); }

// A pyramid of 15 cubes of 0.2 m in the plane y = 0: rows of 5, 4, 3, 2, 1 with gaps of 2 cm within a row,
// each upper cube resting on two lower ones; 1, 10, 100, 1e3, 1e4 kg from the bottom row to the top; 100
// contacts. A ball of 1e3 kg, radius 0.2 m, flies at 5 m/s along +y and hits the middle row after 0.14 s.
// Source: docs/theory/benchmarks.md §2 Box wall.
Model box_wall() {
  ModelBuilder b("box_wall", "Pyramid of 15 cubes, 1 kg at the bottom to 10 t at the top, hit by a heavy ball.");
  b.set_defaults({.dt = 1e-3, .duration = 3});
  b.add_floor();
  const double pitch = kSide + 0.02;
  for (int row = 0; row < 5; ++row) {
    const int count = 5 - row;
    for (int i = 0; i < count; ++i) {
      const Vec3 centre((i - 0.5 * (count - 1)) * pitch, 0, (row + 0.5) * kSide);
      b.add_box_body(fmt::format("cube_{}_{}", row + 1, i + 1), std::pow(10.0, row), side_half_extents(), {centre});
    }
  }
  const int ball = b.add_sphere_body("ball", 1e3, 0.2, {Vec3(0, -1.0, 0.6)});
  b.set_velocity(ball, Vec3(0, 5, 0), Vec3::Zero());
  return b.build();
}

// See clutter. Source: docs/theory/benchmarks.md §3 [S] clutter with walls; the step is 2 ms instead of 10 ms, as
// contacts are rigid here.
Model clutter40() {
  return clutter("clutter40", "40 spheres and cubes dropped in four columns into a box with walls.",
                 {.dt = 2e-3, .duration = 5}, {}, Walls::yes);
}

// See clutter. The contacts of docs/theory/benchmarks.md §3 [S]: k = 1e12 N/m, tau_d = dt, far stiffer than the step
// resolves.
Model clutter40_soft() {
  return clutter("clutter40_soft", "40 spheres and cubes with compliant contacts dropped into a box with walls.",
                 {.dt = 0.01, .duration = 10, .integrator = "semi-implicit"},
                 Compliance::soft_physical(kClutterStiffness, 0.01), Walls::yes);
}

// See clutter. The same without walls: the bodies spread on the floor.
Model clutter40_soft_open() {
  return clutter("clutter40_soft_open", "40 spheres and cubes with compliant contacts dropped on a floor.",
                 {.dt = 0.01, .duration = 10, .integrator = "semi-implicit"},
                 Compliance::soft_physical(kClutterStiffness, 0.01), Walls::no);
}

// See clutter. As clutter40, any number of bodies.
Model clutter_of(int bodies, bool walls) {
  return clutter("clutter", "Spheres and cubes dropped in four columns.", {.dt = 2e-3, .duration = 5}, {},
                 walls ? Walls::yes : Walls::no, bodies);
}

// See clutter. As clutter40_soft, any number of bodies.
Model soft_clutter_of(int bodies, bool walls) {
  return clutter("soft_clutter", "Spheres and cubes with compliant contacts dropped in four columns.",
                 {.dt = 0.01, .duration = 10, .integrator = "semi-implicit"},
                 Compliance::soft_physical(kClutterStiffness, 0.01), walls ? Walls::yes : Walls::no, bodies);
}

// 20 spheres of radius 0.1 m, 1 kg, exactly above each other without gaps. An unstable equilibrium that an
// exact computation keeps: all horizontal components are exactly zero. Step and duration from
// docs/theory/benchmarks.md §3 [D] sphere stack (there with gaps of 0.05 m and up to 100 spheres).
Model sphere_stack() {
  ModelBuilder b("sphere_stack", "20 spheres at rest exactly above each other.");
  b.set_defaults({.dt = 1e-2, .duration = 5});
  b.add_floor();
  for (int i = 0; i < 20; ++i) {
    b.add_sphere_body(fmt::format("sphere{:02}", i + 1), 1.0, 0.1, {Vec3(0, 0, 0.1 * (2 * i + 1))});
  }
  return b.build();
}

// Four boxes of 1 kg at rest on a plane that falls by 15 degrees towards +x; the pair friction is exactly
// mu = 0, 0.125, 0.25, 0.375. Each box lies with its 0.2 m side downhill (body x), 0.1 m across (y) and
// 0.05 m high (z), and rests on four corners: 1e-5 m deep, the penetration that contacts tolerate by default, so that
// it does not fall into place first. Coulomb's law gives a travel along the slope after 1 s of
//   g (sin 15 - mu cos 15) / 2 = 1.2695, 0.6773, 0.0850 m, and 0 for mu = 0.375 > tan 15 = 0.268.
// Source: docs/theory/benchmarks.md §3 [D] box on incline, with corners instead of spherical feet.
Model incline() {
  ModelBuilder b("incline", "Four boxes with mu = 0, 0.125, 0.25, 0.375 on a 15 degree incline.");
  b.set_defaults({.dt = 1e-3, .duration = 1});
  const Pose X_WP{Vec3::Zero(), so3_exp(Vec3(0, radians(15), 0))};
  const int slope = b.add_material("slope", 1.0);
  b.add_geom(kWorld, Shape::plane(), X_WP, slope);
  const Vec3 half(0.1, 0.05, 0.025);
  const std::array<double, 4> mus = {0, 0.125, 0.25, 0.375};
  for (std::size_t i = 0; i < mus.size(); ++i) {
    const int material = b.add_material(fmt::format("mu_{}", mus[i]), mus[i]);
    b.set_material_pair(slope, material, mus[i], 0);
    const Vec3 p_P(0, 0.3 * (static_cast<double>(i) - 1.5), half.z() - 1e-5);
    b.add_box_body(fmt::format("box_mu_{}", mus[i]), 1.0, half, X_WP * Pose{p_P}, material);
  }
  return b.build();
}

}  // namespace sarrus::scenes
