// Actuators: force = (p0 + p1 l + p2 l') c + b0 + b1 l + b2 l' on the length l = g q, for a constant control c
// (docs/robots.md, "Actuators").
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/loads.h"
#include "sarrus/robot_files/mjcf_model.h"

namespace sarrus::robot::mjcf {
namespace {

enum class Dynamics : std::uint8_t { none, integrator, filter, filterexact, muscle, user, dcmotor };

// What all kinds of actuators share: defaults of one kind reach the others through it.
struct Record {
  bool affine_gain = false;
  bool affine_bias = false;
  std::array<double, 10> gain = {1};
  std::array<double, 10> bias = {};
  Dynamics dynamics = Dynamics::none;
  double time_constant = 1;
  std::array<double, 6> gear = {1};
  int ctrl_limited = 2;  // false, true, auto
  int force_limited = 2;
  std::array<double, 2> ctrlrange = {0, 0};
  std::array<double, 2> forcerange = {0, 0};
  double inheritrange = 0;
  double damping = 0;
  double armature = 0;
  int group = 0;
  bool delayed = false;
};

constexpr std::array kKinds = {"general", "motor",    "position", "velocity",    "intvelocity", "damper", "cylinder",
                               "muscle",  "adhesion", "dcmotor",  "orientation", "pid",         "plugin"};

void read_common(Record& r, const Attributes& a) {
  a.numbers("gear", r.gear.data(), 6);
  r.ctrl_limited = a.choice("ctrllimited", {"false", "true", "auto"}, r.ctrl_limited);
  r.force_limited = a.choice("forcelimited", {"false", "true", "auto"}, r.force_limited);
  a.numbers("ctrlrange", r.ctrlrange.data(), 2, 2);
  a.numbers("forcerange", r.forcerange.data(), 2, 2);
  r.damping = a.number("damping", r.damping);
  r.armature = a.number("armature", r.armature);
  r.group = a.integer("group", r.group);
  r.delayed |= a.number("delay", 0) > 0 || a.number("nsample", 0) > 0;
}

void read_position(Record& r, const Attributes& a, bool integrates) {
  r.gain[0] = a.number("kp", r.gain[0]);
  r.bias[1] = -r.gain[0];
  if (a.has("kv") && a.has("dampratio")) a.fail("has kv and dampratio; keep one");
  if (a.has("kv")) r.bias[2] = -a.number("kv", 0);
  if (a.has("dampratio")) r.bias[2] = a.number("dampratio", 0);
  if (r.gain[0] < 0 || (a.has("kv") && r.bias[2] > 0) || (a.has("dampratio") && r.bias[2] < 0)) {
    a.fail("kp, kv and dampratio are 0 or more");
  }
  r.dynamics = integrates ? Dynamics::integrator : Dynamics::none;
  if (a.has("timeconst") && a.number("timeconst", 0) > 0) r.dynamics = Dynamics::filterexact;
  r.inheritrange = a.number("inheritrange", r.inheritrange);
  r.affine_gain = false;
  r.affine_bias = true;
}

// Applies an element, of a class or of the section, to the record.
void apply(Record& r, const xml::Node& node) {
  const Attributes a(node);
  read_common(r, a);
  if (node.name == "general") {
    const auto affine = [&](const char* name, bool before) {
      const std::string text = a.text(name, before ? "affine" : "");
      return text == "affine";
    };
    r.affine_gain = affine("gaintype", r.affine_gain);
    r.affine_bias = affine("biastype", r.affine_bias);
    a.numbers("gainprm", r.gain.data(), 10);
    a.numbers("biasprm", r.bias.data(), 10);
    r.dynamics = static_cast<Dynamics>(
        a.choice("dyntype", {"none", "integrator", "filter", "filterexact", "muscle", "user", "dcmotor"},
                 static_cast<int>(r.dynamics)));
  } else if (node.name == "motor") {
    r.gain = {1};
    r.bias = {};
    r.affine_gain = r.affine_bias = false;
    r.dynamics = Dynamics::none;
  } else if (node.name == "position" || node.name == "pid") {
    read_position(r, a, false);
  } else if (node.name == "intvelocity") {
    read_position(r, a, true);
  } else if (node.name == "velocity") {
    r.gain[0] = a.number("kv", r.gain[0]);
    if (r.gain[0] < 0) a.fail("kv is negative; give 0 or more");
    r.bias = {0, 0, -r.gain[0]};
    r.affine_gain = false;
    r.affine_bias = true;
    r.dynamics = Dynamics::none;
  } else if (node.name == "damper") {
    const double kv = a.number("kv", 1);
    if (kv < 0) a.fail("kv is negative; give 0 or more");
    r.gain = {0, 0, -kv};
    r.bias = {};
    r.affine_gain = true;
    r.affine_bias = false;
    r.dynamics = Dynamics::none;
  } else if (node.name == "cylinder") {
    r.gain[0] = a.number("area", r.gain[0]);
    if (a.has("diameter")) r.gain[0] = std::numbers::pi / 4 * std::pow(a.number("diameter", 0), 2);
    a.numbers("bias", r.bias.data(), 3);
    r.affine_gain = false;
    r.affine_bias = true;
    r.dynamics = Dynamics::filter;
  }
}

bool limited(int choice, const std::array<double, 2>& range, bool autolimits, const Attributes& a, const char* name) {
  if (choice == 0) return false;
  if (choice == 2 && !autolimits && a.has(name)) {
    a.fail(fmt::format("has {}, but does not say whether it is limited, which autolimits=\"false\" asks for", name));
  }
  if (choice == 2 && !(range[0] < range[1])) return false;
  if (!(range[0] < range[1])) a.fail(fmt::format("{} is empty; give two ascending numbers", name));
  return true;
}

class ActuatorReader {
 public:
  ActuatorReader(const Source& s, const std::vector<Tendon>& tendons, const std::vector<double>& ctrl,
                 const std::vector<double>& act, Graph& g, Findings& findings)
      : s_(s), tendons_(tendons), ctrl_(ctrl), act_(act), g_(g), findings_(findings) {}

  void run() {
    std::size_t activation = 0;
    for (std::size_t i = 0; i < s_.tree.actuators.size(); ++i) {
      const xml::Node& node = s_.tree.actuators[i];
      ++findings_.count("actuator").read;
      Record r;
      const Context& context = s_.context_of(node);
      for (const xml::Node* layer :
           layers_of(context, node.get("class"), std::vector<std::string>(kKinds.begin(), kKinds.end()), node)) {
        apply(r, *layer);
      }
      apply(r, node);
      const double act = r.dynamics != Dynamics::none && activation < act_.size() ? act_[activation] : 0;
      activation += r.dynamics != Dynamics::none ? 1 : 0;
      if (!add(node, r, i < ctrl_.size() ? ctrl_[i] : 0, act, context)) ++findings_.count("actuator").ignored;
    }
  }

 private:
  struct Transmission {
    const SourceJoint* joint = nullptr;
    const Tendon* tendon = nullptr;
  };

  bool transmission(const xml::Node& node, const Attributes& a, Transmission& t) {
    for (const char* other : {"site", "refsite", "body", "cranksite", "slidersite"}) {
      if (!node.has(other)) continue;
      if (std::string_view(other) == "cranksite") {
        findings_.dropped("slider-crank", node, "acts through a slider and a crank, which are no joints");
      } else {
        findings_.dropped("site-actuator", node, "acts on a site or a body");
      }
      return false;
    }
    for (const char* kind : {"joint", "jointinparent"}) {
      if (!node.has(kind)) continue;
      t.joint = &s_.joints[at(s_.joint_named(node, kind, node.get(kind)))];
      if (t.joint->kind == JointKind::free || t.joint->kind == JointKind::ball) {
        findings_.dropped("ball-actuator", node, "acts on a joint without a scalar coordinate");
        return false;
      }
      return true;
    }
    if (node.has("tendon")) {
      const std::string name = s_.context_of(node).prefix + node.get("tendon");
      for (const Tendon& candidate : tendons_) {
        if (candidate.name != name) continue;
        t.tendon = &candidate;
        if (!candidate.spatial) return true;
        findings_.dropped("spatial-tendon", node, "acts on a tendon in space");
        return false;
      }
      a.fail(fmt::format("there is no tendon {}", in_quotes(node.get("tendon"))));
    }
    a.fail("acts on nothing; give joint or tendon");
  }

  // Mass that the length feels at qpos0: sum of M_ii/(dl/dq_i)^2.
  double mass_of(const Transmission& t, double g) {
    if (!inertia_) inertia_.emplace(s_);
    double mass = 0;
    const auto add = [&](const SourceJoint& j, double slope) {
      if (slope != 0) mass += inertia_->diagonal(j.qvel) / (slope * slope);
    };
    if (t.joint != nullptr) add(*t.joint, g);
    if (t.tendon != nullptr) {
      for (const Tendon::Term& term : t.tendon->terms) add(s_.joints[at(term.joint)], g * term.coef);
    }
    return mass;
  }

  bool add(const xml::Node& node, Record& r, double c, double act, const Context& context) {
    const Attributes a(node, layers_of(context, node.get("class"), {"general", node.name}, node));
    if (s_.actuation_disabled || (r.group >= 0 && r.group < 31 && (s_.disabled_actuator_groups >> r.group & 1) != 0)) {
      findings_.note("disabled-actuator", node, "is disabled by the options and left out");
      return false;
    }
    for (const char* kind : {"muscle", "adhesion", "dcmotor", "orientation", "plugin"}) {
      if (node.name != kind) continue;
      findings_.dropped(kind, node, fmt::format("is a {}, which is not simulated", kind));
      return false;
    }
    if (node.name == "pid" && (a.number("ki", 0) != 0 || a.number("slewmax", 0) != 0)) {
      findings_.dropped("pid", node, "has an integral gain or a bounded rate");
      return false;
    }
    if (node.name == "general") {
      const std::string gain = a.text("gaintype", "fixed");
      const std::string bias = a.text("biastype", "none");
      if ((gain != "fixed" && gain != "affine") || (bias != "none" && bias != "affine") ||
          r.dynamics >= Dynamics::muscle) {
        findings_.dropped(gain == "muscle" || bias == "muscle" ? "muscle" : "user-actuator", node,
                          "has gains, biases or dynamics of a muscle, a motor or the user");
        return false;
      }
    }
    if (r.delayed) findings_.warn("actuator-delay", node, "its delay is lost");
    Transmission t;
    if (!transmission(node, a, t)) return false;
    const double g = r.gear[0];
    if (g == 0) {
      findings_.note("zero-gear", node, "has the gear 0 and does nothing");
      return false;
    }
    drive(node, a, r, c, act, t, g);
    return true;
  }

  void drive(const xml::Node& node, const Attributes& a, Record& r, double c, double act, const Transmission& t,
             double g) {
    if (r.inheritrange > 0 && t.joint != nullptr && t.joint->limited) {
      const double mean = 0.5 * (t.joint->range[0] + t.joint->range[1]);
      const double half = 0.5 * (t.joint->range[1] - t.joint->range[0]) * r.inheritrange;
      r.ctrlrange = {mean - half, mean + half};
    }
    const Compiler& compiler = s_.context_of(node).compiler;
    const bool ctrl_limited = limited(r.ctrl_limited, r.ctrlrange, compiler.autolimits, a, "ctrlrange");
    const bool force_limited = limited(r.force_limited, r.forcerange, compiler.autolimits, a, "forcerange");
    if (ctrl_limited) c = std::clamp(c, r.ctrlrange[0], r.ctrlrange[1]);
    // A damping ratio instead of a damping.
    if (r.affine_bias && !r.affine_gain && r.bias[2] > 0 && r.gain[0] == -r.bias[1]) {
      r.bias[2] = -2 * r.bias[2] * std::sqrt(std::max(0.0, r.gain[0] * mass_of(t, g)));
    }
    if (r.dynamics == Dynamics::filter || r.dynamics == Dynamics::filterexact) {
      findings_.warn("actuator-filter", node, "filters its control; here the control acts at once");
    }
    const double rate = r.dynamics == Dynamics::integrator ? c : 0;
    if (r.dynamics == Dynamics::integrator) c = act;
    const double p1 = r.affine_gain ? r.gain[1] : 0;
    const double p2 = r.affine_gain ? r.gain[2] : 0;
    const double b0 = (r.affine_bias ? r.bias[0] : 0) + r.gain[0] * c;
    const double b1 = (r.affine_bias ? r.bias[1] : 0) + p1 * c;
    const double b2 = (r.affine_bias ? r.bias[2] : 0) + p2 * c;
    if (b1 > 0 || b2 > 0) {
      findings_.dropped("unstable-actuator", node, "pushes away from where it is, or along its speed");
      return;
    }
    ++findings_.count("actuator").kept;
    Drive d;
    const double b0_rate = r.gain[0] * rate;
    d.kp = -g * g * b1;
    d.kd = -g * g * b2;
    if (b1 < 0) {
      d.mode = DriveMode::position;
      d.target.rate = -b0_rate / (b1 * g);
      // The drive damps the speed to the target's, the actuator the speed itself.
      d.target.offset = -b0 / (b1 * g) - d.kd / d.kp * d.target.rate;
    } else if (b2 < 0) {
      d.mode = DriveMode::velocity;
      d.target.offset = -b0 / (b2 * g);
      d.target.rate = -b0_rate / (b2 * g);
    } else {
      d.mode = DriveMode::force;
      d.target.offset = g * b0;
      d.target.rate = g * b0_rate;
    }
    set_effort(r, t, g, d, ctrl_limited, force_limited);
    if (ctrl_limited) set_targets(r, g, b1, b2, d);
    place(node, t, g, r, d);
  }

  static void set_effort(const Record& r, const Transmission& t, double g, Drive& d, bool ctrl_limited,
                         bool force_limited) {
    double lower = -kUnlimited;
    double upper = kUnlimited;
    const auto bound = [&](double lo, double hi) {
      lower = std::max(lower, std::min(lo, hi));
      upper = std::min(upper, std::max(lo, hi));
    };
    if (force_limited) bound(g * r.forcerange[0], g * r.forcerange[1]);
    if (t.joint != nullptr && t.joint->force_limited) bound(t.joint->force_range[0], t.joint->force_range[1]);
    if (d.mode == DriveMode::force && ctrl_limited && r.gain[0] != 0 && !r.affine_bias) {
      const double most = std::abs(g * r.gain[0]) * std::max(std::abs(r.ctrlrange[0]), std::abs(r.ctrlrange[1]));
      bound(-most, most);
    }
    if (lower > upper || (lower == 0 && upper == 0)) {  // nothing is left
      d.mode = DriveMode::none;
      return;
    }
    if (lower == -upper) {
      d.effort_limit = upper;
    } else {
      d.effort_lower = lower;
      d.effort_upper = upper;
    }
  }

  // The targets that the control can ask for.
  static void set_targets(const Record& r, double g, double b1, double b2, Drive& d) {
    const double at_zero = r.affine_bias ? r.bias[0] : 0;
    const double scale = d.mode == DriveMode::position   ? -1 / (b1 * g)
                         : d.mode == DriveMode::velocity ? -1 / (b2 * g)
                                                         : g;
    const double lo = scale * (at_zero + r.gain[0] * r.ctrlrange[0]);
    const double hi = scale * (at_zero + r.gain[0] * r.ctrlrange[1]);
    if (r.gain[0] == 0 || r.affine_gain || r.dynamics == Dynamics::integrator) return;
    d.target_lower = std::min(lo, hi);
    d.target_upper = std::max(lo, hi);
  }

  void place(const xml::Node& node, const Transmission& t, double g, const Record& r, const Drive& d) {
    Coordinate load;
    load.dof.drive = d;
    load.dof.damping = r.damping * g * g;
    load.dof.armature = r.armature * g * g;
    load.drive_name = node.get("name").empty() ? "" : s_.context_of(node).prefix + node.get("name");
    if (t.joint != nullptr) {
      add_load(g_.at(t.joint->coordinate), load, t.joint->sign, 0, findings_, node.place, xml::describe(node));
      return;
    }
    add_load(g_.combinations[at(t.tendon->combination)].acts, load, 1, 0, findings_, node.place, xml::describe(node));
  }

  const Source& s_;
  const std::vector<Tendon>& tendons_;
  const std::vector<double>& ctrl_;
  const std::vector<double>& act_;
  Graph& g_;
  Findings& findings_;
  std::optional<JointInertia> inertia_;
};

}  // namespace

void add_actuators(const Source& s, const std::vector<Tendon>& tendons, const std::vector<double>& ctrl,
                   const std::vector<double>& act, Graph& g, Findings& findings) {
  ActuatorReader(s, tendons, ctrl, act, g, findings).run();
}

}  // namespace sarrus::robot::mjcf
