#include "run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sarrus/dynamics/scheme.h"
#include "sarrus/math/error.h"

namespace sarrus::app {
namespace {

constexpr double kMaxSteps = 1e9;
constexpr int kMaxFrames = 100;  // of a drawing: they share one page

// An option for a finite number > 0. The target's default means "not given".
CLI::Option* add_positive(CLI::App& command, const char* option, double& target, const char* help) {
  return command.add_option_function<double>(
      option,
      [option, &target](double value) {
        if (!(value > 0 && std::isfinite(value))) {
          throw InputError(option, fmt::format("is {}; give a finite number > 0", value));
        }
        target = value;
      },
      help);
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

void add_simulation_options(CLI::App& command, SimulationOptions& o) {
  add_positive(command, "--dt", o.dt, "Time step [s]; default: the scene's")->type_name("S");
  command.add_option("--solver", o.solver, "Constraint solver, see `sarrus solvers`")->type_name("ID");
  add_positive(command, "--tol", o.tolerance, "Tolerance on the judged error")->type_name("X");
  command
      .add_option_function<std::string>(
          "--criterion", [&o](const std::string& name) { o.criterion = criterion_from_name(name); },
          "What the tolerance is compared with: energy, absolute or papers")
      ->type_name("NAME");
  command
      .add_option_function<std::vector<std::string>>(
          "--param", [&o](const std::vector<std::string>& given) { o.solver_parameters = parse_parameters(given); },
          "Parameter of the solver, name=value; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  add_positive(command, "--acceptable", o.acceptable, "Error up to which the best answer is used, counted as accepted")
      ->type_name("X");
  command.add_option("--budget", o.budget, "Factorisations per island and step, by solvers that count them")
      ->type_name("N")
      ->capture_default_str();
  add_positive(command, "--max-step-time", o.max_step_time,
               "Wall-clock budget of a step's solves [s]: the best answer by then is accepted, or the step fails; runs "
               "are no longer reproducible. Default: none")
      ->type_name("S");
  command.add_option("--fallback", o.fallback, "Solver tried when the first one's answer is not acceptable")
      ->type_name("ID");
  command
      .add_option_function<std::string>(
          "--integrator", [&o](const std::string& name) { o.integrator = integrator_from_name(name); },
          "semi-implicit, moreau, explicit-euler, symplectic-euler, implicit-euler or midpoint; default: the scene's")
      ->type_name("NAME");
  const auto fraction = [&](const char* name, double& value, const char* text) {
    command.add_option(name, value, std::string(text) + ", 0 to 1; default: the scene's")->type_name("X");
  };
  fraction("--erp-joint", o.rows.erp_joint,
           "Share of a joint's error that its velocity takes back per step, with --no-projection");
  fraction("--erp-limit", o.rows.erp_limit, "Share of a limit's violation that is taken back per step");
  fraction("--erp-contact", o.rows.erp_contact, "Share of a penetration beyond the slop that is taken back per step");
  command
      .add_option("--contact-slop", o.rows.contact_slop,
                  "Tolerated penetration [m]; default: the scene's, else 1e-5 of the smaller shape")
      ->type_name("M");
  command
      .add_option("--contact-compliance", o.rows.contact_compliance,
                  "Share of the diagonal of D by which rigid contacts give way (1e-3 makes piles easier); default: 0")
      ->type_name("X");
  add_positive(command, "--contact-give", o.rows.contact_give,
               "What they give way at most under the load of the last step [m/s]; default: 1e-4")
      ->type_name("M/S");
  command
      .add_option("--push-out-speed", o.rows.push_out_speed,
                  "Largest speed at which overlaps are resolved [m/s]; default: the scene's, else 5 of the smaller "
                  "shape per second")
      ->type_name("M/S");
  command
      .add_option_function<std::string>(
          "--restitution-law", [&o](const std::string& name) { o.rows.restitution = restitution_law_from_name(name); },
          "Several impacts at once: simultaneous, or sequential as in a cradle; default: the scene's")
      ->type_name("NAME");
  command.add_flag_callback(
      "--no-projection", [&o] { o.projection = false; }, "Do not project positions onto the joints after a step");
  command.add_option("--threads", o.threads, "Threads that share a step, for the same bits; default: 1")
      ->type_name("N");
}

void add_options(CLI::App& command, RunArguments& a) {
  a.scene.add_to(command);
  add_simulation_options(command, a.options);
  add_positive(command, "--duration", a.duration, "Simulated time [s]; default: the scene's")->type_name("S");
  command.add_option("--json", a.json, "Write the summary as JSON; -: on standard output, in place of the table")
      ->type_name("FILE");
  command
      .add_option("--csv", a.csv,
                  "Write one row per step: residuals, energies, joint coordinates, rates, efforts, reactions")
      ->type_name("FILE");
  command.add_option("--csv-contacts", a.csv_contacts, "Write one row per contact of each step: bodies, point, force")
      ->type_name("FILE");
  command.add_option("--record", a.record, "Write the motion as HDF5 recording")->type_name("FILE");
  command.add_option("--record-every", a.record_every, "Record every N-th step (and the last)")->type_name("N");
  command.add_option("--html", a.html, "Write a page that shows the motion, one file that opens in any browser")
      ->type_name("FILE");
  add_positive(command, "--html-fps", a.html_fps,
               "Frames per second of the page; default: every step if it fits in 4 MiB, else 240, 120, ...")
      ->type_name("HZ");
  command.add_option("--dump-problems", a.dump_problems, "Write the constraint problems of steps for `sarrus solve`")
      ->type_name("DIR");
  command
      .add_option("--every", a.every_given,
                  "With --dump-problems: dump every N-th step; else, with --checkpoint: --checkpoint-every")
      ->type_name("N");
  command.add_option("--svg", a.svg, "Draw a strip of outline frames of the motion")->type_name("FILE");
  command
      .add_option_function<int>(
          "--svg-frames",
          [&a](int frames) {
            if (frames < 2 || frames > kMaxFrames) {
              throw InputError("--svg-frames", fmt::format("is {}; give a number from 2 to {}", frames, kMaxFrames));
            }
            a.svg_options.frames = frames;
            a.svg_options_given = true;
          },
          "Frames of the drawing; default: 6")
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--svg-view",
          [&a](const std::string& name) {
            a.svg_options.viewpoint = svg_viewpoint_from_name(name);
            a.svg_options_given = true;
          },
          "View of the drawing: auto (by the motion), front (x right, z up), side (y right, z up), top (x right, y "
          "up) or iso")
      ->type_name("NAME");
  command
      .add_option("--checkpoint", a.checkpoint, "Write all that the run needs to go on, now and then and at its end")
      ->type_name("FILE");
  add_positive(command, "--checkpoint-every", a.checkpoint_every, "Wall time [s] between checkpoints; default: 60")
      ->type_name("S");
  command
      .add_option("--resume", a.resume,
                  "Go on from a checkpoint of the same scene and options, in the same bits; outputs hold what follows")
      ->type_name("FILE");
  add_positive(command, "--flush", a.flush,
               "Wall time [s] after which CSV files and a copy of the recording are brought to disk; default: 30")
      ->type_name("S");
  command.add_flag("--quiet", a.quiet, "Print nothing but errors");
}

void settle_every(RunArguments& a) {
  if (!a.every_given) return;
  const double given = *a.every_given;
  if (a.dump_problems.empty()) {
    if (a.checkpoint.empty()) {
      throw InputError("--every",
                       "needs --dump-problems, with the steps between dumps, or --checkpoint, with the seconds between "
                       "checkpoints");
    }
    if (!(given > 0 && std::isfinite(given)))
      throw InputError("--every", fmt::format("is {}; give a finite number of seconds > 0", given));
    a.checkpoint_every = given;
    return;
  }
  if (!(given >= 1 && given <= kMaxSteps && given == std::floor(given)))
    throw InputError("--every", fmt::format("is {}; give a whole number of steps >= 1", given));
  a.every = static_cast<int>(given);
}

RunLength run_length(const RunArguments& a, const Model& model) {
  if (a.record_every < 1) throw InputError("--record-every", fmt::format("is {}; give a number >= 1", a.record_every));
  if (a.svg_options_given && a.svg.empty()) {
    throw InputError("--svg-frames, --svg-view", "need --svg; give the name of a file");
  }
  if (a.html_fps > 0 && a.html.empty()) throw InputError("--html-fps", "needs --html; give the name of a file");
  const double dt = a.options.dt > 0 ? a.options.dt : model.defaults().dt;
  const double duration = a.duration > 0 ? a.duration : model.defaults().duration;
  if (duration / dt > kMaxSteps) {
    throw InputError(a.options.dt > 0 ? "--dt" : "--duration",
                     fmt::format("{:g} s in steps of {:g} s are more than {:g} steps; take larger steps or less time",
                                 duration, dt, kMaxSteps));
  }
  // A duration that is a multiple of dt but for rounding takes exactly that many steps.
  return {duration, std::max<std::int64_t>(1, std::llround(std::ceil(duration / dt - 1e-6)))};
}

}  // namespace sarrus::app
