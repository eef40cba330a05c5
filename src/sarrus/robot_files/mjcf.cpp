// MJCF: from the file to the graph, with the initial state of a keyframe (docs/robots.md, "MJCF").
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/formats.h"
#include "sarrus/robot_files/mjcf_model.h"

namespace sarrus::robot {
namespace mjcf {

void read_options(Source& s, Findings& findings) {
  for (const xml::Node& node : s.tree.options) {
    const Attributes a(node);
    s.timestep = a.number("timestep", s.timestep);
    if (!(s.timestep > 0)) a.fail("timestep is not positive; give a time in seconds");
    s.gravity = a.vec3("gravity", s.gravity);
    for (const char* fluid : {"density", "viscosity", "wind"}) {
      const std::vector<double> x = a.list(fluid);
      if (std::any_of(x.begin(), x.end(), [](double v) { return v != 0; })) {
        findings.dropped("fluid", node, fmt::format("{} makes forces of a fluid, which are not simulated", fluid));
      }
    }
    for (const double group : a.list("actuatorgroupdisable")) {
      if (group >= 0 && group < 31) s.disabled_actuator_groups |= 1 << static_cast<int>(group);
    }
    for (const char* other : {"integrator", "cone", "solver", "iterations", "impratio", "tolerance", "jacobian"}) {
      if (a.has(other)) findings.note("solver-options", node, "settings of MuJoCo's solver and integrator are ignored");
    }
  }
  for (const xml::Node& node : s.tree.flags) {
    const Attributes a(node);
    const auto disabled = [&](const char* name) { return a.text(name) == "disable"; };
    if (disabled("gravity")) s.gravity.setZero();
    s.spring_disabled |= disabled("spring");
    s.damper_disabled |= disabled("damper");
    s.limit_disabled |= disabled("limit");
    s.friction_disabled |= disabled("frictionloss");
    s.equality_disabled |= disabled("equality") || disabled("constraint");
    s.contact_disabled |= disabled("contact") || disabled("constraint");
    s.actuation_disabled |= disabled("actuation");
    s.parent_filter_disabled |= disabled("filterparent");
    if (disabled("constraint")) s.limit_disabled = s.friction_disabled = true;
    for (const char* name : {"gravity", "spring", "damper", "limit", "frictionloss", "constraint"}) {
      if (disabled(name))
        findings.warn("disabled-by-flag", node, "a flag of the options switches forces off; it is followed");
    }
  }
}

namespace {

struct Keyframe {
  std::vector<double> qpos, qvel, ctrl, act;
};

// The keyframe that the user chose, if any.
Keyframe chosen_key(const Source& s, const ImportOptions& options) {
  Keyframe key;
  if (options.key.empty()) return key;
  const xml::Node* found = nullptr;
  for (const xml::Node& node : s.tree.keys) {
    if (node.get("name") == options.key) found = &node;
  }
  int index = -1;
  const char* const end = options.key.data() + options.key.size();
  if (found == nullptr && std::from_chars(options.key.data(), end, index).ptr == end && index >= 0 &&
      index < static_cast<int>(s.tree.keys.size())) {
    found = &s.tree.keys[at(index)];
  }
  if (found == nullptr) {
    std::vector<std::string> known;
    for (const xml::Node& node : s.tree.keys) known.push_back(node.get("name"));
    throw InputError(fmt::format("key {}", in_quotes(options.key)),
                     fmt::format("the file has {} keyframes; {}", known.size(),
                                 known.empty() ? "leave --key out" : suggestion(options.key, known, "key")));
  }
  const Attributes a(*found);
  key.qpos = a.list("qpos");
  key.qvel = a.list("qvel");
  key.ctrl = a.list("ctrl");
  key.act = a.list("act");
  const auto check = [&](const char* name, std::size_t n, int needed) {
    if (n != 0 && n != at(needed)) a.fail(fmt::format("{} has {} numbers; the model needs {}", name, n, needed));
  };
  check("qpos", key.qpos.size(), s.nq);
  check("qvel", key.qvel.size(), s.nv);
  check("ctrl", key.ctrl.size(), static_cast<int>(s.tree.actuators.size()));
  for (const SourceJoint& j : s.joints) {
    if (key.qpos.empty()) break;
    double* const q = key.qpos.data() + j.qpos;
    double* const turn = j.kind == JointKind::free ? q + 3 : q;
    if (j.kind != JointKind::free && j.kind != JointKind::ball) continue;
    if (!(Vec3(turn[1], turn[2], turn[3]).norm() + std::abs(turn[0]) > 1e-10)) a.fail("qpos has a quaternion of zero");
    const SourceBody& body = s.bodies[at(j.body)];
    if (!body.inertial_frame()) continue;
    const Pose X = Pose{Vec3(q[0], q[1], q[2]), Quat(q[3], q[4], q[5], q[6]).normalized()} *
                   Pose{body.com_B, body.inertial_q}.inverse();
    const double values[] = {X.p.x(), X.p.y(), X.p.z(), X.q.w(), X.q.x(), X.q.y(), X.q.z()};
    std::copy(std::begin(values), std::end(values), q);
  }
  return key;
}

// Twists of all bodies, [v of the body's origin; w], for rates of the joints at poses.
std::vector<Vec6> twists_of(const Source& s, const std::vector<double>& qpos, const std::vector<double>& qvel,
                            const std::vector<Pose>& X_WB) {
  std::vector<Vec6> twist(s.bodies.size(), Vec6::Zero());
  for (std::size_t b = 1; b < s.bodies.size(); ++b) {
    const SourceBody& body = s.bodies[b];
    const Pose& X = X_WB[b];
    const Vec6& parent = twist[at(body.parent)];
    Vec3 w = parent.tail<3>();
    Vec3 v = parent.head<3>() + w.cross(X.p - X_WB[at(body.parent)].p);
    Pose here = X_WB[at(body.parent)] * body.X_PB;  // moved by the joints one by one
    for (const int ji : body.joints) {
      const SourceJoint& j = s.joints[at(ji)];
      const double* u = qvel.data() + j.qvel;
      if (j.kind == JointKind::free) {
        v = Vec3(u[0], u[1], u[2]);
        w = X.q * Vec3(u[3], u[4], u[5]);
        if (body.inertial_frame()) {  // of the centre of mass, and in the axes of the inertial frame
          w = X.q * (body.inertial_q * Vec3(u[3], u[4], u[5]));
          v -= w.cross(X.q * body.com_B);
        }
        break;
      }
      here = Source::moved(here, j, qpos.data() + j.qpos);
      if (j.kind == JointKind::slide) {
        v += here.q * j.axis_B * u[0];
      } else {
        const Vec3 turn =
            j.kind == JointKind::hinge ? Vec3(here.q * j.axis_B * u[0]) : Vec3(here.q * Vec3(u[0], u[1], u[2]));
        v += turn.cross(X.p - here * j.pos_B);
        w += turn;
      }
    }
    twist[b] = spatial(v, w);
  }
  return twist;
}

void add_links(const Source& s, Graph& g, Findings& findings) {
  for (std::size_t b = 1; b < s.bodies.size(); ++b) {
    const SourceBody& body = s.bodies[b];
    Link link;
    link.name = body.name.empty() ? fmt::format("body{}", b) : body.name;
    link.place = body.node.place;
    link.X_WL = body.X_WB0;
    link.mass = body.mass;
    link.com_L = body.com_B;
    link.inertia_L = body.inertia_B;
    link.gravity_scale = 1 - body.gravcomp;
    g.links.push_back(std::move(link));
  }
  for (const auto& [name, site] : s.sites) g.frames.push_back({name, link_of(site.body), site.X_BS});
  findings.count("site").kept = static_cast<int>(s.sites.size());
}

// Limits that the start violates: they jump at t = 0 unless the pose is another one.
void warn_of_limits(const Source& s, const std::vector<double>& qpos, Findings& findings) {
  for (const SourceJoint& j : s.joints) {
    if (j.kind == JointKind::free || j.kind == JointKind::ball || !j.limited || s.limit_disabled) continue;
    const double q = qpos[at(j.qpos)];
    if (q >= j.range[0] - 1e-9 && q <= j.range[1] + 1e-9) continue;
    std::string keys;
    for (const xml::Node& key : s.tree.keys) {
      if (keys.size() < 200 && key.has("name")) keys += (keys.empty() ? "" : ", ") + key.get("name");
    }
    findings.warn("limit-violated", j.node,
                  fmt::format("begins at {:.4g}, outside of its range [{:.4g}, {:.4g}]", q, j.range[0], j.range[1]),
                  keys.empty() ? "" : fmt::format("begin at a keyframe with --key ({})", printable(keys, 300)));
  }
}

void set_state(const Source& s, const Keyframe& key, Graph& g) {
  const std::vector<double>& qpos = key.qpos.empty() ? s.qpos0 : key.qpos;
  if (key.qpos.empty() && key.qvel.empty()) return;
  const std::vector<Pose> X = s.kinematics(qpos);
  for (std::size_t b = 1; b < s.bodies.size(); ++b) g.links[b - 1].X_WL = X[b];
  std::vector<double> rates(at(s.nv), 0.0);
  if (!key.qvel.empty()) {
    rates = key.qvel;
    const std::vector<Vec6> twist = twists_of(s, qpos, key.qvel, X);
    for (std::size_t b = 1; b < s.bodies.size(); ++b) {
      g.links[b - 1].v_W = twist[b].head<3>();
      g.links[b - 1].w_W = twist[b].tail<3>();
    }
  }
  for (const SourceJoint& j : s.joints) {
    if (j.kind == JointKind::free) continue;
    const double* q = qpos.data() + j.qpos;
    if (j.kind != JointKind::ball) {
      Coordinate& c = g.at(j.coordinate);
      c.initial = j.sign * q[0];
      c.rate = j.sign * rates[at(j.qvel)];
      continue;
    }
    int k = 0;
    for (SerialAxis& axis : g.joints[at(j.coordinate.joint)].serial) {
      if (k == j.coordinate.k && axis.kind == AxisKind::ball) {
        axis.initial_turn = Quat(q[0], q[1], q[2], q[3]).normalized();
        axis.initial_rate = Vec3(rates[at(j.qvel)], rates[at(j.qvel + 1)], rates[at(j.qvel + 2)]);
      }
      k += axis.coordinates();
    }
  }
}

void count_ignored(const Source& s, Findings& findings) {
  for (const Context& context : s.tree.contexts) {
    for (const xml::Node& asset : context.assets) {
      if (asset.name == "mesh" || asset.name == "hfield" || asset.name == "model") continue;
      ++findings.count(asset.name).read;
      ++findings.count(asset.name).ignored;
    }
  }
  if (!s.tree.keys.empty()) {
    ImportCount& count = findings.count("keyframe");
    count.read = static_cast<int>(s.tree.keys.size());
    count.kept = findings.options().key.empty() ? 0 : 1;
    count.ignored = count.read - count.kept;
  }
}

}  // namespace
}  // namespace mjcf

Graph read_mjcf(xml::Node root, const Folders& folders, Findings& findings) {
  using namespace mjcf;
  const std::unique_ptr<Source> s = read_bodies(build_tree(std::move(root), folders, findings), folders, findings);
  Graph g;
  g.name = s->tree.name;
  g.gravity = s->gravity;
  g.defaults.dt = s->timestep;
  add_links(*s, g, findings);
  add_joints(*s, g, findings);
  const std::vector<Tendon> tendons = add_tendons(*s, g, findings);
  add_equalities(*s, tendons, g, findings);
  add_contacts(*s, g, findings);
  const Keyframe key = chosen_key(*s, findings.options());
  add_actuators(*s, tendons, key.ctrl, key.act, g, findings);
  set_state(*s, key, g);
  warn_of_limits(*s, key.qpos.empty() ? s->qpos0 : key.qpos, findings);
  count_ignored(*s, findings);
  g.meshes = s->meshes->take_sources();
  return g;
}

}  // namespace sarrus::robot
