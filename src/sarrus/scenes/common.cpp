#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/math/so3.h"
#include "sarrus/scenes/scenes_internal.h"

namespace sarrus::scenes {

double radians(double degrees) { return degrees * std::numbers::pi / 180.0; }

Shape prism(int n, double radius, double half_length) {
  std::vector<Vec3> x;
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * i / n;
    for (const double z : {-half_length, half_length}) {
      x.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
    }
  }
  return Shape::convex(ConvexHull::build(x, "prism"));
}

Quat hinge_y() { return frame_with_x(Vec3::UnitY()); }

int add_display_geom(ModelBuilder& b, int body, const Shape& shape, const Pose& X_BG) {
  const int geom = b.add_geom(body, shape, X_BG);
  b.geom(geom).group = 0;
  b.geom(geom).collides_with = 0;
  return geom;
}

Pose bar_pose(const Vec3& from, const Vec3& to, const Vec3& side) {
  const Vec3 along = (to - from).normalized();
  const bool parallel = along.cross(side).norm() < 1e-6;
  return {0.5 * (from + to), parallel ? frame_with_x(along) : frame_with_xy(along, side)};
}

int add_bar(ModelBuilder& b, std::string name, double mass, const Vec3& from, const Vec3& to, const Vec2& section,
            Collides collides, const Vec3& side) {
  const Shape shape = Shape::box(0.5 * Vec3((to - from).norm(), section[0], section[1]));
  const int body = b.add_body(std::move(name), mass, solid_inertia(shape, mass), bar_pose(from, to, side));
  if (collides == Collides::yes) {
    b.add_geom(body, shape);
  } else {
    add_display_geom(b, body, shape);
  }
  return body;
}

int add_frame(ModelBuilder& b, std::string name, double mass, std::span<const Segment> bars, const Vec2& section) {
  double length = 0;
  Vec3 moment = Vec3::Zero();
  for (const Segment& s : bars) {
    const double l = (s.to - s.from).norm();
    length += l;
    moment += 0.5 * l * (s.from + s.to);
  }
  const Vec3 centre = moment / length;

  Mat3 inertia = Mat3::Zero();
  for (const Segment& s : bars) {
    const double l = (s.to - s.from).norm();
    const double m = mass * l / length;
    const Pose X_WS = bar_pose(s.from, s.to);
    const Vec3 r = X_WS.p - centre;
    const Mat3 own = solid_inertia(Shape::box(0.5 * Vec3(l, section[0], section[1])), m);
    inertia += X_WS.R() * own * X_WS.R().transpose() + m * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
  }
  const Mat3 symmetric = 0.5 * (inertia + inertia.transpose());
  const int body = b.add_body(std::move(name), mass, symmetric, Pose{centre, Quat::Identity()});
  for (const Segment& s : bars) {
    const Pose X_WS = bar_pose(s.from, s.to);
    const Shape shape = Shape::box(0.5 * Vec3((s.to - s.from).norm(), section[0], section[1]));
    add_display_geom(b, body, shape, Pose{X_WS.p - centre, X_WS.q});
  }
  return body;
}

int add_fourbar_hinges(ModelBuilder& b, const FourBarPoints& p, int ground, int crank, int coupler, int rocker) {
  const int hinge = b.add_joint_at("crank", JointType::revolute, ground, crank, p.A, hinge_y());
  b.add_joint_at("crank_coupler", JointType::revolute, crank, coupler, p.B, hinge_y());
  b.add_joint_at("coupler_rocker", JointType::revolute, coupler, rocker, p.C, hinge_y());
  b.add_joint_at("rocker", JointType::revolute, ground, rocker, p.D, hinge_y());
  return hinge;
}

Vec2 circle_intersection(const Vec2& p, double radius_p, const Vec2& q, double radius_q) {
  const double distance = (q - p).norm();
  const Vec2 along = (q - p) / distance;
  const Vec2 left(-along.y(), along.x());
  const double x = (distance * distance + radius_p * radius_p - radius_q * radius_q) / (2 * distance);
  return p + x * along + std::sqrt(radius_p * radius_p - x * x) * left;
}

}  // namespace sarrus::scenes
