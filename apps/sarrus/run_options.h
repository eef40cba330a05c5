// The options of `sarrus run` and what they mean for the simulation.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sarrus/model/model.h"
#include "sarrus/recording/svg_strip.h"
#include "sarrus/step/simulation.h"
#include "scene_argument.h"

namespace sarrus::app {

struct RunArguments {
  SceneArgument scene;
  SimulationOptions options;
  double duration = 0;  // s; 0: the scene's
  std::string json;
  std::string csv;
  std::string csv_contacts;
  std::string record;
  std::string svg;
  SvgOptions svg_options;
  bool svg_options_given = false;
  std::string html;
  double html_fps = 0;  // frames per second of the page; 0: as many as fit
  int record_every = 1;
  std::string dump_problems;          // folder
  std::optional<double> every_given;  // --every: steps between dumps or seconds between checkpoints
  int every = 1;                      // steps between dumps
  std::string checkpoint;
  double checkpoint_every = 60;  // s of wall time
  std::string resume;
  double flush = 30;  // s of wall time
  bool quiet = false;
};

void add_options(CLI::App& command, RunArguments& arguments);
// How it is simulated: step, solver, tolerance and the like.
void add_simulation_options(CLI::App& command, SimulationOptions& options);

// Decides what --every means. Throws InputError.
void settle_every(RunArguments& arguments);

// "name=value" by name. Throws InputError naming the argument.
SolverParameters parse_parameters(const std::vector<std::string>& arguments);

// The duration, with the model's default, and the number of steps. Throws InputError naming the option.
struct RunLength {
  double duration;  // s
  std::int64_t steps;
  std::int64_t first = 1;  // later if the run goes on from a checkpoint
};
RunLength run_length(const RunArguments& arguments, const Model& model);

}  // namespace sarrus::app
