// Options of a simulation. They travel as this one struct: from the command line or the caller to the step and its
// rows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sarrus/collision/contact.h"
#include "sarrus/dynamics/scheme.h"
#include "sarrus/model/model.h"
#include "sarrus/rows/options.h"
#include "sarrus/solvers/solver.h"

namespace sarrus {

struct SimulationOptions {
  double dt = 0;                              // s; 0: the model's default
  std::optional<Integrator> integrator = {};  // none: the model's default

  std::string solver = "cascade";             // see `sarrus solvers`
  SolverParameters solver_parameters = {};    // by name; unknown names are errors
  std::string fallback = "admm-ncp-sa";       // tried cold when the solver's answer is not acceptable
  SolverParameters fallback_parameters = {};  // none, and the fallback above: max_iterations = 10 budget
  Criterion criterion = Criterion::energy;    // what tolerances are compared with (problem/judge.h)
  double tolerance = 1e-9;                    // converged
  double acceptable = 1e-3;                   // usable, counted as not converged
  int budget = 1000;                          // factorisations per island and step, shared by all that a step tries
  int max_substep_depth = 3;                  // halvings of dt before a step fails
  // s of wall clock for the solves of a step; 0: none. With it, runs depend on the machine and its load: the same input
  // no longer gives the same bits.
  double max_step_time = 0;

  RowOptions rows = {};  // stabilisation of joints, limits and contacts
  CollisionOptions collision = {};

  bool projection = true;               // mass-weighted projection of positions onto the joint manifold
  double projection_tolerance = 1e-12;  // rad, or share of the size of a joint (Model::joint_size)
  int projection_iterations = 8;
  // rad, or share of the size of a joint: a projected step that leaves a rigid joint further open is not taken.
  double acceptable_gap = 1e-5;

  bool warm_start = true;

  int threads = 1;  // that share a step: the same bits for any number
};

// Throws InputError that lists the laws if there is none of this name.
RestitutionLaw restitution_law_from_name(std::string_view name);

// The options with the model's defaults where they leave the choice. Throws InputError naming a bad one.
SimulationOptions complete_options(SimulationOptions options, const Model& model);

}  // namespace sarrus
