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

// u_m of a step, and what the impulses did on it.
struct MeanMotion {
  VecX u;
  std::vector<Vec6> twist;   // by body
  GrowingVector v;           // by row, J u_m
  std::vector<double> work;  // by block, J

  explicit MeanMotion(const Model& model) : twist(model.bodies().size()) {}
  // `u_solved` is u+ as it was solved for.
  void set(Assembler& assembler, std::span<const double> lambda, const VecX& u_solved);
};

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
                std::span<const double> rate);

  // Of one attempt: `correction` is the work of pushing out, `taken_back` what the governor took.
  EnergyFlow flow(Assembler& assembler, const Inputs& inputs, std::span<const double> lambda, const MeanMotion& mean,
                  double dt, const Stored& before, const Stored& after, double correction, double taken_back) const;

 private:
  double work_on_way(Assembler& assembler, const ConstraintBlock& block, std::span<const double> lambda,
                     const MeanMotion& mean) const;
  double forces_work(Assembler& assembler, const MeanMotion& mean, double dt) const;

  struct OfBody {
    double kinetic, weight;  // J; the weight times the height
  };
  Model model_;
  bool body_damping_ = false;
  std::vector<OfBody> of_body_;
};

}  // namespace sarrus
