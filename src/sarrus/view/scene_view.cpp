#include "sarrus/view/scene_view.h"

#include <algorithm>
#include <cmath>

#include "sarrus/dynamics/scheme.h"
#include "sarrus/model/joint_graph.h"

namespace sarrus::view {
namespace {

// Lengths that look right for a mechanism whose radius is half a metre; they scale with it.
constexpr double kRadius = 0.5;
constexpr double kThickestPin = 0.012;
constexpr double kPinBesideThinLink = 0.008;  // where no part is near the anchor
constexpr double kNarrowestPin = 0.025;       // half width
constexpr double kWidestPin = 0.08;           // a pin does not go through a whole chassis
constexpr double kProud = 0.004;              // beyond the link on both sides
constexpr double kNear = 0.02;                // a part this near to the anchor belongs to the joint

// Centre and half extents of a part in its own frame.
struct PartBox {
  Vec3 centre = Vec3::Zero();
  Vec3 half = Vec3::Zero();
};

PartBox box_of(const SceneMesh& mesh) {
  Eigen::AlignedBox3d box;
  for (const Vec3& v : mesh.vertices) box.extend(v);
  if (box.isEmpty()) return {};
  return {box.center(), 0.5 * box.sizes()};
}

// By part; planes and height fields have no end, and no box.
std::vector<std::optional<PartBox>> boxes_of(const SceneParts& drawn) {
  std::vector<PartBox> meshes;
  for (const SceneMesh& mesh : drawn.meshes) meshes.push_back(box_of(mesh));
  std::vector<std::optional<PartBox>> boxes;
  for (const ScenePart& part : drawn.parts) {
    const Vec3& s = part.size;
    std::optional<PartBox>& box = boxes.emplace_back();
    if (part.mesh >= 0) box = meshes[static_cast<std::size_t>(part.mesh)];
    if (part.kind == ShapeKind::sphere) box = {Vec3::Zero(), Vec3::Constant(s[0])};
    if (part.kind == ShapeKind::capsule) box = {Vec3::Zero(), Vec3(s[0], s[0], s[1] + s[0])};
    if (part.kind == ShapeKind::cylinder) box = {Vec3::Zero(), Vec3(s[0], s[0], s[1])};
    if (part.kind == ShapeKind::box || part.kind == ShapeKind::ellipsoid) box = {Vec3::Zero(), s};
  }
  return boxes;
}

JointGraph graph_of(const Scene& scene) {
  std::vector<JointGraph::Edge> edges;
  for (const Joint& j : scene.joints) {
    edges.push_back({j.base, j.follower, j.type == "free" ? JointType::free : JointType::fixed});
    if (j.type == "revolute") edges.back().type = JointType::revolute;
  }
  return {static_cast<int>(scene.bodies.size()), std::move(edges)};
}

void find_limbs(Scene& scene, const JointGraph& graph) {
  const std::vector<int> limbs = graph.limbs();
  const std::vector<int> shafts = graph.shafts();
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    scene.bodies[b].limb = limbs[b];
    scene.bodies[b].shaft = shafts[b] != 0;
  }
}

void find_loops(Scene& scene, const JointGraph& graph) {
  scene.loops.clear();
  for (int i = 0; i < scene.joint_count(); ++i) {
    if (!scene.joints[static_cast<std::size_t>(i)].closes_loop) continue;
    Loop loop = graph.shortest_loop(i);
    if (loop.joints.empty()) continue;
    std::rotate(loop.joints.rbegin(), loop.joints.rbegin() + 1, loop.joints.rend());
    std::rotate(loop.bodies.rbegin(), loop.bodies.rbegin() + 1, loop.bodies.rend());
    scene.loops.push_back({std::move(loop.joints), std::move(loop.bodies)});
  }
}

void find_box(Scene& scene, std::span<const std::optional<PartBox>> boxes, std::span<const Pose> X_WB) {
  Eigen::AlignedBox3d box;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const ScenePart& part = scene.drawn.parts[i];
    const std::optional<PartBox>& local = boxes[i];
    if (part.body == kWorld || !local) continue;
    const Pose X_W = X_WB[static_cast<std::size_t>(part.body)] * part.X_B;
    const Vec3 half = X_W.R().cwiseAbs() * local->half;
    box.extend(X_W * local->centre - half);
    box.extend(X_W * local->centre + half);
  }
  for (const Pose& X : X_WB) box.extend(X.p);
  for (const Joint& j : scene.joints) {
    if (j.type == "free" || j.follower == kWorld) continue;
    box.extend(X_WB[static_cast<std::size_t>(j.follower)] * j.p_FJ);
    box.extend((j.base == kWorld ? Pose{} : X_WB[static_cast<std::size_t>(j.base)]) * j.p_BJ);
  }
  if (box.isEmpty() || !box.sizes().allFinite()) return;
  scene.centre = box.center();
  scene.radius = std::max(0.5 * box.diagonal().norm(), 1e-6);
}

// The heaviest body of the heaviest mechanism that is free to go, if that is most of all that is.
int body_to_follow(const Scene& scene, const JointGraph& graph) {
  const std::vector<int> component = graph.components();
  std::vector<double> mass(scene.bodies.size() + 1, 0.0);
  double total = 0;
  for (std::size_t b = 0; b < component.size(); ++b) {
    if (component[b] == 0) continue;
    mass[static_cast<std::size_t>(component[b])] += scene.bodies[b].mass;
    total += scene.bodies[b].mass;
  }
  const auto most = std::max_element(mass.begin(), mass.end());
  if (!(*most > 0.5 * total)) return -1;
  int follow = -1;
  for (std::size_t b = 0; b < component.size(); ++b) {
    if (component[b] != static_cast<int>(most - mass.begin())) continue;
    if (follow < 0 || scene.bodies[b].mass > scene.bodies[static_cast<std::size_t>(follow)].mass) {
      follow = static_cast<int>(b);
    }
  }
  return follow;
}

void find_floor(Scene& scene) {
  scene.floor.reset();
  for (const ScenePart& part : scene.drawn.parts) {
    if (part.body != kWorld || part.kind != ShapeKind::plane) continue;
    if ((part.X_B.q * Vec3::UnitZ()).z() < 1 - 1e-9) continue;
    scene.floor = std::max(scene.floor.value_or(part.X_B.p.z()), part.X_B.p.z());
  }
}

// A pin is as thick as the thinnest part at the anchor and stands out of the widest one.
void size_glyphs(Scene& scene, std::span<const std::optional<PartBox>> boxes) {
  const double scale = scene.radius / kRadius;
  std::vector<std::vector<std::size_t>> parts_of(scene.bodies.size() + 1);  // the world last
  const auto slot = [&](int body) { return body == kWorld ? scene.bodies.size() : static_cast<std::size_t>(body); };
  for (std::size_t i = 0; i < scene.drawn.parts.size(); ++i) parts_of[slot(scene.drawn.parts[i].body)].push_back(i);
  for (Joint& j : scene.joints) {
    double radius = kUnlimited;
    double half_width = 0;
    const auto measure = [&](int body, const Vec3& anchor, const Quat& axes) {
      for (const std::size_t i : parts_of[slot(body)]) {
        const ScenePart& part = scene.drawn.parts[i];
        const std::optional<PartBox>& box = boxes[i];
        if (!box) continue;
        const Vec3 from = part.X_B.inverse() * anchor - box->centre;
        if ((from.cwiseAbs() - box->half).cwiseMax(0).norm() > kNear * scale) continue;
        const Vec3 axis = part.X_B.q.conjugate() * (axes * Vec3::UnitX());
        const double width = std::abs(axis.dot(from)) + axis.cwiseAbs().dot(box->half);
        if (width <= kWidestPin * scale) half_width = std::max(half_width, width);
        radius = std::min(radius, box->half.minCoeff());
      }
    };
    measure(j.base, j.p_BJ, j.q_BJ);
    measure(j.follower, j.p_FJ, j.q_FJ);
    if (!(radius > 0) || !std::isfinite(radius)) radius = kPinBesideThinLink * scale;
    if (half_width <= 0) half_width = kNarrowestPin * scale;
    j.glyph_radius = 1.05 * std::min(radius, kThickestPin * scale);
    j.glyph_half_width = half_width + kProud * scale;
  }
}

Scalar scalar_of(const Model& model, int i) {
  const Dof& dof = model.scalars()[static_cast<std::size_t>(i)];
  Scalar out{.name = model.dof_name(i)};
  const int joint_dof = model.is_combination(i) ? model.combination_of(i).terms.front().dof : i;
  const int joint = model.joint_of_dof(joint_dof);
  const sarrus::Joint& j = model.joints()[static_cast<std::size_t>(joint)];
  out.angular = coordinate_is_angular(j, joint_dof - j.first_dof);
  out.joint = model.is_combination(i) ? -1 : joint;
  out.mode = dof.drive.mode;
  out.limit = dof.limit;
  out.target_lower = dof.drive.target_lower;
  out.target_upper = dof.drive.target_upper;
  out.effort_lower = dof.drive.least_effort();
  out.effort_upper = dof.drive.largest_effort();
  out.drive = dof.drive.name;
  return out;
}

}  // namespace

std::string_view mode_name(DriveMode mode) {
  constexpr std::string_view names[] = {"none", "force", "position", "velocity"};
  return names[static_cast<std::size_t>(mode)];
}

Scene scene_of(const Model& model, std::span<const Pose> X_WB) {
  Scene scene;
  scene.name = model.name();
  scene.description = model.description();
  scene.gravity = model.gravity();
  for (const sarrus::Body& b : model.bodies()) {
    scene.bodies.push_back({.name = b.name, .mass = b.mass, .inertia_B = b.inertia_B});
  }
  for (const sarrus::Joint& j : model.joints()) {
    scene.joints.push_back(
        {.name = j.name,
         .type = j.type == JointType::distance && j.rope ? "rope" : std::string(joint_type_info(j.type).name),
         .base = j.base,
         .follower = j.follower,
         .p_BJ = j.p_BJ,
         .p_FJ = j.p_FJ,
         .q_BJ = j.q_BJ,
         .q_FJ = j.q_FJ,
         .length = j.length,
         .first_dof = j.first_dof,
         .dofs = joint_dofs(j),
         .axes = j.axes});
  }
  for (const int i : model.loop_joints()) scene.joints[static_cast<std::size_t>(i)].closes_loop = true;
  for (const Coupling& c : model.couplings()) scene.couplings.push_back({c.name, c.dof_a, c.dof_b});
  for (int i = 0; i < model.scalar_count(); ++i) scene.scalars.push_back(scalar_of(model, i));
  for (const Geom& g : model.geoms()) scene.geoms.push_back({g.name, g.body});
  scene.drawn = scene_parts(model);
  complete(scene, X_WB);
  return scene;
}

void complete(Scene& scene, std::span<const Pose> X_WB) {
  const JointGraph graph = graph_of(scene);
  find_limbs(scene, graph);
  find_loops(scene, graph);
  const std::vector<std::optional<PartBox>> boxes = boxes_of(scene.drawn);
  find_box(scene, boxes, X_WB);
  find_floor(scene);
  scene.follow = body_to_follow(scene, graph);
  scene.weight = 0;
  for (const Body& b : scene.bodies) scene.weight += b.mass * scene.gravity.norm();
  size_glyphs(scene, boxes);
}

RunFacts facts_of(const RunInfo& info) {
  return {info.options.dt,        info.options.solver,     std::string(name_of(*info.options.integrator)),
          info.options.tolerance, info.options.acceptable, info.version};
}

}  // namespace sarrus::view
