// finish_model: every check that a Model has passed before anything simulates it.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>
#include <set>

#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/checks.h"
#include "sarrus/model/model.h"

namespace sarrus {
namespace {

constexpr int kMaxBodies = 1'000'000;

void check_inertia(const std::string& element, const Mat3& I) {
  if (!I.allFinite()) throw InputError(element, "inertia has a non-finite entry; give finite numbers");
  const double scale = I.cwiseAbs().maxCoeff();
  if ((I - I.transpose()).cwiseAbs().maxCoeff() > 1e-9 * scale) {
    throw InputError(element, "inertia is not symmetric; give a symmetric matrix about the centre of mass");
  }
  const Vec3 p = Eigen::SelfAdjointEigenSolver<Mat3>(I, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(p[0] > 0)) {
    throw InputError(element,
                     fmt::format("inertia is not positive definite (smallest principal moment {:.6g} kg m^2); a body "
                                 "needs three principal moments > 0",
                                 p[0]));
  }
  if (p[0] + p[1] < p[2] * (1 - 1e-9)) {
    throw InputError(element,
                     fmt::format("principal moments {:.6g}, {:.6g}, {:.6g} break the triangle inequality, so no "
                                 "mass distribution has them; recompute the inertia about the centre of mass",
                                 p[0], p[1], p[2]));
  }
}

void check_bodies(ModelData& d) {
  if (d.bodies.size() > kMaxBodies) throw InputError("model", fmt::format("more than {} bodies", kMaxBodies));
  require_unique_names("body", d.bodies);
  for (std::size_t i = 0; i < d.bodies.size(); ++i) {
    Body& b = d.bodies[i];
    const std::string element = label("body", b.name, i);
    if (b.name == "world") throw InputError(element, "the name 'world' is reserved; choose another");
    if (!(b.mass > 0) || !std::isfinite(b.mass)) {
      throw InputError(element, fmt::format("mass is {} kg; give a finite mass > 0", b.mass));
    }
    check_inertia(element, b.inertia_B);
    normalise(element, "pose", b.X_WB0);
    require_finite(element, "initial velocity", b.v0_W);
    require_finite(element, "initial angular velocity", b.w0_W);
    require_finite(element, "gravity_scale", b.gravity_scale);
    require_non_negative(element, "linear_damping", b.linear_damping);
    require_non_negative(element, "angular_damping", b.angular_damping);
  }
}

void check_signal(const std::string& element, const Signal& s) {
  for (const double x : {s.offset, s.rate, s.amplitude, s.frequency, s.phase}) {
    require_finite(element, "drive target", x);
  }
  for (std::size_t i = 0; i < s.table.size(); ++i) {
    const TablePoint& p = s.table[i];
    require_finite(element, fmt::format("time of point {} of the drive target's table", i), p.time);
    require_finite(element, fmt::format("value of point {} of the drive target's table", i), p.value);
    if (i == 0) continue;
    const TablePoint& before = s.table[i - 1];
    if (!(p.time > before.time)) {
      throw InputError(element, fmt::format("point {} of the drive target's table is at {} s, not after the one before "
                                            "at {} s; give ascending times",
                                            i, p.time, before.time));
    }
    // Six slopes and the distance in time are what the cubic computes with.
    const double distance = p.time - before.time;
    if (!std::isfinite(distance) || !std::isfinite(6 * ((p.value - before.value) / distance))) {
      throw InputError(
          element,
          fmt::format("the drive target's table has numbers too large to compute with before point {} at {} s; "
                      "give times and values in seconds and SI units",
                      i, p.time));
    }
  }
}

void check_drive(const std::string& element, const Dof& dof, bool coordinate) {
  const Drive& drive = dof.drive;
  require_non_negative(element, "drive kp", drive.kp);
  require_non_negative(element, "drive kd", drive.kd);
  if (!(drive.effort_limit > 0)) {
    throw InputError(element, fmt::format("drive effort_limit is {}; give a value > 0", drive.effort_limit));
  }
  const bool number = !std::isnan(drive.effort_lower) && !std::isnan(drive.effort_upper);
  if (!number || !(drive.least_effort() < drive.largest_effort())) {
    throw InputError(element, fmt::format("drive efforts from {} to {} leave no room; give effort_lower < effort_upper",
                                          drive.least_effort(), drive.largest_effort()));
  }
  if (!(drive.target_lower <= drive.target_upper) || drive.target_lower == kInf || drive.target_upper == -kInf) {
    throw InputError(element,
                     fmt::format("drive targets from {} to {} leave no room; give target_lower <= target_upper",
                                 drive.target_lower, drive.target_upper));
  }
  check_signal(element, drive.target);
  if (drive.mode == DriveMode::position) {
    if (!coordinate)
      throw InputError(element, "a spherical joint has no scalar coordinate for a position drive; use gimbal");
    if (!(drive.kp > 0)) throw InputError(element, "position drive has kp = 0; give kp > 0 (or use a velocity drive)");
  }
  if (drive.mode == DriveMode::velocity && !(drive.kd > 0)) {
    throw InputError(element, "velocity drive has kd = 0; give kd > 0");
  }
}

void check_erp(const std::string& element, double erp) {
  if (erp != kUseDefault && !(erp >= 0 && erp <= 1)) {
    throw InputError(element, fmt::format("erp is {}; give a number in [0, 1] or leave it out", erp));
  }
}

void check_initial(const std::string& element, const Dof& dof, bool coordinate) {
  if (!dof.initial) return;
  require_finite(element, "initial value", *dof.initial);
  if (!coordinate) {
    throw InputError(element,
                     "a spherical joint has no scalar coordinate for an initial value; remove it or use gimbal");
  }
  if (dof.wrapped && !(*dof.initial > -std::numbers::pi && *dof.initial <= std::numbers::pi)) {
    throw InputError(element, fmt::format("initial value is {} rad, but a wrapped angle stays in (-pi, pi]; remove "
                                          "'wrapped' to count turns",
                                          *dof.initial));
  }
}

void check_dof(const std::string& element, const Dof& dof, bool coordinate, bool angular) {
  const Limit& l = dof.limit;
  if (std::isnan(l.lower) || std::isnan(l.upper))
    throw InputError(element, "a limit is NaN; give numbers or leave it out");
  if (l.lower == kInf || l.upper == -kInf) {
    throw InputError(element,
                     fmt::format("limits [{}, {}] leave no room; give lower < inf and upper > -inf", l.lower, l.upper));
  }
  if (l.lower > l.upper) {
    throw InputError(element, fmt::format("limits [{}, {}] are reversed; give lower <= upper", l.lower, l.upper));
  }
  if (!coordinate && l.active()) {
    throw InputError(element, "a spherical joint has no scalar coordinate for limits; use swing_limit or gimbal");
  }
  if (!coordinate && dof.rest != 0) {
    throw InputError(element, "the spring of a spherical joint rests at an orientation; give q_rest of the joint");
  }
  if (!(l.restitution >= 0 && l.restitution <= 1)) {
    throw InputError(element, fmt::format("limit restitution is {}; give a number in [0, 1]", l.restitution));
  }
  check_erp(element, l.erp);
  check_compliance(element, l.compliance, ComplianceUse::limit);
  if (dof.wrapped && !angular) {
    throw InputError(element, "only an angle can be wrapped; remove 'wrapped'");
  }
  require_non_negative(element, "armature", dof.armature);
  require_non_negative(element, "stiffness", dof.stiffness);
  require_finite(element, "spring rest", dof.rest);
  require_non_negative(element, "damping", dof.damping);
  require_non_negative(element, "dry_friction", dof.dry_friction);
  check_initial(element, dof, coordinate);
  check_drive(element, dof, coordinate);
}

void check_joint(const ModelData& d, Joint& j, const std::string& element) {
  require_body(element, "base", j.base, d.bodies.size());
  require_body(element, "follower", j.follower, d.bodies.size());
  if (j.follower == kWorld) {
    throw InputError(element, "follower is the world; make the world the base and the body the follower");
  }
  if (j.base == j.follower) throw InputError(element, "base and follower are the same body; name two different ones");
  require_finite(element, "base anchor", j.p_BJ);
  require_finite(element, "follower anchor", j.p_FJ);
  normalise(element, "base axes", j.q_BJ);
  normalise(element, "follower axes", j.q_FJ);
  check_erp(element, j.erp);
  check_compliance(element, j.compliance, ComplianceUse::joint);
  if (j.type == JointType::distance && !(j.length > 1e-9 && std::isfinite(j.length))) {
    throw InputError(element, fmt::format("distance joint has length {} m; give a finite length > 0 (use spherical to "
                                          "join two points)",
                                          j.length));
  }
  if (j.type != JointType::distance) j.length = 0;
  if (j.rope && j.type != JointType::distance)
    throw InputError(element, "only a distance joint can be a rope; remove 'rope' or make it one");
  if (j.swing_limit < kInf && j.type != JointType::spherical) {
    throw InputError(element, "swing_limit belongs to spherical joints; use coordinate limits here");
  }
  if (!(j.swing_limit > 0)) {
    throw InputError(element, fmt::format("swing_limit is {} rad; give an angle in (0, pi)", j.swing_limit));
  }
  normalise(element, "spring rest", j.q_rest);
  if (j.type != JointType::spherical && j.q_rest.coeffs() != Quat::Identity().coeffs()) {
    throw InputError(element,
                     "a rest orientation belongs to the spring of spherical joints; give rest of a coordinate");
  }
}

// One stiffness about all axes: of three different ones the torque -k_i theta_i would be that of no energy.
void check_ball_spring(const std::string& element, const Dof* dof) {
  require_non_negative(element, "spring stiffness", dof[0].stiffness);
  if (dof[1].stiffness == dof[0].stiffness && dof[2].stiffness == dof[0].stiffness) return;
  throw InputError(element,
                   fmt::format("its spring has the stiffnesses {}, {} and {}; a spherical joint has one for all "
                               "three axes (use gimbal for a spring about each)",
                               dof[0].stiffness, dof[1].stiffness, dof[2].stiffness));
}

void check_serial(Joint& j, const std::string& element) {
  if (j.type != JointType::serial) {
    if (j.axes.empty()) return;
    throw InputError(element, "axes in sequence belong to serial joints; remove them or make it one");
  }
  if (j.axes.size() < 2 || j.axes.size() > kMaxJointDofs) {
    throw InputError(element, fmt::format("a serial joint has {} axes; give 2 to {} (one: a revolute or prismatic "
                                          "joint)",
                                          j.axes.size(), kMaxJointDofs));
  }
  std::set<std::string_view> names;
  for (std::size_t k = 0; k < j.axes.size(); ++k) {
    SerialAxis& a = j.axes[k];
    const std::string axis = fmt::format("{}, axis {}", element, k);
    require_finite(axis, "point", a.p_J);
    require_finite(axis, "direction", a.axis_J);
    require_finite(axis, "reference", a.reference);
    const double n2 = a.axis_J.squaredNorm();
    if (!(n2 > 1e-12)) throw InputError(axis, "its direction has length 0; give a unit vector");
    if (std::abs(n2 - 1.0) > 1e-2) {
      throw InputError(axis, fmt::format("its direction has length {:.6g}; give a unit vector", std::sqrt(n2)));
    }
    if (std::abs(n2 - 1.0) > 4e-15) a.axis_J.normalize();
    if (a.angular && a.p_J.norm() > kMaxShapeSize) {
      throw InputError(axis, fmt::format("its point is {:g} m away from the joint; give points near the joint, at most "
                                         "{:g} m",
                                         a.p_J.norm(), kMaxShapeSize));
    }
  }
  for (int k = 0; k < joint_dofs(j); ++k) {
    if (names.insert(coordinate_name(j, k)).second) continue;
    throw InputError(element, fmt::format("two of its axes are named '{}'; rename one of them", coordinate_name(j, k)));
  }
}

void check_joints(ModelData& d) {
  require_unique_names("joint", d.joints);
  int next_dof = 0;
  for (std::size_t i = 0; i < d.joints.size(); ++i) {
    Joint& j = d.joints[i];
    const std::string element = label("joint", j.name, i);
    check_joint(d, j, element);
    check_serial(j, element);
    const JointTypeInfo& type = joint_type_info(j.type);
    const int dofs = joint_dofs(j);
    if (j.first_dof != next_dof) throw InputError(element, "dofs are not grouped by joint; use ModelBuilder");
    next_dof += dofs;
    if (next_dof > static_cast<int>(d.dofs.size())) throw InputError(element, "dofs are missing; use ModelBuilder");
    if (j.type == JointType::spherical) check_ball_spring(element, d.dofs.data() + j.first_dof);
    for (int k = 0; k < dofs; ++k) {
      const std::string dof_element = fmt::format("{}, coordinate '{}'", element, coordinate_name(j, k));
      const Dof& dof = d.dofs[static_cast<std::size_t>(j.first_dof + k)];
      check_dof(dof_element, dof, type.coordinates, coordinate_is_angular(j, k));
      if (j.type == JointType::serial && dof.wrapped) {
        throw InputError(dof_element, "the angles of a serial joint count turns; remove 'wrapped'");
      }
    }
  }
  if (next_dof != static_cast<int>(d.dofs.size())) throw InputError("model", "more dofs than the joints have");
  std::set<std::string> drives;
  const auto check_drive_name = [&](const Drive& drive) {
    if (drive.name.empty() || drives.insert(drive.name).second) return;
    throw InputError(fmt::format("drive '{}'", drive.name), "another drive has the same name; rename one of them");
  };
  for (const Dof& dof : d.dofs) check_drive_name(dof.drive);
  for (const Combination& c : d.combinations) check_drive_name(c.law.drive);
}

// A coordinate that is part of a coupling or combination; returns its joint.
const Joint& check_coupled_dof(const ModelData& d, const std::vector<int>& joint_of_dof, const std::string& element,
                               std::string_view kind, int dof) {
  if (dof < 0 || dof >= static_cast<int>(d.dofs.size())) {
    throw InputError(element, fmt::format("refers to coordinate {}, but the model has {}; use dof_index() of a joint",
                                          dof, d.dofs.size()));
  }
  const Joint& j = d.joints[static_cast<std::size_t>(joint_of_dof[static_cast<std::size_t>(dof)])];
  if (!joint_type_info(j.type).coordinates) {
    throw InputError(element,
                     fmt::format("joint '{}' is {} and has no scalar coordinate to couple; use a joint that has one",
                                 j.name, joint_type_info(j.type).name));
  }
  if (d.dofs[static_cast<std::size_t>(dof)].wrapped) {
    throw InputError(element, fmt::format("joint '{}' has a wrapped angle; a {} needs a multi-turn angle (remove "
                                          "'wrapped')",
                                          j.name, kind));
  }
  return j;
}

void check_couplings(const ModelData& d, const std::vector<int>& joint_of_dof) {
  require_unique_names("coupling", d.couplings);
  for (std::size_t i = 0; i < d.couplings.size(); ++i) {
    const Coupling& c = d.couplings[i];
    const std::string element = label("coupling", c.name, i);
    for (const int dof : {c.dof_a, c.dof_b}) check_coupled_dof(d, joint_of_dof, element, "coupling", dof);
    if (c.dof_a == c.dof_b) throw InputError(element, "couples a coordinate with itself; name two different ones");
    require_finite(element, "ratio", c.ratio);
    require_finite(element, "offset", c.offset);
    for (const double x : c.higher) require_finite(element, "polynomial coefficient", x);
    check_erp(element, c.erp);
    check_compliance(element, c.compliance, ComplianceUse::joint);
  }
}

void check_combinations(const ModelData& d, const std::vector<int>& joint_of_dof) {
  require_unique_names("combination", d.combinations);
  for (std::size_t i = 0; i < d.combinations.size(); ++i) {
    const Combination& c = d.combinations[i];
    const std::string element = label("combination", c.name, i);
    if (c.terms.empty()) throw InputError(element, "has no terms; give at least one coordinate with its coefficient");
    std::set<int> dofs;
    std::set<int> bodies;
    for (const CombinationTerm& t : c.terms) {
      const Joint& j = check_coupled_dof(d, joint_of_dof, element, "combination", t.dof);
      require_finite(element, "coefficient", t.coefficient);
      if (t.coefficient == 0) {
        throw InputError(element, fmt::format("the coefficient of joint '{}' is 0; leave the term out", j.name));
      }
      if (!dofs.insert(t.dof).second) {
        throw InputError(element, fmt::format("names a coordinate of joint '{}' twice; add its coefficients", j.name));
      }
      for (const int body : {j.base, j.follower}) {
        if (body != kWorld) bodies.insert(body);
      }
    }
    if (bodies.size() > kMaxCombinationBodies) {
      throw InputError(element,
                       fmt::format("its joints move {} bodies, but at most {} are possible; tie some of them to "
                                   "each other by couplings, split it, or leave terms out",
                                   bodies.size(), kMaxCombinationBodies));
    }
    require_finite(element, "offset", c.offset);
    check_dof(element, c.law, true, true);
    if (c.law.armature != 0) {
      throw InputError(element,
                       "a combination has no armature; give it to the coordinates, c^2 of it to one of coefficient c");
    }
    if (c.law.wrapped || c.law.initial) {
      throw InputError(element,
                       "a combination has neither wrapping nor an initial value: both are those of its "
                       "coordinates; remove them");
    }
  }
}

void check_contact_law(const std::string& element, double mu, double restitution, const Compliance& compliance) {
  require_non_negative(element, "mu", mu);
  if (!(restitution >= 0 && restitution <= 1)) {
    throw InputError(element, fmt::format("restitution is {}; give a number in [0, 1]", restitution));
  }
  check_compliance(element, compliance, ComplianceUse::contact);
}

void check_contact_pairs(const ModelData& d) {
  std::set<std::pair<int, int>> seen;
  for (std::size_t i = 0; i < d.contact_pairs.size(); ++i) {
    const ContactPair& p = d.contact_pairs[i];
    const std::string element = fmt::format("contact pair #{}", i);
    const int n = static_cast<int>(d.geoms.size());
    if (p.a < 0 || p.a >= n || p.b < 0 || p.b >= n) {
      throw InputError(element, "refers to a shape that does not exist; use the index that add_geom returned");
    }
    const Geom& a = d.geoms[static_cast<std::size_t>(p.a)];
    const Geom& b = d.geoms[static_cast<std::size_t>(p.b)];
    if (a.body == b.body) {
      throw InputError(element, fmt::format("shapes '{}' and '{}' both belong to {}; name shapes of two bodies", a.name,
                                            b.name, a.body == kWorld ? "the world" : "one body"));
    }
    if (!seen.insert(std::minmax(p.a, p.b)).second) {
      throw InputError(element, fmt::format("shapes '{}' and '{}' are paired twice; keep one pair", a.name, b.name));
    }
    check_contact_law(element, p.mu, p.restitution, p.compliance);
    if (p.margin != kUseDefault) require_non_negative(element, "margin", p.margin);
  }
}

void check_materials(ModelData& d) {
  if (d.materials.empty()) d.materials.push_back({"default", 0.7, 0.0});
  require_unique_names("material", d.materials);
  const int n = static_cast<int>(d.materials.size());
  for (const Material& m : d.materials) {
    check_contact_law(fmt::format("material '{}'", m.name), m.mu, m.restitution, m.compliance);
  }
  for (std::size_t i = 0; i < d.material_pairs.size(); ++i) {
    const MaterialPair& p = d.material_pairs[i];
    const std::string element = fmt::format("material pair #{}", i);
    if (p.a < 0 || p.a >= n || p.b < 0 || p.b >= n)
      throw InputError(element, "refers to a material that does not exist; use the index that add_material returned");
    check_contact_law(element, p.mu, p.restitution, p.compliance.value_or(Compliance{}));
    for (std::size_t k = 0; k < i; ++k) {
      const MaterialPair& o = d.material_pairs[k];
      if ((o.a == p.a && o.b == p.b) || (o.a == p.b && o.b == p.a)) {
        throw InputError(element, "the same two materials are listed twice; keep one entry");
      }
    }
  }
}

void check_body_pairs(const ModelData& d, std::vector<BodyPair>& pairs, std::string_view kind) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    BodyPair& p = pairs[i];
    const std::string element = fmt::format("{} #{}", kind, i);
    require_body(element, "first", p.a, d.bodies.size());
    require_body(element, "second", p.b, d.bodies.size());
    if (p.a == p.b) throw InputError(element, "names the same body twice; name two different bodies");
    if (p.a > p.b) std::swap(p.a, p.b);
  }
}

// The order of a file, which lists them by body; the world comes last.
template <class Elements>
void sort_by_body(Elements& elements) {
  std::stable_sort(elements.begin(), elements.end(), [](const auto& a, const auto& b) {
    return static_cast<unsigned>(a.body) < static_cast<unsigned>(b.body);
  });
}

void check_frames(ModelData& d) {
  require_unique_names("frame", d.frames);
  for (std::size_t i = 0; i < d.frames.size(); ++i) {
    const std::string element = label("frame", d.frames[i].name, i);
    require_body(element, "body", d.frames[i].body, d.bodies.size());
    normalise(element, "pose", d.frames[i].X_BF);
  }
}

// Spanning forest: breadth first from the world, then from the heaviest body of each remaining component;
// joints with fewer degrees of freedom first (docs/theory/model.md §7). Returns the loop joints.
std::vector<int> find_loops(const ModelData& d, int& floating_components) {
  const int n = static_cast<int>(d.bodies.size());
  std::vector<std::vector<int>> joints_of(static_cast<std::size_t>(n + 1));
  const auto slot = [n](int body) { return static_cast<std::size_t>(body == kWorld ? n : body); };
  std::vector<bool> is_tree(d.joints.size(), false);
  for (std::size_t i = 0; i < d.joints.size(); ++i) {
    const JointType t = d.joints[i].type;
    if (t == JointType::free) continue;
    joints_of[slot(d.joints[i].base)].push_back(static_cast<int>(i));
    joints_of[slot(d.joints[i].follower)].push_back(static_cast<int>(i));
  }
  const auto rows = [&](int j) { return joint_rows(d.joints[static_cast<std::size_t>(j)]); };
  for (auto& list : joints_of) {
    std::stable_sort(list.begin(), list.end(), [&](int a, int b) { return rows(a) > rows(b); });
  }
  std::vector<bool> seen(static_cast<std::size_t>(n + 1), false);
  const auto grow = [&](int root) {
    std::deque<int> queue = {root};
    seen[slot(root)] = true;
    while (!queue.empty()) {
      const int body = queue.front();
      queue.pop_front();
      for (const int ji : joints_of[slot(body)]) {
        const Joint& j = d.joints[static_cast<std::size_t>(ji)];
        const int other = j.base == body ? j.follower : j.base;
        if (seen[slot(other)]) continue;
        seen[slot(other)] = true;
        is_tree[static_cast<std::size_t>(ji)] = true;
        queue.push_back(other);
      }
    }
  };
  grow(kWorld);
  std::vector<int> by_mass(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) by_mass[static_cast<std::size_t>(i)] = i;
  std::stable_sort(by_mass.begin(), by_mass.end(), [&](int a, int b) {
    return d.bodies[static_cast<std::size_t>(a)].mass > d.bodies[static_cast<std::size_t>(b)].mass;
  });
  floating_components = 0;
  for (const int b : by_mass) {
    if (seen[slot(b)]) continue;
    ++floating_components;
    grow(b);
  }
  std::vector<int> loops;
  for (std::size_t i = 0; i < d.joints.size(); ++i) {
    if (!is_tree[i] && d.joints[i].type != JointType::free) loops.push_back(static_cast<int>(i));
  }
  return loops;
}

// Builders let vectors grow; a model lives long.
void shrink(ModelData& d) {
  d.bodies.shrink_to_fit();
  d.joints.shrink_to_fit();
  d.dofs.shrink_to_fit();
  d.geoms.shrink_to_fit();
  d.visuals.shrink_to_fit();
  d.frames.shrink_to_fit();
  d.excludes.shrink_to_fit();
}

}  // namespace

Model finish_model(ModelData data) {
  require_finite("model", "gravity", data.gravity);
  if (!(data.defaults.dt > 0) || !std::isfinite(data.defaults.dt)) {
    throw InputError("model", fmt::format("default dt is {} s; give a finite step > 0", data.defaults.dt));
  }
  if (!(data.defaults.duration > 0) || !std::isfinite(data.defaults.duration)) {
    throw InputError("model", fmt::format("default duration is {} s; give a finite time > 0", data.defaults.duration));
  }
  check_bodies(data);
  check_joints(data);

  auto frozen = std::make_shared<Model::Frozen>();
  for (std::size_t i = 0; i < data.joints.size(); ++i) {
    const int n = joint_dofs(data.joints[i]);
    frozen->joint_of_dof.insert(frozen->joint_of_dof.end(), static_cast<std::size_t>(n), static_cast<int>(i));
  }
  check_couplings(data, frozen->joint_of_dof);
  check_combinations(data, frozen->joint_of_dof);
  if (!data.combinations.empty()) frozen->with_combinations = data.dofs;
  for (const Combination& c : data.combinations) {
    frozen->with_combinations.push_back(c.law);
    frozen->joint_of_dof.push_back(frozen->joint_of_dof[static_cast<std::size_t>(c.terms.front().dof)]);
  }
  check_materials(data);
  check_shapes(data);
  check_contact_pairs(data);
  check_frames(data);
  sort_by_body(data.visuals);
  sort_by_body(data.frames);
  check_body_pairs(data, data.excludes, "exclude");
  check_body_pairs(data, data.includes, "include");
  double scale = data.bodies.empty() ? 1.0 : 0.0;
  for (const Body& b : data.bodies) scale = std::max(scale, std::abs(b.gravity_scale));
  frozen->largest_gravity = scale * data.gravity.norm();
  frozen->loop_joints = find_loops(data, frozen->floating_components);
  shrink(data);
  frozen->data = std::move(data);
  Model::measure_joints(*frozen);
  frozen->scalars = frozen->with_combinations.empty() ? frozen->data.dofs : frozen->with_combinations;
  Model model;
  model.d_ = std::move(frozen);
  return model;
}

}  // namespace sarrus
