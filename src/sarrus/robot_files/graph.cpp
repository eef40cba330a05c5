#include "sarrus/robot_files/graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "sarrus/math/so3.h"

namespace sarrus::robot {
namespace {

constexpr double kParallel = 1e-9;    // rad, axes
constexpr double kMeetWithin = 1e-9;  // m, lines of axes

Quat turn_x(double a) { return so3_exp(Vec3(a, 0, 0)); }
Quat turn_y(double a) { return so3_exp(Vec3(0, a, 0)); }
Quat turn_z(double a) { return so3_exp(Vec3(0, 0, a)); }

bool turns(const SerialAxis& a) { return a.kind == AxisKind::hinge; }
bool perpendicular(const Vec3& a, const Vec3& b) { return std::abs(a.dot(b)) < kParallel; }
bool parallel(const Vec3& a, const Vec3& b) { return a.cross(b).norm() < kParallel; }

// The point that two lines have in common, if they meet at an angle.
std::optional<Vec3> common_point(const Vec3& p, const Vec3& a, const Vec3& q, const Vec3& b) {
  if ((p - q).norm() < kMeetWithin) return p;
  const Vec3 n = a.cross(b);
  if (n.squaredNorm() < 1e-12) return std::nullopt;
  const Vec3 d = q - p;
  if (std::abs(d.dot(n)) / n.norm() >= kMeetWithin) return std::nullopt;
  return Vec3(p + a * (d.cross(b).dot(n) / n.squaredNorm()));
}

bool on_line(const Vec3& x, const Vec3& p, const Vec3& a) { return (x - p).cross(a).norm() < kMeetWithin; }

// Axes of a composed joint, in the frame in which all of them are given, and which coordinate each becomes.
struct Composition {
  JointType type;
  Pose base;      // joint frame of the base
  Pose follower;  // and of the follower, both where all coordinates have their references
  std::array<int, 3> k = {0, 1, 2};
  std::array<double, 3> sign = {1, 1, 1};
};

std::optional<Composition> compose_two(const SerialAxis& a, const SerialAxis& b) {
  if (turns(a) && turns(b)) {
    const std::optional<Vec3> point = common_point(a.anchor_J, a.axis_J, b.anchor_J, b.axis_J);
    if (!point || !perpendicular(a.axis_J, b.axis_J)) return std::nullopt;
    const Quat axes = frame_with_xy(a.axis_J, b.axis_J);
    return Composition{
        JointType::universal, {*point, axes * turn_x(-a.reference)}, {*point, axes * turn_y(b.reference)}};
  }
  if (turns(a) == turns(b) || !parallel(a.axis_J, b.axis_J)) return std::nullopt;
  const bool slide_first = !turns(a);
  const SerialAxis& slide = slide_first ? a : b;
  const SerialAxis& hinge = slide_first ? b : a;
  const double sign = slide.axis_J.dot(hinge.axis_J) > 0 ? 1 : -1;
  const Quat axes = frame_with_x(hinge.axis_J);
  Composition c{JointType::cylindrical,
                {hinge.anchor_J - sign * slide.reference * hinge.axis_J, axes},
                {hinge.anchor_J, axes * turn_x(hinge.reference)}};
  c.k = slide_first ? std::array{0, 1, 2} : std::array{1, 0, 2};
  c.sign = slide_first ? std::array{sign, 1.0, 1.0} : std::array{1.0, sign, 1.0};
  return c;
}

std::optional<Composition> compose_three(const SerialAxis& a, const SerialAxis& b, const SerialAxis& c) {
  if (!perpendicular(a.axis_J, b.axis_J)) return std::nullopt;
  const Vec3 normal = a.axis_J.cross(b.axis_J);
  if (!parallel(c.axis_J, normal)) return std::nullopt;
  const double sign = c.axis_J.dot(normal) > 0 ? 1 : -1;
  const Quat axes = frame_with_xy(a.axis_J, b.axis_J);
  std::optional<Composition> out;
  if (turns(a) && turns(b) && turns(c) && b.reference == 0) {
    const std::optional<Vec3> point = common_point(a.anchor_J, a.axis_J, b.anchor_J, b.axis_J);
    if (!point || !on_line(*point, c.anchor_J, c.axis_J)) return std::nullopt;
    out = Composition{
        JointType::gimbal, {*point, axes * turn_x(-a.reference)}, {*point, axes * turn_z(sign * c.reference)}};
  } else if (!turns(a) && !turns(b) && !turns(c)) {
    const Vec3 back = a.reference * a.axis_J + b.reference * b.axis_J + c.reference * c.axis_J;
    out = Composition{JointType::cartesian, {a.anchor_J - back, axes}, {a.anchor_J, axes}};
  } else if (!turns(a) && !turns(b) && turns(c)) {
    const Vec3 back = a.reference * a.axis_J + b.reference * b.axis_J;
    out = Composition{JointType::planar, {c.anchor_J - back, axes}, {c.anchor_J, axes * turn_z(sign * c.reference)}};
  }
  if (out) out->sign[2] = sign;
  return out;
}

std::optional<Composition> compose(const std::vector<SerialAxis>& axes) {
  const bool ball = std::any_of(axes.begin(), axes.end(), [](const SerialAxis& a) { return a.kind == AxisKind::ball; });
  if (ball && axes.size() > 1) return std::nullopt;
  if (ball) {
    const Pose X = {axes[0].anchor_J, Quat::Identity()};
    return Composition{JointType::spherical, X, X};
  }
  if (axes.size() == 1) {
    const SerialAxis& a = axes[0];
    const Quat frame = frame_with_x(a.axis_J);
    if (turns(a)) {
      return Composition{JointType::revolute, {a.anchor_J, frame}, {a.anchor_J, frame * turn_x(a.reference)}};
    }
    return Composition{JointType::prismatic, {a.anchor_J - a.reference * a.axis_J, frame}, {a.anchor_J, frame}};
  }
  if (axes.size() == 2) return compose_two(axes[0], axes[1]);
  if (axes.size() == 3) return compose_three(axes[0], axes[1], axes[2]);
  return std::nullopt;
}

Joint joint_between(std::string name, JointType type, int base, int follower) {
  Joint joint;
  joint.name = std::move(name);
  joint.type = type;
  joint.base = base;
  joint.follower = follower;
  return joint;
}

}  // namespace

Joint axis_joint(const Graph& graph, std::string name, bool angular, int base, int follower, const Vec3& anchor_W,
                 const Vec3& axis_W, double reference) {
  const Pose X_FW = graph.link_pose(follower).inverse();
  SerialAxis axis;
  axis.kind = angular ? AxisKind::hinge : AxisKind::slide;
  axis.axis_J = X_FW.q * axis_W.normalized();
  axis.anchor_J = X_FW * anchor_W;
  axis.reference = reference;
  std::vector<AxisPlace> places;
  return composed_joint(graph, std::move(name), base, follower, {axis}, places);
}

Joint frame_joint(const Graph& graph, std::string name, JointType type, int base, int follower, const Pose& X_WJ) {
  Joint joint = joint_between(std::move(name), type, base, follower);
  joint.X_BJ = graph.link_pose(base).inverse() * X_WJ;
  joint.X_FJ = graph.link_pose(follower).inverse() * X_WJ;
  joint.coordinates.resize(static_cast<std::size_t>(joint_type_info(type).dofs));
  return joint;
}

Joint composed_joint(const Graph& graph, std::string name, int base, int follower, const std::vector<SerialAxis>& axes,
                     std::vector<AxisPlace>& places) {
  const Pose X_BF = graph.link_pose(base).inverse() * graph.link_pose(follower);
  Joint joint = joint_between(std::move(name), JointType::fixed, base, follower);
  places.clear();
  if (const std::optional<Composition> c = compose(axes)) {
    joint.type = c->type;
    joint.X_BJ = X_BF * c->base;
    joint.X_FJ = c->follower;
    for (std::size_t i = 0; i < axes.size(); ++i) places.push_back({c->k[i], c->sign[i]});
  } else {
    joint.X_BJ = X_BF;
    joint.serial = axes;
    int k = 0;
    for (const SerialAxis& axis : axes) {
      places.push_back({k, 1.0});
      k += axis.coordinates();
    }
  }
  int coordinates = 0;
  for (const SerialAxis& axis : axes) coordinates += axis.coordinates();
  joint.coordinates.resize(static_cast<std::size_t>(coordinates));
  return joint;
}

Dof mirrored(Dof dof) {
  const double lower = dof.limit.lower;
  dof.limit.lower = -dof.limit.upper;
  dof.limit.upper = -lower;
  dof.rest = -dof.rest;
  Signal& target = dof.drive.target;
  target.offset = -target.offset;
  target.rate = -target.rate;
  target.amplitude = -target.amplitude;
  for (TablePoint& p : target.table) p.value = -p.value;
  const auto swap = [](double& lo, double& hi) {
    const double before = lo;
    lo = -hi;
    hi = -before;
  };
  swap(dof.drive.effort_lower, dof.drive.effort_upper);
  swap(dof.drive.target_lower, dof.drive.target_upper);
  if (dof.initial) dof.initial = -*dof.initial;
  return dof;
}

}  // namespace sarrus::robot
