#include "sarrus/model/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sarrus/geometry/aabb.h"
#include "sarrus/geometry/mass_properties.h"
#include "sarrus/math/error.h"

namespace sarrus {
namespace {

constexpr double kCentreTolerance = 1e-9;  // relative to the size of the body

// Closed forms take the mass itself, so that a box of 1 kg has the inertia of the formula to the last bit.
Mat3 inertia_of(const Shape& shape, const MassProperties& unit, double mass) {
  return shape.kind < ShapeKind::hull ? solid_inertia(shape, mass) : Mat3((mass / unit.volume) * unit.inertia);
}

struct Solid {
  const Shape* shape;
  Pose X_BS;
  MassProperties unit;  // density one, shape frame
  Vec3 centre_B;
};

// The first of the elements of a body that were added last: looking through all would be slow for many bodies.
template <class Elements>
std::size_t first_of(const Elements& elements, int body) {
  std::size_t i = elements.size();
  while (i > 0 && elements[i - 1].body == body) --i;
  return i;
}

std::vector<Solid> solids_of(const ModelData& d, int body, const ModelBuilder::SolidLabel& label) {
  std::vector<Solid> solids;
  const auto add = [&](const Shape& shape, const Pose& X_BS, int geom, int child) {
    const MassProperties unit = mass_properties(shape, label(geom, child));
    solids.push_back({&shape, X_BS, unit, X_BS * unit.centre});
  };
  for (std::size_t i = first_of(d.geoms, body); i < d.geoms.size(); ++i) {
    const Geom& g = d.geoms[i];
    const int geom = static_cast<int>(i);
    if (g.shape.kind != ShapeKind::compound) {
      add(g.shape, g.X_BG, geom, -1);
      continue;
    }
    int child = 0;
    for (const CompoundChild& c : *g.shape.children) add(c.shape, g.X_BG * c.X_SC, geom, child++);
  }
  return solids;
}

double volume_of(const std::vector<Solid>& solids) {
  double volume = 0;
  for (const Solid& s : solids) volume += s.unit.volume;
  return volume;
}

Vec3 centre_of(const std::vector<Solid>& solids, double volume) {
  double size = 0;
  Vec3 centre = Vec3::Zero();
  for (const Solid& s : solids) {
    centre += s.unit.volume / volume * s.centre_B;
    size = std::max(size, s.centre_B.norm() + shape_box(*s.shape).diagonal());
  }
  return centre.norm() > kCentreTolerance * size ? centre : Vec3::Zero();
}

// Appends, and returns the index.
template <class T>
int add_to(std::vector<T>& list, T element) {
  list.push_back(std::move(element));
  return static_cast<int>(list.size()) - 1;
}

}  // namespace

ModelBuilder::ModelBuilder(std::string name, std::string description) {
  set_name(std::move(name), std::move(description));
  d_.materials.push_back({"default", 0.7, 0.0});
}

void ModelBuilder::set_name(std::string name, std::string description) {
  d_.name = std::move(name);
  d_.description = std::move(description);
}

int ModelBuilder::add_body(Body body) { return add_to(d_.bodies, std::move(body)); }

int ModelBuilder::add_body(std::string name, double mass, const Mat3& inertia_B, const Pose& X_WB0) {
  return add_body({.name = std::move(name), .mass = mass, .inertia_B = inertia_B, .X_WB0 = X_WB0});
}

int ModelBuilder::add_solid(std::string name, double mass, const Shape& shape, const Pose& X_WS, int material) {
  const MassProperties m = mass_properties(shape, fmt::format("body '{}'", name));
  const int body = add_body(std::move(name), mass, inertia_of(shape, m, mass), {X_WS * m.centre, X_WS.q});
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

double ModelBuilder::volume_of_shapes(int body, const SolidLabel& label) const {
  return volume_of(solids_of(d_, body, label));
}

Vec3 ModelBuilder::set_mass_of_shapes(int body, double mass, const SolidLabel& label) {
  const std::vector<Solid> solids = solids_of(d_, body, label);
  const double volume = volume_of(solids);
  Vec3 centre = centre_of(solids, volume);
  Body& b = this->body(body);
  b.mass = mass;
  b.inertia_B.setZero();
  for (const Solid& s : solids) {
    const double part = mass * (s.unit.volume / volume);
    const Vec3 p = s.centre_B - centre;
    const Mat3 R = s.X_BS.R();
    const Mat3 I = R * inertia_of(*s.shape, s.unit, part) * R.transpose();
    b.inertia_B += 0.5 * (I + I.transpose()) + part * (p.squaredNorm() * Mat3::Identity() - p * p.transpose());
  }
  return centre;
}

void ModelBuilder::move_origin(int body, const Vec3& to_B) {
  Body& b = this->body(body);
  b.X_WB0.p = b.X_WB0 * to_B;
  for (std::size_t i = first_of(d_.geoms, body); i < d_.geoms.size(); ++i) d_.geoms[i].X_BG.p -= to_B;
  for (std::size_t i = first_of(d_.visuals, body); i < d_.visuals.size(); ++i) d_.visuals[i].X_BG.p -= to_B;
  for (std::size_t i = first_of(d_.frames, body); i < d_.frames.size(); ++i) d_.frames[i].X_BF.p -= to_B;
}

int ModelBuilder::add_material(std::string name, double mu, double restitution, const Compliance& compliance) {
  return add_to(d_.materials, {std::move(name), mu, restitution, compliance});
}

void ModelBuilder::set_material_pair(int a, int b, double mu, double restitution,
                                     std::optional<Compliance> compliance) {
  d_.material_pairs.push_back({a, b, mu, restitution, compliance});
}

int ModelBuilder::add_geom(Geom geom) { return add_to(d_.geoms, std::move(geom)); }

int ModelBuilder::add_geom(int body, const Shape& shape, const Pose& X_BG, int material, std::string name) {
  return add_geom({.name = std::move(name), .body = body, .shape = shape, .X_BG = X_BG, .material = material});
}

int ModelBuilder::add_visual(Visual visual) { return add_to(d_.visuals, std::move(visual)); }

int ModelBuilder::add_visual(int body, const Shape& shape, const Pose& X_BG, const Colour& colour, std::string name) {
  return add_visual({.name = std::move(name), .body = body, .shape = shape, .X_BG = X_BG, .colour = colour});
}

int ModelBuilder::add_frame(std::string name, int body, const Pose& X_BF) {
  return add_to(d_.frames, {.name = std::move(name), .body = body, .X_BF = X_BF});
}

void ModelBuilder::reorder_geoms(const std::vector<int>& order) {
  std::vector<Geom> sorted;
  for (const int i : order) sorted.push_back(d_.geoms[static_cast<std::size_t>(i)]);
  d_.geoms = std::move(sorted);
}

int ModelBuilder::add_floor(double height, int material) {
  return add_geom(kWorld, Shape::plane(), Pose{Vec3(0, 0, height), Quat::Identity()}, material);
}

int ModelBuilder::add_joint(Joint joint) {
  joint.first_dof = static_cast<int>(d_.dofs.size());
  d_.dofs.resize(d_.dofs.size() + static_cast<std::size_t>(joint_dofs(joint)));
  return add_to(d_.joints, std::move(joint));
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

void ModelBuilder::anchor_at(Joint& joint, const Vec3& anchor_W, const Quat& axes_W) const {
  const Pose X_WJ{anchor_W, axes_W};
  const Pose X_BJ = reference_pose(joint.name, joint.base).inverse() * X_WJ;
  const Pose X_FJ = reference_pose(joint.name, joint.follower).inverse() * X_WJ;
  joint.p_BJ = X_BJ.p;
  joint.q_BJ = X_BJ.q;
  joint.p_FJ = X_FJ.p;
  joint.q_FJ = X_FJ.q;
}

void ModelBuilder::anchor_at(Joint& joint, const Vec3& anchor_base_W, const Vec3& anchor_follower_W) const {
  joint.p_BJ = reference_pose(joint.name, joint.base).inverse() * anchor_base_W;
  joint.p_FJ = reference_pose(joint.name, joint.follower).inverse() * anchor_follower_W;
}

int ModelBuilder::add_joint_at(std::string name, JointType type, int base, int follower, const Vec3& anchor_W,
                               const Quat& axes_W) {
  Joint j{.name = std::move(name), .type = type, .base = base, .follower = follower};
  anchor_at(j, anchor_W, axes_W);
  return add_joint(std::move(j));
}

void ModelBuilder::set_ball_spring(int joint_index, double stiffness, double damping, const Quat& q_rest) {
  Joint& j = joint(joint_index);
  j.q_rest = q_rest;
  for (int k = 0; k < joint_dofs(j); ++k) {
    dof(joint_index, k).stiffness = stiffness;
    dof(joint_index, k).damping = damping;
  }
}

int ModelBuilder::add_distance(std::string name, int base, int follower, const Vec3& anchor_base_W,
                               const Vec3& anchor_follower_W, bool rope) {
  Joint j{.name = std::move(name), .type = JointType::distance, .base = base, .follower = follower};
  anchor_at(j, anchor_base_W, anchor_follower_W);
  j.length = (anchor_follower_W - anchor_base_W).norm();
  j.rope = rope;
  return add_joint(std::move(j));
}

int ModelBuilder::add_serial_at(std::string name, int base, int follower, std::vector<SerialAxis> axes_W) {
  if (axes_W.empty()) throw InputError(fmt::format("joint '{}'", name), "a serial joint needs axes; give 2 to 5");
  Joint j{.name = std::move(name), .type = JointType::serial, .base = base, .follower = follower};
  anchor_at(j, axes_W.front().p_J, Quat::Identity());
  j.axes = std::move(axes_W);
  const Vec3 origin = j.axes.front().p_J;
  for (SerialAxis& a : j.axes) a.p_J -= origin;
  return add_joint(std::move(j));
}

int ModelBuilder::add_combination(Combination combination) { return add_to(d_.combinations, std::move(combination)); }

int ModelBuilder::add_contact_pair(ContactPair pair) { return add_to(d_.contact_pairs, std::move(pair)); }

int ModelBuilder::add_coupling(Coupling coupling) { return add_to(d_.couplings, std::move(coupling)); }

int ModelBuilder::add_coupling(std::string name, int dof_a, int dof_b, double ratio, double offset) {
  return add_coupling({.name = std::move(name), .dof_a = dof_a, .dof_b = dof_b, .ratio = ratio, .offset = offset});
}

void ModelBuilder::exclude(int body_a, int body_b) { d_.excludes.push_back({body_a, body_b}); }
void ModelBuilder::include(int body_a, int body_b) { d_.includes.push_back({body_a, body_b}); }

}  // namespace sarrus
