// A small independent implementation of the joint rows of docs/theory/model.md §2, to check mobility and closure of
// the built-in scenes without the simulator's own assembly.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "sarrus/math/so3.h"
#include "sarrus/model/model.h"
#include "support/dense.h"

namespace sarrus::testing {

struct JointRows {
  VecX residual;
  MatX jacobian;  // d(residual) / d(twists of the bodies), world axes
};

// One constrained direction in base-joint axes: a translation or a rotation.
struct Row {
  bool angular;
  Vec3 axis;
  double residual;
};

inline std::vector<Row> constrained_rows(JointType type, const Vec3& p, const Quat& Q) {
  const Vec3 e[3] = {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  const Vec3 swing = swing_log(e[0], Q * e[0]);
  const Vec3 log = so3_log(Q);
  std::vector<Row> rows;
  const auto translations = [&](int first) {
    for (int k = first; k < 3; ++k) rows.push_back({false, e[k], p[k]});
  };
  const auto rotations = [&](int first, const Vec3& phi) {
    for (int k = first; k < 3; ++k) rows.push_back({true, e[k], phi[k]});
  };
  switch (type) {
    case JointType::fixed:
      translations(0);
      rotations(0, log);
      break;
    case JointType::revolute:
      translations(0);
      rotations(1, swing);
      break;
    case JointType::prismatic:
      translations(1);
      rotations(0, log);
      break;
    case JointType::cylindrical:
      translations(1);
      rotations(1, swing);
      break;
    case JointType::universal:
      translations(0);
      rows.push_back({true, e[0].cross(Q * e[1]).normalized(), -e[0].dot(Q * e[1])});
      break;
    case JointType::spherical:
      translations(0);
      break;
    default:
      ADD_FAILURE() << "joint type not covered: " << joint_type_info(type).name;
  }
  return rows;
}

inline JointRows joint_rows(const Model& model, const std::vector<Pose>& X) {
  std::vector<double> residual;
  std::vector<VecX> jacobian;
  const auto pose = [&](int body) { return body == kWorld ? Pose{} : X[static_cast<std::size_t>(body)]; };
  for (const Joint& j : model.joints()) {
    const Pose X_WB = pose(j.base) * Pose{j.p_BJ, j.q_BJ};
    const Pose X_WF = pose(j.follower) * Pose{j.p_FJ, j.q_FJ};
    const Pose X_BF = X_WB.inverse() * X_WF;
    for (const Row& row : constrained_rows(j.type, X_BF.p, X_BF.q)) {
      const Vec3 a = X_WB.q * row.axis;
      VecX J = VecX::Zero(6 * model.body_count());
      for (const int body : {j.base, j.follower}) {
        if (body == kWorld) continue;
        const double sign = body == j.follower ? 1 : -1;
        auto block = J.segment<6>(6 * body);
        if (row.angular) {
          block.tail<3>() = sign * a;
        } else {
          block.head<3>() = sign * a;
          block.tail<3>() = sign * (X_WF.p - pose(body).p).cross(a);
        }
      }
      residual.push_back(row.residual);
      jacobian.push_back(J);
    }
  }
  JointRows out;
  out.residual = Eigen::Map<const VecX>(residual.data(), static_cast<Eigen::Index>(residual.size()));
  out.jacobian.resize(out.residual.size(), 6 * model.body_count());
  for (std::size_t i = 0; i < jacobian.size(); ++i) out.jacobian.row(static_cast<Eigen::Index>(i)) = jacobian[i];
  return out;
}

inline std::vector<Pose> reference_poses(const Model& model) {
  std::vector<Pose> X;
  for (const Body& b : model.bodies()) X.push_back(b.X_WB0);
  return X;
}

inline int row_count(const Model& model) {
  int rows = 0;
  for (const Joint& j : model.joints()) rows += joint_type_info(j.type).rows;
  return rows;
}

// Rank by singular values above 1e-9 of the largest.
inline int joint_rank(const Model& model, const std::vector<Pose>& X) {
  return test::rank_of(joint_rows(model, X).jacobian, 1e-9);
}

inline int mobility(const Model& model, const std::vector<Pose>& X) {
  return 6 * model.body_count() - joint_rank(model, X);
}

inline double closure_error(const Model& model, const std::vector<Pose>& X) {
  return joint_rows(model, X).residual.cwiseAbs().maxCoeff();
}

// Moves a mechanism of mobility 1 along its motion by `steps` steps of largest twist component `step`, with
// Newton corrections after each. `direction` keeps the sense of motion. A mechanism that can only move
// infinitesimally fails to close again, or returns with another mobility.
inline void walk(const Model& model, std::vector<Pose>& X, VecX& direction, int steps, double step) {
  const auto move = [&](const VecX& twists) {
    for (std::size_t i = 0; i < X.size(); ++i)
      X[i] = integrate_pose(X[i], twists.segment<6>(6 * static_cast<Eigen::Index>(i)), 1.0);
  };
  for (int s = 0; s < steps; ++s) {
    VecX tangent = test::null_vector(joint_rows(model, X).jacobian);
    if (direction.size() > 0 && tangent.dot(direction) < 0) tangent = -tangent;
    direction = tangent;
    move(step / tangent.cwiseAbs().maxCoeff() * tangent);
    for (int newton = 0; newton < 6; ++newton) {
      const JointRows rows = joint_rows(model, X);
      move(-test::least_squares(rows.jacobian, rows.residual, 1e-6));
    }
  }
}

}  // namespace sarrus::testing
