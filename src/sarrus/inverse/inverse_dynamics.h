// Inverse dynamics: impulses and drive efforts that make the next step reach a given velocity
// (docs/theory/inverse.md; Carpentier et al. §IV, Castro et al. §III-B).
//
// Given the state (s, u-), dt and u_ref:
//   1  contacts, limits, springs and dry friction: their impulses follow from u_ref row by row (contact_inverse.h)
//   2  joints and actuated dofs: least squares for the rest of the momentum,
//        min  1/2 |M(u_ref - u_f) - J_c' l_c - J_J' l_J - J_a' l_a|^2_{M^-1} + 1/2 (l' eps D l)      eps = tikhonov
//   3  effort = l_a / dt; what is left of the momentum, divided by dt, is `unrealised`: force that no actuator gives.
// Step 2 is itself a constraint problem with free velocity u_f - u_ref and soft rows, and is solved as one. What u_ref
// does not determine is unknown there too: limits it rests on, dry friction of dofs at rest and, with `minimum_torque`,
// rigid contacts: sticking ones in their cone, sliding ones on the ray (-mu t, 1); efforts then have a weight (§4).
// Maximal coordinates; dofs count as actuated if they have a drive (or all of them, `all_actuated`).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/inverse/contact_inverse.h"
#include "sarrus/model/model.h"
#include "sarrus/step/options.h"

namespace sarrus {

enum class InverseMethod : std::uint8_t {
  proximal,   // any R >= 0
  analytical  // closed form, needs R > 0 on every contact and limit
};

struct InverseOptions {
  SimulationOptions step;  // dt, integrator and rows: those of the forward step
  ContactInverseOptions contact;
  InverseMethod method = InverseMethod::proximal;
  bool minimum_torque = true;  // false: rigid contacts by the proximal iteration, from `start_W`
  bool all_actuated = false;
  // Contact velocities below this are rounding of a reference that holds the contact: they count as zero. m/s
  double velocity_tolerance = 1e-7;
  double force_tolerance = 1e-6;  // unrealised force relative to the largest force present, for `realised`
  double tikhonov = 1e-10;        // relative to diag(D)
  double torque_weight = 1e-5;    // of efforts with minimum_torque, relative to diag(D)
};

enum class InverseStatus : std::uint8_t {
  realised,       // the efforts produce u_ref
  underactuated,  // contacts are consistent, but part of the force is not the actuators'
  infeasible,     // no impulse of some contact, limit or dry friction allows u_ref
  not_converged   // the iteration of a contact or the least squares stopped early
};
std::string_view name_of(InverseStatus status);

struct InverseResult {
  InverseStatus status = InverseStatus::realised;
  std::vector<double> effort;    // by scalar of the model (dofs, then combinations), N or N m; 0 where not actuated
  std::vector<double> impulses;  // by row of problem(), N s
  double unrealised = 0;         // largest component of the force left over, N or N m
  double largest_force = 0;      // largest component of inertia, outer forces, efforts, joints and contacts, N or N m
  double contact_residual = 0;   // natural map of the contacts, worst
  int iterations = 0;            // of the contacts' proximal iterations, most
  int contacts = 0;
  int infeasible_rows = 0;  // contacts and limits without an answer
  std::string message;      // of an infeasible or unconverged result: the first one, by name
};

class InverseDynamics {
 public:
  // Throws InputError like Simulation.
  InverseDynamics(Model model, InverseOptions options);
  ~InverseDynamics();
  InverseDynamics(InverseDynamics&&) noexcept;
  InverseDynamics& operator=(InverseDynamics&&) noexcept;

  // Detects the contacts and builds the rows at `state`; their order is that of contacts().
  void set_state(const State& state);
  // `u_ref`: twists after the step by body, world axes, at the centres of mass. `start_W`: impulses that the proximal
  // iteration starts from, world vectors on body B (N s) by contact; none: zero.
  const InverseResult& solve(std::span<const Vec6> u_ref, std::span<const Vec3> start_W = {});

  const ConstraintProblem& problem() const;
  std::span<const Contact> contacts() const;
  const std::vector<bool>& actuated() const;  // by dof

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sarrus
