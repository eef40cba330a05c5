// One Simulation that many worlds of one structure use in turn: it has the memory that steps work in; a world keeps, as
// bytes, what its next step reads from the past (snapshot.cpp), and, if it has its own, the numbers of its model.
//
// What a world does has the same bits as with a Simulation of its own, whoever used this one before: all that the
// memory still holds is overwritten or found by the structure of rows alone. (Solvers that adapt a penalty, admm-*,
// start with their first one after each load().)
#pragma once

#include <string>
#include <string_view>

#include "sarrus/step/simulation.h"

namespace sarrus {

struct Inputs;

class SharedSimulation {
 public:
  SharedSimulation(const Model& model, const SimulationOptions& options);

  Simulation& simulation() { return simulation_; }
  const Inputs& inputs() const;

  // The world that the simulation is from now on; inputs stay as they are and must hold no drag. The bytes are of
  // store(), of any SharedSimulation of the same structure and options.
  void load(std::string_view world);
  // The world that it is; valid until the next store().
  std::string_view store();

  // The numbers of the worlds that are loaded from now on, by numbers_of() a simulation of their model and the same
  // options.
  void set_numbers(std::string_view numbers);
  static std::string numbers_of(Simulation& simulation);
  // To be called after a step that threw, before set_state().
  void mend();

 private:
  void take_memory();

  Simulation simulation_;
  State start_;
  std::string world_;
};

}  // namespace sarrus
