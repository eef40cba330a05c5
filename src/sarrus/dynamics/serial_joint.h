// Serial joints: 2 to 5 axes in sequence between two bodies, without bodies between them (docs/theory/model.md §2.5).
//
//   X(q) = E_1(q_1 - r_1) ... E_d(q_d - r_d)        pose of the follower's joint frame in that of the base
//   S    6 x d, its k-th column the twist [v; w] at the origin of the follower's joint frame for q_k' = 1
//   e    what the pose T of the follower lacks of X(q): [p - p_X; log(R R_X')]
// P is a choice of d of the six components in which S is invertible, C the others. The coordinates solve e_P = 0 by
// Newton's method from values nearby, so that they count turns; with B = S_P^-1
//   q' = B t_P                      t the twist of the follower relative to the base, base-joint axes
//   r  = e_C - S_C B e_P            residual, d/dt r = t_C - S_C B t_P: wrenches reciprocal to the axes as they are now
// P is the choice by complete pivoting at the values nearby, with lengths measured by that of the joint: rows of one
// step, all from the same values nearby, belong together. Where axes become dependent the singular values of S_P are
// kept above kLeast, as the cosine of a gimbal: rates stay finite, and the rows resist the lost motion a little.
#pragma once

#include <Eigen/Core>

#include "sarrus/dynamics/joint_axis.h"
#include "sarrus/model/model.h"

namespace sarrus {

struct SerialSolution {
  double q[kMaxJointDofs] = {};
  JointAxis dof_axes[kMaxJointDofs];  // of q', world
  JointAxis row_axes[6];              // of r', world; translational ones first
  double residual[6] = {};
  int translational = 0;
  double conditioning = 1;  // the smallest singular value of S_P where it is small, else 1
};

class SerialJoint {
 public:
  static constexpr double kLeast = 1e-3;

  explicit SerialJoint(const Joint& joint);
  // `near`: coordinates from which the solution is sought.
  void solve(const JointFrame& frame, const double* near, SerialSolution& out) const;

 private:
  using Axes = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::ColMajor, 6, kMaxJointDofs>;
  using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, kMaxJointDofs, kMaxJointDofs>;
  struct Place {
    Vec3 p;
    Mat3 R;
    Axes S;  // lengths measured by that of the joint, like all here
  };
  struct Choice {
    int in[kMaxJointDofs];  // P
    int out[6];             // C, ascending
    double smallest;        // pivot
  };

  Place place(const double* q) const;
  Vec6 error(const Place& at, const Vec3& p, const Mat3& R) const;
  Choice choose(const Axes& S) const;
  Square inverse(const Axes& S, const Choice& choice, double& conditioning) const;
  double scale(int component) const { return component < 3 ? 1 / length_ : 1.0; }

  std::vector<SerialAxis> axes_;
  int dofs_;
  double length_ = 1;  // m: the largest distance of a turning axis from another one
};

}  // namespace sarrus
