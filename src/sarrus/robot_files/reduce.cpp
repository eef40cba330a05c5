#include "sarrus/robot_files/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/inertia_repair.h"
#include "sarrus/robot_files/loads.h"

namespace sarrus::robot {
namespace {

constexpr double kBetween = 1e-3;  // share of a body's mass that each body between two axes of a chain takes

// Names that nothing else has: of bodies, joints and so on, each.
class Names {
 public:
  explicit Names(Findings& findings) : findings_(findings) {}

  std::string unique(const std::string& kind, const std::string& wanted, const xml::Place& place) {
    if (used_.insert(wanted).second) return wanted;
    int& next = next_.try_emplace(wanted, 2).first->second;  // many may have one name
    while (true) {
      std::string name = fmt::format("{}_{}", wanted, next++);
      if (!used_.insert(name).second) continue;
      findings_.add(ImportSeverity::note, "renamed", place.text(), fmt::format("{} {}", kind, in_quotes(wanted)),
                    fmt::format("another {} has this name; it is called '{}'", kind, name), "");
      return name;
    }
  }

 private:
  Findings& findings_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> next_;  // by name that is taken: the number to try
};

class Reduction {
 public:
  Reduction(Graph graph, Findings& findings)
      : g_(std::move(graph)),
        findings_(findings),
        body_names_(findings),
        joint_names_(findings),
        geom_names_(findings),
        drive_names_(findings),
        visual_names_(findings),
        frame_names_(findings) {}

  ModelData run() {
    if (g_.links.size() > xml::kMaxElements) throw InputError("model", "has more than a million links; simplify it");
    group_links();
    fold_loads(g_, findings_);
    header();
    for (std::size_t group = 0; group < groups_.size(); ++group) add_body(group);
    ImportCount& count = findings_.count("body");
    count.read += static_cast<int>(g_.links.size());
    count.merged += static_cast<int>(g_.links.size()) - count.kept;
    add_shapes();
    add_joints();
    add_couplings();
    add_combinations();
    add_pairs();
    add_names();
    return std::move(d_);
  }

 private:
  struct Group {
    std::vector<int> links;  // the first one has the axes of the body
    bool on_world = false;   // a body that is fixed to the world
  };

  const Link& link(int i) const { return g_.links[at(i)]; }
  std::string label(const Link& l) const { return fmt::format("link {}", in_quotes(l.name)); }

  // ---- links that are one body -------------------------------------------------------------------------------------

  int find(int i) {
    while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
    return i;
  }
  int slot(int l) const { return l == kWorld ? 0 : l + 1; }

  bool merges(const Joint& j) const {
    if (j.type != JointType::fixed || j.closure || !j.serial.empty()) return false;
    if (findings_.options().merge_fixed || j.base == kWorld || j.follower == kWorld) return true;
    return link(j.base).mass <= 0 || link(j.follower).mass <= 0;
  }

  void group_links() {
    const int n = static_cast<int>(g_.links.size());
    parent_.resize(at(n + 1));
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const Joint& j : g_.joints) {
      if (!merges(j)) continue;
      const int a = find(slot(j.base));
      const int b = find(slot(j.follower));
      parent_[at(std::max(a, b))] = std::min(a, b);
    }
    // A filter of contacts that names a link of the world means this link, not the floor.
    for (const LinkPair& pair : g_.excludes) {
      for (const int l : {pair.a, pair.b}) {
        if (l != kWorld && find(slot(l)) == 0) g_.links[at(l)].fixed_base = true;
      }
    }
    std::vector<bool> follows(at(n), false);  // by a joint that merges: not the first of its group
    for (const Joint& j : g_.joints) {
      if (merges(j) && j.follower != kWorld) follows[at(j.follower)] = true;
    }
    std::vector<int> group_of_root(at(n + 1), -1);
    group_.assign(at(n), kWorld);
    for (const bool first : {true, false}) {
      for (int i = 0; i < n; ++i) {
        const int root = find(slot(i));
        if (root == 0 || follows[at(i)] == first) continue;
        int& group = group_of_root[at(root)];
        if (group < 0) {
          group = static_cast<int>(groups_.size());
          groups_.emplace_back();
        }
        groups_[at(group)].links.push_back(i);
        group_[at(i)] = group;
      }
    }
    for (int i = 0; i < n; ++i) {
      if (!link(i).fixed_base || find(slot(i)) != 0) continue;
      group_[at(i)] = static_cast<int>(groups_.size());
      groups_.push_back({{i}, true});
    }
    // Bodies in the order of the file.
    std::vector<int> order(groups_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [this](int group) {
      return *std::min_element(groups_[at(group)].links.begin(), groups_[at(group)].links.end());
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    std::vector<int> rank(groups_.size());
    std::vector<Group> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      rank[at(order[i])] = static_cast<int>(i);
      sorted.push_back(groups_[at(order[i])]);
    }
    groups_ = std::move(sorted);
    for (int& group : group_) {
      if (group != kWorld) group = rank[at(group)];
    }
    for (Group& group : groups_) std::stable_sort(group.links.begin() + 1, group.links.end());
  }

  // ---- bodies ------------------------------------------------------------------------------------------------------

  void header() {
    d_.name = g_.name;
    d_.description = g_.description;
    d_.source = findings_.report().source;
    d_.gravity = g_.gravity;
    d_.defaults = g_.defaults;
    d_.self_collision = g_.self_collision;
    d_.materials = g_.materials;
    d_.material_pairs = g_.material_pairs;
  }

  std::string body_name(std::size_t group, const Link& first) {
    if (first.name == "world") {
      findings_.add(ImportSeverity::warning, "world-name", first.place.text(), label(first),
                    "is called as the world is; it is called 'world_link'", "rename it");
      return body_names_.unique("link", "world_link", first.place);
    }
    return body_names_.unique("link", first.name.empty() ? fmt::format("body{}", group) : first.name, first.place);
  }

  void add_body(std::size_t index) {
    const Group& group = groups_[index];
    const Link& first = link(group.links[0]);
    Body body;
    body.name = body_name(index, first);
    double mass = 0;
    Vec3 moment = Vec3::Zero();
    double lifted = 0;
    for (const int l : group.links) {
      mass += link(l).mass;
      lifted += link(l).mass * link(l).gravity_scale;
      moment += link(l).mass * (X_first(l) * link(l).com_L);
    }
    if (!(mass > 0) && !group.on_world) {
      throw InputError(place_of(first),
                       "moves, but neither it nor what is fixed to it has a mass; give it a mass (in MJCF also by "
                       "compiler boundmass), or fix it to another one");
    }
    Vec3 com = mass > 0 ? Vec3(moment / mass) : Vec3::Zero();
    if (group.links.size() == 1 && mass > 0) com = first.com_L;  // to the last bit
    Mat3 inertia = Mat3::Zero();
    for (const int l : group.links) {
      const Pose X = X_first(l);
      const Vec3 d = X * link(l).com_L - com;
      const Mat3 turned = l == group.links[0] ? link(l).inertia_L : Mat3(X.R() * link(l).inertia_L * X.R().transpose());
      inertia += turned + link(l).mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
    }
    if (group.on_world && !(mass > 0)) {
      mass = 1;
      inertia = 0.01 * Mat3::Identity();
    }
    inertia = (0.5 * (inertia + inertia.transpose())).eval();
    body.mass = mass;
    body.inertia_B = repaired_inertia(inertia, mass, first, findings_);
    body.X_WB0 = {first.X_WL * com, first.X_WL.q};
    body.w0_W = first.w_W;
    body.v0_W = first.v_W + first.w_W.cross(first.X_WL.q * com);
    if (!group.on_world) body.gravity_scale = lifted == mass ? 1 : lifted / mass;
    for (const int l : group.links) {
      if (group.on_world || link(l).mass <= 0 || link(l).gravity_scale == link(group.links[0]).gravity_scale) continue;
      findings_.add(ImportSeverity::warning, "mixed-gravity", first.place.text(), label(first),
                    "is one body with others that have another share of gravity; their mean acts at its centre", "");
      break;
    }
    com_.push_back(com);
    d_.bodies.push_back(std::move(body));
    ++findings_.count("body").kept;
  }

  std::string place_of(const Link& l) const {
    const std::string place = l.place.text();
    return place.empty() ? label(l) : place + ": " + label(l);
  }

  // A link in the frame of the first link of its group.
  Pose X_first(int l) const {
    const Link& first = link(groups_[at(group_[at(l)])].links[0]);
    if (&first == &link(l)) return {};
    return first.X_WL.inverse() * link(l).X_WL;
  }
  int body_of(int l) const { return l == kWorld ? kWorld : group_[at(l)]; }
  // A link in the frame of its body, which is the world's for those that are fixed to it.
  Pose X_BL(int l) const {
    if (l == kWorld) return {};
    if (group_[at(l)] == kWorld) return link(l).X_WL;
    Pose X = X_first(l);
    X.p -= com_[at(group_[at(l)])];
    return X;
  }

  // ---- shapes ------------------------------------------------------------------------------------------------------

  void add_shape(const LinkShape& s, int l, int index) {
    ImportCount& count = findings_.count("shape");
    ++count.read;
    if (!s.collides) {
      if (s.visible && s.has_shape && findings_.options().visuals) {
        ++count.kept;
        return add_visual(s, l);
      }
      ++count.ignored;
      return;
    }
    ++count.kept;
    Geom geom;
    geom.body = body_of(l);
    if (geom.body != kWorld && (s.shape.kind == ShapeKind::plane || s.shape.kind == ShapeKind::height_field)) {
      throw InputError(
          fmt::format("{}{}shape {}", s.place.text(), s.place.text().empty() ? "" : ": ", in_quotes(s.name)),
          fmt::format("a {} can only be part of the world; use a box, or fix its link to the world",
                      name_of(s.shape.kind)));
    }
    const std::string owner = geom.body == kWorld ? "world" : d_.bodies[at(geom.body)].name;
    geom.name = geom_names_.unique(
        "shape", s.name.empty() ? fmt::format("{}_shape{}", owner, ++unnamed_shapes_[owner]) : s.name, s.place);
    geom.shape = s.shape;
    geom.X_BG = X_BL(l) * s.X_LS;
    geom.X_BG.q.normalize();
    geom.material = s.material;
    geom.group = s.group;
    geom.collides_with = s.collides_with;
    geom.margin = s.margin;
    if (s.visible && findings_.options().visuals) geom.colour = colour_of(s);
    geom_of_[{l, index}] = static_cast<int>(d_.geoms.size());
    d_.geoms.push_back(std::move(geom));
  }

  static Colour colour_of(const LinkShape& s) {
    const auto part = [&](std::size_t k) { return std::clamp(s.rgba[k], 0.0, 1.0); };
    return {part(0), part(1), part(2), part(3)};
  }

  void add_visual(const LinkShape& s, int l) {
    Visual visual;
    visual.body = body_of(l);
    const std::string owner = visual.body == kWorld ? "world" : d_.bodies[at(visual.body)].name;
    visual.name = visual_names_.unique(
        "visual", s.name.empty() ? fmt::format("{}_visual{}", owner, ++unnamed_visuals_[owner]) : s.name, s.place);
    visual.shape = s.shape;
    visual.X_BG = X_BL(l) * s.X_LS;
    visual.X_BG.q.normalize();
    visual.colour = colour_of(s);
    d_.visuals.push_back(std::move(visual));
  }

  void add_shapes() {
    int index = 0;
    for (const LinkShape& s : g_.world_shapes) add_shape(s, kWorld, index++);
    for (std::size_t l = 0; l < g_.links.size(); ++l) {
      index = 0;
      for (const LinkShape& s : g_.links[l].shapes) add_shape(s, static_cast<int>(l), index++);
    }
  }

  // ---- joints ------------------------------------------------------------------------------------------------------

  void add_joints() {
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

  void push(sarrus::Joint joint, const std::vector<Coordinate>& coordinates) {
    joint.first_dof = static_cast<int>(d_.dofs.size());
    for (const Coordinate& c : coordinates) {
      d_.dofs.push_back(c.dof);
      if (c.drive_name.empty() || c.dof.drive.mode == DriveMode::none) continue;
      d_.dofs.back().drive.name = drive_names_.unique("drive", c.drive_name, {});
    }
    d_.joints.push_back(std::move(joint));
  }

  std::string joint_name(const Joint& j) {
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
  void put_world_first(Joint& j) {
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

  static bool has_ball(const Joint& j) {
    return std::any_of(j.serial.begin(), j.serial.end(), [](const SerialAxis& s) { return s.kind == AxisKind::ball; });
  }
  // Of the axes that no joint of the model takes together.
  static bool is_chain(const Joint& j) {
    return !j.serial.empty() && (has_ball(j) || j.serial.size() > static_cast<std::size_t>(kMaxJointDofs));
  }

  void add_joint(std::size_t index) {
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

  void report_coordinate(const Coordinate& c, const std::string& joint_in_file, const std::string& coordinate) {
    const std::string& name = c.name.empty() ? joint_in_file : c.name;
    if (!name.empty()) findings_.report().coordinates[name] = {coordinate, c.sign};
    if (!c.drive_name.empty()) findings_.report().drives[c.drive_name] = coordinate;
  }

  static void set_frames(sarrus::Joint& joint, const Pose& base, const Pose& follower) {
    joint.p_BJ = base.p;
    joint.q_BJ = base.q.normalized();
    joint.p_FJ = follower.p;
    joint.q_FJ = follower.q.normalized();
  }

  static bool is_angle(const Joint& j, std::size_t k) {
    if (j.serial.empty()) return joint_type_info(j.type).coordinates && joint_type_info(j.type).angular[k];
    for (const SerialAxis& s : j.serial) {
      if (k < at(s.coordinates())) return s.kind == AxisKind::hinge;
      k -= at(s.coordinates());
    }
    return false;
  }

  // A state begins with angles in (-pi, pi] unless the model says otherwise.
  static void keep_turns(Joint& j) {
    for (std::size_t k = 0; k < j.coordinates.size(); ++k) {
      Coordinate& c = j.coordinates[k];
      if (is_angle(j, k) && std::abs(c.initial) > std::numbers::pi) c.dof.initial = c.initial;
    }
  }

  static Pose motion_of(const SerialAxis& s, double q) {
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
  void add_chain(std::size_t index) {
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
    findings_.add(
        ImportSeverity::warning, "chain-of-joints", j.place.text(), fmt::format("joint {}", in_quotes(j.name)),
        fmt::format("several joints on one body that no single joint is; bodies between them take {:g} of its "
                    "mass each",
                    kBetween),
        "");
    findings_.count("body between axes").kept += static_cast<int>(d_.bodies.size()) - first_between;
  }

  Pose pose_of(int body) const { return body == kWorld ? Pose{} : d_.bodies[at(body)].X_WB0; }

  // ---- couplings, pairs, names -------------------------------------------------------------------------------------

  struct DofRef {
    int dof;
    double flip;  // of the model's coordinate in that of the graph
  };

  const DofRef* dof_of(const CoordinateRef& ref) const {
    const std::vector<DofRef>& dofs = dof_[at(ref.joint)];
    return static_cast<std::size_t>(ref.k) < dofs.size() ? &dofs[at(ref.k)] : nullptr;
  }
  void add_couplings() {
    Names names(findings_);
    for (const Coupling& c : g_.couplings) {
      ++findings_.count("coupling").read;
      const DofRef* a = dof_of(c.a);
      const DofRef* b = dof_of(c.b);
      if (a == nullptr || b == nullptr) {
        ++findings_.count("coupling").ignored;
        findings_.add(ImportSeverity::warning, "coupling-of-fixed", c.place.text(),
                      fmt::format("coupling {}", in_quotes(c.name)), "couples a joint that is left out", "");
        continue;
      }
      ++findings_.count("coupling").kept;
      sarrus::Coupling coupling;
      coupling.name =
          names.unique("coupling", c.name.empty() ? fmt::format("coupling{}", d_.couplings.size()) : c.name, c.place);
      coupling.dof_a = a->dof;
      coupling.dof_b = b->dof;
      // In coordinates that are mirrored: f_a q_a = sum of c_k (f_b q_b)^k.
      coupling.offset = coupling.ratio = 0;
      double sign = a->flip;
      for (std::size_t k = 0; k < c.c.size(); ++k, sign *= b->flip) {
        if (k > 4 && c.c[k] != 0) {
          throw InputError(fmt::format("{}: coupling {}", c.place.text(), in_quotes(c.name)),
                           "is a polynomial of degree 5 or more; give one of degree 4");
        }
        if (k == 0) coupling.offset = sign * c.c[k];
        if (k == 1) coupling.ratio = sign * c.c[k];
        if (k >= 2 && k <= 4) coupling.higher[k - 2] = sign * c.c[k];
      }
      coupling.compliance = c.compliance;
      d_.couplings.push_back(std::move(coupling));
    }
  }

  // Sums of coordinates that no single one carries.
  void add_combinations() {
    Names names(findings_);
    for (const Combination& c : g_.combinations) {
      const std::string element = fmt::format("tendon {}", in_quotes(c.name));
      sarrus::Combination out;
      out.offset = c.offset;
      out.law = c.acts.dof;
      std::set<int> bodies;
      bool complete = true;
      for (const Combination::Term& term : c.terms) {
        const DofRef* q = dof_of(term.q);
        complete = complete && q != nullptr;
        if (q == nullptr) continue;
        out.terms.push_back({q->dof, term.c * q->flip});
        const Joint& j = g_.joints[at(term.q.joint)];
        for (const int l : {j.base, j.follower}) {
          if (body_of(l) != kWorld) bodies.insert(body_of(l));
        }
      }
      ImportCount& count = findings_.count("tendon");
      const bool chain = std::any_of(c.terms.begin(), c.terms.end(), [this](const Combination::Term& term) {
        return has_ball(g_.joints[at(term.q.joint)]);
      });
      if (!complete || chain || static_cast<int>(bodies.size()) > kMaxCombinationBodies) {
        ++count.ignored;
        findings_.add(ImportSeverity::dropped, "tendon", c.place.text(), element,
                      fmt::format("moves more than {} bodies, or a joint that is left out", kMaxCombinationBodies), "");
        continue;
      }
      if (out.law.armature != 0) {
        findings_.add(ImportSeverity::dropped, "tendon-armature", c.place.text(), element, "has an armature", "");
        out.law.armature = 0;
      }
      ++count.kept;
      out.name =
          names.unique("tendon", c.name.empty() ? fmt::format("tendon{}", d_.combinations.size()) : c.name, c.place);
      if (!c.acts.drive_name.empty() && out.law.drive.mode != DriveMode::none) {
        out.law.drive.name = drive_names_.unique("drive", c.acts.drive_name, c.place);
        findings_.report().drives[c.acts.drive_name] = out.name;
      }
      d_.combinations.push_back(std::move(out));
    }
  }

  void exclude(int a, int b) {
    if (a == b) return;
    const BodyPair pair = {std::min(a, b), std::max(a, b)};
    if (excluded_.emplace(pair.a, pair.b).second) d_.excludes.push_back(pair);
  }

  void add_pairs() {
    for (const LinkPair& p : g_.excludes) {
      ++findings_.count("exclude").read;
      const int a = body_of(p.a);
      const int b = body_of(p.b);
      if (a == b) {
        ++findings_.count("exclude").merged;
        continue;
      }
      ++findings_.count("exclude").kept;
      for (const int l : {p.a, p.b}) {
        if (l == kWorld || group_[at(l)] == kWorld || groups_[at(group_[at(l)])].links.size() == 1) continue;
        findings_.add(ImportSeverity::warning, "exclude-of-merged", p.place.text(), label(link(l)),
                      "is one body with others: the pair that must not collide is that of the whole body", "");
        break;
      }
      exclude(a, b);
    }
    for (const ContactPair& p : g_.contact_pairs) {
      ImportCount& count = findings_.count("contact pair");
      ++count.read;
      const auto a = geom_of_.find({p.a.link, p.a.shape});
      const auto b = geom_of_.find({p.b.link, p.b.shape});
      if (a == geom_of_.end() || b == geom_of_.end() || body_of(p.a.link) == body_of(p.b.link)) {
        ++count.ignored;
        findings_.add(ImportSeverity::warning, "pair-within-body", p.place.text(),
                      fmt::format("pair {}", in_quotes(p.name)), "is of two shapes of one body, or of the world", "");
        continue;
      }
      if (!paired_.emplace(std::min(a->second, b->second), std::max(a->second, b->second)).second) {
        ++count.merged;
        continue;
      }
      ++count.kept;
      sarrus::ContactPair pair;
      pair.a = a->second;
      pair.b = b->second;
      pair.mu = p.mu;
      pair.margin = p.margin;
      pair.compliance = p.compliance;
      d_.contact_pairs.push_back(pair);
    }
  }

  void add_frame(const std::string& name, int l, const Pose& X_LF) {
    sarrus::Frame frame;
    frame.name = frame_names_.unique("frame", name, {});
    frame.body = body_of(l);
    frame.X_BF = X_BL(l) * X_LF;
    frame.X_BF.q.normalize();
    d_.frames.push_back(std::move(frame));
  }

  void add_names() {
    ImportReport& report = findings_.report();
    const auto body = [this](int l) { return body_of(l) == kWorld ? "world" : d_.bodies[at(body_of(l))].name; };
    for (std::size_t l = 0; l < g_.links.size(); ++l) {
      const int i = static_cast<int>(l);
      const std::string& name = g_.links[l].name;
      if (name.empty()) continue;
      report.names[name] = {body(i), X_BL(i)};
      if (body(i) != name) add_frame(name, i, {});
    }
    for (const Frame& f : g_.frames) {
      if (f.name.empty()) continue;
      report.names.try_emplace(f.name, ImportedName{body(f.link), X_BL(f.link) * f.X_LF});
      add_frame(f.name, f.link, f.X_LF);
    }
  }

  Graph g_;
  Findings& findings_;
  ModelData d_;
  std::vector<int> parent_;
  std::vector<int> group_;  // by link; kWorld: part of the world
  std::vector<Group> groups_;
  std::vector<Vec3> com_;  // by group, in the frame of its first link
  std::vector<std::vector<DofRef>> dof_;
  std::set<std::pair<int, int>> excluded_;
  std::map<std::pair<int, int>, int> geom_of_;  // by link and the number of its shape
  std::set<std::pair<int, int>> paired_;
  std::map<std::string, int> unnamed_shapes_;
  std::map<std::string, int> unnamed_visuals_;
  Names body_names_;
  Names joint_names_;
  Names geom_names_;
  Names drive_names_;
  Names visual_names_;
  Names frame_names_;
};

}  // namespace

ModelData reduce(Graph graph, Findings& findings) { return Reduction(std::move(graph), findings).run(); }

}  // namespace sarrus::robot
