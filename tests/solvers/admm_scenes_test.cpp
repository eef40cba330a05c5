// ADMM on problems recorded from the built-in scenes: all variants reach their tolerance, both linear-algebra paths
// and all formulations agree, and whatever is missed is reported as missed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "effort.h"
#include "sarrus/solvers/registry.h"
#include "solvers/recorded_problems.h"

namespace sarrus::admm_scenes_test {
namespace {

using testing::record_scene;
using testing::Recorded;
using testing::velocity_difference;

constexpr double kTolerance = 1e-8;

struct SceneRun {
  const char* scene;
  int skip, steps, every;
};

// Recorded around the events: impacts of the dropped bodies, motion of the driven ones. Mass ratio up to 1000.
const std::vector<SceneRun> kScenes = {{"box_on_plane", 95, 60, 6},
                                       {"boxes_fixed", 95, 60, 12},
                                       {"nunchuk", 95, 150, 15},
                                       {"fourbar_fixed", 0, 200, 20},
                                       {"fourbar_free", 0, 200, 20},
                                       {"fourbar_swing", 0, 300, 30},
                                       {"slider_crank", 0, 200, 20},
                                       {"stewart_platform", 0, 200, 40},
                                       {"bennett_linkage", 0, 200, 20},
                                       {"sarrus_linkage", 0, 200, 20},
                                       {"ring20", 8, 40, 4},
                                       {"stack15_equal", 0, 60, 20},
                                       {"incline", 0, 100, 10},
                                       {"sphere_stack", 0, 60, 20}};

// Scenes where not every problem is solved: many sliding contacts at mu = 1, or hundreds of redundant rows.
const std::vector<SceneRun> kHardScenes = {
    {"ring20_tilted", 8, 60, 2}, {"clutter40", 150, 450, 15}, {"jansen_walker", 0, 400, 20}};

const std::vector<Recorded>& recorded(const SceneRun& run) {
  static std::map<std::string, std::vector<Recorded>> cache;
  auto [it, is_new] = cache.try_emplace(run.scene);
  if (is_new) it->second = record_scene(run.scene, run.skip, run.steps, run.every);
  return it->second;
}

struct Answer {
  std::vector<double> lambda;
  SolveReport report;
  double relative = 0;  // natural map of the solver's law over S, by an independent call of the judge
};

Answer solve(const ConstraintProblem& p, std::string_view id, const SolverParameters& parameters,
             double tolerance = kTolerance) {
  Answer a;
  a.lambda.assign(static_cast<std::size_t>(p.rows()), 0.0);
  a.report = make_solver(id, parameters)->solve(p, tolerance, a.lambda);
  JudgeWorkspace ws;
  const Residuals r = judge(p, a.lambda, ws);
  a.relative = r.error(solver_info(id).law);
  EXPECT_EQ(a.report.residuals.natural_map, r.natural_map) << id;
  EXPECT_EQ(a.report.residuals.natural_map_ccp, r.natural_map_ccp) << id;
  EXPECT_TRUE(r.finite) << id;
  return a;
}

// The fixed penalty rho = 1 needs up to 11 600 iterations on boxes_fixed and sphere_stack; the adaptive rules at most
// a few hundred. It also stagnates at 3e-8 on one of the nunchuk's problems (solved after 340 000 iterations): without
// adaptation nothing breaks its cycle.
double iteration_limit(std::string_view id) { return id == "admm-ncp-fp" ? 20000 : 10000; }
double required(std::string_view id, std::string_view scene) {
  return id == "admm-ncp-fp" && scene == "nunchuk" ? 1e-7 : kTolerance;
}

TEST(AdmmScenes, AllVariantsReachTheirTolerance) {
  for (const SceneRun& run : kScenes) {
    ASSERT_FALSE(recorded(run).empty()) << run.scene;
    for (const Recorded& r : recorded(run)) {
      for (const SolverInfo& s : solver_registry()) {
        if (!s.id.starts_with("admm-")) continue;
        SolverParameters parameters = {{"max_iterations", iteration_limit(s.id)}};
        if (s.id.starts_with("admm-paper")) parameters["own_stop"] = 0;
        if (s.id == "admm-paper-ccp") parameters.insert({{"rule", 2}, {"eta", 1e-6}});
        const Answer a = solve(r.problem, s.id, parameters);
        EXPECT_LE(a.relative, required(s.id, run.scene)) << s.id << ", " << r.scene << ", step " << r.step;
        EXPECT_EQ(a.report.status == SolveStatus::converged, a.relative <= kTolerance)
            << s.id << ", " << r.scene << ", step " << r.step;
      }
    }
  }
}

// A miss is allowed here, a hidden miss is not. Which problems are recorded depends on every digit of the engine, so
// the bounds leave room: the adaptive rules stay within what the simulator accepts by default (1e-3; 9.1e-4 measured),
// the fixed penalty need not, and nothing is asked of the papers' own stop.
TEST(AdmmScenes, MissesOfTheHardScenesAreReported) {
  SARRUS_FULL_SIZE_ONLY();
  struct Bound {
    double share, residual;
  };
  const std::map<std::string, Bound> bounds = {{"admm-ncp-fp", {0.6, 1e-2}}, {"admm-ncp-la", {0.3, 1e-3}},
                                               {"admm-ncp-sa", {0.3, 1e-3}}, {"admm-ccp", {0.7, 1e-3}},
                                               {"admm-paper", {1, 1}},       {"admm-paper-ccp", {1, 1}}};
  fmt::print("{:<14} {:<12} {:>9} {:>7} {:>12} {:>12}\n", "scene", "solver", "problems", "missed", "worst error",
             "iterations");
  for (const SceneRun& run : kHardScenes) {
    const std::vector<Recorded>& problems = recorded(run);
    for (const SolverInfo& s : solver_registry()) {
      if (!s.id.starts_with("admm-")) continue;
      int missed = 0;
      double worst = 0;
      long iterations = 0;
      for (const Recorded& r : problems) {
        const Answer a = solve(r.problem, s.id, {{"max_iterations", 10000}});
        iterations += a.report.iterations;
        EXPECT_EQ(a.report.status == SolveStatus::converged, a.relative <= kTolerance)
            << s.id << ", " << r.scene << ", step " << r.step;
        if (a.relative > kTolerance) ++missed;
        worst = std::max(worst, a.relative);
      }
      const Bound& bound = bounds.at(std::string(s.id));
      const auto count = static_cast<double>(problems.size());
      EXPECT_LE(missed, bound.share * count) << s.id << ", " << run.scene;
      EXPECT_LE(worst, bound.residual) << s.id << ", " << run.scene;
      fmt::print("{:<14} {:<12} {:>9} {:>7} {:>12.2e} {:>12.0f}\n", run.scene, s.id, problems.size(), missed, worst,
                 static_cast<double>(iterations) / count);
    }
  }
}

// The node graph against a dense D: the same iterates up to round-off. Impulses differ by 1e-13 N m s, and the lightest
// body of the Stewart platform has an inverse inertia of 2.3e4 1/(kg m^2): 2.5e-9 rad/s.
TEST(AdmmScenes, BlockAndDensePathsAgree) {
  for (const SceneRun& run : kScenes) {
    const std::vector<Recorded>& problems = recorded(run);
    for (std::size_t i = 0; i < problems.size(); i += 4) {
      const Recorded& r = problems[i];
      for (const std::string id : {"admm-ncp-la", "admm-ncp-sa", "admm-ccp"}) {
        const Answer block = solve(r.problem, id, {{"max_iterations", 10000}});
        const Answer dense = solve(r.problem, id, {{"max_iterations", 10000}, {"dense", 1}});
        EXPECT_LE(std::abs(block.report.iterations - dense.report.iterations), 2) << id << ", " << r.scene << r.step;
        EXPECT_LE(velocity_difference(r.problem, block.lambda, dense.lambda), 4e-9) << id << ", " << r.scene << r.step;
      }
    }
  }
}

// Row scaling, the papers' splitting and over-relaxation change the way, not the goal.
TEST(AdmmScenes, FormulationsAgreeOnTheMotion) {
  const std::vector<SolverParameters> forms = {{{"scaling", 0}}, {{"scaling", 2}}, {{"split_joints", 1}},
                                               {{"omega", 1.5}}, {{"eta", 1e-4}},  {{"adapt_every", 10}}};
  for (const SceneRun& run : kScenes) {
    const Recorded& r = recorded(run).back();
    const Answer reference = solve(r.problem, "admm-ncp-sa", {{"max_iterations", 50000}});
    for (SolverParameters form : forms) {
      const std::string label = form.begin()->first;
      form["max_iterations"] = 50000;
      const Answer a = solve(r.problem, "admm-ncp-sa", form);
      EXPECT_EQ(a.report.status, SolveStatus::converged) << label << ", " << r.scene;
      const double difference = velocity_difference(r.problem, reference.lambda, a.lambda);
      EXPECT_LE(difference, 1e-5) << label << ", " << r.scene;
    }
  }
}

// A warm start is worth something: from the answer of the problem before, fewer iterations on average.
TEST(AdmmScenes, WarmStartsSaveIterations) {
  long cold = 0;
  long warm = 0;
  for (const SceneRun& run : kScenes) {
    const std::vector<Recorded>& problems = recorded(run);
    for (const Recorded& r : problems) {
      const Answer a = solve(r.problem, "admm-ncp-sa", {{"max_iterations", 10000}});
      std::vector<double> lambda = a.lambda;
      for (double& x : lambda) x *= 1.0 + 1e-4;  // as if loads had changed a little
      const SolveReport report = make_solver("admm-ncp-sa")->solve(r.problem, kTolerance, lambda);
      EXPECT_EQ(report.status, SolveStatus::converged) << r.scene;
      cold += a.report.iterations;
      warm += report.iterations;
    }
  }
  EXPECT_LT(warm, cold);
}

}  // namespace
}  // namespace sarrus::admm_scenes_test
