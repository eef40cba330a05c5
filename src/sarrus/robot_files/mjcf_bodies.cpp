// The tree of bodies: joints, sites, inertias; kinematics at any qpos.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/mjcf_geom.h"
#include "sarrus/robot_files/mjcf_source.h"

namespace sarrus::robot::mjcf {
namespace {

int context_index(const xml::Node& node, int inherited) {
  const std::string* own = node.find(kContext);
  return own == nullptr ? inherited : std::stoi(*own);
}

template <class Map>
std::string unknown(const std::string& kind, const std::string& name, const Map& known) {
  std::vector<std::string> names;
  for (const auto& [k, v] : known) names.push_back(k);
  return fmt::format("there is no {} {}; {}", kind, in_quotes(name), suggestion(name, names, kind));
}

// Principal moments at least `bound`, and equal where they break the triangle inequality, if asked for.
Mat3 bounded_inertia(const Mat3& I, const Compiler& c) {
  if (c.boundinertia <= 0 && !c.balanceinertia) return I;
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(I);
  Vec3 p = eigen.eigenvalues().cwiseMax(c.boundinertia);
  if (c.balanceinertia && (p[0] + p[1] < p[2] || p[1] + p[2] < p[0] || p[0] + p[2] < p[1])) p.setConstant(p.mean());
  if ((p.array() == eigen.eigenvalues().array()).all()) return I;
  return eigen.eigenvectors() * p.asDiagonal() * eigen.eigenvectors().transpose();
}

class BodyReader {
 public:
  BodyReader(Source& s, const Folders& folders, Findings& findings)
      : s_(s), geoms_(s, folders, findings), findings_(findings) {}

  void run() {
    SourceBody world;
    world.name = "world";
    world.node = s_.tree.world;
    world.node.children.clear();
    s_.bodies.push_back(std::move(world));
    s_.body_of["world"] = 0;
    const std::string inherited = s_.tree.world.get("childclass");
    s_.tree.world.attributes.clear();
    read_children(s_.tree.world, 0, {}, 0, inherited, 0);
    const Compiler& c = s_.tree.contexts[0].compiler;
    for (std::size_t b = 1; b < s_.bodies.size(); ++b) {
      SourceBody& body = s_.bodies[b];
      body.mass = std::max(body.mass, c.boundmass);
      body.inertia_B = bounded_inertia(body.inertia_B, c);
    }
    set_total_mass(c.settotalmass);
    for (const SourceJoint& j : s_.joints) {
      if (j.kind == JointKind::free) {
        const Pose& X = s_.bodies[at(j.body)].X_WB0;
        for (const double x : {X.p.x(), X.p.y(), X.p.z(), X.q.w(), X.q.x(), X.q.y(), X.q.z()}) s_.qpos0.push_back(x);
      } else if (j.kind == JointKind::ball) {
        for (const double x : {1.0, 0.0, 0.0, 0.0}) s_.qpos0.push_back(x);
      } else {
        s_.qpos0.push_back(j.ref);
      }
    }
  }

 private:
  void set_total_mass(double total) {
    if (!(total > 0)) return;
    double sum = 0;
    for (std::size_t b = 1; b < s_.bodies.size(); ++b) sum += s_.bodies[b].mass;
    if (!(sum > 0)) return;
    for (SourceBody& b : s_.bodies) {
      b.mass *= total / sum;
      b.inertia_B *= total / sum;
    }
  }

  Attributes attributes(const xml::Node& node, const std::string& element, int context, const std::string& inherited) {
    const std::string* own = node.find("class");
    return {node, layers_of(s_.tree.contexts[at(context)], own == nullptr ? inherited : *own, {element}, node)};
  }

  std::string full_name(const xml::Node& node, int context) const {
    const std::string* name = node.find("name");
    return name == nullptr || name->empty() ? "" : s_.tree.contexts[at(context)].prefix + *name;
  }

  // What is in a body or in a frame of it, whose pose in the body is X_BF.
  void read_children(const xml::Node& node, int body, const Pose& X_BF, int context, const std::string& inherited,
                     int depth) {
    if (depth > xml::kMaxDepth) xml::fail(node, "is nested too deeply; simplify the file");
    // Of the body itself before the bodies in it: joints and geoms are numbered by body.
    for (const xml::Node& child : node.children) {
      const int c = context_index(child, context);
      if (child.name == "joint" || child.name == "freejoint") {
        read_joint(child, body, X_BF, c, inherited);
      } else if (child.name == "geom") {
        const SourceGeom geom = geoms_.read(child, attributes(child, "geom", c, inherited), body, X_BF, c);
        s_.bodies[at(body)].geoms.push_back(static_cast<int>(s_.geoms.size()));
        if (!geom.name.empty() && !s_.geom_of.emplace(geom.name, static_cast<int>(s_.geoms.size())).second) {
          xml::fail(child, "another geom has the same name; rename one of them");
        }
        s_.geoms.push_back(geom);
      } else if (child.name == "site") {
        read_site(child, body, X_BF, c, inherited);
      } else if (child.name == "inertial") {
        read_inertial(child, body, X_BF, c);
      } else if (child.name == "camera" || child.name == "light") {
        ++findings_.count(child.name).read;
        ++findings_.count(child.name).ignored;
      } else if (child.name == "composite" || child.name == "flexcomp" || child.name == "plugin") {
        xml::fail(child, "is not rigid, or comes from a plugin, which Sarrus does not simulate; remove it");
      } else if (child.name == "frame") {
        const Attributes a(child);
        const Compiler& compiler = s_.tree.contexts[at(c)].compiler;
        const std::string* own = child.find("childclass");
        read_children(child, body, X_BF * pose_of(a, compiler), c, own == nullptr ? inherited : *own, depth + 1);
      } else if (child.name == "body") {
        pending_.push_back({&child, body, X_BF, c, context != c ? std::string() : inherited, depth});
      }
    }
    if (node.name == "frame") return;  // the body around it goes on
    finish_body(body);
    std::vector<PendingBody> bodies;
    bodies.swap(pending_);
    for (const PendingBody& b : bodies) read_body(*b.node, b.body, b.X_BF, b.context, b.inherited, b.depth + 1);
  }

  struct PendingBody {
    const xml::Node* node;
    int body;
    Pose X_BF;
    int context;
    std::string inherited;
    int depth;
  };

  void read_body(const xml::Node& node, int parent, const Pose& X_PF, int context, const std::string& inherited,
                 int depth) {
    const Attributes a(node);
    SourceBody body;
    body.name = full_name(node, context);
    body.node = node;
    body.node.children.clear();
    body.parent = parent;
    body.X_PB = X_PF * pose_of(a, s_.tree.contexts[at(context)].compiler);
    body.X_PB.q.normalize();
    body.X_WB0 = s_.bodies[at(parent)].X_WB0 * body.X_PB;
    body.X_WB0.q.normalize();
    body.gravcomp = a.number("gravcomp", 0);
    body.mocap = a.flag("mocap", false);
    if (body.mocap) {
      if (parent != 0) a.fail("is a mocap body, which must be in the world");
      findings_.warn("mocap", node, "is moved from outside in MuJoCo; here it stands still");
    }
    const int index = static_cast<int>(s_.bodies.size());
    if (!body.name.empty() && !s_.body_of.emplace(body.name, index).second) {
      a.fail("another body has the same name; rename one of them");
    }
    s_.bodies[at(parent)].has_children = true;
    s_.bodies.push_back(std::move(body));
    const std::string* own = node.find("childclass");
    read_children(node, index, {}, context, own == nullptr ? inherited : *own, depth);
  }

  void read_joint(const xml::Node& node, int body, const Pose& X_BF, int context, const std::string& inherited) {
    if (body == 0) xml::fail(node, "is a joint of the world; put it into a body");
    const Compiler& compiler = s_.tree.contexts[at(context)].compiler;
    const bool freejoint = node.name == "freejoint";
    const Attributes a = freejoint ? Attributes(node) : attributes(node, "joint", context, inherited);
    SourceJoint j;
    j.name = full_name(node, context);
    j.node = node;
    j.node.children.clear();
    j.body = body;
    j.kind =
        freejoint ? JointKind::free : static_cast<JointKind>(a.choice("type", {"free", "ball", "slide", "hinge"}, 3));
    SourceBody& owner = s_.bodies[at(body)];
    if (j.kind == JointKind::free) {
      if (owner.parent != 0) a.fail("is free in a body that is not in the world; move the body there");
      if (!owner.joints.empty()) a.fail("is free beside other joints of its body; keep one");
      const int align = freejoint ? a.choice("align", {"false", "true", "auto"}, 2) : 2;
      owner.align = align == 1 || (align == 2 && s_.tree.contexts[0].compiler.alignfree);
    } else if (!owner.joints.empty()) {
      const JointKind before = s_.joints[at(owner.joints.back())].kind;
      if (before == JointKind::free) a.fail("is beside a free joint of its body; keep one");
    }
    if (owner.mocap) a.fail("is a joint of a mocap body; remove one of them");
    if (!freejoint) read_values(j, a, compiler, X_BF);
    j.qpos = s_.nq;
    j.qvel = s_.nv;
    s_.nq += j.positions();
    s_.nv += j.velocities();
    check_freedoms(owner, j, a);
    const int index = static_cast<int>(s_.joints.size());
    if (!j.name.empty() && !s_.joint_of.emplace(j.name, index).second) {
      a.fail("another joint has the same name; rename one of them");
    }
    owner.joints.push_back(index);
    s_.joints.push_back(std::move(j));
  }

  void check_freedoms(const SourceBody& body, const SourceJoint& added, const Attributes& a) {
    int translations = 0, rotations = 0;
    bool ball = false;
    const auto add = [&](const SourceJoint& j) {
      translations += j.kind == JointKind::slide ? 1 : 0;
      rotations += j.kind == JointKind::ball ? 3 : j.kind == JointKind::hinge ? 1 : 0;
      if (ball && (j.kind == JointKind::ball || j.kind == JointKind::hinge)) {
        a.fail("turns after a ball joint of its body; keep one of them");
      }
      ball |= j.kind == JointKind::ball;
    };
    for (const int j : body.joints) add(s_.joints[at(j)]);
    add(added);
    if (translations > 3 || rotations > 3)
      a.fail("its body has more than three rotations or translations; remove some");
  }

  void read_values(SourceJoint& j, const Attributes& a, const Compiler& compiler, const Pose& X_BF) {
    const double unit = j.kind == JointKind::hinge || j.kind == JointKind::ball ? compiler.angle : 1.0;
    j.pos_B = X_BF * a.vec3("pos", Vec3::Zero());
    const Vec3 axis = a.vec3("axis", Vec3::UnitZ());
    const bool has_axis = j.kind == JointKind::hinge || j.kind == JointKind::slide;
    if (has_axis && !(axis.norm() > 1e-10)) a.fail("its axis is zero; give a direction");
    if (has_axis) j.axis_B = X_BF.q * axis.normalized();
    if (has_axis) j.ref = unit * a.number("ref", 0);
    j.springref = unit * a.number("springref", 0);
    double polynomial[3] = {};
    const auto first_of = [&](const char* name) {
      std::fill(std::begin(polynomial), std::end(polynomial), 0.0);
      a.numbers(name, polynomial, 3);
      if (polynomial[1] != 0 || polynomial[2] != 0) {
        findings_.dropped(fmt::format("polynomial-{}", name), a.node(),
                          fmt::format("its {} grows with the coordinate or the speed; accepted, the first coefficient "
                                      "counts",
                                      name));
      }
      return polynomial[0];
    };
    j.stiffness = first_of("stiffness");
    j.damping = first_of("damping");
    j.dry_friction = a.number("frictionloss", 0);
    j.armature = a.number("armature", 0);
    for (const double x : {j.stiffness, j.damping, j.dry_friction, j.armature}) {
      if (x < 0) a.fail("stiffness, damping, frictionloss and armature are 0 or more");
    }
    a.numbers("springdamper", j.springdamper.data(), 2, 2);
    a.numbers("range", j.range.data(), 2, 2);
    j.limited = j.kind != JointKind::free && is_limited(a, compiler, "limited", "range", j.range);
    if (j.limited && j.kind == JointKind::ball && j.range[0] != 0) a.fail("range of a ball begins at 0");
    for (double& x : j.range) x *= unit;
    a.numbers("actuatorfrcrange", j.force_range.data(), 2, 2);
    j.force_limited = is_limited(a, compiler, "actuatorfrclimited", "actuatorfrcrange", j.force_range);
    j.margin = a.number("margin", 0);
    j.limit_soft = read_soft(a, "solreflimit", "solimplimit", {});
    if (a.flag("actuatorgravcomp", false)) findings_.note("actuatorgravcomp", a.node(), "has no effect here");
  }

  void read_site(const xml::Node& node, int body, const Pose& X_BF, int context, const std::string& inherited) {
    const Attributes a = attributes(node, "site", context, inherited);
    const Compiler& compiler = s_.tree.contexts[at(context)].compiler;
    SourceSite site;
    site.body = body;
    Pose X = pose_of(a, compiler);
    double ends[6] = {};
    if (a.numbers("fromto", ends, 6, 6) > 0) X = pose_between(ends, a.node());
    site.X_BS = X_BF * X;
    ++findings_.count("site").read;
    const std::string name = full_name(node, context);
    if (name.empty()) return;
    if (!s_.sites.emplace(name, site).second) a.fail("another site has the same name; rename one of them");
  }

  void read_inertial(const xml::Node& node, int body, const Pose& X_BF, int context) {
    const Attributes a(node);
    SourceBody& b = s_.bodies[at(body)];
    if (body == 0) a.fail("is of the world, which has no mass; remove it");
    if (b.explicit_inertia) a.fail("is the second one of its body; keep one");
    if (s_.tree.contexts[at(context)].compiler.inertiafromgeom == FromGeom::yes) return;
    const Compiler& compiler = s_.tree.contexts[at(context)].compiler;
    b.explicit_inertia = true;
    b.mass = a.number("mass", -1);
    if (!a.has("mass") || !a.has("pos")) a.fail("needs mass and pos");
    if (b.mass < 0) a.fail(fmt::format("mass is {}; give 0 or more", b.mass));
    const Pose X = X_BF * pose_of(a, compiler);
    b.com_B = X.p;
    Mat3 I = Mat3::Zero();
    double full[6] = {};
    double diagonal[3] = {};
    const bool is_full = a.numbers("fullinertia", full, 6, 6) > 0;
    if (is_full) {
      for (const char* other : {"quat", "axisangle", "xyaxes", "zaxis", "euler", "diaginertia"}) {
        if (a.has(other)) a.fail(fmt::format("has fullinertia and {}; keep one", other));
      }
      I << full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2];
      const Eigen::SelfAdjointEigenSolver<Mat3> eigen(I);
      if (eigen.eigenvalues()[0] < 0) a.fail("fullinertia is not positive; correct it");
    } else {
      if (a.numbers("diaginertia", diagonal, 3, 3) == 0 && b.mass > 0 && !(compiler.boundinertia > 0)) {
        a.fail("needs diaginertia or fullinertia");
      }
      for (const double x : diagonal) {
        if (x < 0) a.fail("diaginertia has a negative moment; correct it");
      }
      I = Vec3(diagonal[0], diagonal[1], diagonal[2]).asDiagonal();
    }
    const Mat3 R = X.R();
    b.inertial_q = X.q;
    b.inertia_B = X.q.coeffs() == Quat::Identity().coeffs() ? I : Mat3(R * I * R.transpose());
  }

  // The mass of a body that has no <inertial>: that of its geoms.
  void finish_body(int body) {
    SourceBody& b = s_.bodies[at(body)];
    if (body == 0 || b.explicit_inertia) return;
    const Context& context = s_.context_of(b.node);
    if (context.compiler.inertiafromgeom == FromGeom::no) return;
    double mass = 0;
    Vec3 moment = Vec3::Zero();
    std::vector<const SourceGeom*> heavy;
    for (const int g : b.geoms) {
      SourceGeom& geom = s_.geoms[at(g)];
      const Compiler& compiler = s_.tree.contexts[at(geom.context)].compiler;
      if (geom.group < compiler.group_first || geom.group > compiler.group_last) continue;
      geoms_.weigh(geom);
      if (!(geom.mass > 1e-14)) continue;
      mass += geom.mass;
      moment += geom.mass * (geom.X_BG * geom.com_G);
      heavy.push_back(&geom);
    }
    if (heavy.empty()) return;
    b.mass = mass;
    b.com_B = heavy.size() == 1 ? heavy[0]->X_BG * heavy[0]->com_G : Vec3(moment / mass);
    for (const SourceGeom* g : heavy) {
      const Mat3 R = g->X_BG.R();
      const Vec3 d = g->X_BG * g->com_G - b.com_B;
      b.inertia_B +=
          R * g->inertia_G * R.transpose() + g->mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
    }
    if (heavy.size() == 1) b.inertial_q = heavy[0]->X_BG.q;
  }

  Source& s_;
  GeomReader geoms_;
  Findings& findings_;
  std::vector<PendingBody> pending_;
};

}  // namespace

bool is_limited(const Attributes& a, const Compiler& compiler, const std::string& flag, const std::string& range,
                const std::array<double, 2>& values) {
  const int choice = a.choice(flag, {"false", "true", "auto"}, 2);
  if (choice == 0) return false;
  if (choice == 2) {
    if (!compiler.autolimits && a.has(range)) {
      a.fail(fmt::format("has {}, but not {}, which autolimits=\"false\" asks for", range, flag));
    }
    if (!(values[0] < values[1])) return false;
  }
  if (!(values[0] < values[1])) a.fail(fmt::format("{} is empty; give two ascending numbers", range));
  return true;
}

SoftParameters read_soft(const Attributes& a, const std::string& solref, const std::string& solimp,
                         const SoftParameters& fallback) {
  SoftParameters soft = fallback;
  a.numbers(solref, soft.solref.data(), 2);
  a.numbers(solimp, soft.solimp.data(), 5);
  return soft;
}

Compliance compliance_of(const SoftParameters& soft, double margin, const xml::Node& at) {
  Compliance c = Compliance::soft_mujoco();
  c.d0 = std::clamp(soft.solimp[0], 1e-4, 0.9999);
  c.dw = std::clamp(soft.solimp[1], 1e-4, 0.9999);
  c.width = std::max(soft.solimp[2], 1e-15);
  c.midpoint = std::clamp(soft.solimp[3], 1e-4, 0.9999);
  c.power = std::max(soft.solimp[4], 1.0);
  c.margin = margin;
  const auto [T, zeta] = soft.solref;
  if (T > 0) {
    c.time_constant = T;
    c.damping_ratio = zeta;
  } else {
    const double k = -T;
    const double b = -zeta;
    if (!(b > 0) || !(k > 0)) xml::fail(at, "its solref has no damping; give two negative or two positive numbers");
    c.time_constant = 2 / b;
    c.damping_ratio = b / (2 * std::sqrt(k));
  }
  return c;
}

const Context& Source::context_of(const xml::Node& node) const { return tree.contexts[at(context_index(node, 0))]; }

Attributes Source::attributes(const xml::Node& node, const std::string& default_element) const {
  return {node, layers_of(context_of(node), node.get("class"), {default_element}, node)};
}

int Source::body_named(const xml::Node& node, const std::string& attribute, const std::string& name) const {
  const auto found = body_of.find(name == "world" ? name : context_of(node).prefix + name);
  if (found == body_of.end()) xml::fail(node, fmt::format("{}: {}", attribute, unknown("body", name, body_of)));
  return found->second;
}

int Source::joint_named(const xml::Node& node, const std::string& attribute, const std::string& name) const {
  const auto found = joint_of.find(context_of(node).prefix + name);
  if (found == joint_of.end()) xml::fail(node, fmt::format("{}: {}", attribute, unknown("joint", name, joint_of)));
  return found->second;
}

int Source::geom_named(const xml::Node& node, const std::string& attribute, const std::string& name) const {
  const auto found = geom_of.find(context_of(node).prefix + name);
  if (found == geom_of.end()) xml::fail(node, fmt::format("{}: {}", attribute, unknown("geom", name, geom_of)));
  return found->second;
}

const SourceSite& Source::site_named(const xml::Node& node, const std::string& attribute,
                                     const std::string& name) const {
  const auto found = sites.find(context_of(node).prefix + name);
  if (found == sites.end()) xml::fail(node, fmt::format("{}: {}", attribute, unknown("site", name, sites)));
  return found->second;
}

Pose Source::moved(Pose X, const SourceJoint& j, const double* q) {
  if (j.kind == JointKind::free) return {Vec3(q[0], q[1], q[2]), Quat(q[3], q[4], q[5], q[6]).normalized()};
  if (j.kind == JointKind::slide) {
    X.p += X.q * j.axis_B * (q[0] - j.ref);
    return X;
  }
  const Vec3 anchor = X * j.pos_B;
  X.q = X.q *
        (j.kind == JointKind::hinge ? so3_exp(j.axis_B * (q[0] - j.ref)) : Quat(q[0], q[1], q[2], q[3]).normalized());
  X.p = anchor - X.q * j.pos_B;
  return X;
}

std::vector<Pose> Source::kinematics(const std::vector<double>& qpos) const {
  std::vector<Pose> X(bodies.size());
  for (std::size_t b = 1; b < bodies.size(); ++b) {
    X[b] = X[at(bodies[b].parent)] * bodies[b].X_PB;
    for (const int j : bodies[b].joints) X[b] = moved(X[b], joints[at(j)], qpos.data() + joints[at(j)].qpos);
    X[b].q.normalize();
  }
  return X;
}

std::unique_ptr<Source> read_bodies(Tree tree, const Folders& folders, Findings& findings) {
  auto s = std::make_unique<Source>();
  s->tree = std::move(tree);
  read_options(*s, findings);
  s->meshes = std::make_unique<Meshes>(s->tree.contexts, folders);
  BodyReader(*s, folders, findings).run();
  return s;
}

}  // namespace sarrus::robot::mjcf
