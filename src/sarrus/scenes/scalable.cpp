#include "sarrus/scenes/scalable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/scenes/scenes_internal.h"

namespace sarrus {
namespace {

using scenes::add_bar;
using scenes::Collides;
using scenes::hinge_y;
using scenes::radians;

Vec2 thin_section() { return {0.02, 0.02}; }

void require_bodies(const char* model, int bodies, int least) {
  if (bodies < least) {
    throw InputError(fmt::format("model '{}'", model), fmt::format("{} bodies; give at least {}", bodies, least));
  }
}

// Boxes of a pile whose lowest layer has a x b of them.
int pile_count(int a, int b) { return (5 * a - 6) * b - 4 * a + 7; }

}  // namespace

Model make_clutter(int bodies, bool walls) {
  require_bodies("clutter", bodies, 1);
  return scenes::clutter_of(bodies, walls);
}

Model make_soft_clutter(int bodies, bool walls) {
  require_bodies("clutter", bodies, 1);
  return scenes::soft_clutter_of(bodies, walls);
}

Model make_chain(int bodies) {
  require_bodies("chain", bodies, 1);
  ModelBuilder b("chain", "Hinged bars hanging in a zigzag.");
  const double lean = radians(30);
  Vec3 tip(0, 0, 0);
  for (int i = 0; i < bodies; ++i) {
    const Vec3 end = tip + 0.1 * Vec3((i % 2 == 0 ? 1 : -1) * std::sin(lean), 0, -std::cos(lean));
    add_bar(b, fmt::format("bar{}", i + 1), 0.1, tip, end, thin_section(), Collides::no);
    b.add_joint_at(fmt::format("hinge{}", i + 1), JointType::revolute, i == 0 ? kWorld : i - 1, i, tip, hinge_y());
    tip = end;
  }
  return b.build();
}

Model make_tree(int bodies) {
  require_bodies("tree", bodies, 1);
  ModelBuilder b("tree", "Binary tree of hinged bars.");
  struct Branch {
    Vec3 tip;
    Vec3 along;
    int level;
  };
  std::vector<Branch> branches;
  for (int i = 0; i < bodies; ++i) {
    const int parent = i == 0 ? kWorld : (i - 1) / 2;
    const Branch from = i == 0 ? Branch{Vec3::Zero(), -Vec3::UnitZ(), -1} : branches[static_cast<std::size_t>(parent)];
    const int level = from.level + 1;
    const Vec3 axis = level % 2 == 0 ? Vec3::UnitY() : Vec3::UnitX();
    const Vec3 along = so3_exp((i % 2 == 0 ? 1 : -1) * radians(25) * axis) * from.along;
    const Vec3 end = from.tip + 0.2 * along;
    add_bar(b, fmt::format("bar{}", i + 1), 0.2, from.tip, end, thin_section(), Collides::no);
    b.add_joint_at(fmt::format("hinge{}", i + 1), JointType::revolute, parent, i, from.tip, frame_with_x(axis));
    branches.push_back({end, along, level});
  }
  return b.build();
}

Model make_linkage_grid(int bodies) {
  require_bodies("linkage grid", bodies, 3);
  ModelBuilder b("linkage_grid", "Hanging curtain of hinged parallelograms.");
  const int rows = std::max(1, static_cast<int>(std::sqrt(0.5 * bodies)));
  const int columns = (bodies / rows - 1) / 2;
  const double side = 0.1;
  const double lean = radians(30);
  const auto hinge = [&](int base, int follower, const Vec3& anchor) {
    b.add_joint_at(fmt::format("hinge_{}_{}", base, follower), JointType::revolute, base, follower, anchor, hinge_y());
  };
  std::vector<int> above(static_cast<std::size_t>(columns) + 1, kWorld);  // uprights of the row above
  Vec3 corner = Vec3::Zero();                                             // left end of the row above
  for (int i = 0; i < rows; ++i) {
    const Vec3 down = side * Vec3((i % 2 == 0 ? 1 : -1) * std::sin(lean), 0, -std::cos(lean));
    int previous = kWorld;  // level bar to the left
    for (int k = 0; k <= columns; ++k) {
      const Vec3 top = corner + Vec3(side * k, 0, 0);
      const Vec3 low = top + down;
      const int upright = add_bar(b, fmt::format("upright_{}_{}", i, k), 0.1, top, low, thin_section(), Collides::no);
      hinge(above[static_cast<std::size_t>(k)], upright, top);
      above[static_cast<std::size_t>(k)] = upright;
      if (previous != kWorld) hinge(upright, previous, low);
      if (k == columns) continue;
      previous =
          add_bar(b, fmt::format("level_{}_{}", i, k), 0.1, low, low + Vec3(side, 0, 0), thin_section(), Collides::no);
      hinge(upright, previous, low);
    }
    corner += down;
  }
  return b.build();
}

Model make_pile(int bodies) {
  require_bodies("pile", bodies, pile_count(2, 2));
  ModelBuilder b("pile", "Boxes in five layers, each on two lower ones.");
  b.add_floor();
  int nx = 2;
  while (pile_count(nx + 1, nx + 1) <= bodies) ++nx;
  int ny = nx;
  while (pile_count(nx, ny + 1) <= bodies) ++ny;
  const double side = 0.2;
  const double pitch = side + 0.02;
  for (int layer = 0; layer < 5; ++layer) {
    const int layer_x = nx - (layer + 1) / 2;
    const int layer_y = ny - layer / 2;
    for (int i = 0; i < layer_x; ++i) {
      for (int k = 0; k < layer_y; ++k) {
        const Vec3 centre(pitch * (i - 0.5 * (layer_x - 1)), pitch * (k - 0.5 * (layer_y - 1)), side * (layer + 0.5));
        b.add_box_body(fmt::format("box_{}_{}_{}", layer, i, k), 1.0, Vec3::Constant(0.5 * side), {centre});
      }
    }
  }
  return b.build();
}

Model make_islands(int bodies) {
  require_bodies("islands", bodies, 1);
  ModelBuilder b("islands", "Four-bars hanging from the world, each for itself.");
  const int count = bodies / 3 + bodies % 3;
  const int per_row = static_cast<int>(std::ceil(std::sqrt(count)));
  for (int i = 0; i < count; ++i) {
    const int row = i / per_row;
    const Vec3 A(i - row * per_row, row, 1);
    const double angle = radians(20 + 60 * std::abs(std::sin(1.7 * i)));  // of the crank from the vertical
    const Vec3 B = A + 0.2 * Vec3(std::sin(angle), 0, -std::cos(angle));
    const std::string name = fmt::format("island{}", i + 1);
    const int crank = add_bar(b, name + "_crank", 0.2, A, B, thin_section(), Collides::no);
    b.add_joint_at(name + "_a", JointType::revolute, kWorld, crank, A, hinge_y());
    if (i >= bodies / 3) continue;  // a pendulum
    const Vec3 D = A + Vec3(0.4, 0, 0);
    const Vec2 C_xz = scenes::circle_intersection(Vec2(D.x(), D.z()), 0.3, Vec2(B.x(), B.z()), 0.3);
    const Vec3 C(C_xz.x(), A.y(), C_xz.y());
    const int coupler = add_bar(b, name + "_coupler", 0.3, B, C, thin_section(), Collides::no);
    const int rocker = add_bar(b, name + "_rocker", 0.3, D, C, thin_section(), Collides::no);
    b.add_joint_at(name + "_b", JointType::revolute, crank, coupler, B, hinge_y());
    b.add_joint_at(name + "_c", JointType::revolute, coupler, rocker, C, hinge_y());
    b.add_joint_at(name + "_d", JointType::revolute, kWorld, rocker, D, hinge_y());
  }
  return b.build();
}

}  // namespace sarrus
