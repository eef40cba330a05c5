// Joints of the tree.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sarrus/math/tools.h"
#include "sarrus/robot_files/mjcf_model.h"

namespace sarrus::robot::mjcf {
namespace {

// springdamper (T, zeta): K = I/(T^2 zeta^2), B = 2 I/T with the inertia I that the joint feels.
void resolve_springdampers(Source& s) {
  std::optional<JointInertia> inertia;
  for (SourceJoint& j : s.joints) {
    const auto [T, zeta] = j.springdamper;
    if (!(T > 0) || !(zeta > 0) || j.kind == JointKind::free) continue;
    if (!inertia) inertia.emplace(s);
    double sum = 0;
    for (int k = 0; k < j.velocities(); ++k) sum += inertia->inverse(j.qvel + k);
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

}  // namespace sarrus::robot::mjcf
