// One joint of any type between the world or a base body and a follower, placed anywhere on its manifold.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"

namespace sarrus::testing {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(engine_); }
  Vec3 vector() {
    std::normal_distribution<double> n;
    const double x = n(engine_);
    const double y = n(engine_);
    return {x, y, n(engine_)};
  }
  Vec6 twist() {
    const Vec3 v = vector();
    return spatial(v, vector());
  }
  Quat rotation() { return so3_exp(1.5 * vector()); }
  Pose pose() {
    const Vec3 p = vector();
    return {p, rotation()};
  }

 private:
  std::mt19937 engine_;
};

inline const std::vector<JointType>& all_joint_types() {
  static const std::vector<JointType> types = {JointType::free,      JointType::fixed,       JointType::revolute,
                                               JointType::prismatic, JointType::cylindrical, JointType::universal,
                                               JointType::spherical, JointType::gimbal,      JointType::planar,
                                               JointType::cartesian, JointType::distance};
  return types;
}

// Where the follower's joint frame is seen from the base's, and the coordinates that belong to it.
struct JointPlace {
  Pose X_BF;
  double q[3] = {0, 0, 0};
};

// Coordinates are drawn over a large range; the pose follows from the definition of the type, not from the engine.
inline JointPlace place_on_manifold(JointType type, double length, Random& rng) {
  const double a = rng.uniform(-3, 3);
  const double b = rng.uniform(-1.4, 1.4);
  const double c = rng.uniform(-3, 3);
  const auto rx = [](double t) { return so3_exp(Vec3(t, 0, 0)); };
  const auto ry = [](double t) { return so3_exp(Vec3(0, t, 0)); };
  const auto rz = [](double t) { return so3_exp(Vec3(0, 0, t)); };
  const Quat one = Quat::Identity();
  switch (type) {
    case JointType::serial:  // has tests of its own
      return {};
    case JointType::free:
      return {{rng.vector(), rng.rotation()}};
    case JointType::fixed:
      return {};
    case JointType::revolute:
      return {{Vec3::Zero(), rx(a)}, {a}};
    case JointType::prismatic:
      return {{Vec3(a, 0, 0), one}, {a}};
    case JointType::cylindrical:
      return {{Vec3(a, 0, 0), rx(c)}, {a, c}};
    case JointType::universal:
      return {{Vec3::Zero(), rx(a) * ry(c)}, {a, c}};
    case JointType::spherical:
      return {{Vec3::Zero(), so3_exp(0.65 * Vec3(a, b, c))}, {0.65 * a, 0.65 * b, 0.65 * c}};
    case JointType::gimbal:
      return {{Vec3::Zero(), rx(a) * ry(b) * rz(c)}, {a, b, c}};
    case JointType::planar:
      return {{Vec3(a, b, 0), rz(c)}, {a, b, c}};
    case JointType::cartesian:
      return {{Vec3(a, b, c), one}, {a, b, c}};
    case JointType::distance:
      return {{length * rng.vector().normalized(), rng.rotation()}};
  }
  return {};
}

// Body 0 is the follower; body 1, if there is one, the base.
inline Model one_joint(JointType type, bool binary, Random& rng, bool rope = false) {
  ModelBuilder b("one_joint");
  const auto inertia = [&] { return Mat3(Vec3(0.01, 0.012, 0.015).asDiagonal()); };
  const int follower = b.add_body("follower", 1.0, inertia(), rng.pose());
  const int base = binary ? b.add_body("base", 1.3, inertia(), rng.pose()) : kWorld;
  if (type == JointType::distance) {
    const Vec3 from = rng.vector();
    b.add_distance("joint", base, follower, from, from + 2.0 * rng.vector().normalized(), rope);
  } else {
    const Vec3 anchor = rng.vector();
    b.add_joint_at("joint", type, base, follower, anchor, rng.rotation());
  }
  return b.build();
}

// Poses of all bodies with the joint at the given place.
inline std::vector<Pose> poses_at(const Model& model, const JointPlace& place, Random& rng) {
  const Joint& j = model.joints()[0];
  std::vector<Pose> X(static_cast<std::size_t>(model.body_count()));
  Pose base;
  if (j.base != kWorld) base = X[static_cast<std::size_t>(j.base)] = rng.pose();
  X[static_cast<std::size_t>(j.follower)] = base * Pose{j.p_BJ, j.q_BJ} * place.X_BF * Pose{j.p_FJ, j.q_FJ}.inverse();
  return X;
}

inline std::vector<Pose> moved(const std::vector<Pose>& X, const VecX& u, double h) {
  std::vector<Pose> Y = X;
  for (std::size_t i = 0; i < X.size(); ++i) {
    Y[i] = integrate_pose(X[i], u.segment<6>(static_cast<Eigen::Index>(6 * i)), h);
  }
  return Y;
}

inline VecX random_velocity(std::size_t bodies, Random& rng) {
  VecX u(static_cast<Eigen::Index>(6 * bodies));
  for (std::size_t i = 0; i < bodies; ++i) u.segment<6>(static_cast<Eigen::Index>(6 * i)) = rng.twist();
  return u;
}

}  // namespace sarrus::testing
