#include "sarrus/recording/step_forces.h"

namespace sarrus {

StepForces forces_of(const Simulation& sim) {
  StepForces f;
  for (int dof = 0; dof < sim.model().dof_count(); ++dof) {
    f.joint_rates.push_back(sim.joint_rate(dof));
    f.drive_efforts.push_back(sim.drive_effort(dof));
    f.drive_targets.push_back(sim.drive_target(dof));
  }
  for (int i = sim.model().dof_count(); i < sim.model().scalar_count(); ++i) {
    f.combination_lengths.push_back(sim.model().scalar_value(i, sim.state().q));
    f.combination_rates.push_back(sim.joint_rate(i));
    f.combination_efforts.push_back(sim.drive_effort(i));
    f.combination_targets.push_back(sim.drive_target(i));
  }
  f.joint_openings.resize(sim.model().joints().size());
  sim.joint_openings(f.joint_openings);
  f.joint_reactions = sim.joint_reactions();
  for (int i = 0; i < static_cast<int>(sim.contacts().size()); ++i) {
    f.contact_impulses.push_back(sim.contact_impulse_W(i));
    f.contact_forces.push_back(sim.contact_force_W(i));
    f.contact_modes.push_back(sim.contact_mode(i));
  }
  f.energy = sim.energy_flow();
  return f;
}

}  // namespace sarrus
