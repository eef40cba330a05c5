// Samples and their replay: the same bits every time, judged from outside, failures kept.
#include "sarrus/bench/samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "bench/temporary_folder.h"
#include "effort.h"
#include "sarrus/bench/replay.h"
#include "sarrus/bench/suite.h"
#include "sarrus/math/error.h"
#include "sarrus/problem_files/problem_file.h"

namespace sarrus::samples_test {
namespace {

namespace fs = std::filesystem;

const SampleSet& boxes() {
  static const SampleSet set = record_samples(bench_system("boxes_fixed"), {.count = 3, .duration_limit = 0.3});
  return set;
}

TEST(Samples, StepsAreSpreadSeededAndDifferent) {
  const std::vector<int> steps = sample_steps("walker_like", 5000, 12);
  ASSERT_EQ(steps.size(), 12u);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_GE(steps[i], static_cast<int>(i) * 5000 / 12);
    EXPECT_LT(steps[i], (static_cast<int>(i) + 1) * 5000 / 12 + 1);
  }
  EXPECT_EQ(steps, sample_steps("walker_like", 5000, 12));
  EXPECT_NE(steps, sample_steps("gazelle_like", 5000, 12));
  EXPECT_EQ(sample_steps("a", 3, 12), (std::vector<int>{0, 1, 2}));
}

TEST(Samples, AreRecordedAgainBitForBit) {
  const SampleSet again = record_samples(bench_system("boxes_fixed"), {.count = 3, .duration_limit = 0.3});
  ASSERT_EQ(again.samples.size(), boxes().samples.size());
  for (std::size_t i = 0; i < again.samples.size(); ++i) {
    EXPECT_EQ(again.samples[i].info.hash, boxes().samples[i].info.hash);
  }
}

// The set is fixed: this value changes only with the model, the engine or the sampling, and then says so.
TEST(Samples, GoldenHashOfTwoSystems) {
  SARRUS_FULL_SIZE_ONLY();
  std::vector<SampleInfo> all;
  for (const char* id : {"boxes_fixed", "fourbar_free"}) {
    for (const Sample& s : record_samples(bench_system(id), {.count = 3, .duration_limit = 0.3}).samples) {
      all.push_back(s.info);
    }
  }
  EXPECT_EQ(set_hash(all), "7db29d061aeb8611");
}

TEST(Samples, HashSeesEveryNumber) {
  Sample s = boxes().samples.back();
  const std::string hash = problem_hash(s.problem, s.warm);
  EXPECT_EQ(hash, s.info.hash);
  s.problem.bias.back() = std::nextafter(s.problem.bias.back(), 1.0);
  EXPECT_NE(problem_hash(s.problem, s.warm), hash);
  s = boxes().samples.back();
  s.warm.front() = std::nextafter(s.warm.front(), 1.0);
  EXPECT_NE(problem_hash(s.problem, s.warm), hash);
}

TEST(Samples, DescribeTheSystem) {
  const SystemInfo& i = boxes().system;
  EXPECT_EQ(i.bodies, 2);
  EXPECT_EQ(i.joint_rows, 6);
  EXPECT_EQ(i.joint_rank, 6);
  EXPECT_EQ(i.mobility, 6);
  EXPECT_EQ(i.mass_ratio, 1000);
  EXPECT_EQ(boxes().run.steps, 300);
  EXPECT_EQ(boxes().run.not_converged, 0);
  EXPECT_EQ(boxes().run.contacts_max, 4);
}

TEST(Samples, SurviveTheirFiles) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(samples_saved(folder.path(), "boxes_fixed"));
  save_samples(folder.path(), boxes());
  EXPECT_TRUE(samples_saved(folder.path(), "boxes_fixed"));
  const SampleSet back = load_samples(folder.path(), "boxes_fixed");
  ASSERT_EQ(back.samples.size(), boxes().samples.size());
  for (std::size_t i = 0; i < back.samples.size(); ++i) {
    EXPECT_EQ(problem_hash(back.samples[i].problem, back.samples[i].warm), boxes().samples[i].info.hash);
    EXPECT_EQ(back.samples[i].info.category, boxes().samples[i].info.category);
  }
  EXPECT_EQ(back.system.mass_ratio, 1000);
}

TEST(Samples, AProblemThatIsNotTheListedOneIsRefused) {
  const test::TemporaryFolder folder;
  save_samples(folder.path(), boxes());
  Sample other = boxes().samples.front();
  other.problem.u_free[0] += 1;
  other.problem.finish();
  save_problem(folder.path() / (other.info.id + ".h5"), other.problem, other.warm);
  EXPECT_THROW(load_samples(folder.path(), "boxes_fixed"), InputError);
  std::ofstream(folder.path() / "boxes_fixed.json") << "{}";
  EXPECT_THROW(load_samples(folder.path(), "boxes_fixed"), InputError);
  EXPECT_THROW(load_samples(folder.path(), "nothing"), InputError);
}

TEST(Systems, UnknownOnesAreRefusedWithTheNearest) {
  try {
    bench_system("walker_lik");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("walker_like"), std::string::npos) << e.what();
  }
  std::set<std::string> ids;
  for (const BenchSystem& s : bench_systems()) EXPECT_TRUE(ids.insert(s.id).second) << s.id;
}

// The push acts from 2 s to 2.1 s on the heaviest body that can move.
TEST(Systems, PushActsAtItsTime) {
  const BenchSystem& arm = bench_system("arm7d");
  const Model model = arm.make();
  const int body = pushed_body(model);
  double heaviest = 0;
  for (int i = 1; i < model.body_count(); ++i)
    heaviest = std::max(heaviest, model.bodies()[static_cast<std::size_t>(i)].mass);
  EXPECT_EQ(model.bodies()[static_cast<std::size_t>(body)].mass, heaviest);
  Simulation sim(model, {.dt = 0.01});
  int pushed = 0;
  for (int i = 0; i < 250; ++i) {
    apply_push(sim, body);
    const double before = sim.assemble().u_free[6 * body];
    sim.set_body_wrench(body, Vec6::Zero());
    const bool on = std::abs(before - sim.assemble().u_free[6 * body]) > 1e-12;
    pushed += on;
    EXPECT_EQ(on, i >= 200 && i < 210) << i;
    sim.step();
  }
  EXPECT_EQ(pushed, 10);
}

TEST(Replay, GradesByTheJudgeAndCountsCold) {
  const Sample& s = boxes().samples.back();
  const ReplayOptions options;
  const SolveRecord cold = replay(s, solver_info("cascade"), 1, Start::cold, options);
  EXPECT_EQ(cold.outcome, Outcome::converged);
  EXPECT_LE(cold.natural_map_relative, 1e-9);
  EXPECT_GT(cold.iterations, 0);
  EXPECT_GT(cold.seconds, 0);
  const SolveRecord warm = replay(s, solver_info("cascade"), 1, Start::warm, options);
  EXPECT_LE(warm.natural_map_relative, 1e-9);
  EXPECT_LE(warm.iterations, cold.iterations);
}

TEST(Replay, KeepsFailures) {
  const Sample& s = boxes().samples.back();
  ReplayOptions options;
  options.levels[0].splitting_iterations = 2;
  const SolveRecord r = replay(s, solver_info("pgs-ncp"), 0, Start::cold, options);
  EXPECT_EQ(r.outcome, Outcome::max_iterations);
  EXPECT_EQ(r.iterations, 2);
  EXPECT_GT(r.natural_map_relative, 1e-6);
  EXPECT_GT(r.seconds_first, 0);
  options.dense_rows = 5;
  const SolveRecord large = replay(s, solver_info("bpp"), 0, Start::cold, options);
  EXPECT_EQ(large.outcome, Outcome::too_large);
  EXPECT_TRUE(std::isinf(large.natural_map_relative));
  EXPECT_NE(large.message.find("5 rows"), std::string::npos);
}

TEST(Replay, RepeatsChangeNothingButTheTime) {
  const Sample& s = boxes().samples.back();
  for (const char* id : {"admm-ncp-sa", "pgs-ncp", "sap", "bpp"}) {
    ReplayOptions once, often;
    once.repeats = 1;
    often.repeats = 4;
    const SolveRecord a = replay(s, solver_info(id), 0, Start::warm, once);
    const SolveRecord b = replay(s, solver_info(id), 0, Start::warm, often);
    EXPECT_EQ(a.natural_map, b.natural_map) << id;
    EXPECT_EQ(a.iterations, b.iterations) << id;
    EXPECT_EQ(a.outcome, b.outcome) << id;
  }
}

// --- the plan -------------------------------------------------------------------------------------------

SuiteOptions small_suite() {
  SuiteOptions o = quick_options({});
  o.systems = {"fourbar_free", "fourbar_fixed"};
  o.solvers = {"cascade", "pgs-ncp"};
  o.run_solvers = {"cascade", "sap"};
  o.samples = {.count = 2, .duration_limit = 0.2};
  o.replay.repeats = 1;
  return o;
}

BenchResult run_small(const fs::path& folder) {
  const SuitePlan plan = plan_suite(small_suite(), folder);
  WorkFolder work(folder, "a");
  work.run(suite_units(plan), {});
  return assemble_suite(plan);
}

TEST(Suite, HasARecordForEverySolve) {
  const test::TemporaryFolder folder;
  const BenchResult r = run_small(folder.path());
  EXPECT_EQ(r.systems.size(), 2u);
  EXPECT_EQ(r.samples.size(), 4u);
  EXPECT_EQ(r.solves.size(), 4u * 2 * 2 * 2);
  EXPECT_EQ(r.runs.size(), 4u);
  EXPECT_EQ(r.runs[0].solver, "cascade");
  EXPECT_EQ(r.runs[1].solver, "sap");
  EXPECT_GE(r.curves.size(), 2u);
  std::set<std::vector<int>> different;
  for (const SolveRecord& s : r.solves) {
    different.insert({s.sample, s.solver, s.level, static_cast<int>(s.start)});
    if (s.solver == 0) {
      EXPECT_TRUE(r.solved(s));
    }
  }
  EXPECT_EQ(different.size(), r.solves.size());
  for (const SampleInfo& s : r.samples) {
    EXPECT_EQ(s.id.rfind(r.systems[static_cast<std::size_t>(s.system)].id + "/", 0), 0u);
  }
}

TEST(Suite, ResumesWithoutWorkingTwiceAndRefusesOtherOptions) {
  const test::TemporaryFolder folder;
  const SuitePlan plan = plan_suite(small_suite(), folder.path());
  run_small(folder.path());
  fs::path gone = folder.path() / "results" / "solves.fourbar_fixed.pgs-ncp.json";
  ASSERT_TRUE(fs::remove(gone));
  int ran = 0;
  std::vector<WorkUnit> units = suite_units(plan);
  for (WorkUnit& u : units) {
    u.run = [&ran, run = u.run] {
      ++ran;
      run();
    };
  }
  WorkFolder(folder.path(), "b").run(units, {});
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(fs::exists(gone));
  SuiteOptions other = small_suite();
  other.replay.repeats = 2;
  EXPECT_THROW(plan_suite(other, folder.path()), InputError);
  other = small_suite();
  other.solvers = {"no-such-solver"};
  EXPECT_THROW(plan_suite(other, folder.path()), InputError);
}

TEST(Suite, DamagedResultsAreNamed) {
  const test::TemporaryFolder folder;
  run_small(folder.path());
  std::ofstream(folder.path() / "results" / "run.fourbar_free.sap.json") << "{\"columns\": [], \"rows\": [[]]}";
  try {
    assemble_suite(plan_suite(small_suite(), folder.path()));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("run.fourbar_free.sap.json"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace sarrus::samples_test
