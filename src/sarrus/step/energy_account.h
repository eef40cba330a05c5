// Where the energy of a step goes (docs/theory/integrators.md §13).
//
// With u_m = (u- + u+)/2 at the pose of the rows, an impulse p changes the kinetic energy by exactly p . u_m, so every
// row has its work, and so have gravity and forces. What springs and armatures store is told from their states. The
// rest is the error of the scheme:
//   change of kinetic + potential = drives + external + friction + impacts + damping + correction + taken_back +
//   unaccounted
#pragma once

#include <span>
#include <vector>

#include "sarrus/step/assembler.h"
#include "sarrus/step/simulation.h"

namespace sarrus {

class EnergyAccount {
 public:
  explicit EnergyAccount(const Model& model);

  // Kinetic and potential energy, armatures and springs included. `rate` by dof, of those with armature.
  struct Stored {
    double kinetic = 0;
    double gravity = 0;
    double springs = 0;
    double armature = 0;
    double total() const { return kinetic + gravity + springs + armature; }
  };
  Stored stored(std::span<const Pose> X_WB, std::span<const Vec6> twist, std::span<const double> q,
                std::span<const double> rate) const;

  // Of one attempt: `u_solved` is u+ as it was solved for, `correction` the work of pushing out, `taken_back` what the
  // governor took.
  EnergyFlow flow(Assembler& assembler, const Inputs& inputs, std::span<const double> lambda, const VecX& u_solved,
                  double dt, const Stored& before, const Stored& after, double correction, double taken_back);

 private:
  double forces_work(Assembler& assembler, double dt);

  Model model_;
  bool body_damping_ = false;
  VecX u_mean_;
  GrowingVector v_mean_;  // by row
  std::vector<Vec6> twist_mean_;
};

}  // namespace sarrus
