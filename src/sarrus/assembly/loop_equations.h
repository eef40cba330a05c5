// The equations of assembly at a pose: residuals c of what holds, gaps g of what is one-sided, and their rows in the
// metric of the masses (docs/theory/assembly.md §1).
//
//   A = S J L,   L L' = M^-1,   S: each row of A has length 1;   scaled residual S c
// A displacement d = L z of all bodies has |d|_M = |z|. Rows are grouped by mechanism: nothing couples two of them.
#pragma once

#include <span>
#include <vector>

#include "sarrus/assembly/assembly.h"
#include "sarrus/dynamics/coordinates.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/math/types.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

// A configuration: poses and the coordinates that belong to them.
struct Posture {
  std::vector<Pose> X_WB;
  std::vector<double> q;
};

class LoopEquations {
 public:
  // Pins in `options`; limits only with options.limits.
  LoopEquations(const Model& model, const AssemblyOptions& options);

  const Model& model() const { return model_; }
  // Values the pins have to take from now on; as many as there are.
  void set_pins(std::span<const CoordinateValue> pins) { pins_.assign(pins.begin(), pins.end()); }

  // A mechanism: bodies that joints and couplings connect. Its rows are first those of equations, then one-sided ones.
  struct Group {
    std::vector<int> bodies;
    std::vector<int> rows;
    int equations = 0;
    MatX A;  // by rows and bodies, of linearise()
  };
  // Residuals and gaps by row; linearise() also fills A and scales.
  void evaluate(const Posture& at);
  void linearise(const Posture& at);

  std::span<const Group> groups() const { return groups_; }
  // Equations of the largest group without its pins: what dense algebra would cost.
  int most_rows() const { return most_rows_; }
  int row_count() const { return static_cast<int>(value_.size()); }
  bool is_equation(int row) const { return equation_[static_cast<std::size_t>(row)]; }
  bool is_angular(int row) const { return angular_[static_cast<std::size_t>(row)]; }  // rad, not m
  double value(int row) const { return value_[static_cast<std::size_t>(row)]; }
  double scale(int row) const { return scale_[static_cast<std::size_t>(row)]; }  // S of the last linearise()
  // Largest |c| or -g, m or rad, lengths divided by length(); and its joint.
  double violation(int* worst_joint = nullptr) const;
  // The same in m and rad.
  double plain_violation() const;
  // 1/2 sum of squares of the violated rows, in the scale of the last linearise().
  double merit() const;
  std::span<const double> values() const { return value_; }

  // z of a group to displacements [m, rad] of its bodies, and back.
  Vec6 displacement(const Group& group, const VecX& z, std::size_t k) const;
  VecX weighted(const Group& group, std::span<const Vec6> displacement) const;

  double length() const { return length_; }  // of the mechanism: the median distance between anchors, m
  int dof_of_limit(int row) const { return limit_dof_[static_cast<std::size_t>(row)]; }  // -1: none
  // To = at moved by a displacement of each body, with its coordinates.
  Posture moved(const Posture& at, std::span<const Vec6> displacement);
  const JointKinematics& kinematics() const { return kinematics_; }

 private:
  struct Entry {
    int row;
    int body;
    Vec6 J;
  };
  void find_groups();
  void begin(const Posture& at);
  void add_row(bool equation, double value, bool angular, int joint, int limit_dof);
  void add_pins(const Posture& at, bool rows);
  void add_one_sided(const Posture& at, bool rows);
  void add_entry(int body, const Vec6& J) {
    if (body != kWorld) entries_.push_back({row_count() - 1, body, J});
  }
  void fill_matrices();

  Model model_;
  std::unique_ptr<Coordinates> coordinates_;
  JointKinematics kinematics_;
  ConstraintProblem problem_;
  std::vector<CoordinateValue> pins_;
  bool limits_;
  double length_ = 1;
  int most_rows_ = 0;
  std::vector<Group> groups_;
  std::vector<int> group_of_;  // by body
  std::vector<int> column_;    // by body: its place in the group
  std::vector<double> value_, scale_;
  std::vector<bool> equation_, angular_;
  std::vector<int> joint_, limit_dof_, row_group_;
  std::vector<Entry> entries_;
  std::vector<Mat6> L_;  // by body
};

}  // namespace sarrus
