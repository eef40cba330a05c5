// Joints of the tree, and the inertia that they feel.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>

#include "sarrus/math/tools.h"
#include "sarrus/robot_files/mjcf_model.h"

namespace sarrus::robot::mjcf {
namespace {

// springdamper (T, zeta): K = I/(T^2 zeta^2), B = 2 I/T with the inertia I that the joint feels.
void resolve_springdampers(Source& s) {
  MatX inverse;
  for (SourceJoint& j : s.joints) {
    const auto [T, zeta] = j.springdamper;
    if (!(T > 0) || !(zeta > 0) || j.kind == JointKind::free) continue;
    if (inverse.size() == 0) inverse = joint_inertia(s).ldlt().solve(MatX::Identity(s.nv, s.nv));
    double sum = 0;
    for (int k = 0; k < j.velocities(); ++k) sum += inverse(j.qvel + k, j.qvel + k);
    const double I = j.velocities() / sum;
    if (!std::isfinite(I)) continue;
    j.stiffness = I / (T * T * zeta * zeta);
    j.damping = 2 * I / T;
  }
}

Dof dof_of(const Source& s, const SourceJoint& j, const ImportOptions& options) {
  Dof dof;
  if (j.kind != JointKind::ball) {
    if (j.limited && !s.limit_disabled) {
      dof.limit.lower = j.range[0];
      dof.limit.upper = j.range[1];
      if (options.compliance == ImportCompliance::source) {
        dof.limit.compliance = compliance_of(j.limit_soft, j.margin, j.node);
      }
    }
    dof.rest = j.stiffness > 0 && !s.spring_disabled ? j.springref : 0;
  }
  if (!s.spring_disabled) dof.stiffness = j.stiffness;
  if (!s.damper_disabled) dof.damping = j.damping;
  if (!s.friction_disabled) dof.dry_friction = j.dry_friction;
  dof.armature = j.armature;
  return dof;
}

}  // namespace

void add_joints(Source& s, Graph& g, Findings& findings) {
  resolve_springdampers(s);
  for (std::size_t b = 1; b < s.bodies.size(); ++b) {
    const SourceBody& body = s.bodies[b];
    const int base = link_of(body.parent);
    const int follower = link_of(static_cast<int>(b));
    if (body.joints.empty()) {
      Joint joint = frame_joint(g, body.name + "_fixed", JointType::fixed, base, follower, body.X_WB0);
      joint.place = body.node.place;
      g.joints.push_back(std::move(joint));
      continue;
    }
    std::string name;
    std::vector<SerialAxis> axes;
    for (const int ji : body.joints) {
      const SourceJoint& j = s.joints[at(ji)];
      if (!j.name.empty()) name += (name.empty() ? "" : "+") + j.name;
      SerialAxis axis;
      axis.kind = j.kind == JointKind::slide  ? AxisKind::slide
                  : j.kind == JointKind::ball ? AxisKind::ball
                                              : AxisKind::hinge;
      axis.axis_J = j.axis_B;
      axis.anchor_J = j.pos_B;
      axis.reference = j.ref;
      axes.push_back(axis);
      if (j.kind == JointKind::free && (j.stiffness != 0 || j.damping != 0 || j.dry_friction != 0 || j.armature != 0)) {
        findings.dropped("free-joint-load", j.node, "is free and has stiffness, damping, frictionloss or armature",
                         "use <freejoint/>, which takes no defaults");
      }
      if (j.kind == JointKind::ball && j.limited && !s.limit_disabled) {
        findings.dropped("ball-range", j.node, "its range bounds the angle of the whole rotation");
      }
    }
    if (s.joints[at(body.joints[0])].kind == JointKind::free) {
      ++findings.count("joint").read;
      ++findings.count("joint").kept;
      continue;
    }
    std::vector<AxisPlace> places;
    Joint joint = composed_joint(g, name, base, follower, axes, places);
    joint.place = s.joints[at(body.joints[0])].node.place;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      SourceJoint& j = s.joints[at(body.joints[i])];
      const Dof dof = dof_of(s, j, findings.options());
      j.coordinate = {static_cast<int>(g.joints.size()), places[i].k};
      j.sign = places[i].sign;
      for (int k = 0; k < j.velocities(); ++k) {
        Coordinate& c = joint.coordinates[at(places[i].k + k)];
        c.dof = j.sign < 0 ? mirrored(dof) : dof;
        c.sign = j.sign;
        c.name = j.name;
        c.initial = j.kind == JointKind::ball ? 0 : j.sign * j.ref;
      }
    }
    g.joints.push_back(std::move(joint));
  }
}

MatX joint_inertia(const Source& s) {
  const int nv = s.nv;
  MatX M = MatX::Zero(nv, nv);
  // Of each velocity the motion of the world's origin with the body: [v; w].
  std::vector<Vec6> motion(at(nv));
  std::vector<std::vector<int>> moves(s.bodies.size());  // by body: the velocities that move it
  for (std::size_t b = 1; b < s.bodies.size(); ++b) {
    const SourceBody& body = s.bodies[b];
    moves[b] = moves[at(body.parent)];
    const Pose& X = body.X_WB0;
    for (const int ji : body.joints) {
      const SourceJoint& j = s.joints[at(ji)];
      const auto turn = [&](const Vec3& axis_W, const Vec3& anchor_W) {
        return spatial(anchor_W.cross(axis_W), axis_W);
      };
      int column = j.qvel;
      const auto add = [&](const Vec6& x) {
        motion[at(column)] = x;
        moves[b].push_back(column++);
      };
      if (j.kind == JointKind::free) {
        for (int k = 0; k < 3; ++k) add(spatial(Vec3::Unit(k), Vec3::Zero()));
        for (int k = 0; k < 3; ++k) add(turn(X.q * Vec3::Unit(k), X.p));
      } else if (j.kind == JointKind::ball) {
        for (int k = 0; k < 3; ++k) add(turn(X.q * Vec3::Unit(k), X * j.pos_B));
      } else if (j.kind == JointKind::hinge) {
        add(turn(X.q * j.axis_B, X * j.pos_B));
      } else {
        add(spatial(X.q * j.axis_B, Vec3::Zero()));
      }
      for (int k = 0; k < j.velocities(); ++k) M(j.qvel + k, j.qvel + k) += j.armature;
    }
    if (!(body.mass > 0) && body.inertia_B.isZero()) continue;
    const Vec3 com = X * body.com_B;
    const Mat3 I = X.R() * body.inertia_B * X.R().transpose();
    std::vector<Vec6> at_com;
    for (const int i : moves[b]) {
      const Vec3 v = motion[at(i)].head<3>();
      const Vec3 w = motion[at(i)].tail<3>();
      at_com.push_back(spatial(v + w.cross(com), w));
    }
    for (std::size_t i = 0; i < at_com.size(); ++i) {
      const Vec3 p = body.mass * at_com[i].head<3>();
      const Vec3 l = I * at_com[i].tail<3>();
      for (std::size_t k = 0; k < at_com.size(); ++k) {
        M(moves[b][k], moves[b][i]) += at_com[k].head<3>().dot(p) + at_com[k].tail<3>().dot(l);
      }
    }
  }
  return M;
}

}  // namespace sarrus::robot::mjcf
