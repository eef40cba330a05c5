#include "run_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "sarrus/math/error.h"

namespace sarrus::app {
namespace {

constexpr double kMaxSteps = 1e9;

void require_positive(const char* option, const std::optional<double>& value) {
  if (value && !(*value > 0 && std::isfinite(*value))) {
    throw InputError(option, fmt::format("is {}; give a finite number > 0", *value));
  }
}

Gyroscopic parse_gyroscopic(const std::string& text) {
  if (text == "explicit") return Gyroscopic::explicit_term;
  if (text == "implicit") return Gyroscopic::implicit_term;
  throw InputError("--gyroscopic", fmt::format("'{}' is unknown; give explicit or implicit", text));
}

}  // namespace

SolverParameters parse_parameters(const std::vector<std::string>& arguments) {
  SolverParameters parameters;
  for (const std::string& argument : arguments) {
    const std::string element = fmt::format("--param {}", argument);
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0) throw InputError(element, "write it as name=value");
    const char* begin = argument.data() + equals + 1;
    const char* end = argument.data() + argument.size();
    double value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end) throw InputError(element, "the value is not a number");
    if (!std::isfinite(value)) throw InputError(element, "the value is not finite; give a finite number");
    if (!parameters.emplace(argument.substr(0, equals), value).second) {
      throw InputError(element, "the parameter is given twice; give it once");
    }
  }
  return parameters;
}

void add_options(CLI::App& command, RunArguments& a) {
  command.add_option("scene", a.scene, "Scene file (JSON) or built-in name, see `sarrus scenes`")
      ->required()
      ->type_name("SCENE");
  command.add_option("--dt", a.dt, "Time step [s]; default: the scene's")->type_name("S");
  command.add_option("--duration", a.duration, "Simulated time [s]; default: the scene's")->type_name("S");
  command.add_option("--solver", a.solver, "Constraint solver, see `sarrus solvers`")->type_name("ID");
  command.add_option("--tol", a.tolerance, "Tolerance on the judged natural map residual")->type_name("X");
  command.add_option("--param", a.parameters, "Parameter of the solver, name=value; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--fallback", a.fallback, "Solver tried when the first one's answer is not acceptable")
      ->type_name("ID");
  command
      .add_option(
          "--integrator", a.integrator,
          "semi-implicit, moreau, explicit-euler, symplectic-euler, implicit-euler or midpoint; default: the scene's")
      ->type_name("NAME");
  command.add_option("--gyroscopic", a.gyroscopic, "explicit or implicit gyroscopic torque")->type_name("NAME");
  command.add_flag("--no-projection", a.no_projection, "Do not project positions onto the joints after a step");
  command.add_option("--json", a.json, "Write the summary as JSON")->type_name("FILE");
  command.add_option("--csv", a.csv, "Write one row per step: residuals, energies, joint coordinates")
      ->type_name("FILE");
  command.add_option("--record", a.record, "Write the motion as HDF5 recording")->type_name("FILE");
  command.add_option("--record-every", a.record_every, "Record every N-th step (and the last)")->type_name("N");
  command.add_option("--dump-problems", a.dump_problems, "Write the constraint problems of steps for `sarrus solve`")
      ->type_name("DIR");
  command.add_option("--every", a.every, "Dump the problem of every N-th step")->type_name("N");
  command.add_option("--svg", a.svg, "Draw a strip of outline frames of the motion")->type_name("FILE");
  command.add_flag("--quiet", a.quiet, "Print nothing but errors");
}

RunInfo run_info(const RunArguments& a, const Model& model) {
  require_positive("--dt", a.dt);
  require_positive("--duration", a.duration);
  require_positive("--tol", a.tolerance);
  if (a.record_every < 1) throw InputError("--record-every", fmt::format("is {}; give a number >= 1", a.record_every));
  if (a.every < 1) throw InputError("--every", fmt::format("is {}; give a number >= 1", a.every));
  if (a.every > 1 && a.dump_problems.empty()) throw InputError("--every", "needs --dump-problems; give a folder");

  RunInfo info;
  info.scene = model.name();
  info.version = SARRUS_VERSION;
  info.dt = a.dt.value_or(model.defaults().dt);
  info.duration = a.duration.value_or(model.defaults().duration);
  if (info.duration / info.dt > kMaxSteps) {
    throw InputError(a.dt ? "--dt" : "--duration",
                     fmt::format("{:g} s in steps of {:g} s are more than {:g} steps; take larger steps or less time",
                                 info.duration, info.dt, kMaxSteps));
  }
  info.integrator =
      a.integrator ? integrator_from_name(*a.integrator) : integrator_from_name(model.defaults().integrator);

  SimulationOptions& o = info.options;
  o.dt = info.dt;
  o.integrator = info.integrator;
  o.projection = !a.no_projection;
  if (a.gyroscopic) o.gyroscopic = parse_gyroscopic(*a.gyroscopic);
  if (a.solver) o.solver = *a.solver;
  if (a.fallback) o.fallback = *a.fallback;
  if (a.tolerance) o.tolerance = *a.tolerance;
  o.solver_parameters = parse_parameters(a.parameters);
  return info;
}

}  // namespace sarrus::app
