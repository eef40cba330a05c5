// Models and scene texts shared by the tests of the scene format.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <string>

#include "io/shape_test_data.h"
#include "sarrus/geometry/aabb.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/mass_properties.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"

namespace sarrus::test {

// Every field of the data as text, doubles by their bits: equal texts mean bit-identical models.
class ModelText {
 public:
  explicit ModelText(const ModelData& d) {
    add("name", d.name, d.description);
    add("run", d.gravity, d.defaults.dt, d.defaults.duration, d.defaults.integrator, d.self_collision);
    for (const Body& b : d.bodies)
      add("body", b.name, b.mass, b.inertia_B, b.X_WB0, b.v0_W, b.w0_W, b.ccd, b.linear_damping, b.angular_damping,
          b.gravity_scale);
    for (const Joint& j : d.joints) {
      add("joint", j.name, j.type, j.base, j.follower, j.p_BJ, j.p_FJ, j.q_BJ, j.q_FJ, j.length, j.rope, j.swing_limit,
          j.q_rest, j.erp, j.compliance, j.first_dof);
      for (const SerialAxis& a : j.axes) add("axis", a.name, a.angular, a.p_J, a.axis_J, a.reference);
    }
    std::vector<Dof> dofs = d.dofs;
    for (const Combination& c : d.combinations) {
      add("combination", c.name, c.offset);
      for (const CombinationTerm& t : c.terms) add("term", t.dof, t.coefficient);
      dofs.push_back(c.law);
    }
    for (const Dof& f : dofs) {
      const Signal& s = f.drive.target;
      add("dof", f.limit.lower, f.limit.upper, f.limit.restitution, f.limit.erp, f.limit.compliance, f.armature,
          f.stiffness, f.rest, f.damping, f.dry_friction, f.wrapped);
      add("bounds", f.drive.name, f.drive.effort_lower, f.drive.effort_upper, f.drive.target_lower,
          f.drive.target_upper, f.initial.has_value(), f.initial.value_or(0));
      add("drive", f.drive.mode, f.drive.kp, f.drive.kd, f.drive.effort_limit, s.offset, s.rate, s.amplitude,
          s.frequency, s.phase);
      for (const TablePoint& p : s.table) add("point", p.time, p.value, s.interpolation);
    }
    for (const Coupling& c : d.couplings)
      add("coupling", c.name, c.dof_a, c.dof_b, c.ratio, c.offset, c.higher, c.erp, c.compliance);
    for (const Material& m : d.materials) add("material", m.name, m.mu, m.restitution, m.compliance);
    for (const MaterialPair& p : d.material_pairs) {
      add("pair", p.a, p.b, p.mu, p.restitution, p.compliance.has_value(), p.compliance.value_or(Compliance{}));
    }
    for (const Geom& g : d.geoms) {
      add("geom", g.name, g.body, g.shape, g.X_BG, g.material, g.group, g.collides_with, g.margin, g.colour.has_value(),
          g.colour.value_or(Colour{}));
    }
    for (const Visual& v : d.visuals) add("visual", v.name, v.body, v.shape, v.X_BG, v.colour);
    for (const Frame& f : d.frames) add("frame", f.name, f.body, f.X_BF);
    for (const ContactPair& p : d.contact_pairs) {
      add("contact pair", p.a, p.b, p.mu, p.restitution, p.compliance, p.margin);
    }
    for (const BodyPair& p : d.excludes) add("exclude", p.a, p.b);
    for (const BodyPair& p : d.includes) add("include", p.a, p.b);
  }
  const std::string& text() const { return text_; }

 private:
  template <class... Fields>
  void add(const char* kind, const Fields&... fields) {
    text_ += kind;
    (field(fields), ...);
    text_ += '\n';
  }
  void field(const std::string& s) { text_ += " '" + s + "'"; }
  void field(double x) { text_ += " " + std::to_string(x) + "#" + std::to_string(std::bit_cast<std::uint64_t>(x)); }
  void field(const Quat& q) { field(Eigen::Vector4d(q.coeffs())); }
  void field(const Compliance& c) {
    field(c.model);
    for (const double x : {c.cfm, c.erp, c.d0, c.dw, c.width, c.midpoint, c.power, c.time_constant, c.damping_ratio,
                           c.margin, c.stiffness, c.dissipation, c.near_rigid, c.stiction, c.damping,
                           c.friction_damping, c.modulus, c.radius, c.length}) {
      field(x);
    }
    field(c.unit_factor);
  }
  void field(const Colour& c) { field(c.red), field(c.green), field(c.blue), field(c.alpha); }
  void field(const Pose& X) { field(X.p), field(X.q); }
  void field(const Aabb& box) { field(box.lo), field(box.hi); }
  void field(const MassProperties& m) { field(m.volume), field(m.centre), field(m.inertia); }
  template <class T, std::size_t N>
  void field(const std::array<T, N>& list) {
    for (const T& x : list) field(x);
  }
  template <class T>
  void field(std::span<T> list) {
    for (const auto& x : list) field(x);
  }
  // With everything that is derived from the points.
  void field(const ConvexHull& h) {
    add("hull", h.vertices(), h.edges(), h.box(), h.inner_radius(), h.outer_radius(), h.mass_properties());
    for (int i = 0; i < h.face_count(); ++i) {
      const ConvexHull::Face& f = h.faces()[static_cast<std::size_t>(i)];
      add("face", f.first, f.size, f.normal, f.offset, h.face_vertices(i), h.face_edges(i), h.contact_corners(i));
    }
    for (int i = 0; i < h.vertex_count(); ++i) add("vertex", h.neighbours(i), h.faces_of(i));
  }
  void field(const TriangleMesh& m) {
    add("mesh", m.vertices(), m.triangles(), m.surface(), m.box(), m.outer_radius());
    for (int t = 0; t < m.triangle_count(); ++t) add("t", m.normal(t), m.neighbour(t, 0), m.neighbour(t, 1));
    if (m.surface() == TriangleMesh::Surface::closed) add("mass", m.mass_properties("mesh"));
    if (m.hull() != nullptr) field(*m.hull());
  }
  void field(const HeightField& f) {
    add("field", f.columns(), f.rows(), f.dx(), f.dy(), f.heights(), f.box(), f.outer_radius());
  }
  void field(const Shape& s) {
    add("shape", s.kind, s.size, s.mass_from_hull);
    if (s.hull != nullptr) field(*s.hull);
    if (s.mesh != nullptr) field(*s.mesh);
    if (s.height_field != nullptr) field(*s.height_field);
    if (s.children == nullptr) return;
    for (const CompoundChild& c : *s.children) field(c.shape), field(c.X_SC);
  }
  template <int R, int C>
  void field(const Eigen::Matrix<double, R, C>& m) {
    for (Eigen::Index i = 0; i < m.size(); ++i) field(m(i % m.rows(), i / m.rows()));
  }
  template <class Integer>
  void field(const Integer& x) {
    text_ += " " + std::to_string(static_cast<long long>(x));
  }

  std::string text_;
};

inline std::string text_of(const Model& model) { return ModelText(model.data()).text(); }

class RandomModel {
 public:
  explicit RandomModel(unsigned seed) : random_(seed) {}

  Model make(int bodies) {
    ModelBuilder b("random \"model\"", "line one\nline two \u00e9");
    b.set_gravity(vector());
    b.set_defaults({magnitude(), magnitude(), coin() ? "moreau" : "semi-implicit"});
    b.add_material("rubber", magnitude(), 0.3, compliance(true));
    b.add_material("ice", magnitude(), 0.1);
    b.set_material_pair(1, 2, magnitude(), 0.7);
    if (coin()) b.set_material_pair(0, 2, magnitude(), 0.7, compliance(true));
    for (int i = 0; i < bodies; ++i) add_body(b, i);
    add_shapes(b, bodies);
    for (int i = 0; i < 2 * bodies; ++i) add_joint(b, i, bodies);
    b.exclude(kWorld, 0);
    if (bodies > 2) b.exclude(2, 1), b.include(0, 2);
    return b.build();
  }

  // One joint of every type and a coupling, every optional key somewhere.
  Model make_rich() {
    ModelBuilder b("rich", "every feature");
    b.set_gravity({0.1, -0.0, -9.81});
    b.set_self_collision(false);
    b.add_material("rubber", 1.1, 0.5, Compliance::soft_physical(1e5, 0.1));
    b.set_material_pair(1, 0, 0.9, 0.25, Compliance::soft_hertz(1e9, 0.05, 3));
    b.set_material_pair(1, 1, 1.3, 0.5, Compliance{});
    add_shapes_of_all_kinds(b);
    for (int i = 0; i < kPlainJointTypeCount + 1; ++i) add_body(b, i);
    for (int t = 0; t < kPlainJointTypeCount; ++t) {
      const int joint =
          b.add_joint_at("joint" + std::to_string(t), static_cast<JointType>(t), t - 1, t, vector(), rotation());
      b.joint(joint).length = static_cast<JointType>(t) == JointType::distance ? 0.7 : 0.0;
      fill_dofs(b, joint);
    }
    const int rope = b.add_distance("rope", kWorld, 11, vector(), vector(), true);
    b.joint(rope).erp = 0.125;
    b.joint(static_cast<int>(JointType::spherical)).swing_limit = 1.1;
    b.set_ball_spring(static_cast<int>(JointType::spherical), magnitude(), magnitude(), rotation());
    const int cylinder = static_cast<int>(JointType::cylindrical);
    b.dof(cylinder, 0).wrapped = b.dof(cylinder, 1).wrapped = false;
    b.add_coupling("screw", b.dof_index(cylinder, 0), b.dof_index(cylinder, 1), 0.01, -0.5);
    add_seen(b);
    b.exclude(3, kWorld);
    b.exclude(1, 5);
    b.include(4, 3);
    return b.build();
  }

 private:
  double uniform(double a, double c) { return std::uniform_real_distribution<double>(a, c)(random_); }
  bool coin() { return uniform(0, 1) < 0.5; }
  double magnitude() { return std::exp(uniform(-8, 8)); }
  double signed_magnitude() { return coin() ? magnitude() : -magnitude(); }
  Vec3 vector() { return {uniform(-2, 2), uniform(-2, 2), uniform(-2, 2)}; }
  Quat rotation() { return so3_exp(vector()); }
  Pose pose() { return {vector(), rotation()}; }
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  void add_body(ModelBuilder& b, int i) {
    const double mass = magnitude();
    Mat3 I = solid_inertia(Shape::box({0.1, 0.2, 0.15}), mass);
    if (i % 3 == 1) {  // full and exactly symmetric
      const Mat3 R = rotation().toRotationMatrix();
      I = R * I * R.transpose();
      I = (0.5 * (I + I.transpose())).eval();
    } else if (i % 3 == 2) {  // symmetric but for rounding
      const Mat3 R = rotation().toRotationMatrix();
      I = (R * I * R.transpose()).eval();
      I(0, 1) = std::nextafter(I(1, 0), 1.0);
    }
    const int body = b.add_body("body " + std::to_string(i), mass, I, i == 0 ? Pose{} : pose());
    if (coin()) b.set_velocity(body, vector(), vector());
    if (coin()) b.body(body).linear_damping = magnitude();
    if (coin()) b.body(body).angular_damping = magnitude();
    b.body(body).ccd = static_cast<Ccd>(pick(3));
  }

  void add_shapes(ModelBuilder& b, int bodies) {
    for (int i = 0; i < 2 * bodies; ++i) {
      const int body = pick(bodies + 1) - 1;
      const int geom = b.add_geom(body, solid(), coin() ? pose() : Pose{}, pick(3));
      if (coin()) b.geom(geom).group = static_cast<std::uint32_t>(random_());
      if (coin()) b.geom(geom).collides_with = static_cast<std::uint32_t>(random_());
      if (coin()) b.geom(geom).margin = magnitude();
    }
    if (coin()) b.add_geom(kWorld, random_terrain(random_, 2 + pick(5), 2 + pick(5)), pose());
  }

  Shape convex_solid() {
    const double a = magnitude();
    const double c = magnitude();
    const Shape shapes[] = {Shape::sphere(a), Shape::capsule(a, c), Shape::box({a, c, magnitude()}),
                            Shape::cylinder(a, c), Shape::ellipsoid({c, a, magnitude()})};
    const int k = pick(6);
    return k < 5 ? shapes[k] : random_hull(random_, 4 + pick(60));
  }

  Shape solid() {
    const int k = pick(8);
    if (k == 6) return box_mesh({magnitude(), magnitude(), 1});
    if (k < 7) return convex_solid();
    std::vector<CompoundChild> children;
    for (int i = 0; i <= pick(3); ++i) children.push_back({convex_solid(), coin() ? pose() : Pose{}});
    children.push_back({l_mesh(), pose()});
    return Shape::compound(std::move(children));
  }

  // The world's shapes first and a body's shapes apart: the file needs shape_order.
  void add_shapes_of_all_kinds(ModelBuilder& b) {
    b.add_floor(-1.5, 1);
    b.add_geom(2, Shape::sphere(0.1), pose(), 1, "ball");
    b.add_geom(0, Shape::capsule(0.1, 0.4));
    b.add_geom(2, Shape::box({0.1, 0.2, 0.3}), {Vec3(0, 0, -0.0), Quat::Identity()});
    b.geom(1).group = 0x80000005u;
    b.geom(1).collides_with = 0;
    b.geom(2).group = ~0u;
    b.geom(2).collides_with = 2;
    b.geom(3).margin = 0.005;
    b.add_geom(1, Shape::cylinder(0.1, 0.2), pose());
    b.add_geom(1, Shape::ellipsoid({0.1, 0.2, 0.3}));
    const Shape hull = random_hull(random_, 30);
    b.add_geom(0, hull, pose());
    b.add_geom(3, hull, pose());  // the same points
    b.add_geom(0, l_mesh(), pose());
    b.geom(b.add_geom(kWorld, l_mesh())).shape.mass_from_hull = true;
    b.add_geom(kWorld, random_terrain(random_, 30, 20), pose());
    b.add_geom(1, Shape::compound({{Shape::box({1, 2, 3}), pose()}, {l_mesh(), {}}, {hull, pose()}}));
  }

  // What is only seen, in another order than that of the bodies.
  void add_seen(ModelBuilder& b) {
    b.geom(2).colour = Colour{0.1, 0.2, 0.3};
    b.add_visual(kWorld, Shape::plane(), pose(), {1, 0, 0.5, 0.25}, "ground");
    b.add_visual(3, Shape::sphere(0.2), pose());
    b.add_visual(0, b.geom(8).shape, pose(), {0, 0, -0.0, 1});  // the points of a geom
    b.add_visual(3, box_mesh({1, 2, 3}), {}, {}, "shell");
    b.add_visual(1, b.visual(3).shape, pose());
    b.add_frame("tool", 2, pose());
    b.add_frame("ground", kWorld, {});
    b.add_frame("camera", 0, {Vec3(0, 0, -0.0), Quat::Identity()});
    b.body(4).gravity_scale = -0.5;
    const int hinge = static_cast<int>(JointType::revolute);
    b.dof(hinge).drive.name = "motor of the \"hinge\"";
    b.dof(hinge).drive.effort_limit = 4;
    b.dof(hinge).drive.effort_lower = -3;
    b.dof(hinge).drive.effort_upper = 0.25;
    b.dof(hinge).drive.target_lower = -1.5;
    b.dof(hinge).drive.target_upper = 1.5;
    b.dof(hinge).wrapped = false;
    b.dof(hinge).initial = 7.5;
    b.dof(static_cast<int>(JointType::prismatic)).initial = -0.0;
    add_serial_and_sums(b);
  }

  void add_serial_and_sums(ModelBuilder& b) {
    Joint j{.name = "ankle", .type = JointType::serial, .base = 3, .follower = 7};
    j.p_BJ = vector();
    j.q_BJ = rotation();
    j.axes = {{.name = "roll", .p_J = vector(), .axis_J = vector().normalized(), .reference = 0.25},
              {.name = {}, .angular = false, .p_J = vector(), .axis_J = Vec3(0, -0.0, 1)},
              {.name = "pitch", .p_J = Vec3::Zero(), .axis_J = vector().normalized(), .reference = -0.0}};
    const int joint = b.add_joint(j);
    for (int k = 0; k < 3; ++k) {
      fill_dof(b.dof(joint, k), true, k != 1);
      b.dof(joint, k).wrapped = false;
    }
    b.dof(joint, 0).initial = 7;
    Coupling cam{.name = "cam", .dof_a = b.dof_index(joint, 0), .dof_b = b.dof_index(joint, 2), .ratio = 0.5};
    cam.offset = -0.25;
    cam.higher = {1e-3, 0, -0.0};
    b.add_coupling(cam);
    Combination c{.name = "tendon", .terms = {}, .offset = 0.125, .law = {}};
    for (int k = 0; k < 3; ++k) c.terms.push_back({b.dof_index(joint, k), signed_magnitude()});
    fill_dof(c.law, true, false);
    c.law.armature = 0;
    c.law.drive.name = "flexor";
    b.add_combination(c);
    Combination held{.name = "held", .terms = {{b.dof_index(joint, 1), -1}}, .law = {}};
    held.law.limit = {.lower = 0.5, .upper = 0.5, .compliance = compliance(false)};
    b.add_combination(held);
    b.add_contact_pair({.a = 3, .b = 0, .mu = 0.25, .restitution = 0.5, .margin = 0.001});
    b.add_contact_pair({.a = 1, .b = 2, .compliance = compliance(true)});
  }

  void add_joint(ModelBuilder& b, int i, int bodies) {
    const auto type = static_cast<JointType>(pick(kPlainJointTypeCount));
    const int follower = pick(bodies);
    int base = pick(bodies + 1) - 1;
    if (base == follower) base = kWorld;
    const int joint = b.add_joint_at("j" + std::to_string(i) + ".angle", type, base, follower, vector(), rotation());
    if (type == JointType::distance) b.joint(joint).length = magnitude();
    if (type == JointType::distance) b.joint(joint).rope = coin();
    if (type == JointType::spherical && coin()) b.joint(joint).swing_limit = uniform(0.1, 3);
    if (coin()) b.joint(joint).erp = uniform(0, 1);
    if (coin()) b.joint(joint).compliance = compliance(false);
    fill_dofs(b, joint);
    if (type == JointType::spherical && coin()) {
      b.joint(joint).q_rest = rotation();
      const double stiffness = magnitude();
      for (int k = 0; k < 3; ++k) b.dof(joint, k).stiffness = stiffness;
      if (coin()) b.set_ball_spring(joint, stiffness, magnitude());
    }
  }

  // Any model, all its parameters away from their defaults.
  Compliance compliance(bool contact) {
    Compliance c;
    c.model = static_cast<ComplianceModel>(pick(contact ? kComplianceModelCount : kComplianceModelCount - 1));
    switch (c.model) {
      case ComplianceModel::rigid:
        return c;
      case ComplianceModel::cfm_erp:
        c.cfm = magnitude();
        c.erp = uniform(0, 1);
        break;
      case ComplianceModel::mujoco:
        c.d0 = uniform(0.1, 0.9);
        c.dw = uniform(0.1, 0.9);
        c.width = magnitude();
        c.midpoint = uniform(0.1, 0.9);
        c.power = uniform(1, 5);
        c.time_constant = magnitude();
        c.damping_ratio = magnitude();
        c.margin = magnitude();
        return c;
      case ComplianceModel::physical:
        c.stiffness = magnitude();
        c.dissipation = magnitude();
        c.near_rigid = uniform(0, 3);
        c.stiction = magnitude();
        break;
      case ComplianceModel::spring_damper:
        c.stiffness = magnitude();
        c.damping = magnitude();
        if (coin()) c.friction_damping = magnitude();
        break;
      case ComplianceModel::hertz:
        c.modulus = magnitude();
        c.radius = magnitude();
        c.damping = magnitude();
        c.unit_factor = coin();
        return c;
    }
    c.length = magnitude();
    return c;
  }

  void fill_dofs(ModelBuilder& b, int joint) {
    const JointTypeInfo& type = joint_type_info(b.joint(joint).type);
    for (int k = 0; k < type.dofs; ++k) fill_dof(b.dof(joint, k), type.coordinates, type.angular[k]);
  }

  void fill_dof(Dof& dof, bool coordinate, bool angular) {
    if (coin()) dof.damping = magnitude();
    if (coin()) dof.dry_friction = magnitude();
    if (coin()) dof.armature = magnitude();
    if (coordinate && coin()) dof.limit.lower = uniform(-3, -1);
    if (coordinate && coin()) dof.limit.upper = uniform(-1, 3);
    if (coin()) dof.limit.restitution = uniform(0, 1);
    if (coin()) dof.limit.erp = uniform(0, 1);
    if (coin()) dof.limit.compliance = compliance(false);
    if (coordinate && coin()) dof.stiffness = magnitude();
    if (coordinate && coin()) dof.rest = signed_magnitude();
    if (coordinate && angular) dof.wrapped = coin();
    Drive& drive = dof.drive;
    drive.mode = static_cast<DriveMode>(pick(4));
    if (!coordinate && drive.mode == DriveMode::position) drive.mode = DriveMode::force;
    if (drive.mode == DriveMode::position || coin()) drive.kp = magnitude();
    if (drive.mode == DriveMode::velocity || coin()) drive.kd = magnitude();
    if (coin()) drive.effort_limit = magnitude();
    if (coin()) drive.target.offset = signed_magnitude();
    if (coin()) drive.target = {signed_magnitude(), signed_magnitude(), magnitude(), magnitude(), -0.0};
    if (coin()) {
      for (int i = 0; i <= pick(5); ++i) drive.target.table.push_back({i + uniform(-0.4, 0.4), signed_magnitude()});
      drive.target.interpolation = static_cast<Interpolation>(pick(2));
    }
  }

  std::mt19937 random_;
};

// The human side of the format: degrees, defaults, densities, world anchors.
inline constexpr const char* kHandWritten = R"({
  "format": "sarrus-scene",
  "version": 1,
  "angle_unit": "deg",
  "name": "hand written",
  "description": "uses the keys that saved files do not",
  "gravity": [0, 0, -10],
  "run": {"dt": 0.002, "duration": 3, "integrator": "moreau"},
  "defaults": {
    "body": {"density": 1000},
    "joint": {"erp": 0.3, "damping": 0.25, "dry_friction": 0.5, "armature": 0.125,
              "limit": {"restitution": 0.75, "erp": 0.5}},
    "shape": {"material": "rubber", "group": [1], "collides_with": [0, 31]}
  },
  "materials": [{"name": "steel", "mu": 0.25, "restitution": 0.5}, {"name": "rubber", "mu": 1,
                 "compliance": {"model": "physical", "stiffness": 1e5, "dissipation": 0.02}}],
  "material_pairs": [{"materials": ["steel", "rubber"], "mu": 0.8,
                      "compliance": {"model": "hertz", "modulus": 1e7, "radius": 0.1}},
                     {"materials": ["rubber", "rubber"]}],
  "bodies": [
    {"name": "rod", "pose": {"p": [0, 0, 2], "euler_xyz": [0, 90, 0]}, "angular_velocity": [0, 0, 180],
     "velocity": [1, 2, 3],
     "shapes": [{"name": "left", "type": "sphere", "radius": 0.1, "pose": {"p": [-1, 0, 0]}},
                {"name": "right", "type": "sphere", "radius": 0.1, "pose": {"p": [1, 0, 0]}, "material": "steel",
                 "group": "all", "collides_with": "none"}]},
    {"name": "bar", "mass": 3, "pose": {"p": [1, 0, 0], "x_axis": [0, 1, 0], "z_axis": [1, 0, 0]},
     "gravity_scale": 0.5,
     "shapes": [{"name": "box", "type": "box", "half_extents": [0.1, 0.2, 0.3], "rgba": [1, 0.5, 0]}],
     "visuals": [{"name": "knob", "type": "sphere", "radius": 0.1, "pose": {"p": [0, 0, 1]}, "rgba": [1, 1, 1, 0.5]},
                 {"type": "mesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "triangles": [[0, 1, 2]]}],
     "frames": [{"name": "grip", "pose": {"p": [0, 0, 1], "euler_xyz": [0, 0, 90]}}]},
    {"name": "plate", "mass": 2, "inertia": [3, 4, 5, 0.1, 0.2, 0.3], "pose": {"q": [0.7071, 0, 0, 0.7071]}},
    {"name": "disc", "density": 500, "shapes": [{"name": "can", "type": "capsule", "radius": 0.1, "half_length": 0.2}]}
  ],
  "world_shapes": [{"name": "floor", "type": "plane", "pose": {"p": [0, 0, -1]}}],
  "world_visuals": [{"name": "sky", "type": "sphere", "radius": 100}],
  "world_frames": [{"name": "lab"}],
  "joints": [
    {"name": "hinge", "type": "revolute", "base": "world", "follower": "rod", "at": [0, 0, 2], "axis": [0, 1, 0],
     "limit": {"lower": -90, "upper": 45, "compliance": {"model": "mujoco", "d0": 0.5, "time_constant": 0.1}}, "spring": {"stiffness": 7, "rest": 30}, "initial": 360,
     "drive": {"mode": "position", "kp": 10, "kd": 1, "effort_limit": 5,
               "target": {"offset": 10, "rate": 20, "amplitude": 30, "frequency": 2, "phase": 90}}},
    {"name": "motor", "type": "revolute", "base": "rod", "follower": "bar", "at": [1, 0, 0], "x_axis": [0, 0, 1],
     "damping": 0,
     "drive": {"name": "puller", "mode": "force", "target": 45, "effort_lower": -1, "effort_upper": 50,
               "target_upper": 40}},
    {"name": "tube", "type": "cylindrical", "base": "bar", "follower": "plate", "at": [0, 0, 0],
     "axes": [1, 0, 0, 0], "erp": 0.1,
     "compliance": {"model": "spring_damper", "stiffness": 2e4, "damping": 10, "length": 0.1},
     "coordinates": {"position": {"limit": {"lower": -1}, "drive": {"mode": "velocity", "kd": 3, "target": 2, "target_lower": 1, "target_upper": 3}},
                     "angle": {"damping": 9, "drive": {"mode": "velocity", "kd": 3, "target": 2, "target_upper": 90}}}},
    {"name": "table", "type": "planar", "base": "world", "follower": "plate", "at": [0, 0, 0], "axis": [0, 0, 1]},
    {"name": "ball", "type": "spherical", "base": "plate", "follower": "disc", "at": [0, 0, 0], "swing_limit": 60,
     "spring": {"stiffness": 3, "rest_wxyz": [0.6, 0, 0.8, 0]}, "damping": 0.5, "coordinates": {"wz": {"damping": 2}}},
    {"name": "rod end", "type": "distance", "base": "world", "follower": "disc", "base_at": [0, 3, 0],
     "follower_at": [0, 0, 4]},
    {"name": "cable", "type": "distance", "base": "bar", "follower": "disc", "base_frame": {"p": [0, 0, 0]},
     "follower_frame": {}, "length": 1.5, "rope": true},
    {"name": "drift", "type": "free", "base": "world", "follower": "disc"},
    {"name": "ankle", "type": "serial", "base": "plate", "follower": "disc", "at": [0, 0, 1], "sequence": [
      {"name": "roll", "type": "revolute", "at": [0, 0, 1], "axis": [1, 0, 0], "reference": 30, "initial": 30,
       "limit": {"lower": -45, "upper": 45}, "spring": {"stiffness": 2, "rest": 10}},
      {"type": "prismatic", "axis": [0, 0, 1], "damping": 3},
      {"name": "pitch", "type": "revolute", "at": [0, 0.04, 1], "axis": [0, 0.6, 0.8]}]}
  ],
  "couplings": [{"name": "gear", "a": "motor", "b": "hinge.angle", "ratio": -2, "offset": 90, "erp": 0.25},
                {"name": "screw", "a": "tube.position", "b": "tube.angle", "ratio": 0.01, "offset": 0.5,
                 "compliance": {"model": "cfm_erp", "cfm": 1e-4}},
                {"name": "cam", "a": "ankle.q2", "b": "ankle.pitch", "polynomial": [0, 0.1, 0.02]}],
  "combinations": [{"name": "tendon", "terms": [{"coordinate": "motor", "coefficient": 0.02},
                                                {"coordinate": "tube.position", "coefficient": -1}],
                    "offset": 0.5, "limit": {"lower": -1, "upper": 1}, "spring": {"stiffness": 10, "rest": 0.1},
                    "damping": 2, "dry_friction": 0.5,
                    "drive": {"name": "winch", "mode": "force", "effort_upper": 30, "target": 4}}],
  "contact_pairs": [{"shapes": ["left", "floor"], "mu": 0.3, "restitution": 0.1, "margin": 0.01,
                     "compliance": {"model": "physical", "stiffness": 1e5}},
                    {"shapes": ["right", "can"]}],
  "excludes": [["rod", "disc"], ["plate", "world"]],
  "includes": [["rod", "bar"]],
  "shape_order": ["floor", "left", "right", "box", "can"]
})";

// One of each of the shapes that have points, and everything that goes with them.
inline constexpr const char* kShapesScene = R"({
  "format": "sarrus-scene",
  "version": 1,
  "angle_unit": "deg",
  "self_collision": false,
  "defaults": {"body": {"density": 1000, "ccd": "speculative"}, "shape": {"margin": 0.004}},
  "bodies": [
    {"name": "can", "ccd": "off", "shapes": [{"name": "tin", "type": "cylinder", "radius": 0.1, "half_length": 0.2}]},
    {"name": "egg", "shapes": [{"name": "shell", "type": "ellipsoid", "semi_axes": [0.1, 0.2, 0.3], "margin": 0}]},
    {"name": "wedge", "pose": {"p": [1, 0, 0], "euler_xyz": [0, 0, 90]}, "recenter": true,
     "shapes": [{"name": "point", "type": "hull", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}]},
    {"name": "block", "recenter": true,
     "shapes": [{"name": "corner", "type": "mesh", "mass_from": "solid", "flip": false,
                 "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                 "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]},
                {"name": "copy", "type": "mesh", "same_as": "corner", "pose": {"p": [2, 0, 0]}}]},
    {"name": "hammer", "shapes": [{"name": "tool", "type": "compound", "children": [
        {"type": "box", "half_extents": [0.1, 0.1, 0.2]},
        {"type": "cylinder", "radius": 0.05, "half_length": 0.3, "pose": {"euler_xyz": [90, 0, 0]}}]}]}
  ],
  "world_shapes": [
    {"name": "hills", "type": "height_field", "columns": 3, "rows": 2, "spacing": [0.5, 1],
     "heights": [0, 0.1, 0, 0.2, 0, 0.1]},
    {"name": "dunes", "type": "height_field", "spacing": [0.5, 1], "heights": [[0, 0.1, 0], [0.2, 0, 0.1]]}
  ],
  "joints": [
    {"name": "hinge", "type": "revolute", "base": "wedge", "follower": "block",
     "base_frame": {"p": [1, 0, 0]}, "follower_frame": {"p": [0, 1, 0]}},
    {"name": "ball", "type": "spherical", "base": "world", "follower": "wedge", "at": [1, 1, 1]}
  ]
})";

}  // namespace sarrus::test
