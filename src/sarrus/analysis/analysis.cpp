#include "sarrus/analysis/analysis.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <utility>

#include "sarrus/analysis/units.h"
#include "sarrus/assembly/rounded_rows.h"
#include "sarrus/collision/detector.h"
#include "sarrus/dynamics/coordinates.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/dense.h"
#include "sarrus/model/topology.h"
#include "sarrus/rows/rows.h"

namespace sarrus {
namespace {

constexpr int kDenseLimit = 1500;  // rows up to which the eigenvalues of D are computed

ConstraintProblem reference_rows(const Model& model, const State& state, const JointKinematics& kinematics) {
  const std::unique_ptr<Coordinates> coordinates = maximal_coordinates(model);
  ConstraintProblem p;
  p.set_nodes(coordinates->node_sizes());
  set_position_rows(model, *coordinates, state.X_WB, kinematics, state.q, p);
  p.finish();
  return p;
}

// Rows that steps leave out have no entries any more; how many there are.
int leave_out_rounded(const Model& model, ConstraintProblem& problem) {
  const std::vector<std::uint8_t> left_out = rounded_rows(model);
  for (const ConstraintBlock& b : problem.blocks) {
    for (int r = 0; r < b.rows; ++r) {
      const std::size_t row = static_cast<std::size_t>(b.row + r);
      if (row >= left_out.size() || left_out[row] == 0) continue;
      for (int k = 0; k < b.nodes; ++k) {
        const int n = problem.node_size[static_cast<std::size_t>(b.node[k])];
        std::fill_n(problem.jacobian_row(b, k, r), n, 0.0);
      }
    }
  }
  return static_cast<int>(std::count(left_out.begin(), left_out.end(), 1));
}

// Nodes that joints connect, directly or through others, have the same root.
std::vector<int> joint_components(const ConstraintProblem& problem) {
  std::vector<int> parent(static_cast<std::size_t>(problem.node_count()));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
      int& p = parent[static_cast<std::size_t>(i)];
      i = p = parent[static_cast<std::size_t>(p)];
    }
    return i;
  };
  for (const ConstraintBlock& b : problem.blocks) {
    if (b.kind != BlockKind::joint) break;  // joints come first
    for (int k = 1; k < b.nodes; ++k) parent[static_cast<std::size_t>(root(b.node[k]))] = root(b.node[0]);
  }
  std::vector<int> roots;
  for (int i = 0; i < problem.node_count(); ++i) roots.push_back(root(i));
  return roots;
}

// The joint rows of one component, each scaled to length 1.
MatX component_rows(const ConstraintProblem& problem, const std::vector<const ConstraintBlock*>& blocks) {
  std::vector<int> column(static_cast<std::size_t>(problem.node_count()), -1);
  int rows = 0;
  int columns = 0;
  for (const ConstraintBlock* b : blocks) {
    rows += b->rows;
    for (int k = 0; k < b->nodes; ++k) {
      int& c = column[static_cast<std::size_t>(b->node[k])];
      if (c >= 0) continue;
      c = columns;
      columns += problem.node_size[static_cast<std::size_t>(b->node[k])];
    }
  }
  MatX J = MatX::Zero(rows, columns);
  int first = 0;
  for (const ConstraintBlock* b : blocks) {
    for (int k = 0; k < b->nodes; ++k) {
      const auto node = static_cast<std::size_t>(b->node[k]);
      const int n = problem.node_size[node];
      for (int r = 0; r < b->rows; ++r) {
        const Eigen::Map<const VecX> row(problem.jacobian.data() + b->jac[k] + r * n, n);
        J.block(first + r, column[node], 1, n) = row.transpose();
      }
    }
    first += b->rows;
  }
  for (Eigen::Index i = 0; i < J.rows(); ++i) {
    const double length = J.row(i).norm();
    if (length > 0) J.row(i) /= length;
  }
  return J;
}

double condition_number(const ConstraintProblem& rows) {
  if (rows.rows() > kDenseLimit) return std::numeric_limits<double>::quiet_NaN();
  const MatX D = rows.dense_D_plus_R();
  const VecX e = symmetric_eigenvalues(D);
  const double largest = e[e.size() - 1];
  double smallest = largest;
  for (const double x : e) {
    if (x > 1e-12 * largest) smallest = std::min(smallest, x);
  }
  return largest / smallest;
}

// A shape or a child of a compound, with what it is called in messages.
struct Part {
  std::string label;
  Shape shape;
  bool moves;
  int others = 0;  // later parts with the same data
};

const void* data_of(const Shape& s) {
  if (s.kind == ShapeKind::hull) return s.hull.get();
  if (s.kind == ShapeKind::mesh) return s.mesh.get();
  return s.kind == ShapeKind::height_field ? s.height_field.get() : nullptr;
}

// All parts; those that share their data and all move or all rest are one.
std::vector<Part> distinct_parts(const Model& model) {
  std::vector<Part> parts;
  std::map<std::pair<const void*, bool>, std::size_t> known;
  const auto add = [&](std::string label, const Shape& shape, bool moves) {
    const void* data = data_of(shape);
    const auto [it, is_new] = known.try_emplace({data, moves}, parts.size());
    if (data != nullptr && !is_new) {
      ++parts[it->second].others;
    } else {
      parts.push_back({std::move(label), shape, moves});
    }
  };
  for (const Geom& g : model.geoms()) {
    const std::string label = fmt::format("shape '{}'", g.name);
    if (g.shape.kind != ShapeKind::compound) {
      add(label, g.shape, g.body != kWorld);
      continue;
    }
    int i = 0;
    for (const CompoundChild& c : *g.shape.children)
      add(fmt::format("{}, child {}", label, i++), c.shape, g.body != kWorld);
  }
  return parts;
}

void count_shapes(const Model& model, ModelAnalysis& a) {
  for (const Geom& g : model.geoms()) ++a.geoms_by_kind[static_cast<std::size_t>(g.shape.kind)];
  std::set<const void*> seen;
  for (const Part& part : distinct_parts(model)) {
    if (!seen.insert(data_of(part.shape)).second) continue;
    if (part.shape.kind == ShapeKind::mesh) a.mesh_triangles += part.shape.mesh->triangle_count();
    if (part.shape.kind == ShapeKind::height_field) a.mesh_triangles += part.shape.height_field->triangle_count();
  }
}

// Length over thickness; 1 for shapes that have none.
double aspect_ratio(const Shape& shape) {
  const auto hull_ratio = [](const ConvexHull& hull) { return 0.5 * hull.box().diagonal() / hull.inner_radius(); };
  const Vec3& s = shape.size;
  switch (shape.kind) {
    case ShapeKind::capsule:
      return (s[0] + s[1]) / s[0];
    case ShapeKind::cylinder:
      return std::max(s[0], s[1]) / std::min(s[0], s[1]);
    case ShapeKind::box:
    case ShapeKind::ellipsoid:
      return s.maxCoeff() / s.minCoeff();
    case ShapeKind::hull:
      return hull_ratio(*shape.hull);
    default:
      return 1;
  }
}

// docs/theory/collision.md §6: a mesh meets other meshes as its hull.
void add_mesh_warnings(const Part& part, const std::string& what, std::vector<std::string>& warnings) {
  constexpr double kMuchLarger = 1.2;
  const TriangleMesh& mesh = *part.shape.mesh;
  if (mesh.dropped_triangles() > 0) {
    warnings.push_back(fmt::format("{} triangles of the mesh of {} are left out: they have no area or repeat others",
                                   mesh.dropped_triangles(), what));
  }
  if (!part.moves) return;
  if (mesh.surface() == TriangleMesh::Surface::open) {
    warnings.push_back(fmt::format(
        "the mesh of {} is not closed, but moves: shapes that get behind its triangles find no contact; close it, or "
        "use its hull",
        what));
  } else if (mesh.surface() == TriangleMesh::Surface::inverted) {
    warnings.push_back(
        fmt::format("the mesh of {} is inside out, but moves: its contacts push inwards; set \"flip\": true", what));
  } else if (mesh.hull() != nullptr) {
    const double ratio = mesh.hull()->mass_properties().volume / mesh.mass_properties(part.label).volume;
    if (ratio > kMuchLarger) {
      warnings.push_back(fmt::format(
          "the hull of the mesh of {} has {:.3g} times its volume: contacts with other meshes use the hull; give a "
          "compound of hulls where that is too coarse",
          what, ratio));
    }
  }
}

void add_shape_warnings(const Model& model, std::vector<std::string>& warnings) {
  constexpr double kSlender = 1e4;
  constexpr int kManyVertices = 2000;
  for (const Part& part : distinct_parts(model)) {
    const std::string what =
        part.others == 0 ? part.label : fmt::format("{} (and {} more like it)", part.label, part.others);
    if (const double ratio = aspect_ratio(part.shape); ratio > kSlender) {
      warnings.push_back(fmt::format("{} is {:.2g} times as long as thick: contacts lose precision from {:g} on", what,
                                     ratio, kSlender));
    }
    if (part.shape.kind == ShapeKind::mesh) add_mesh_warnings(part, what, warnings);
    if (part.shape.kind == ShapeKind::hull && part.shape.hull->vertex_count() > kManyVertices) {
      warnings.push_back(fmt::format("the hull of {} has {} vertices: collision will be slow; simplify it", what,
                                     part.shape.hull->vertex_count()));
    }
  }
}

void count_compliance(const Model& model, ModelAnalysis& a) {
  for (const Joint& j : model.joints()) a.compliant_joints += j.compliance.compliant();
  for (const Coupling& c : model.couplings()) a.compliant_joints += c.compliance.compliant();
  for (const Dof& d : model.scalars()) a.compliant_limits += d.limit.active() && d.limit.compliance.compliant();
  for (const Material& m : model.materials()) a.compliant_materials += m.compliance.compliant();
  for (const ContactPair& p : model.contact_pairs()) a.compliant_materials += p.compliance.compliant();
  for (const MaterialPair& p : model.material_pairs()) {
    a.compliant_materials += p.compliance && p.compliance->compliant();
  }
}

void count_elements(const Model& model, ModelAnalysis& a) {
  a.bodies = model.body_count();
  a.joints = model.joint_count();
  a.couplings = static_cast<int>(model.couplings().size());
  a.geoms = static_cast<int>(model.geoms().size());
  count_shapes(model, a);
  count_compliance(model, a);
  a.loops = static_cast<int>(model.loop_joints().size());
  a.floating_components = model.floating_components();
  a.velocity_dofs = 6 * a.bodies;
  for (const Joint& j : model.joints()) {
    if (joint_type_info(j.type).coordinates) a.coordinates += joint_dofs(j);
    if (std::isfinite(j.swing_limit)) ++a.limits;
  }
  double lightest = kInf;
  double heaviest = 0;
  for (const Body& b : model.bodies()) {
    lightest = std::min(lightest, b.mass);
    heaviest = std::max(heaviest, b.mass);
  }
  if (a.bodies > 0) a.mass_ratio = heaviest / lightest;
  for (const Dof& d : model.scalars()) {
    if (d.drive.mode != DriveMode::none) ++a.drives;
    if (d.limit.active()) ++a.limits;
  }
}

// ", most at joint 'c' in the loop of ...".
std::string where_joints_open(const Model& model, int worst_joint) {
  if (worst_joint < 0) return "";
  const Loop loop = shortest_loop(model, worst_joint);
  return fmt::format(", most at joint '{}'{}", model.joints()[static_cast<std::size_t>(worst_joint)].name,
                     loop.joints.empty() ? "" : " in " + loop_text(model, loop));
}

void add_warnings(const Model& model, const State& state, int worst_joint, ModelAnalysis& a) {
  const auto warn = [&](std::string text) { a.warnings.push_back(std::move(text)); };
  if (a.redundant_rows > 0) {
    warn(fmt::format("{} of {} constraint rows are redundant: body motion is unique, but joint forces are not",
                     a.redundant_rows, a.rows));
  }
  if (a.bodies > 0 && a.mobility == 0)
    a.warnings.emplace_back("the mechanism cannot move: mobility is 0 at the reference pose");
  if (a.mass_ratio >= 1e3) {
    warn(fmt::format("mass ratio {:.4g}: splitting and ADMM solvers converge slowly from 1e3 on", a.mass_ratio));
  }
  if (a.joint_gap > 1e-6 || a.joint_angle > 1e-6) {
    warn(fmt::format(
        "joints do not meet at the reference pose ({:.3g} m, {:.3g} rad{}): they are assembled at start, which "
        "moves bodies",
        a.joint_gap, a.joint_angle, where_joints_open(model, worst_joint)));
  }
  if (a.initial_penetration > a.tolerated_penetration) {
    const auto& geoms = model.geoms();
    warn(fmt::format(
        "shapes overlap by up to {:.3g} m at the reference pose (geoms '{}' and '{}'): they are pushed apart",
        a.initial_penetration, geoms[static_cast<std::size_t>(a.overlap_a)].name,
        geoms[static_cast<std::size_t>(a.overlap_b)].name));
  }
  add_shape_warnings(model, a.warnings);
  add_unit_warnings(model, a.warnings);
  for (int i = 0; i < model.scalar_count(); ++i) {
    const Limit& l = model.scalars()[static_cast<std::size_t>(i)].limit;
    const double q = model.scalar_value(i, state.q);
    if (q < l.lower - 1e-9 || q > l.upper + 1e-9) {
      warn(fmt::format("{} '{}' starts at {:.6g}, outside its limits [{:.6g}, {:.6g}]",
                       model.is_combination(i) ? "combination" : "coordinate", model.dof_name(i), q, l.lower, l.upper));
    }
  }
  std::vector<bool> touched(static_cast<std::size_t>(a.bodies), false);
  for (const Geom& g : model.geoms()) {
    if (g.body >= 0) touched[static_cast<std::size_t>(g.body)] = true;
  }
  for (const Joint& j : model.joints()) {
    if (j.type == JointType::free) continue;
    if (j.base >= 0) touched[static_cast<std::size_t>(j.base)] = true;
    touched[static_cast<std::size_t>(j.follower)] = true;
  }
  for (int i = 0; i < a.bodies; ++i) {
    if (touched[static_cast<std::size_t>(i)]) continue;
    if (a.bodies > 1) {
      warn(fmt::format("body '{}' has neither a joint nor a shape: nothing can touch it",
                       model.bodies()[static_cast<std::size_t>(i)].name));
    }
  }
}

}  // namespace

int joint_rank(const ConstraintProblem& problem) {
  const std::vector<int> roots = joint_components(problem);
  std::vector<std::vector<const ConstraintBlock*>> components(roots.size());
  for (const ConstraintBlock& b : problem.blocks) {
    if (b.kind != BlockKind::joint) break;
    components[static_cast<std::size_t>(roots[static_cast<std::size_t>(b.node[0])])].push_back(&b);
  }
  for (const std::vector<const ConstraintBlock*>& blocks : components) {
    std::size_t rows = 0;
    for (const ConstraintBlock* b : blocks) rows += static_cast<std::size_t>(b->rows);
    if (rows > kMostRankRows) return -1;
  }
  int rank = 0;
  for (const std::vector<const ConstraintBlock*>& blocks : components) {
    if (blocks.empty()) continue;
    Eigen::ColPivHouseholderQR<MatX> qr(component_rows(problem, blocks));
    qr.setThreshold(1e-9);
    rank += static_cast<int>(qr.rank());
  }
  return rank;
}

std::vector<DependentAxes> dependent_axes(const Model& model, const State& state) {
  std::vector<DependentAxes> out;
  const bool any = std::any_of(model.joints().begin(), model.joints().end(), [](const Joint& j) {
    return j.type == JointType::serial || j.type == JointType::gimbal;
  });
  if (!any) return out;
  JointKinematics kinematics(model);
  kinematics.update(state.X_WB, state.q);
  for (int i = 0; i < model.joint_count(); ++i) {
    const double conditioning = kinematics.conditioning(i);
    if (conditioning <= JointKinematics::kNearlyDependent) {
      out.push_back({i, conditioning, conditioning < SerialJoint::kLeast});
    }
  }
  return out;
}

std::string DependentAxes::text(const Model& model, std::string_view when) const {
  const Joint& j = model.joints()[static_cast<std::size_t>(joint)];
  if (j.type == JointType::gimbal) {
    return fmt::format(
        "gimbal '{}' is next to its lock {} (second angle {:.3g} deg): its angles turn fast there, and springs, drives "
        "and limits of them act wrongly; choose other axes, or use a spherical joint",
        j.name, when, 90 - conditioning * std::sqrt(2.0) * 180 / std::numbers::pi);
  }
  return fmt::format(
      "the axes of serial joint '{}' are nearly dependent {} (singular value {:.2g}): its coordinates turn fast "
      "there{}",
      j.name, when, conditioning, lost ? ", and it lost a freedom; start elsewhere, or use bodies between" : "");
}

ModelAnalysis analyse(const Model& model) {
  ModelAnalysis a;
  count_elements(model, a);
  const State state = State::initial(model);
  JointKinematics kinematics(model);
  kinematics.update(state.X_WB, state.q);
  const JointErrors errors = joint_errors(model, kinematics, state.q).with_ropes();
  a.joint_gap = errors.gap;
  a.joint_angle = errors.angle;
  ConstraintProblem rows = reference_rows(model, state, kinematics);
  a.rows = rows.rows();
  a.rounded_rows = leave_out_rounded(model, rows);
  if (a.rows > 0) {
    a.rank = joint_rank(rows);
    a.condition = condition_number(rows);
  }
  a.redundant_rows = a.rank >= 0 ? a.rows - a.rank : -1;
  a.mobility = a.rank >= 0 ? a.velocity_dofs - a.rank : -1;
  if (a.rank < 0) {
    a.warnings.push_back(fmt::format(
        "rank and mobility are not computed: joints connect a group with more than {} rows; check a part of it",
        kMostRankRows));
  }
  if (a.rounded_rows > 0) {
    a.warnings.push_back(fmt::format(
        "{} redundant constraint rows contradict others in the last digits of their numbers, which would lock "
        "the mechanism; they are left out, and stay open by that much",
        a.rounded_rows));
  }
  CollisionDetector detector(model);
  std::vector<Contact> contacts;
  const std::vector<Vec6> at_rest(state.X_WB.size(), Vec6::Zero());
  detector.detect(state.X_WB, at_rest, 1e-3, contacts);
  a.initial_contacts = static_cast<int>(contacts.size());
  for (const Contact& c : contacts) {
    if (-c.gap <= a.initial_penetration) continue;
    a.initial_penetration = -c.gap;
    a.tolerated_penetration = c.compliance >= 0 ? 1e-4 : 10 * contact_slop({}, c);
    a.overlap_a = c.geom_a;
    a.overlap_b = c.geom_b;
  }
  add_warnings(model, state, errors.worst_joint, a);
  for (const DependentAxes& d : dependent_axes(model, state)) {
    a.warnings.push_back(d.text(model, "at the reference pose"));
  }
  return a;
}

}  // namespace sarrus
