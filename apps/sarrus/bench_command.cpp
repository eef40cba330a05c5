// `sarrus bench`: comparisons of solvers that anybody can run again.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench_compare.h"
#include "bench_suite.h"
#include "commands.h"
#include "sarrus/bench/convergence.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::app {
namespace {

struct ConvergenceArguments {
  std::vector<std::string> solvers;
  std::string out = "out/convergence";
  int max_iterations = 5000;
};

void run_convergence(const ConvergenceArguments& a) {
  std::vector<std::string> ids;
  for (const std::string& id : a.solvers) {
    if (id == "all") {
      for (const SolverInfo& s : solver_registry()) ids.emplace_back(s.id);
    } else {
      ids.emplace_back(solver_info(id).id);
    }
  }
  std::filesystem::create_directories(a.out);
  for (const std::string& id : ids) {
    OutputFile file("--out", (std::filesystem::path(a.out) / (id + ".svg")).string());
    const Plot plot = convergence_plot(id, 1e-10, a.max_iterations);
    file.write(to_svg(plot));
    fmt::print("{:<16}", id);
    for (const Series& s : plot.series) {
      fmt::print("  {} {:.1e} in {}", s.name, s.y.empty() ? 0.0 : s.y.back(), s.x.empty() ? 0.0 : s.x.back());
    }
    fmt::print("\n");
  }
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  CLI::App* bench = app.add_subcommand("bench", "Compare solvers, and this engine with others");
  bench->require_subcommand(1);
  add_bench_suite(*bench, exit_code);
  add_bench_compare(*bench, exit_code);
  auto a = std::make_shared<ConvergenceArguments>();
  a->solvers = {"all"};
  CLI::App* convergence = bench->add_subcommand(
      "convergence", "Judged residual against iterations on three fixed problems, an SVG a solver");
  convergence->add_option("--solvers", a->solvers, "Solver ids, or all")->delimiter(',')->type_name("LIST");
  convergence->add_option("--out", a->out, "Folder of the pictures")->type_name("DIR")->capture_default_str();
  convergence->add_option("--max-iterations", a->max_iterations, "Where the curves end")
      ->type_name("N")
      ->capture_default_str();
  convergence->callback([a] { run_convergence(*a); });
  add_bench_batch(*bench);
  add_bench_peers(*bench);
  add_bench_worlds(*bench, exit_code);
  add_bench_soak(*bench, exit_code);
}

}  // namespace sarrus::app
