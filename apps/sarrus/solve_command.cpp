// `sarrus solve`: gives stored constraint problems to one or all solvers and prints what the judge says.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "commands.h"
#include "problem_solve.h"
#include "run_options.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"

namespace sarrus::app {
namespace {

using Json = nlohmann::ordered_json;

struct SolveArguments {
  std::vector<std::string> files;
  std::vector<std::string> solvers;
  std::vector<std::string> parameters;
  SolveSettings settings{.goal = 1e-8};
  std::string criterion{name_of(Criterion::energy)};
  std::string json;
  std::string output;
  bool in_place = false;
};

void check(const SolveArguments& a) {
  const double t = a.settings.goal.tolerance;
  if (!(t > 0 && std::isfinite(t))) throw InputError("--tolerance", fmt::format("is {}; give a finite number > 0", t));
  if (a.settings.goal.budget < 1) {
    throw InputError("--budget", fmt::format("is {}; give a number >= 1", a.settings.goal.budget));
  }
  if (a.settings.repeat < 1) {
    throw InputError("--repeat", fmt::format("is {}; give a number >= 1", a.settings.repeat));
  }
  if (!a.output.empty() && a.in_place) throw InputError("--in-place", "excludes --output; give one of them");
  if (!a.output.empty() && a.files.size() > 1) {
    throw InputError("--output", "takes the solution of one file; give one FILE, or --in-place for several");
  }
  std::error_code ignored;
  std::map<std::filesystem::path, std::string> inputs;
  for (const std::string& f : a.files) inputs.emplace(std::filesystem::weakly_canonical(f, ignored), f);
  if (inputs.size() < a.files.size()) throw InputError("FILE", "names the same file twice; give each once");
  for (const auto& [option, path] : {std::pair{"--json", &a.json}, std::pair{"--output", &a.output}}) {
    if (path->empty() || inputs.count(std::filesystem::weakly_canonical(*path, ignored)) == 0) continue;
    throw InputError(option, fmt::format("would overwrite the problem '{}'; give another name{}", *path,
                                         path == &a.output ? " or --in-place" : ""));
  }
  if (!a.json.empty() && !a.output.empty() &&
      std::filesystem::weakly_canonical(a.json, ignored) == std::filesystem::weakly_canonical(a.output, ignored)) {
    throw InputError("--output", fmt::format("names the same file as --json: '{}'; give two names", a.output));
  }
}

void print_header(const LoadedProblem& problem) {
  const ConstraintProblem& p = problem.stored.problem;
  fmt::print("{}: {}\n", problem.file, problem.stored.kind);
  fmt::print("  contacts {}, joints {}, soft {}, limits {}, rows {}, nodes {}\n", problem.count(BlockKind::contact),
             problem.count(BlockKind::joint), problem.count(BlockKind::soft), problem.count(BlockKind::limit), p.rows(),
             p.node_count());
  if (!problem.fclib || problem.fclib->global) fmt::print("  mass ratio {:.3g}", problem.mass_ratio());
  if (!problem.fclib) fmt::print(", dt {:g} s", p.dt);
  if (!problem.fclib) {
    fmt::print("\n");
    return;
  }
  const FclibInfo& info = *problem.fclib;
  if (info.global) {
    fmt::print(", asymmetry of M {:.2g}\n", info.asymmetry);
    return;
  }
  fmt::print("  W: eigenvalues {:.3g} to {:.3g}, rank {} of {}, asymmetry {:.2g}\n", info.eigenvalue_min,
             info.eigenvalue_max, info.rank, p.rows(), info.asymmetry);
  if (info.indefinite) {
    fmt::print("  note: W is indefinite ({:.2g} of its largest eigenvalue); solved without its negative part\n",
               info.eigenvalue_min / info.eigenvalue_max);
  }
}

void print_table(const std::vector<SolveResult>& results, const Goal& goal) {
  fmt::print("  tolerance {:g} on the error, criterion {}\n", goal.tolerance, name_of(goal.criterion));
  std::size_t width = 6;
  for (const SolveResult& r : results) width = std::max(width, r.solver.size());
  fmt::print("  {:<{}}  {:<14} {:>6} {:>6} {:>11}  {:>11} {:>9} {:>9} {:>9} {:>15}\n", "solver", width, "status",
             "iter.", "fact.", "time [us]", "natural map", "error", "primal", "dual", "complementarity");
  for (const SolveResult& r : results) {
    const Residuals& x = r.residuals;
    fmt::print("  {:<{}}  {:<14} {:>6} {:>6} {:>11.1f}  {:>11.2e} {:>9.2e} {:>9.2e} {:>9.2e} {:>15.2e}\n", r.solver,
               width, name_of(r.status), r.iterations, r.factorisations, r.microseconds, x.natural_map,
               x.error(Law::ncp, goal.criterion), x.primal, x.dual, x.complementarity);
  }
}

Json to_json(const LoadedProblem& problem, const std::vector<SolveResult>& results, const Goal& goal) {
  Json list = Json::array();
  for (const SolveResult& r : results) {
    list.push_back({{"solver", r.solver},
                    {"status", name_of(r.status)},
                    {"converged", r.converged},
                    {"iterations", r.iterations},
                    {"factorisations", r.factorisations},
                    {"time_us", r.microseconds},
                    {"natural_map", r.residuals.natural_map},
                    {"error", r.residuals.error(Law::ncp, goal.criterion)},
                    {"primal", r.residuals.primal},
                    {"dual", r.residuals.dual},
                    {"complementarity", r.residuals.complementarity}});
  }
  Json j = {{"file", problem.file},
            {"kind", problem.stored.kind},
            {"contacts", problem.count(BlockKind::contact)},
            {"rows", problem.stored.problem.rows()},
            {"nodes", problem.stored.problem.node_count()},
            {"tolerance", goal.tolerance},
            {"criterion", name_of(goal.criterion)}};
  if (problem.fclib) {
    const FclibInfo& info = *problem.fclib;
    j["asymmetry"] = info.asymmetry;
    if (!info.global) {
      j["eigenvalue_min"] = info.eigenvalue_min;
      j["eigenvalue_max"] = info.eigenvalue_max;
      j["rank"] = info.rank;
      j["indefinite"] = info.indefinite;
    }
  }
  if (!problem.fclib || problem.fclib->global) j["mass_ratio"] = problem.mass_ratio();
  j["results"] = std::move(list);
  return j;
}

// The answer with the smallest error, for the file; nullptr if no solver gave finite numbers.
const SolveResult* best(const std::vector<SolveResult>& results) {
  const SolveResult* out = nullptr;
  for (const SolveResult& r : results) {
    if (r.residuals.finite && (out == nullptr || r.error < out->error)) out = &r;
  }
  return out;
}

// One file; returns whether some solver met the tolerance. `output` is where the solution goes, if anywhere.
bool solve_file(const SolveArguments& a, const std::string& file, const std::vector<SolverChoice>& solvers,
                OutputFile& output, Json& json) {
  const LoadedProblem problem = load_any_problem(file);
  std::vector<SolveResult> results;
  for (const SolverChoice& s : solvers) results.push_back(solve(problem, s, a.settings));
  const SolveResult* answer = best(results);
  if (output.wanted() && answer != nullptr) {
    save_solution(problem, output.path(), answer->lambda);
    output.commit();
  }
  if (!OutputFile::is_standard_output(a.json)) {
    print_header(problem);
    print_table(results, a.settings.goal);
  }
  json = to_json(problem, results, a.settings.goal);
  return std::any_of(results.begin(), results.end(), [](const SolveResult& r) { return r.converged; });
}

int solve_files(const SolveArguments& a) {
  check(a);
  const std::vector<SolverChoice> solvers = choose_solvers(a.solvers, parse_parameters(a.parameters));
  OutputFile json_file("--json", a.json);
  Json problems = Json::array();
  int exit_code = kExitOk;
  for (const std::string& file : a.files) {
    Json json;
    try {
      // A missing file must not be created by the attempt to write its solution.
      std::error_code ignored;
      const bool in_place = a.in_place && std::filesystem::is_regular_file(file, ignored);
      OutputFile output(a.in_place ? "--in-place" : "--output", in_place ? file : a.output);
      const bool converged = solve_file(a, file, solvers, output, json);
      if (!converged && exit_code == kExitOk) exit_code = kExitSimulationFailed;
    } catch (const InputError& e) {
      if (a.files.size() == 1) throw;
      // The other files are still worth their answers.
      fmt::print(stderr, "sarrus: error: {}\n", e.what());
      json = {{"file", file}, {"error", e.what()}, {"results", Json::array()}};
      exit_code = kExitBadInput;
    }
    problems.push_back(std::move(json));
  }
  const Json out = problems.size() == 1 ? problems[0] : Json{{"problems", problems}};
  json_file.write(out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return exit_code;
}

}  // namespace

void add_solve_command(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<SolveArguments>();
  CLI::App* command = app.add_subcommand("solve", "Solve stored constraint problems and print judged residuals");
  command->add_option("files", a->files, "Problems of `sarrus run --dump-problems`, or FCLIB files (HDF5)")
      ->required()
      ->type_name("FILE");
  command->add_option("--solver", a->solvers, "Solver, see `sarrus solvers`, or all; repeatable")
      ->type_name("ID")
      ->allow_extra_args(false);
  command->add_option("--tolerance", a->settings.goal.tolerance, "Tolerance on the judged error")
      ->type_name("X")
      ->capture_default_str();
  command->add_option("--criterion", a->criterion, "What the tolerance is compared with: energy, absolute or papers")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--budget", a->settings.goal.budget, "Factorisations per island, by solvers that count them")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--param", a->parameters, "Parameter of the solvers that have it, name=value; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--warm", a->settings.warm, "Start from the stored warm start instead of zero");
  command->add_option("--repeat", a->settings.repeat, "Solve N times; the time is the smallest")->type_name("N");
  command->add_option("--json", a->json, "Write the results as JSON")->type_name("FILE");
  command->add_option("--output", a->output, "Write a copy of the problem with its solution")->type_name("FILE");
  command->add_flag("--in-place", a->in_place, "Write the solution into the problem file itself");
  command->footer(
      "Residuals are computed by one judge from the problem and the answer, not by the solver. With several\n"
      "solvers the solution with the smallest error is written. Of several files a bad one is reported and\n"
      "the others are solved.\n"
      "Exit codes: 0 for every file some solver met the tolerance, 2 bad input, 3 for some file none did.");
  command->callback([a, &exit_code] {
    a->settings.goal.criterion = criterion_from_name(a->criterion);
    exit_code = solve_files(*a);
  });
}

}  // namespace sarrus::app
