// Joint geometry from body poses: frames, residuals, coordinates and axes (docs/theory/model.md §2).
//
//   p_B = r_B + R_B x_B,  p_F = r_F + R_F x_F,  A_B = R_B X_B,  A_F = R_F X_F       anchors and axes, world
//   p = A_B' (p_F - p_B),  Q = A_B' A_F                                            relative pose, base-joint axes
// Residuals are signed so that d/dt residual = J u. The wrench of every joint but `distance` acts at p_F.
#pragma once

#include <span>
#include <vector>

#include "sarrus/math/tools.h"
#include "sarrus/model/model.h"

namespace sarrus {

struct JointFrame {
  Vec3 p_B_W = Vec3::Zero();  // base anchor
  Vec3 p_F_W = Vec3::Zero();  // follower anchor
  Vec3 r_B_W = Vec3::Zero();  // centre of mass of the base (0 for the world)
  Vec3 r_F_W = Vec3::Zero();
  Mat3 A_B = Mat3::Identity();
  Mat3 A_F = Mat3::Identity();
};

// One scalar direction of a joint as a unit wrench on the follower at p_F, world axes. A constrained row and a
// degree of freedom are both of this form: rate = linear . (relative velocity at p_F) + angular . (relative
// angular velocity).
struct JointAxis {
  Vec3 linear = Vec3::Zero();
  Vec3 angular = Vec3::Zero();
};

// Residual rows of a joint (count joint_type_info(type).rows); metres first, then radians. Rope: the signed excess
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

// Frames of all joints of a model at given poses.
class JointKinematics {
 public:
  explicit JointKinematics(const Model& model);
  void update(std::span<const Pose> X_WB);
  // Multi-turn update of the coordinates: q <- the one of raw + 2 pi n next to q, for angles (docs/theory/model.md
  // §2.4).
  void update_coordinates(std::span<double> q) const;
  // Coordinate of a coupled or limited dof at these poses, unwrapped next to `near`.
  double coordinate(int dof, double near) const;
  // Rate of a dof if the bodies move with `twist` (by body) at these poses.
  double rate(int dof, std::span<const Vec6> twist) const;
  const JointFrame& frame(int joint) const { return frames_[static_cast<std::size_t>(joint)]; }

 private:
  double unwrap(int dof, double raw, double near) const;

  Model model_;
  std::vector<Mat3> X_B_;  // joint axes in the base body, by joint
  std::vector<Mat3> X_F_;
  std::vector<Eigen::Matrix<double, 4, 3>> R_WB_;  // by body; a row of zeros makes columns whole vectors
  std::vector<JointFrame> frames_;
};

// Largest residuals over all rigid joints and couplings (ropes count when taut), and where. Compliant ones are meant to
// give way: their deformation is told apart.
struct JointErrors {
  double gap = 0;    // m
  double angle = 0;  // rad (couplings: in the units of their first coordinate, counted here)
  int worst_joint = -1;
  double compliant_gap = 0;    // m
  double compliant_angle = 0;  // rad
};
JointErrors joint_errors(const Model& model, const JointKinematics& kinematics, std::span<const double> q);

}  // namespace sarrus
