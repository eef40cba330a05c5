#include "sarrus/robot_files/sdf_reader.h"

#ifdef SARRUS_HAVE_SDFORMAT

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <sdf/sdf.hh>
#include <string>
#include <vector>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/elements.h"
#include "sarrus/robot_files/mesh_shapes.h"
#include "sarrus/robot_files/sdf_checks.h"

// libsdformat tries files that it cannot read as URDF, and the library for that complains on standard error, by
// libconsole-bridge. Weak: there is nothing to be silenced where it is not loaded.
namespace console_bridge {
__attribute__((weak)) void noOutputHandler();
}

namespace sarrus::robot {
namespace {

namespace math = ignition::math;

Vec3 vec(const math::Vector3d& v) { return {v.X(), v.Y(), v.Z()}; }
Pose pose(const math::Pose3d& p) {
  return {vec(p.Pos()), Quat(p.Rot().W(), p.Rot().X(), p.Rot().Y(), p.Rot().Z()).normalized()};
}

// What the library knows of the format. To make it takes ten times as long as to read a small file, so all files share
// one; whoever holds it finds no elements of other files in it.
class Schema {
 public:
  Schema() : lock_(shared().used), root_(shared().root) {
    if (root_ == nullptr) {
      const auto made = std::make_shared<sdf::SDF>();
      if (!sdf::init(made)) throw std::runtime_error("libsdformat does not find its description of the format");
      root_ = shared().root = made->Root();
    }
    root_->ClearElements();
  }
  ~Schema() { root_->ClearElements(); }
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;
  const sdf::ElementPtr& root() const { return root_; }

 private:
  struct Shared {
    std::mutex used;
    sdf::ElementPtr root;
  };
  // Never destroyed: the library has static objects of its own, which may be gone before.
  static Shared& shared() {
    static Shared& one = *new Shared;
    return one;
  }

  std::lock_guard<std::mutex> lock_;
  sdf::ElementPtr root_;
};

class SdfReader {
 public:
  SdfReader(const xml::Node& root, const Folders& folders, Findings& findings)
      : root_(root), folders_(folders), findings_(findings), checks_(root, folders, findings) {}

  Graph read() {
    checks_.run();
    find_places(root_, "");
    load();
    if (const sdf::Model* model = sdf_.Model()) {
      g_.name = model->Name();
      add_model(*model, "", pose(model->RawPose()), false);
    }
    if (sdf_.WorldCount() > 1) xml::fail(root_, "has several worlds; give a file for each");
    if (sdf_.WorldCount() == 1) add_world(*sdf_.WorldByIndex(0));
    if (g_.links.empty() && g_.world_shapes.empty())
      xml::fail(root_, "has neither a model nor a world with one; give one");
    for (const auto& f : after_joints_) f();
    g_.meshes = meshes_.take_sources();
    return std::move(g_);
  }

 private:
  // What messages name: the element of the file that an object comes from.
  const xml::Node& node_of(const std::string& kind, const std::string& name) const {
    const auto it = nodes_.find(kind + " " + name);
    return it == nodes_.end() ? root_ : *it->second;
  }

  void find_places(const xml::Node& node, const std::string& scope) {
    for (const xml::Node& child : node.children) {
      const std::string name = scope + child.get("name");
      if (child.name == "link" || child.name == "joint" || child.name == "model")
        nodes_[child.name + " " + name] = &child;
      if (child.name == "world" || child.name == "sdf") find_places(child, scope);
      // The outermost model gives no scope: names in it are its own.
      if (child.name == "model") find_places(child, node.name == "model" || node.name == "world" ? name + "::" : scope);
    }
  }

  void load() {
    sdf::Console::Instance()->SetQuiet(true);  // its complaints come as errors, too
    if (console_bridge::noOutputHandler != nullptr) console_bridge::noOutputHandler();
    sdf::ParserConfig config;
    config.SetFindCallback([this](const std::string& address) { return checks_.found(address); });
    const std::string source = findings_.report().source;
    const auto read = std::make_shared<sdf::SDF>();
    read->Root(schema_.root());
    sdf::Errors errors;
    const bool parsed = sdf::readString(read_file(source, "an SDF file", xml::kMaxFileBytes), config, read, errors);
    if (parsed) {
      const sdf::Errors more = sdf_.Load(read, config);
      errors.insert(errors.end(), more.begin(), more.end());
    }
    for (const sdf::Error& e : errors) {
      if (e.Code() == sdf::ErrorCode::LINK_INERTIA_INVALID) continue;  // repaired like those of all formats
      throw InputError(source, fmt::format("libsdformat refuses it: {}; correct it", printable(e.Message(), 500)));
    }
    if (!parsed) throw InputError(source, "libsdformat cannot read it; compare it with the specification of SDF");
  }

  void add_world(const sdf::World& world) {
    g_.name = world.Name();
    g_.gravity = vec(world.Gravity());
    for (std::uint64_t i = 0; i < world.ModelCount(); ++i) {
      const sdf::Model& model = *world.ModelByIndex(i);
      math::Pose3d X;
      require(model.SemanticPose().Resolve(X), "model", model.Name());
      add_model(model, model.Name() + "::", pose(X), false);
    }
  }

  void require(const sdf::Errors& errors, const std::string& kind, const std::string& name) const {
    if (errors.empty()) return;
    xml::fail(node_of(kind, name), fmt::format("{}; correct it", printable(errors[0].Message(), 300)));
  }

  // ---- links -------------------------------------------------------------------------------------------------------

  void add_model(const sdf::Model& model, const std::string& scope, const Pose& X_WM, bool of_static) {
    const bool fixed = of_static || model.Static();
    const int first = static_cast<int>(g_.links.size());
    for (std::uint64_t i = 0; i < model.LinkCount(); ++i) add_link(*model.LinkByIndex(i), scope, X_WM, fixed);
    for (std::uint64_t i = 0; i < model.ModelCount(); ++i) {
      const sdf::Model& inner = *model.ModelByIndex(i);
      math::Pose3d X;
      require(inner.SemanticPose().Resolve(X, "__model__"), "model", scope + inner.Name());
      add_model(inner, scope + inner.Name() + "::", X_WM * pose(X), fixed);
    }
    if (!fixed) {
      for (std::uint64_t i = 0; i < model.JointCount(); ++i) add_joint(*model.JointByIndex(i), scope, X_WM);
    }
    for (std::uint64_t i = 0; i < model.FrameCount(); ++i) add_frame(*model.FrameByIndex(i), scope, X_WM);
    if (!fixed && !model.SelfCollide()) exclude_links(first);  // parts of the world never collide
  }

  void exclude_links(int first) {
    const int n = static_cast<int>(g_.links.size());
    for (int a = first; a < n; ++a) {
      for (int b = a + 1; b < n; ++b) {
        if (self_collide_[at(a)] || self_collide_[at(b)] || static_[at(a)] || static_[at(b)]) continue;
        if (g_.excludes.size() >= 10 * xml::kMaxElements)
          xml::fail(root_, "keeps more than 10 million pairs of links apart; split the model");
        g_.excludes.push_back({a, b, g_.links[at(a)].place});
      }
    }
  }

  void add_link(const sdf::Link& link, const std::string& scope, const Pose& X_WM, bool fixed) {
    ImportCount& count = findings_.count("link");
    ++count.read;
    ++count.kept;
    const std::string name = scope + link.Name();
    const xml::Node& node = node_of("link", name);
    math::Pose3d X;
    require(link.SemanticPose().Resolve(X, "__model__"), "link", name);
    Link out;
    out.name = name;
    out.place = node.place;
    out.X_WL = X_WM * pose(X);
    out.X_WL.q.normalize();
    read_inertial(link, node, fixed, out);
    const sdf::ElementPtr element = link.Element();
    self_collide_.push_back(element && element->HasElement("self_collide") && element->Get<bool>("self_collide"));
    if (element && element->HasElement("gravity") && !element->Get<bool>("gravity")) out.gravity_scale = 0;
    static_.push_back(fixed);
    for (std::uint64_t i = 0; i < link.CollisionCount(); ++i)
      add_collision(*link.CollisionByIndex(i), node, fixed, out);
    if (findings_.options().visuals) {
      for (std::uint64_t i = 0; i < link.VisualCount(); ++i) add_visual(*link.VisualByIndex(i), node, out);
    }
    const int index = static_cast<int>(g_.links.size());
    links_[name] = index;
    g_.links.push_back(std::move(out));
    if (!fixed) return;
    Joint weld;
    weld.name = name + "_to_world";
    weld.place = node.place;
    weld.follower = index;
    weld.X_BJ = g_.links.back().X_WL;
    g_.joints.push_back(std::move(weld));
  }

  // From the element itself: the library gives up inertias that no body can have.
  void read_inertial(const sdf::Link& link, const xml::Node& node, bool fixed, Link& out) {
    const sdf::ElementPtr element = link.Element();
    if (!element || !element->HasElement("inertial")) {
      out.mass = 1;
      out.inertia_L = Mat3::Identity();
      if (!fixed)
        findings_.warn("no-inertial", node, "has no <inertial>: by SDF it weighs 1 kg, with 1 kg m^2 about each axis",
                       "give its mass and inertia");
      return;
    }
    const sdf::ElementPtr inertial = element->GetElement("inertial");
    out.mass = inertial->Get<double>("mass", 1.0).first;
    if (!(out.mass >= 0)) xml::fail(node, "has a negative mass; give a positive one");
    const Pose X_LI = inertial->HasElement("pose") ? pose(inertial->Get<math::Pose3d>("pose")) : Pose{};
    out.com_L = X_LI.p;
    Mat3 I = Mat3::Identity();
    if (inertial->HasElement("inertia")) {
      const sdf::ElementPtr e = inertial->GetElement("inertia");
      const auto get = [&](const char* key, double fallback) { return e->Get<double>(key, fallback).first; };
      I << get("ixx", 1), get("ixy", 0), get("ixz", 0), get("ixy", 0), get("iyy", 1), get("iyz", 0), get("ixz", 0),
          get("iyz", 0), get("izz", 1);
    }
    if (!I.allFinite() || !std::isfinite(out.mass)) xml::fail(node, "has an inertia that is not finite; correct it");
    const Mat3 R = X_LI.R();
    out.inertia_L = R * I * R.transpose();
  }

  // ---- shapes ------------------------------------------------------------------------------------------------------

  bool geometry(const sdf::Geometry& g, const xml::Node& node, bool fixed, bool collides, LinkShape& shape) {
    switch (g.Type()) {
      case sdf::GeometryType::BOX:
        shape.shape = Shape::box(0.5 * vec(g.BoxShape()->Size()));
        return true;
      case sdf::GeometryType::CYLINDER:
        shape.shape = Shape::cylinder(g.CylinderShape()->Radius(), 0.5 * g.CylinderShape()->Length());
        return true;
      case sdf::GeometryType::CAPSULE:
        shape.shape = Shape::capsule(g.CapsuleShape()->Radius(), 0.5 * g.CapsuleShape()->Length());
        return true;
      case sdf::GeometryType::ELLIPSOID:
        shape.shape = Shape::ellipsoid(vec(g.EllipsoidShape()->Radii()));
        return true;
      case sdf::GeometryType::SPHERE:
        shape.shape = Shape::sphere(g.SphereShape()->Radius());
        return true;
      case sdf::GeometryType::PLANE:
        shape.shape = Shape::plane();
        shape.X_LS.q = (shape.X_LS.q * frame_with_z(vec(g.PlaneShape()->Normal()))).normalized();
        return collides;
      case sdf::GeometryType::MESH:
        return mesh(*g.MeshShape(), node, fixed, collides, shape);
      default:
        if (collides)
          findings_.warn("shape", node, "has a height map, a polyline or no shape; it does not collide",
                         "use a mesh or a box");
        return false;
    }
  }

  bool mesh(const sdf::Mesh& m, const xml::Node& node, bool fixed, bool collides, LinkShape& shape) {
    std::filesystem::path file;
    std::string tried;
    bool there = false;
    try {
      there = folders_.find(m.Uri(), {folders_.folder()}, file, tried);
    } catch (const InputError& e) {
      if (collides) throw InputError(node.place.text(), e.what());
    }
    if (!there && collides) {
      xml::fail(node, fmt::format("its mesh {} is not there (tried: {}); correct the path, or name its package with "
                                  "--package FOLDER",
                                  in_quotes(m.Uri()), printable(tried, 500)));
    }
    if (!there) {
      findings_.note("missing-visual", node,
                     fmt::format("its mesh {} is not there; it is not drawn", in_quotes(m.Uri())));
      return false;
    }
    if (!m.Submesh().empty())
      findings_.note("submesh", node,
                     fmt::format("all of {} is used, not only {}", in_quotes(m.Uri()), in_quotes(m.Submesh())));
    const bool exact = fixed || !collides || findings_.options().mesh == ImportMesh::exact;
    try {
      shape.shape = meshes_.shape(file, vec(m.Scale()), exact ? MeshUse::triangles : MeshUse::hull, node);
    } catch (const InputError& e) {
      if (collides) throw;
      findings_.note("bad-visual", node, fmt::format("cannot be drawn: {}", e.what()));
      return false;
    }
    return true;
  }

  // Collisions and visuals may stand relative to any frame; to their link by default.
  template <class Thing>
  Pose pose_in_link(const Thing& thing, const xml::Node& node) const {
    math::Pose3d X;
    const sdf::Errors errors = thing.SemanticPose().Resolve(X);
    if (!errors.empty()) xml::fail(node, fmt::format("{}; correct it", printable(errors[0].Message(), 300)));
    return pose(X);
  }

  void add_collision(const sdf::Collision& c, const xml::Node& node, bool fixed, Link& link) {
    LinkShape shape;
    shape.name = link.name + "::" + c.Name();
    shape.place = node.place;
    shape.X_LS = pose_in_link(c, node);
    if (c.Geom() == nullptr || !geometry(*c.Geom(), node, fixed, true, shape)) return;
    shape.material = material_of(c, node);
    link.shapes.push_back(std::move(shape));
  }

  void add_visual(const sdf::Visual& v, const xml::Node& node, Link& link) {
    LinkShape shape;
    shape.name = link.name + "::" + v.Name();
    shape.place = node.place;
    shape.collides = false;
    shape.visible = true;
    shape.X_LS = pose_in_link(v, node);
    if (const sdf::Material* m = v.Material()) {
      const math::Color c = m->Diffuse();
      shape.rgba = {c.R(), c.G(), c.B(), c.A()};
    }
    if (v.Geom() != nullptr && geometry(*v.Geom(), node, false, false, shape)) link.shapes.push_back(std::move(shape));
  }

  int material_of(const sdf::Collision& c, const xml::Node& node) {
    const sdf::ElementPtr element = c.Element();
    if (!element || !element->HasElement("surface")) return 0;
    const sdf::ElementPtr surface = element->GetElement("surface");
    double mu = 1;  // the default of SDF
    double restitution = 0;
    bool own = false;
    if (surface->HasElement("friction")) {
      const sdf::ElementPtr friction = surface->GetElement("friction");
      const sdf::ElementPtr ode = friction->HasElement("ode") ? friction->GetElement("ode") : nullptr;
      const sdf::ElementPtr bullet = friction->HasElement("bullet") ? friction->GetElement("bullet") : nullptr;
      if (ode && (ode->HasElement("mu") || ode->HasElement("mu2"))) {
        own = true;
        mu = ode->Get<double>("mu", 1.0).first;
        const double mu2 = ode->HasElement("mu2") ? ode->Get<double>("mu2", mu).first : mu;
        if (mu2 != mu)
          findings_.warn("two-frictions", node, "has a friction for each direction; the smaller one counts");
        mu = std::min(mu, mu2);
      } else if (bullet && bullet->HasElement("friction")) {
        own = true;
        mu = bullet->Get<double>("friction", 1.0).first;
      }
    }
    if (surface->HasElement("bounce") && surface->GetElement("bounce")->HasElement("restitution_coefficient")) {
      own = true;
      restitution = surface->GetElement("bounce")->Get<double>("restitution_coefficient", 0.0).first;
    }
    if (!own) return 0;
    if (!(mu >= 0) || !(restitution >= 0 && restitution <= 1))
      xml::fail(node, "has a friction below 0, or a restitution that is not between 0 and 1; correct them");
    mu = std::min(mu, 1e6);
    const auto key = std::pair(mu, restitution);
    const auto [it, is_new] = materials_.try_emplace(key, static_cast<int>(g_.materials.size()));
    if (is_new) g_.materials.push_back({fmt::format("mu_{:g}_e_{:g}", mu, restitution), mu, restitution, {}});
    return it->second;
  }

  // ---- joints ------------------------------------------------------------------------------------------------------

  int link_of(const std::string& scope, const std::string& name, const xml::Node& node) const {
    if (name == "world") return kWorld;
    const auto it = links_.find(scope + name);
    if (it == links_.end())
      xml::fail(node, fmt::format("names link {}, which is not there; correct it", in_quotes(name)));
    return it->second;
  }

  void read_axis(const sdf::JointAxis& a, const xml::Node& node, Dof& dof, bool limited) {
    constexpr double kNone = 1e15;  // the library's word for no limit is 1e16
    if (limited) {
      if (a.Lower() > -kNone) dof.limit.lower = a.Lower();
      if (a.Upper() < kNone) dof.limit.upper = a.Upper();
      if (a.Lower() > a.Upper())
        xml::fail(node, fmt::format("lower {} is above upper {}; swap them", a.Lower(), a.Upper()));
    }
    dof.damping = a.Damping();
    dof.dry_friction = a.Friction();
    dof.stiffness = a.SpringStiffness();
    dof.rest = a.SpringReference();
    if (dof.damping < 0 || dof.dry_friction < 0 || dof.stiffness < 0)
      xml::fail(node, "has a negative damping, friction or stiffness; correct it");
    if (a.Effort() > 0 && a.Effort() < kNone) dof.drive.effort_limit = a.Effort();
  }

  void add_joint(const sdf::Joint& j, const std::string& scope, const Pose& X_WM) {
    const std::string name = scope + j.Name();
    const xml::Node& node = node_of("joint", name);
    std::string parent, child;
    require(j.ResolveParentLink(parent), "joint", name);
    require(j.ResolveChildLink(child), "joint", name);
    int base = link_of(scope, parent, node);
    int follower = link_of(scope, child, node);
    math::Pose3d X;
    require(j.SemanticPose().Resolve(X, "__model__"), "joint", name);
    const Pose X_WJ = X_WM * pose(X);
    double sign = 1;
    if (follower == kWorld) {  // the world is always the base
      std::swap(base, follower);
      sign = -1;
    }
    if (follower == kWorld) xml::fail(node, "connects the world with itself; name a link");
    std::array<Vec3, 2> axes_W = {Vec3(Vec3::UnitX()), Vec3(Vec3::UnitY())};
    for (unsigned k = 0; k < 2; ++k) {
      const sdf::JointAxis* a = j.Axis(k);
      const bool needs = j.Type() != sdf::JointType::FIXED && j.Type() != sdf::JointType::BALL;
      const bool two = j.Type() == sdf::JointType::UNIVERSAL || j.Type() == sdf::JointType::REVOLUTE2 ||
                       j.Type() == sdf::JointType::GEARBOX;
      if (a == nullptr && needs && (k == 0 || two))
        xml::fail(node, fmt::format("has no <{}>; give it", k == 0 ? "axis" : "axis2"));
      if (a == nullptr) continue;
      math::Vector3d xyz;
      require(a->ResolveXyz(xyz), "joint", name);  // in the frame of the joint
      if (!(vec(xyz).norm() > 0)) xml::fail(node, "has an axis without a direction; give one");
      axes_W[k] = sign * (X_WJ.q * vec(xyz).normalized());
    }
    Joint joint;
    switch (j.Type()) {
      case sdf::JointType::FIXED:
        joint = frame_joint(g_, name, JointType::fixed, base, follower, X_WJ);
        break;
      case sdf::JointType::BALL:
        joint = frame_joint(g_, name, JointType::spherical, base, follower, X_WJ);
        break;
      case sdf::JointType::REVOLUTE:
      case sdf::JointType::CONTINUOUS:
      case sdf::JointType::PRISMATIC:
        joint = axis_joint(g_, name, j.Type() != sdf::JointType::PRISMATIC, base, follower, X_WJ.p, axes_W[0]);
        if (j.Axis(0) != nullptr)
          read_axis(*j.Axis(0), node, joint.coordinates[0].dof, j.Type() != sdf::JointType::CONTINUOUS);
        break;
      case sdf::JointType::UNIVERSAL:
      case sdf::JointType::REVOLUTE2: {
        const Pose X_FW = g_.link_pose(follower).inverse();
        std::vector<SerialAxis> axes(2);
        for (std::size_t k = 0; k < 2; ++k) {
          axes[k].axis_J = X_FW.q * axes_W[k];
          axes[k].anchor_J = X_FW * X_WJ.p;
        }
        std::vector<AxisPlace> places;
        joint = composed_joint(g_, name, base, follower, axes, places);
        for (unsigned k = 0; k < 2; ++k) {
          if (j.Axis(k) != nullptr) read_axis(*j.Axis(k), node, joint.coordinates[at(places[k].k)].dof, true);
        }
        break;
      }
      case sdf::JointType::SCREW:
        joint = frame_joint(g_, name, JointType::cylindrical, base, follower, {X_WJ.p, frame_with_x(axes_W[0])});
        add_thread(j, node, static_cast<int>(g_.joints.size()), name);
        if (j.Axis(0) != nullptr) read_axis(*j.Axis(0), node, joint.coordinates[1].dof, true);
        break;
      case sdf::JointType::GEARBOX:
        after_joints_.push_back([this, &j, &node, name, scope, base, follower, axes_W] {
          add_gearbox(j, node, name, scope, base, follower, axes_W);
        });
        return;
      default:
        xml::fail(node, "has a type that is none of SDF; correct it");
    }
    joint.place = node.place;
    for (Coordinate& c : joint.coordinates) c.name = name;
    if (joint.type != JointType::fixed || !joint.serial.empty()) {
      joint.closure = std::find(reached_.begin(), reached_.end(), follower) != reached_.end();
      reached_.push_back(follower);
    }
    if (joint.coordinates.size() == 1) {
      read_extras(node, joint.coordinates[0]);
      read_mimic(node, scope, static_cast<int>(g_.joints.size()));
    }
    joint_of_[name] = static_cast<int>(g_.joints.size());
    g_.joints.push_back(std::move(joint));
  }

  // What only the file itself tells.
  static void read_extras(const xml::Node& node, Coordinate& c) {
    const auto number = [&](const char* tag, double fallback) {
      const xml::Node* n = node.child(tag);
      double x = fallback;
      if (n != nullptr && (!xml::parse_number(n->text, x) || !(x >= 0)))
        xml::fail(*n, "is no number from 0 on; correct it");
      return x;
    };
    const double ratio = number("drake:gear_ratio", 1);
    c.dof.armature += number("drake:rotor_inertia", 0) * ratio * ratio;
  }

  void read_mimic(const xml::Node& node, const std::string& scope, int joint) {
    const xml::Node* axis = node.child("axis");
    const xml::Node* mimic = axis == nullptr ? nullptr : axis->child("mimic");
    if (mimic == nullptr) return;
    const auto number = [&](const char* tag, double fallback) {
      const xml::Node* n = mimic->child(tag);
      double x = fallback;
      if (n != nullptr && !xml::parse_number(n->text, x)) xml::fail(*n, "is no number; correct it");
      return x;
    };
    const double multiplier = number("multiplier", 1);
    const double offset = number("offset", 0) - multiplier * number("reference", 0);
    after_joints_.push_back([this, mimic, scope, joint, multiplier, offset] {
      const std::string leader = require_text(*mimic, "joint");
      const auto it = joint_of_.find(scope + leader);
      if (it == joint_of_.end() || g_.joints[at(it->second)].coordinates.size() != 1 || it->second == joint)
        xml::fail(*mimic, fmt::format("follows joint {}, which is not there, is itself, or has not one coordinate; "
                                      "correct it",
                                      in_quotes(leader)));
      Coupling c;
      c.name = g_.joints[at(joint)].name + "_mimics_" + leader;
      c.place = mimic->place;
      c.a = {joint, 0};
      c.b = {it->second, 0};
      c.c = {offset, multiplier};
      g_.couplings.push_back(std::move(c));
    });
  }

  // Metres per turn: screw_thread_pitch, or the old thread_pitch, rad/m with the opposite sign.
  void add_thread(const sdf::Joint& j, const xml::Node& node, int joint, const std::string& name) {
    double per_turn = 0;
    if (const xml::Node* pitch = node.child("screw_thread_pitch")) {
      if (!xml::parse_number(pitch->text, per_turn)) xml::fail(*pitch, "is no number; give metres per turn");
    } else {
      per_turn = -2 * std::numbers::pi / j.ThreadPitch();
    }
    if (!std::isfinite(per_turn) || per_turn == 0) xml::fail(node, "has a thread without a pitch; give it");
    Coupling c;
    c.name = name + "_thread";
    c.place = node.place;
    c.a = {joint, 0};
    c.b = {joint, 1};
    c.c = {0, per_turn / (2 * std::numbers::pi)};
    g_.couplings.push_back(std::move(c));
  }

  // theta_2 = -ratio theta_1 of the joints between the reference body and parent and child.
  void add_gearbox(const sdf::Joint& j, const xml::Node& node, const std::string& name, const std::string& scope,
                   int base, int follower, const std::array<Vec3, 2>& axes_W) {
    const sdf::ElementPtr element = j.Element();
    const double ratio = element->Get<double>("gearbox_ratio", 1.0).first;
    const int reference = link_of(scope, element->Get<std::string>("gearbox_reference_body", "").first, node);
    const auto joint_to = [&](int link, const Vec3& axis_W, double& sign) {
      for (std::size_t i = 0; i < g_.joints.size(); ++i) {
        const Joint& g = g_.joints[i];
        const bool forward = g.base == reference && g.follower == link;
        const bool backward = g.base == link && g.follower == reference;
        if ((!forward && !backward) || g.type != JointType::revolute) continue;
        const Vec3 x = (g_.link_pose(g.base) * g.X_BJ).q * Vec3::UnitX();
        if (std::abs(x.dot(axis_W)) < 0.99) continue;
        sign = (forward ? 1.0 : -1.0) * (x.dot(axis_W) > 0 ? 1.0 : -1.0);
        return static_cast<int>(i);
      }
      xml::fail(node,
                "is a gearbox without a joint from its reference body along its axis; correct gearbox_reference_body");
    };
    double sign_1 = 1, sign_2 = 1;
    Coupling c;
    c.name = name;
    c.place = node.place;
    c.b = {joint_to(base, axes_W[0], sign_1), 0};
    c.a = {joint_to(follower, axes_W[1], sign_2), 0};
    c.c = {0, -ratio * sign_1 * sign_2};
    g_.couplings.push_back(std::move(c));
  }

  void add_frame(const sdf::Frame& f, const std::string& scope, const Pose& X_WM) {
    std::string body;
    math::Pose3d X;
    if (!f.ResolveAttachedToBody(body).empty() || !f.SemanticPose().Resolve(X, "__model__").empty()) return;
    const auto it = links_.find(scope + body);
    if (it == links_.end()) return;
    g_.frames.push_back({scope + f.Name(), it->second, g_.link_pose(it->second).inverse() * X_WM * pose(X)});
  }

  const xml::Node& root_;
  const Folders& folders_;
  Findings& findings_;
  Schema schema_;  // of which the elements of sdf_ are
  SdfChecks checks_;
  sdf::Root sdf_;
  Graph g_;
  MeshShapes meshes_;
  std::map<std::string, const xml::Node*> nodes_;  // "link a::b"
  std::map<std::string, int> links_, joint_of_;
  std::vector<bool> self_collide_, static_;  // by link
  std::vector<int> reached_;                 // links that a joint leads to
  std::map<std::pair<double, double>, int> materials_;
  std::vector<std::function<void()>> after_joints_;
};

}  // namespace

Graph read_sdf(xml::Node root, const Folders& folders, Findings& findings) {
  return SdfReader(root, folders, findings).read();
}

}  // namespace sarrus::robot

#else  // without libsdformat at build time

namespace sarrus::robot {

Graph read_sdf(xml::Node root, const Folders&, Findings&) {
  xml::fail(root,
            "is SDF, and this program was built without libsdformat; install it (Debian: libsdformat-dev) and build "
            "again");
}

}  // namespace sarrus::robot

#endif
