// What `sarrus check` tells about a model at its reference pose, before anything moves.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/dynamics/state.h"
#include "sarrus/model/model.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

struct ModelAnalysis {
  int bodies = 0;
  int joints = 0;
  int couplings = 0;
  int geoms = 0;
  std::array<int, kShapeKindCount> geoms_by_kind{};  // by ShapeKind; a compound counts once
  int mesh_triangles = 0;                            // of meshes and height fields, shared ones once
  int loops = 0;                                     // joints beyond a spanning forest
  int floating_components = 0;                       // groups of bodies without a joint to the world
  int coordinates = 0;                               // scalar joint coordinates
  int drives = 0;
  int limits = 0;            // coordinates with a limit, plus swing limits
  int velocity_dofs = 0;     // 6 n_b
  int compliant_joints = 0;  // joints and couplings that give way: no rows below
  int compliant_limits = 0;
  int compliant_materials = 0;  // materials and pairs of them
  int rows = 0;                 // rigid bilateral constraint rows (joints, couplings, rods)
  int rank = 0;                 // rank of the row-equilibrated Jacobian (pivoted QR, threshold 1e-9); -1: not computed
  int rounded_rows = 0;         // that steps leave out: they contradict others in their last digits (rounded_rows.h)
  int redundant_rows = 0;       // rows - rank; -1 like it
  int mobility = 0;             // 6 n_b - rank; -1 like it
  double mass_ratio = 1;        // largest over smallest body mass
  // Condition of D = J M^-1 J' over its non-zero eigenvalues (above 1e-12 of the largest); NaN beyond 1500 rows.
  double condition = 1;
  double joint_gap = 0;              // m, at the reference pose
  double joint_angle = 0;            // rad
  int initial_contacts = 0;          // contacts at the reference pose, gap <= 2 mm
  double initial_penetration = 0;    // m, the deepest
  double tolerated_penetration = 0;  // m, of that pair: ten times its slop (rows/rows.h)
  int overlap_a = -1;                // geoms of that pair
  int overlap_b = -1;
  std::vector<std::string> warnings;
};

ModelAnalysis analyse(const Model& model);

// A line for each subject, for people.
std::string to_text(const Model& model, const ModelAnalysis& analysis);

// Serial joints and gimbals whose axes are nearly dependent at a state.
struct DependentAxes {
  int joint = 0;
  double conditioning = 0;  // smallest singular value of their motions
  bool lost = false;        // no freedom is left in a direction: its coordinates stand still there

  std::string text(const Model& model, std::string_view when) const;
};
std::vector<DependentAxes> dependent_axes(const Model& model, const State& state);

// Rank of the joint rows, each scaled to length 1, by a dense pivoted QR with threshold 1e-9 of every group of nodes
// that joints connect; -1 if one has more than kMostRankRows, which would take minutes and a GB. Not for hot paths.
inline constexpr std::size_t kMostRankRows = 2000;
int joint_rank(const ConstraintProblem& problem);

}  // namespace sarrus
