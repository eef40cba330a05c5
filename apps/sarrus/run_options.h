// The options of `sarrus run` and what they mean for the simulation.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sarrus/io/run_summary.h"
#include "sarrus/model/model.h"

namespace sarrus::app {

struct RunArguments {
  std::string scene;
  std::optional<double> dt;
  std::optional<double> duration;
  std::optional<double> tolerance;
  std::optional<std::string> solver;
  std::optional<std::string> fallback;
  std::optional<std::string> integrator;
  std::optional<std::string> gyroscopic;
  std::vector<std::string> parameters;  // "name=value"
  bool no_projection = false;
  std::string json;
  std::string csv;
  std::string record;
  std::string svg;
  int record_every = 1;
  std::string dump_problems;  // folder
  int every = 1;              // steps between dumps
  bool quiet = false;
};

void add_options(CLI::App& command, RunArguments& arguments);

// "name=value" by name. Throws InputError naming the argument.
SolverParameters parse_parameters(const std::vector<std::string>& arguments);

// Every default resolved. Throws InputError naming the option.
RunInfo run_info(const RunArguments& arguments, const Model& model);

}  // namespace sarrus::app
