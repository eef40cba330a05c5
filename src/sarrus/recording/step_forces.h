// What joints and contacts did in the step that led to a state, for the outputs of a run.
#pragma once

#include <vector>

#include "sarrus/step/simulation.h"

namespace sarrus {

struct StepForces {
  std::vector<double> joint_rates;    // by dof, at the state: m/s or rad/s
  std::vector<double> drive_efforts;  // by dof, N or N m
  std::vector<double> drive_targets;  // by dof
  // By combination: length (in the units of its terms), rate, effort and target of its drive.
  std::vector<double> combination_lengths, combination_rates, combination_efforts, combination_targets;
  std::vector<JointOpening> joint_openings;  // by joint, at the state
  std::vector<Vec6> joint_reactions;         // by joint, as Simulation::joint_reaction(): N, N m
  std::vector<Vec3> contact_impulses;        // by contact, on body B, world axes: N s
  std::vector<Vec3> contact_forces;          // the same over the time of the step: N
  std::vector<ContactMode> contact_modes;
  EnergyFlow energy;  // of all steps so far
};

// Of the last step; before the first one all is zero but the rates, targets and openings.
StepForces forces_of(const Simulation& sim);

}  // namespace sarrus
