#include "sarrus/model/builder.h"

#include <fmt/format.h>

#include "sarrus/geometry/mass_properties.h"
#include "sarrus/math/error.h"

namespace sarrus {

ModelBuilder::ModelBuilder(std::string name, std::string description) {
  d_.name = std::move(name);
  d_.description = std::move(description);
  d_.materials.push_back({"default", 0.7, 0.0});
}

int ModelBuilder::add_body(std::string name, double mass, const Mat3& inertia_B, const Pose& X_WB0) {
  Body b;
  b.name = std::move(name);
  b.mass = mass;
  b.inertia_B = inertia_B;
  b.X_WB0 = X_WB0;
  d_.bodies.push_back(std::move(b));
  return static_cast<int>(d_.bodies.size()) - 1;
}

int ModelBuilder::add_solid(std::string name, double mass, const Shape& shape, const Pose& X_WS, int material) {
  const MassProperties m = mass_properties(shape, fmt::format("body '{}'", name));
  // Closed forms take the mass itself, so that a box of 1 kg has the inertia of the formula to the last bit.
  const Mat3 inertia = shape.kind < ShapeKind::hull ? solid_inertia(shape, mass) : Mat3((mass / m.volume) * m.inertia);
  const int body = add_body(std::move(name), mass, inertia, {X_WS * m.centre, X_WS.q});
  add_geom(body, shape, {-m.centre, Quat::Identity()}, material);
  return body;
}

int ModelBuilder::add_box_body(std::string name, double mass, const Vec3& half_extents, const Pose& X_WB0,
                               int material) {
  return add_solid(std::move(name), mass, Shape::box(half_extents), X_WB0, material);
}

int ModelBuilder::add_sphere_body(std::string name, double mass, double radius, const Pose& X_WB0, int material) {
  return add_solid(std::move(name), mass, Shape::sphere(radius), X_WB0, material);
}

int ModelBuilder::add_capsule_body(std::string name, double mass, double radius, double half_length, const Pose& X_WB0,
                                   int material) {
  return add_solid(std::move(name), mass, Shape::capsule(radius, half_length), X_WB0, material);
}

void ModelBuilder::set_velocity(int body, const Vec3& v_W, const Vec3& w_W) {
  Body& b = this->body(body);
  b.v0_W = v_W;
  b.w0_W = w_W;
}

int ModelBuilder::add_material(std::string name, double mu, double restitution, const Compliance& compliance) {
  d_.materials.push_back({std::move(name), mu, restitution, compliance});
  return static_cast<int>(d_.materials.size()) - 1;
}

void ModelBuilder::set_material_pair(int a, int b, double mu, double restitution,
                                     std::optional<Compliance> compliance) {
  d_.material_pairs.push_back({a, b, mu, restitution, compliance});
}

int ModelBuilder::add_geom(int body, const Shape& shape, const Pose& X_BG, int material, std::string name) {
  Geom g;
  g.name = std::move(name);
  g.body = body;
  g.shape = shape;
  g.X_BG = X_BG;
  g.material = material;
  d_.geoms.push_back(std::move(g));
  return static_cast<int>(d_.geoms.size()) - 1;
}

int ModelBuilder::add_floor(double height, int material) {
  return add_geom(kWorld, Shape::plane(), Pose{Vec3(0, 0, height), Quat::Identity()}, material);
}

int ModelBuilder::add_joint(Joint joint) {
  joint.first_dof = static_cast<int>(d_.dofs.size());
  d_.dofs.resize(d_.dofs.size() + static_cast<std::size_t>(info(joint.type).dofs));
  d_.joints.push_back(std::move(joint));
  return static_cast<int>(d_.joints.size()) - 1;
}

Pose ModelBuilder::reference_pose(const std::string& joint, int body) const {
  if (body == kWorld) return {};
  if (body < 0 || body >= static_cast<int>(d_.bodies.size())) {
    throw InputError(
        fmt::format("joint '{}'", joint),
        fmt::format("refers to body {}, but {} were added; add bodies before their joints", body, d_.bodies.size()));
  }
  return d_.bodies[static_cast<std::size_t>(body)].X_WB0;
}

int ModelBuilder::add_joint_at(std::string name, JointType type, int base, int follower, const Vec3& anchor_W,
                               const Quat& axes_W) {
  const Pose X_WJ{anchor_W, axes_W};
  const auto in_body = [&](int body) { return reference_pose(name, body).inverse() * X_WJ; };
  const Pose X_BJ = in_body(base);
  const Pose X_FJ = in_body(follower);
  Joint j;
  j.name = std::move(name);
  j.type = type;
  j.base = base;
  j.follower = follower;
  j.p_BJ = X_BJ.p;
  j.q_BJ = X_BJ.q;
  j.p_FJ = X_FJ.p;
  j.q_FJ = X_FJ.q;
  return add_joint(std::move(j));
}

int ModelBuilder::add_distance(std::string name, int base, int follower, const Vec3& anchor_base_W,
                               const Vec3& anchor_follower_W, bool rope) {
  const auto in_body = [&](int body, const Vec3& p_W) { return reference_pose(name, body).inverse() * p_W; };
  Joint j;
  j.name = std::move(name);
  j.type = JointType::distance;
  j.base = base;
  j.follower = follower;
  j.p_BJ = in_body(base, anchor_base_W);
  j.p_FJ = in_body(follower, anchor_follower_W);
  j.length = (anchor_follower_W - anchor_base_W).norm();
  j.rope = rope;
  return add_joint(std::move(j));
}

int ModelBuilder::add_coupling(std::string name, int dof_a, int dof_b, double ratio, double offset) {
  Coupling c;
  c.name = std::move(name);
  c.dof_a = dof_a;
  c.dof_b = dof_b;
  c.ratio = ratio;
  c.offset = offset;
  d_.couplings.push_back(std::move(c));
  return static_cast<int>(d_.couplings.size()) - 1;
}

void ModelBuilder::exclude(int body_a, int body_b) { d_.excludes.push_back({body_a, body_b}); }
void ModelBuilder::include(int body_a, int body_b) { d_.includes.push_back({body_a, body_b}); }

}  // namespace sarrus
