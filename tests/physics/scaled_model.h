// A model in other units: the same thing with all lengths, masses and times multiplied by factors.
#pragma once

#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/model/model.h"

namespace sarrus::testing {

struct Units {
  double length = 1;
  double mass = 1;
  double time = 1;

  double speed() const { return length / time; }
  double force() const { return mass * length / (time * time); }
  double torque() const { return force() * length; }
  double energy() const { return torque(); }
};

inline Shape scaled(const Shape& shape, double length) {
  Shape s = shape;
  s.size *= length;
  if (shape.hull != nullptr) {
    std::vector<Vec3> points;
    for (const Vec3& v : shape.hull->vertices()) points.push_back(length * v);
    s = Shape::convex(ConvexHull::build(points, "scaled hull"));
  }
  if (shape.children != nullptr) {
    std::vector<CompoundChild> children = *shape.children;
    for (CompoundChild& child : children) {
      child.shape = scaled(child.shape, length);
      child.X_SC.p *= length;
    }
    s = Shape::compound(std::move(children));
  }
  if (shape.mesh != nullptr || shape.height_field != nullptr) throw std::logic_error("scaled: meshes and fields stay");
  return s;
}

inline void refuse_compliance(const Compliance& c) {
  if (c.compliant()) throw std::logic_error("scaled: rigid constraints only");
}

// `unit` of the quantity that the signal is.
inline Signal scaled(Signal signal, double unit, double time) {
  signal.offset *= unit;
  signal.rate *= unit / time;
  signal.amplitude *= unit;
  signal.frequency /= time;
  for (TablePoint& p : signal.table) p = {p.time * time, p.value * unit};
  return signal;
}

inline Model scaled(const Model& model, const Units& u) {
  ModelData d = model.data();
  const double inertia = u.mass * u.length * u.length;
  d.gravity *= u.speed() / u.time;
  d.defaults.dt *= u.time;
  d.defaults.duration *= u.time;
  for (Body& b : d.bodies) {
    b.mass *= u.mass;
    b.inertia_B *= inertia;
    b.X_WB0.p *= u.length;
    b.v0_W *= u.speed();
    b.w0_W /= u.time;
    b.linear_damping *= u.mass / u.time;
    b.angular_damping *= inertia / u.time;
  }
  const auto is_angular = [](const Joint& j, int k) {
    return joint_type_info(j.type).angular[static_cast<std::size_t>(k)];
  };
  std::vector<double> unit_of(d.dofs.size(), 1.0);
  for (Joint& j : d.joints) {
    refuse_compliance(j.compliance);
    j.p_BJ *= u.length;
    j.p_FJ *= u.length;
    j.length *= u.length;
    for (int k = 0; k < joint_type_info(j.type).dofs; ++k) {
      const auto i = static_cast<std::size_t>(j.first_dof + k);
      Dof& dof = d.dofs[i];
      refuse_compliance(dof.limit.compliance);
      const double way = is_angular(j, k) ? 1 : u.length;
      const double force = u.energy() / way;
      unit_of[i] = way;
      dof.limit.lower *= way;
      dof.limit.upper *= way;
      dof.armature *= force / way * u.time * u.time;
      dof.stiffness *= force / way;
      dof.rest *= way;
      dof.damping *= force / way * u.time;
      dof.dry_friction *= force;
      dof.drive.kp *= force / way;
      dof.drive.kd *= force / way * u.time;
      dof.drive.effort_limit *= force;
      const double target = dof.drive.mode == DriveMode::force      ? force
                            : dof.drive.mode == DriveMode::velocity ? way / u.time
                                                                    : way;
      dof.drive.target = scaled(dof.drive.target, target, u.time);
    }
  }
  for (Coupling& c : d.couplings) {
    refuse_compliance(c.compliance);
    const double a = unit_of[static_cast<std::size_t>(c.dof_a)], b = unit_of[static_cast<std::size_t>(c.dof_b)];
    c.ratio *= a / b;
    c.offset *= a;
  }
  for (const Material& m : d.materials) refuse_compliance(m.compliance);
  for (const MaterialPair& p : d.material_pairs) refuse_compliance(p.compliance.value_or(Compliance{}));
  for (Geom& g : d.geoms) {
    g.shape = scaled(g.shape, u.length);
    g.X_BG.p *= u.length;
    if (g.margin != kUseDefault) g.margin *= u.length;
  }
  return finish_model(std::move(d));
}

}  // namespace sarrus::testing
