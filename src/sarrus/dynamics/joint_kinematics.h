// Joint geometry from body poses: frames, residuals, coordinates and axes (docs/theory/model.md §2).
//
//   p_B = r_B + R_B x_B,  p_F = r_F + R_F x_F,  A_B = R_B X_B,  A_F = R_F X_F       anchors and axes, world
//   p = A_B' (p_F - p_B),  Q = A_B' A_F                                            relative pose, base-joint axes
// Residuals are signed so that d/dt residual = J u. The wrench of every joint but `distance` acts at p_F.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "sarrus/dynamics/joint_axis.h"
#include "sarrus/dynamics/serial_joint.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/model.h"

namespace sarrus {

// Of all types but serial, whose frames alone do not tell their coordinates (JointKinematics has them for any type):
// residual rows of a joint (count joint_rows(joint)); metres first, then radians. Rope: the signed excess
// |p_F - p_B| - L. The return value counts how many leading rows are translational.
int joint_residual(const Joint& joint, const JointFrame& frame, double* residual);
// The matching constrained directions; the translational ones, as many as returned, are linear, the others angular. Not
// for distance joints, whose bodies use their own anchors.
int joint_constraint_axes(const Joint& joint, const JointFrame& frame, JointAxis* axes);
// Directions of the degrees of freedom: rate of coordinate k = axes[k] applied to the relative twist.
void joint_dof_axes(const Joint& joint, const JointFrame& frame, JointAxis* axes);
// Coordinates with angles in (-pi, pi]; nothing for free, fixed, distance; for spherical the rotation vector from
// q_rest to the follower's joint axes, in the axes of the base, |q| <= pi.
void joint_raw_coordinates(const Joint& joint, const JointFrame& frame, double* q);
// Swing of the follower's x axis: its rotation vector in world axes (spherical joints).
Vec3 joint_swing_W(const JointFrame& frame);

// Body Jacobian rows [linear, angular] of an axis: follower +, base - (docs/theory/model.md §2.3).
inline Vec6 follower_row(const JointFrame& f, const JointAxis& a) {
  const Vec3 arm = f.p_F_W - f.r_F_W;
  return spatial(a.linear, arm.cross(a.linear) + a.angular);
}
inline Vec6 base_row(const JointFrame& f, const JointAxis& a) {
  const Vec3 arm = f.p_F_W - f.r_B_W;
  return spatial(-a.linear, a.linear.cross(arm) - a.angular);
}

// Frames of all joints of a model at given poses. A copy costs less memory than another one of the same model.
class JointKinematics {
 public:
  explicit JointKinematics(const Model& model);
  // `near`: coordinates by dof from which those of serial joints are sought; none: from the last ones, at first those
  // of the reference.
  void update(std::span<const Pose> X_WB, std::span<const double> near = {});
  // The same frames, sought from other coordinates.
  void update_serial(std::span<const double> near);
  // Multi-turn update of the coordinates: q <- the one of raw + 2 pi n next to q, for angles (docs/theory/model.md
  // §2.4).
  void update_coordinates(std::span<double> q) const;
  // Coordinate of a coupled or limited dof at these poses, unwrapped next to `near`.
  double coordinate(int dof, double near) const;
  // Of any scalar of the model; q: coordinates nearby, by dof.
  double scalar(int scalar, std::span<const double> q) const;
  // Rate of a scalar if the bodies move with `twist` (by body) at these poses.
  double rate(int scalar, std::span<const Vec6> twist) const;
  // As the functions above, for joints of any type.
  int residual(int joint, double* residual) const;
  int constraint_axes(int joint, JointAxis* axes) const;
  void dof_axes(int joint, JointAxis* axes) const;
  // How many of the rows are translational: the first ones.
  int translational_rows(int joint) const;
  bool has_serial() const { return !serial_.empty(); }
  // Of a serial joint or a gimbal: how far it is from one whose axes are dependent (the lock of a gimbal), at most 1.
  // Below kNearlyDependent its coordinates turn fast, and what acts on them acts wrongly.
  static constexpr double kNearlyDependent = 0.03;
  double conditioning(int joint) const;
  const JointFrame& frame(int joint) const { return frames_[static_cast<std::size_t>(joint)]; }

 private:
  double unwrap(int dof, double raw, double near) const;
  const SerialSolution* serial(std::size_t joint) const {
    return serial_index_.empty() || serial_index_[joint] < 0 ? nullptr
                                                             : &serial_[static_cast<std::size_t>(serial_index_[joint])];
  }

  Model model_;
  struct Axes {
    Mat3 X_B, X_F;  // joint axes in the base body and in the follower
  };
  std::shared_ptr<const std::vector<Axes>> axes_;  // by joint; copies share them
  std::vector<JointFrame> frames_;
  std::vector<int> serial_index_;  // by joint, -1: it is of another type; empty: all are
  std::vector<int> serial_joint_;  // which joint
  std::vector<SerialJoint> serial_model_;
  std::vector<SerialSolution> serial_;
};

// Largest residuals over all rigid joints, couplings and locked coordinates, and where. Compliant ones are meant to
// give way: their deformation is told apart, and so is what ropes exceed their length by: they are limits, which a step
// may exceed.
struct JointErrors {
  double gap = 0;  // m
  // rad; couplings and locked coordinates are counted here, in the units of their (first) coordinate
  double angle = 0;
  // The largest of all that is rigid, gaps beyond their round-off (below) in shares of the joint's size
  // (Model::joint_size) and angles in rad, and whose it is; and that of ropes.
  double open = 0;
  double stretched = 0;
  int worst_joint = -1;
  int worst_coupling = -1;     // if it is what is largest of all that is rigid
  int worst_lock = -1;         // likewise: the coordinate or combination with equal limits, in Model::scalars()
  double compliant_gap = 0;    // m
  double compliant_angle = 0;  // rad
  double stretch = 0;          // m
  int worst_rope = -1;

  // Ropes counted as joints, for poses that are given.
  JointErrors with_ropes() const {
    JointErrors e = *this;
    if (stretched > open) {
      e.open = stretched;
      e.worst_joint = worst_rope;
      e.worst_coupling = e.worst_lock = -1;
    }
    e.gap = std::max(gap, stretch);
    return e;
  }
};
JointErrors joint_errors(const Model& model, const JointKinematics& kinematics, std::span<const double> q);

// m: what the round-off of positions and attitudes makes of a gap of this joint, at most.
double round_off(const JointFrame& frame);

}  // namespace sarrus
