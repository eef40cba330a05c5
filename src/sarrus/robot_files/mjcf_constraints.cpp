// Equalities and tendons: rigid joints, couplings, and sums of coordinates.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/mjcf_model.h"

namespace sarrus::robot::mjcf {
namespace {

// Two points that are one, in the bodies that have them.
struct Connect {
  const xml::Node* node;
  int body1, body2;
  Vec3 p1, p2;
  Compliance compliance;
};

class EqualityReader {
 public:
  EqualityReader(const Source& s, const std::vector<Tendon>& tendons, Graph& g, Findings& findings)
      : s_(s), tendons_(tendons), g_(g), findings_(findings) {}

  void run() {
    for (const xml::Node& node : s_.tree.equalities) {
      ++findings_.count("equality").read;
      const Attributes a = s_.attributes(node, "equality");
      if (s_.equality_disabled) {
        ++findings_.count("equality").ignored;
        findings_.warn("equality-disabled", node, "the option flag equality=\"disable\" leaves all equalities out");
      } else if (!a.flag("active", true)) {
        ++findings_.count("equality").ignored;
        findings_.note("inactive-equality", node, "is not active and left out");
      } else if (node.name == "connect") {
        read_connect(node, a);
      } else if (node.name == "weld") {
        read_weld(node, a);
      } else if (node.name == "joint") {
        read_joint(node, a);
      } else if (node.name == "tendon") {
        read_tendon(node, a);
      } else {
        a.fail("is deformable, which Sarrus does not simulate; remove it");
      }
    }
    add_connects();
  }

 private:
  Compliance compliance(const Attributes& a) const {
    if (findings_.options().compliance != ImportCompliance::source) return {};
    return compliance_of(read_soft(a, "solref", "solimp", {}), 0, a.node());
  }

  std::string name_of(const xml::Node& node) const {
    const std::string name = node.get("name");
    return name.empty() ? "" : s_.context_of(node).prefix + name;
  }

  Pose pose(int body) const { return s_.bodies[at(body)].X_WB0; }

  // Bodies by name; the second one is the world if there is none.
  void read_bodies_of(const xml::Node& node, int& body1, int& body2) const {
    if (!node.has("body1")) xml::fail(node, "names neither body1 nor site1; give one");
    body1 = s_.body_named(node, "body1", node.get("body1"));
    body2 = node.has("body2") ? s_.body_named(node, "body2", node.get("body2")) : 0;
  }

  void read_connect(const xml::Node& node, const Attributes& a) {
    Connect c{&node, 0, 0, Vec3::Zero(), Vec3::Zero(), compliance(a)};
    if (node.has("site1") || node.has("site2")) {
      if (node.has("body1") || node.has("body2") || node.has("anchor")) a.fail("names sites and bodies; keep one kind");
      const SourceSite& one = s_.site_named(node, "site1", node.get("site1"));
      const SourceSite& two = s_.site_named(node, "site2", node.get("site2"));
      c.body1 = one.body;
      c.body2 = two.body;
      c.p1 = one.X_BS.p;
      c.p2 = two.X_BS.p;
    } else {
      read_bodies_of(node, c.body1, c.body2);
      if (!node.has("anchor")) a.fail("has no anchor; give the point in body1");
      c.p1 = a.vec3("anchor", Vec3::Zero());
      c.p2 = pose(c.body2).inverse() * (pose(c.body1) * c.p1);
    }
    if (refuse_one_group(node, c.body1, c.body2)) return;
    connects_.push_back(c);
  }

  bool refuse_one_group(const xml::Node& node, int body1, int body2) {
    if (group(body1) != group(body2)) return false;
    ++findings_.count("equality").ignored;
    findings_.warn("equality-within-body", node, "joins two parts of one body, or of the world; it is left out");
    return true;
  }

  // The body with the joints that carry a body.
  int group(int body) const {
    while (body > 0 && s_.bodies[at(body)].joints.empty()) body = s_.bodies[at(body)].parent;
    return body;
  }

  Joint closure(const xml::Node& node, JointType type, int body1, int body2, const Pose& X1, const Pose& X2) {
    Joint j;
    j.name = name_of(node);
    j.place = node.place;
    j.type = type;
    j.base = link_of(body1);
    j.follower = link_of(body2);
    j.X_BJ = X1;
    j.X_FJ = X2;
    j.closure = true;
    j.coordinates.resize(at(joint_type_info(type).dofs));
    return j;
  }

  void read_weld(const xml::Node& node, const Attributes& a) {
    int body1 = 0;
    int body2 = 0;
    Pose X1;
    Pose X2;
    if (node.has("site1") || node.has("site2")) {
      if (node.has("body1") || node.has("body2") || node.has("anchor")) a.fail("names sites and bodies; keep one kind");
      const SourceSite& one = s_.site_named(node, "site1", node.get("site1"));
      const SourceSite& two = s_.site_named(node, "site2", node.get("site2"));
      body1 = one.body;
      body2 = two.body;
      X1 = one.X_BS;
      X2 = two.X_BS;
    } else {
      read_bodies_of(node, body1, body2);
      double x[7] = {0, 0, 0, 0, 0, 0, 0};
      a.numbers("relpose", x, 7);
      const Quat q(x[3], x[4], x[5], x[6]);
      X2.p = a.vec3("anchor", Vec3::Zero());
      if (q.norm() > 1e-10) {
        X1 = {Vec3(x[0], x[1], x[2]), q.normalized()};
      } else {
        X1 = pose(body1).inverse() * pose(body2) * X2;
      }
    }
    if (refuse_one_group(node, body1, body2)) return;
    const double torque = a.number("torquescale", 1);
    Joint j = closure(node, torque == 0 ? JointType::spherical : JointType::fixed, body1, body2, X1, X2);
    j.compliance = compliance(a);
    g_.joints.push_back(std::move(j));
    ++findings_.count("equality").kept;
  }

  // A coordinate of a joint by name, and its reference and sign.
  const SourceJoint& scalar_joint(const xml::Node& node, const std::string& attribute) const {
    const SourceJoint& j = s_.joints[at(s_.joint_named(node, attribute, node.get(attribute)))];
    if (j.kind == JointKind::free || j.kind == JointKind::ball) {
      xml::fail(node, fmt::format("{} is a joint without a scalar coordinate; name a hinge or a slide", attribute));
    }
    return j;
  }

  std::vector<double> polynomial(const Attributes& a) const {
    std::vector<double> c = {0, 1, 0, 0, 0};
    a.numbers("polycoef", c.data(), 5);
    return c;
  }

  // a - a0 = sum c_k (b - b0)^k in values of the file -> a' = sum d_k b'^k in the coordinates of the graph, which have
  // the signs sa, sb.
  static std::vector<double> shifted(const std::vector<double>& c, double a0, double b0, double sa, double sb) {
    std::vector<double> d(c.size(), 0.0);
    for (std::size_t k = c.size(); k-- > 0;) {  // Horner in (b - b0)
      for (std::size_t i = d.size() - 1; i > 0; --i) d[i] = d[i - 1] - b0 * d[i];
      d[0] = c[k] - b0 * d[0];
    }
    d[0] += a0;
    double sign = sa;
    for (double& x : d) {
      x *= sign;
      sign *= sb;
    }
    return d;
  }

  void read_joint(const xml::Node& node, const Attributes& a) {
    const SourceJoint& ja = scalar_joint(node, "joint1");
    const std::vector<double> c = polynomial(a);
    ++findings_.count("equality").kept;
    if (!node.has("joint2")) {
      Limit& limit = g_.at(ja.coordinate).dof.limit;
      limit.lower = limit.upper = ja.sign * (ja.ref + c[0]);
      return;
    }
    const SourceJoint& jb = scalar_joint(node, "joint2");
    if (&ja == &jb) a.fail("couples a joint with itself; name two");
    Coupling coupling;
    coupling.name = name_of(node);
    if (coupling.name.empty()) coupling.name = fmt::format("{}_to_{}", ja.name, jb.name);
    coupling.place = node.place;
    coupling.a = ja.coordinate;
    coupling.b = jb.coordinate;
    coupling.c = shifted(c, ja.ref, jb.ref, ja.sign, jb.sign);
    coupling.compliance = compliance(a);
    g_.couplings.push_back(std::move(coupling));
  }

  const Tendon& tendon(const xml::Node& node, const std::string& attribute) const {
    const std::string name = s_.context_of(node).prefix + node.get(attribute);
    for (const Tendon& t : tendons_) {
      if (t.name == name) return t;
    }
    xml::fail(node, fmt::format("{}: there is no tendon {}", attribute, in_quotes(node.get(attribute))));
  }

  // L1 - L1_0 = c (L2 - L2_0): a coupling, or a combination that keeps its value.
  void read_tendon(const xml::Node& node, const Attributes& a) {
    const Tendon& one = tendon(node, "tendon1");
    const Tendon* two = node.has("tendon2") ? &tendon(node, "tendon2") : nullptr;
    const std::vector<double> c = polynomial(a);
    const bool linear = c[2] == 0 && c[3] == 0 && c[4] == 0;
    if (one.spatial || (two != nullptr && (two->spatial || !linear))) {
      ++findings_.count("equality").ignored;
      findings_.dropped("spatial-tendon", node, "ties tendons that are spatial, or by a polynomial");
      return;
    }
    ++findings_.count("equality").kept;
    Combination k;
    k.name = name_of(node);
    k.place = node.place;
    k.offset = -one.length0 - c[0];
    const auto add = [&](const Tendon& t, double scale) {
      for (const Tendon::Term& term : t.terms) {
        const SourceJoint& j = s_.joints[at(term.joint)];
        k.terms.push_back({j.coordinate, scale * term.coef * j.sign});
      }
    };
    add(one, 1);
    if (two != nullptr) {
      k.offset += c[1] * two->length0;
      add(*two, -c[1]);
    }
    k.acts.dof.limit.lower = k.acts.dof.limit.upper = 0;
    if (k.terms.size() == 2) {
      Coupling coupling;
      coupling.name = k.name;
      coupling.place = node.place;
      coupling.a = k.terms[0].q;
      coupling.b = k.terms[1].q;
      coupling.c = {-k.offset / k.terms[0].c, -k.terms[1].c / k.terms[0].c};
      coupling.compliance = compliance(a);
      if (coupling.a.joint != coupling.b.joint || coupling.a.k != coupling.b.k) {
        g_.couplings.push_back(std::move(coupling));
        return;
      }
    }
    g_.combinations.push_back(std::move(k));
  }

  // Points that two bodies have in common: one is a ball, two on an axis a hinge, three a rigid joint.
  void add_connects() {
    std::vector<bool> done(connects_.size(), false);
    for (std::size_t i = 0; i < connects_.size(); ++i) {
      if (done[i]) continue;
      std::vector<std::size_t> same = {i};
      if (findings_.options().loops == ImportLoops::automatic) {
        for (std::size_t k = i + 1; k < connects_.size(); ++k) {
          if (!done[k] && same_groups(connects_[i], connects_[k])) same.push_back(k);
        }
      }
      const std::vector<std::size_t> used = add_group(same);
      for (const std::size_t k : used) done[k] = true;
      findings_.count("equality").kept += 1;
      findings_.count("equality").merged += static_cast<int>(used.size()) - 1;
    }
  }

  bool same_groups(const Connect& a, const Connect& b) const {
    const int a1 = group(a.body1), a2 = group(a.body2), b1 = group(b.body1), b2 = group(b.body2);
    return (a1 == b1 && a2 == b2) || (a1 == b2 && a2 == b1);
  }

  // The points of a connect in the two groups, as seen from the bodies of the first one.
  void points(const Connect& first, const Connect& c, Vec3& p1, Vec3& p2) const {
    const bool swapped = group(first.body1) != group(c.body1);
    const auto seen = [this](int from, int body, const Vec3& p) {
      return from == body ? p : Vec3(pose(from).inverse() * (pose(body) * p));
    };
    p1 = swapped ? seen(first.body1, c.body2, c.p2) : seen(first.body1, c.body1, c.p1);
    p2 = swapped ? seen(first.body2, c.body1, c.p1) : seen(first.body2, c.body2, c.p2);
  }

  std::vector<std::size_t> add_group(const std::vector<std::size_t>& same) {
    constexpr double kApart = 1e-3;  // m
    const Connect& first = connects_[same[0]];
    std::vector<Vec3> one = {first.p1};
    std::vector<Vec3> two = {first.p2};
    std::vector<std::size_t> used = {same[0]};
    for (std::size_t i = 1; i < same.size(); ++i) {
      Vec3 p1, p2;
      points(first, connects_[same[i]], p1, p2);
      const double l1 = (p1 - one[0]).norm();
      const double l2 = (p2 - two[0]).norm();
      if (l1 < kApart || std::abs(l1 - l2) > 1e-6 * l1) continue;
      one.push_back(p1);
      two.push_back(p2);
      used.push_back(same[i]);
    }
    Joint joint = closure(*first.node, JointType::spherical, first.body1, first.body2, {first.p1, Quat::Identity()},
                          {first.p2, Quat::Identity()});
    joint.compliance = first.compliance;
    if (used.size() == 1) {
      // Axes of the first body, so that both frames coincide at qpos0.
      joint.X_FJ.q = pose(first.body2).q.conjugate() * pose(first.body1).q;
    } else {
      make_hinge(one, two, joint, used);
    }
    g_.joints.push_back(std::move(joint));
    return used;
  }

  void make_hinge(const std::vector<Vec3>& one, const std::vector<Vec3>& two, Joint& joint,
                  std::vector<std::size_t>& used) {
    const Vec3 axis1 = (one[1] - one[0]).normalized();
    const Vec3 axis2 = (two[1] - two[0]).normalized();
    std::size_t off = 0;  // a point beside the line
    for (std::size_t i = 2; i < one.size() && off == 0; ++i) {
      if ((one[i] - one[0]).cross(axis1).norm() > 1e-3) off = i;
    }
    if (off == 0) {
      joint.type = JointType::revolute;
      joint.coordinates.resize(1);
      joint.X_BJ = {one[0], frame_with_x(axis1)};
      // The angle is 0 where the bodies are drawn: the follower's frame is the base's, turned onto its own axis.
      const Quat seen = pose_of_group(joint.follower).q.conjugate() * pose_of_group(joint.base).q * joint.X_BJ.q;
      joint.X_FJ = {two[0], (Quat::FromTwoVectors(seen * Vec3::UnitX(), axis2) * seen).normalized()};
      findings_.note("connect-pair", *connects_[used[0]].node, "two points that two bodies share are one hinge");
      return;
    }
    joint.type = JointType::fixed;
    joint.coordinates.clear();
    joint.X_BJ = {one[0], frame_with_xy(axis1, one[off] - one[0])};
    joint.X_FJ = {two[0], frame_with_xy(axis2, two[off] - two[0])};
  }

  Pose pose_of_group(int link) const { return link == kWorld ? Pose{} : pose(link + 1); }

  const Source& s_;
  const std::vector<Tendon>& tendons_;
  Graph& g_;
  Findings& findings_;
  std::vector<Connect> connects_;
};

// ---- tendons
// -------------------------------------------------------------------------------------------------------------

void read_fixed(const Source& s, const xml::Node& node, const Attributes& a, Tendon& t, Graph& g, Findings& findings) {
  Combination k;
  k.name = t.name;
  k.place = node.place;
  double spring = 0;  // length where all springs of joints rest
  for (const xml::Node& child : node.children) {
    const Attributes term(child);
    const SourceJoint& j = s.joints[at(s.joint_named(child, "joint", child.get("joint")))];
    if (j.kind == JointKind::free || j.kind == JointKind::ball) {
      findings.dropped("tendon-of-ball", node, "counts a component of a quaternion as a length");
      t.spatial = true;  // as little to be used as one in space
      return;
    }
    const double coef = term.number("coef", 1);
    t.terms.push_back({static_cast<int>(&j - s.joints.data()), coef});
    t.length0 += coef * j.ref;
    spring += coef * j.springref;
    k.terms.push_back({j.coordinate, coef * j.sign});
  }
  if (t.terms.empty()) a.fail("has no joints; name one");
  Dof& dof = k.acts.dof;
  std::array<double, 2> range = {0, 0};
  a.numbers("range", range.data(), 2, 2);
  if (is_limited(a, s.context_of(node).compiler, "limited", "range", range) && !s.limit_disabled) {
    dof.limit.lower = range[0];
    dof.limit.upper = range[1];
    if (findings.options().compliance == ImportCompliance::source) {
      dof.limit.compliance = compliance_of(read_soft(a, "solreflimit", "solimplimit", {}), a.number("margin", 0), node);
    }
  }
  double polynomial[3] = {};
  a.numbers("stiffness", polynomial, 3);
  if (!s.spring_disabled) dof.stiffness = polynomial[0];
  double length[2] = {-1, -1};
  const int given = a.numbers("springlength", length, 2);
  if (given == 1) length[1] = length[0];
  if (dof.stiffness > 0 && length[0] != length[1]) {
    findings.dropped("dead-band", node, "its spring has two lengths between which it is slack");
  }
  dof.rest = length[0] < 0 ? spring : length[0];
  double damping[3] = {};
  a.numbers("damping", damping, 3);
  if (polynomial[1] != 0 || polynomial[2] != 0 || damping[1] != 0 || damping[2] != 0) {
    findings.dropped("polynomial-tendon", node, "its stiffness or damping has several coefficients");
  }
  if (!s.damper_disabled) dof.damping = damping[0];
  if (!s.friction_disabled) dof.dry_friction = a.number("frictionloss", 0);
  dof.armature = a.number("armature", 0);
  for (const double x : {dof.stiffness, dof.damping, dof.dry_friction, dof.armature}) {
    if (x < 0) a.fail("stiffness, damping, frictionloss and armature are 0 or more");
  }
  t.combination = static_cast<int>(g.combinations.size());
  g.combinations.push_back(std::move(k));
}

}  // namespace

std::vector<Tendon> add_tendons(const Source& s, Graph& g, Findings& findings) {
  std::vector<Tendon> tendons;
  for (const xml::Node& node : s.tree.tendons) {
    const Attributes a = s.attributes(node, "tendon");
    Tendon t;
    t.name = node.get("name").empty() ? "" : s.context_of(node).prefix + node.get("name");
    t.spatial = node.name == "spatial";
    if (t.spatial) {
      ++findings.count("spatial tendon").read;
      ++findings.count("spatial tendon").ignored;
      std::array<double, 2> range = {0, 0};
      a.numbers("range", range.data(), 2, 2);
      const bool limited = is_limited(a, s.context_of(node).compiler, "limited", "range", range);
      bool acts = limited;
      for (const char* load : {"stiffness", "damping", "frictionloss", "armature"}) {
        for (const double x : a.list(load)) acts |= x != 0;
      }
      if (acts) {
        findings.dropped("spatial-tendon", node, "is a tendon in space with a limit, spring, damping or friction");
      } else {
        findings.note("spatial-tendon-drawn", node, "is a tendon in space that does nothing");
      }
    } else {
      read_fixed(s, node, a, t, g, findings);
    }
    tendons.push_back(std::move(t));
  }
  return tendons;
}

void add_equalities(const Source& s, const std::vector<Tendon>& tendons, Graph& g, Findings& findings) {
  EqualityReader(s, tendons, g, findings).run();
}

}  // namespace sarrus::robot::mjcf
