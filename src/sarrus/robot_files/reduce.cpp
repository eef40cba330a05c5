#include "sarrus/robot_files/reduce.h"

#include <algorithm>
#include <numeric>

#include "sarrus/math/error.h"
#include "sarrus/robot_files/inertia_repair.h"
#include "sarrus/robot_files/loads.h"
#include "sarrus/robot_files/reduction.h"

namespace sarrus::robot {

ModelData Reduction::run() {
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

int Reduction::find(int i) {
  while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
  return i;
}

bool Reduction::merges(const Joint& j) const {
  if (j.type != JointType::fixed || j.closure || !j.serial.empty()) return false;
  if (findings_.options().merge_fixed || j.base == kWorld || j.follower == kWorld) return true;
  return link(j.base).mass <= 0 || link(j.follower).mass <= 0;
}

void Reduction::group_links() {
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

void Reduction::header() {
  d_.name = g_.name;
  d_.description = g_.description;
  d_.source = findings_.report().source;
  d_.gravity = g_.gravity;
  d_.defaults = g_.defaults;
  d_.self_collision = g_.self_collision;
  d_.materials = g_.materials;
  d_.material_pairs = g_.material_pairs;
}

std::string Reduction::body_name(std::size_t group, const Link& first) {
  if (first.name == "world") {
    findings_.add(ImportSeverity::warning, "world-name", first.place.text(), label(first),
                  "is called as the world is; it is called 'world_link'", "rename it");
    return body_names_.unique("link", "world_link", first.place);
  }
  return body_names_.unique("link", first.name.empty() ? fmt::format("body{}", group) : first.name, first.place);
}

void Reduction::add_body(std::size_t index) {
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

std::string Reduction::place_of(const Link& l) const {
  const std::string place = l.place.text();
  return place.empty() ? label(l) : place + ": " + label(l);
}

// A link in the frame of the first link of its group.
Pose Reduction::X_first(int l) const {
  const Link& first = link(groups_[at(group_[at(l)])].links[0]);
  if (&first == &link(l)) return {};
  return first.X_WL.inverse() * link(l).X_WL;
}

// A link in the frame of its body, which is the world's for those that are fixed to it.
Pose Reduction::X_BL(int l) const {
  if (l == kWorld) return {};
  if (group_[at(l)] == kWorld) return link(l).X_WL;
  Pose X = X_first(l);
  X.p -= com_[at(group_[at(l)])];
  return X;
}

void Reduction::add_shape(const LinkShape& s, int l, int index) {
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
    throw InputError(fmt::format("{}{}shape {}", s.place.text(), s.place.text().empty() ? "" : ": ", in_quotes(s.name)),
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

Colour Reduction::colour_of(const LinkShape& s) {
  const auto part = [&](std::size_t k) { return std::clamp(s.rgba[k], 0.0, 1.0); };
  return {part(0), part(1), part(2), part(3)};
}

void Reduction::add_visual(const LinkShape& s, int l) {
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

void Reduction::add_shapes() {
  int index = 0;
  for (const LinkShape& s : g_.world_shapes) add_shape(s, kWorld, index++);
  for (std::size_t l = 0; l < g_.links.size(); ++l) {
    index = 0;
    for (const LinkShape& s : g_.links[l].shapes) add_shape(s, static_cast<int>(l), index++);
  }
}

void Reduction::add_frame(const std::string& name, int l, const Pose& X_LF) {
  sarrus::Frame frame;
  frame.name = frame_names_.unique("frame", name, {});
  frame.body = body_of(l);
  frame.X_BF = X_BL(l) * X_LF;
  frame.X_BF.q.normalize();
  d_.frames.push_back(std::move(frame));
}

void Reduction::add_names() {
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

ModelData reduce(Graph graph, Findings& findings) { return Reduction(std::move(graph), findings).run(); }

}  // namespace sarrus::robot
