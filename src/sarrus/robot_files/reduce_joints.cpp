// Joints of the graph: single ones, and chains of axes with light bodies between.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/robot_files/reduction.h"

namespace sarrus::robot {

namespace {

constexpr double kBetween = 1e-3;  // share of a body's mass that each body between two axes of a chain takes

}  // namespace

void Reduction::add_joints() {
  for (std::size_t b = 0; b < groups_.size(); ++b) {
    if (!groups_[b].on_world) continue;
    sarrus::Joint joint;
    joint.name = joint_names_.unique("joint", d_.bodies[b].name + "_to_world", {});
    joint.follower = static_cast<int>(b);
    joint.p_BJ = d_.bodies[b].X_WB0.p;
    joint.q_BJ = d_.bodies[b].X_WB0.q;
    push(std::move(joint), {});
  }
  dof_.resize(g_.joints.size());
  for (std::size_t j = 0; j < g_.joints.size(); ++j) {
    ImportCount& count = findings_.count(g_.joints[j].closure ? "closure" : "joint");
    ++count.read;
    if (merges(g_.joints[j])) {
      ++count.merged;
    } else if (body_of(g_.joints[j].base) == body_of(g_.joints[j].follower)) {
      ++count.ignored;
      findings_.add(ImportSeverity::warning, "joint-within-body", g_.joints[j].place.text(),
                    fmt::format("joint {}", in_quotes(g_.joints[j].name)),
                    "connects two parts of one body, or of the world; it is left out", "");
    } else {
      ++count.kept;
      is_chain(g_.joints[j]) ? add_chain(j) : add_joint(j);
    }
  }
}

void Reduction::push(sarrus::Joint joint, const std::vector<Coordinate>& coordinates) {
  joint.first_dof = static_cast<int>(d_.dofs.size());
  for (const Coordinate& c : coordinates) {
    d_.dofs.push_back(c.dof);
    if (c.drive_name.empty() || c.dof.drive.mode == DriveMode::none) continue;
    d_.dofs.back().drive.name = drive_names_.unique("drive", c.drive_name, {});
  }
  d_.joints.push_back(std::move(joint));
}

std::string Reduction::joint_name(const Joint& j) {
  const auto of = [this](int l) {
    return l == kWorld || body_of(l) == kWorld ? "world" : d_.bodies[at(body_of(l))].name;
  };
  if (!j.name.empty()) return joint_names_.unique("joint", j.name, j.place);
  return joint_names_.unique(
      "joint",
      j.closure ? fmt::format("loop_{}_{}", of(j.base), of(j.follower)) : fmt::format("{}_joint", of(j.follower)),
      j.place);
}

// The world is always the base of a joint.
void Reduction::put_world_first(Joint& j) {
  if (body_of(j.follower) != kWorld) return;
  if (!j.serial.empty()) {
    throw InputError(fmt::format("{}: joint {}", j.place.text(), in_quotes(j.name)),
                     "is a row of axes that ends at the world; exchange its two links");
  }
  std::swap(j.base, j.follower);
  std::swap(j.X_BJ, j.X_FJ);
  const auto mirror = [](Coordinate& c) {
    c.dof = mirrored(c.dof);
    c.sign = -c.sign;
    c.initial = -c.initial;
    c.rate = -c.rate;
  };
  switch (j.type) {
    case JointType::revolute:
    case JointType::prismatic:
    case JointType::cylindrical:
    case JointType::cartesian:
      for (Coordinate& c : j.coordinates) mirror(c);
      return;
    case JointType::fixed:
    case JointType::spherical:
    case JointType::distance:
      return;
    default:
      throw InputError(
          fmt::format("{}: joint {}", j.place.text(), in_quotes(j.name)),
          fmt::format("is {} and ends at the world; exchange its two links", joint_type_info(j.type).name));
  }
}

bool Reduction::has_ball(const Joint& j) {
  return std::any_of(j.serial.begin(), j.serial.end(), [](const SerialAxis& s) { return s.kind == AxisKind::ball; });
}

// Of the axes that no joint of the model takes together.
bool Reduction::is_chain(const Joint& j) {
  return !j.serial.empty() && (has_ball(j) || j.serial.size() > static_cast<std::size_t>(kMaxJointDofs));
}

void Reduction::add_joint(std::size_t index) {
  Joint& j = g_.joints[index];
  std::vector<double> signs;
  for (const Coordinate& c : j.coordinates) signs.push_back(c.sign);
  put_world_first(j);
  keep_turns(j);
  sarrus::Joint joint;
  joint.name = joint_name(j);
  joint.type = j.type;
  joint.base = body_of(j.base);
  joint.follower = body_of(j.follower);
  set_frames(joint, X_BL(j.base) * j.X_BJ, X_BL(j.follower) * j.X_FJ);
  joint.length = j.length;
  joint.rope = j.rope;
  joint.swing_limit = j.swing_limit;
  joint.compliance = j.compliance;
  for (std::size_t k = 0; k < j.serial.size(); ++k) {
    joint.type = JointType::serial;
    joint.axes.push_back({j.coordinates[k].name, j.serial[k].kind == AxisKind::hinge, j.serial[k].anchor_J,
                          j.serial[k].axis_J, j.serial[k].reference});
  }
  for (std::size_t k = 0; k < j.coordinates.size(); ++k) {
    const int dof = static_cast<int>(d_.dofs.size() + k);
    dof_[index].push_back({dof, j.coordinates[k].sign * signs[k]});
    const std::string name = j.coordinates.size() == 1
                                 ? joint.name
                                 : fmt::format("{}.{}", joint.name, coordinate_name(joint, static_cast<int>(k)));
    report_coordinate(j.coordinates[k], j.name, name);
  }
  push(std::move(joint), j.coordinates);
}

void Reduction::report_coordinate(const Coordinate& c, const std::string& joint_in_file,
                                  const std::string& coordinate) {
  const std::string& name = c.name.empty() ? joint_in_file : c.name;
  if (!name.empty()) findings_.report().coordinates[name] = {coordinate, c.sign};
  if (!c.drive_name.empty()) findings_.report().drives[c.drive_name] = coordinate;
}

void Reduction::set_frames(sarrus::Joint& joint, const Pose& base, const Pose& follower) {
  joint.p_BJ = base.p;
  joint.q_BJ = base.q.normalized();
  joint.p_FJ = follower.p;
  joint.q_FJ = follower.q.normalized();
}

bool Reduction::is_angle(const Joint& j, std::size_t k) {
  if (j.serial.empty()) return joint_type_info(j.type).coordinates && joint_type_info(j.type).angular[k];
  for (const SerialAxis& s : j.serial) {
    if (k < at(s.coordinates())) return s.kind == AxisKind::hinge;
    k -= at(s.coordinates());
  }
  return false;
}

// A state begins with angles in (-pi, pi] unless the model says otherwise.
void Reduction::keep_turns(Joint& j) {
  for (std::size_t k = 0; k < j.coordinates.size(); ++k) {
    Coordinate& c = j.coordinates[k];
    if (is_angle(j, k) && std::abs(c.initial) > std::numbers::pi) c.dof.initial = c.initial;
  }
}

Pose Reduction::motion_of(const SerialAxis& s, double q) {
  Pose X;
  if (s.kind == AxisKind::slide) {
    X.p = (q - s.reference) * s.axis_J;
    return X;
  }
  X.q = s.kind == AxisKind::hinge ? so3_exp((q - s.reference) * s.axis_J) : s.initial_turn;
  X.p = s.anchor_J - X.q * s.anchor_J;
  return X;
}

// A chain of axes: light bodies between them.
void Reduction::add_chain(std::size_t index) {
  Joint& j = g_.joints[index];
  if (body_of(j.follower) == kWorld) {
    throw InputError(fmt::format("{}: joint {}", j.place.text(), in_quotes(j.name)),
                     "is a chain of axes that ends at the world; exchange its two links");
  }
  keep_turns(j);
  const int follower = body_of(j.follower);
  const Pose X_BF = X_BL(j.follower) * j.X_FJ;  // in the body of the follower
  const Pose X_BJ = X_BL(j.base) * j.X_BJ;      // in the body of the base
  const Pose X_WJ = pose_of(body_of(j.base)) * X_BJ;
  const Pose X_JF = X_BF.inverse();  // body of the follower in the joint frame at the reference
  const int n = static_cast<int>(j.serial.size());
  Body between = d_.bodies[at(follower)];
  between.mass *= kBetween;
  between.inertia_B *= kBetween;
  Body& last = d_.bodies[at(follower)];
  last.mass *= 1 - (n - 1) * kBetween;
  last.inertia_B *= 1 - (n - 1) * kBetween;
  Pose moved;  // exp(S_1 ..) ... exp(S_k ..)
  Vec3 v0 = Vec3::Zero();
  Vec3 w0 = Vec3::Zero();
  if (body_of(j.base) != kWorld) {
    const Body& base = d_.bodies[at(body_of(j.base))];
    v0 = base.v0_W - base.w0_W.cross(base.X_WB0.p);  // of the point of the body at the origin of the world
    w0 = base.w0_W;
  }
  int before = body_of(j.base);
  const int first_between = static_cast<int>(d_.bodies.size());
  std::size_t first = 0;  // coordinate of the axis
  for (int k = 0; k < n; ++k) {
    const SerialAxis& s = j.serial[at(k)];
    const std::vector<Coordinate> coordinates(
        j.coordinates.begin() + static_cast<std::ptrdiff_t>(first),
        j.coordinates.begin() + static_cast<std::ptrdiff_t>(first) + s.coordinates());
    const Coordinate& c = coordinates[0];
    const Vec3 axis_W = X_WJ.q * (moved.q * s.axis_J);
    const Vec3 anchor_W = X_WJ * (moved * s.anchor_J);
    moved = moved * motion_of(s, c.initial);
    if (s.kind == AxisKind::slide) {
      v0 += c.rate * axis_W;
    } else {
      const Vec3 turn = s.kind == AxisKind::hinge ? Vec3(c.rate * axis_W) : Vec3(X_WJ.q * (moved.q * s.initial_rate));
      v0 -= turn.cross(anchor_W);
      w0 += turn;
    }
    const std::string name = c.name.empty() ? fmt::format("{}_{}", j.name, k + 1) : c.name;
    int after = follower;
    if (k + 1 < n) {
      after = static_cast<int>(d_.bodies.size());
      between.X_WB0 = X_WJ * moved * X_JF;
      between.X_WB0.q.normalize();
      between.w0_W = w0;
      between.v0_W = v0 + w0.cross(between.X_WB0.p);
      between.name = body_names_.unique("link", fmt::format("{}_{}", d_.bodies[at(follower)].name, name), j.place);
      d_.bodies.push_back(between);
    }
    std::vector<AxisPlace> places;
    const Joint single = composed_joint(Graph{}, name, kWorld, kWorld, {s}, places);  // frames in J at the reference
    sarrus::Joint joint;
    joint.name = joint_names_.unique("joint", name, j.place);
    joint.type = single.type;
    joint.base = before;
    joint.follower = after;
    set_frames(joint, (k == 0 ? X_BJ : X_BF) * single.X_BJ, X_BF * single.X_FJ);
    for (int i = 0; i < s.coordinates(); ++i) dof_[index].push_back({static_cast<int>(d_.dofs.size()) + i, 1.0});
    report_coordinate(c, j.name, joint.name);
    push(std::move(joint), coordinates);
    before = after;
    first += coordinates.size();
  }
  // The two ends are neighbours.
  if (body_of(j.base) != kWorld && !groups_[at(body_of(j.base))].on_world) exclude(body_of(j.base), follower);
  findings_.add(ImportSeverity::warning, "chain-of-joints", j.place.text(), fmt::format("joint {}", in_quotes(j.name)),
                fmt::format("several joints on one body that no single joint is; bodies between them take {:g} of its "
                            "mass each",
                            kBetween),
                "");
  findings_.count("body between axes").kept += static_cast<int>(d_.bodies.size()) - first_between;
}

}  // namespace sarrus::robot
