// What changes with time. Besides it a simulation keeps its inputs, and the solvers what they start from.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus {

struct State {
  double time = 0;          // s
  std::vector<Pose> X_WB;   // by body, pose of the centre-of-mass frame
  std::vector<Vec6> twist;  // by body, [v; omega] in world axes at the centre of mass
  // By dof, joint coordinates (m, rad, multi-turn angles); of a spherical joint the rotation vector from its q_rest.
  std::vector<double> q;
  // By dof: the rate that the armature of a coordinate carries less its rate by the twists at these poses, m/s or
  // rad/s. Of the order of dt, 0 without armature (docs/theory/integrators.md §10): a difference, so that it stays
  // right when a user changes twists or poses. Empty: there was no step yet, and the next one begins with the lag of
  // its scheme.
  std::vector<double> rate_lag;

  // By body, of the lowest of those that joints connect: what the step has created of energy and not yet lost or taken
  // back, J, the largest kinetic energy that it is measured by, and what compliant joints and limits have been given
  // and not given back, J (docs/theory/integrators.md §13). Empty: none.
  struct EnergySwing {
    double gain = 0;
    double largest = 0;
    double held = 0;
  };
  std::vector<EnergySwing> energy_swing;

  // The model's reference configuration with its initial velocities. Throws InputError for an initial value of a
  // coordinate that the poses do not have.
  static State initial(const Model& model);
  bool finite() const;
  // Golden hash over every bit of the state.
  std::uint64_t hash() const;
};

// Throws InputError naming `call` if the state does not fit the model or holds a bad number.
void check_state(const State& state, const Model& model, std::string_view call);

struct Energy {
  double kinetic = 0;    // J: bodies, and 1/2 a q'^2 of coordinates with armature a
  double potential = 0;  // J: gravity (zero height z = 0) plus joint springs
  double total() const { return kinetic + potential; }
};
Energy energy(const Model& model, const State& state);

struct Momentum {
  Vec3 linear = Vec3::Zero();   // kg m/s
  Vec3 angular = Vec3::Zero();  // kg m^2/s about the world origin
};
Momentum momentum(const Model& model, const State& state);

}  // namespace sarrus
