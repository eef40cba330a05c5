// Coordinates: how the bodies of a model move with the unknown velocity u of the constraint problem.
//
//   u is split into nodes;   twist_B = X_B u_node(B)     [v; w], world axes, at the centre of mass
//   a row J_B on the twist of B is the row J_B X_B on the node's velocity
//   M = block diagonal by node,   u_f = u- + dt M^-1 h,   h = [m g; -w x I w] + external wrenches
// Maximal coordinates have one node of six components per body and X_B = 1. Reduced ones have one node per kinematic
// tree; the rows of its joints vanish (holds()). Rows, solvers and the step see only this interface, and call its
// virtual functions a fixed number of times per step, never per row.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sarrus/dynamics/scheme.h"
#include "sarrus/model/model.h"

namespace sarrus {

struct BodyMap {
  int node = 0;
  int offset = 0;             // of the node in u
  int size = 6;               // components of the node
  const double* X = nullptr;  // column-major 6 x size; null: the identity, size = 6
};

// What moves freely over dt.
struct FreeMotion {
  std::span<const Scheme* const> scheme;  // by body; those of a node are the same
  std::span<const Pose> X_WB;             // where masses are taken: the pose of the rows
  std::span<const Vec6> twist;            // before the step, by body, carried to the pose of the rows
  std::span<const Vec6> wrench_W;         // external, by body, at the centre of mass
  double dt;
};

class Coordinates {
 public:
  virtual ~Coordinates() = default;

  std::span<const int> node_sizes() const { return node_sizes_; }
  int velocity_size() const { return velocity_size_; }
  // Valid for the poses of the last mass_blocks() or free_velocity().
  const BodyMap& map(int body) const { return maps_[static_cast<std::size_t>(body)]; }
  // True if the coordinates satisfy the joint by themselves: it has no rows.
  bool holds(int joint) const { return holds_[static_cast<std::size_t>(joint)]; }

  // The masses of the model have changed (model/numbers.h).
  virtual void read_again() {}

  // Between the twists of the bodies at given poses and u.
  virtual void gather(std::span<const Pose> X_WB, std::span<const Vec6> twist, VecX& u) const = 0;
  virtual void scatter(std::span<const Pose> X_WB, const VecX& u, std::span<Vec6> twist) const = 0;

  // M and M^-1 by node: column-major blocks, one after the other.
  virtual void mass_blocks(std::span<const Pose> X_WB, std::span<double> mass, std::span<double> mass_inverse) = 0;
  // The same, and u_f.
  virtual void free_velocity(const FreeMotion& motion, std::span<double> mass, std::span<double> mass_inverse,
                             VecX& u_free) = 0;
  // Replaces angular velocities before the step by those after its torque-free motion, which has the same energy, of
  // bodies with that kind of rotation.
  virtual void rotate_freely(const FreeMotion& motion, Rotation kind, VecX& u_minus) const = 0;
  // Damping C of the bodies, once all forces are in u_f. Implicit: (M + dt C) u = M u_f, which takes kinetic energy
  // away whatever dt is; constraint impulses do so, too, so that no step gains any by damping.
  virtual void damp(std::span<const double> mass, double dt, VecX& u_free) const = 0;
  // to = poses after the step with the masses, twists and free rotation of the last free_velocity(), from `from`, the
  // poses before it. Linear: by position v+ + (1 - position) v-. Angular, in body axes, w0 before, wf free, w+ after:
  //   R+ = R- turn(dt ((w0 + wf)/2 + position (w+ - wf))),   turn = cay, and the angle it lacks about I w+
  // and by position w+ + (1 - position) w0 for bodies with joints, whose rows hold if linear and angular parts move
  // alike. Without a torque this is the midpoint rule, which keeps energy and angular momentum to round-off at any
  // spin that a step can follow (about 2 rad; beyond it u_f is not a number); what impulses and torques add turns the
  // body as fast as the scheme's positions move.
  virtual void move(const FreeMotion& motion, std::span<const Pose> from, const VecX& u_plus, std::span<Pose> to) = 0;
  // Turns angular velocities with the bodies from one pose to another: their body components, and with them the kinetic
  // energy, stay as they are. (Impulses change the angular momentum in space by what they are up to O(dt^2); a body
  // with the same inertia about all axes needs no carrying, and keeps both.)
  virtual void carry(std::span<const Pose> from, std::span<const Pose> to, VecX& u) const = 0;
  // Replaces the gyroscopic torque that free_velocity() assumed, of the torque-free motion, by the one of the mean
  // velocity actually reached, on bodies with joints.
  virtual void correct_rotation(const FreeMotion& motion, VecX& u_plus) const = 0;

  // to = poses after moving with u for dt. `from` and `to` may be the same.
  virtual void integrate(std::span<const Pose> from, const VecX& u, double dt, AttitudeMap map,
                         std::span<Pose> to) const = 0;
  // to = from (+) d, a displacement: how a projection moves poses.
  void retract(std::span<const Pose> from, const VecX& d, std::span<Pose> to) const {
    integrate(from, d, 1.0, AttitudeMap::exponential, to);
  }

 protected:
  std::vector<int> node_sizes_;
  std::vector<BodyMap> maps_;
  std::vector<bool> holds_;
  int velocity_size_ = 0;
};

std::unique_ptr<Coordinates> maximal_coordinates(const Model& model);

}  // namespace sarrus
