// Benchmark records as JSON and CSV: nothing is lost on the way, and damaged files are refused by name.
#include "sarrus/bench/result.h"

#include <gtest/gtest.h>

#include <limits>

#include "sarrus/bench/summary_text.h"
#include "sarrus/math/error.h"

namespace sarrus::result_test {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

BenchResult example() {
  BenchResult r;
  r.kind = "suite";
  r.command = "sarrus bench suite --quick";
  r.quick = true;
  r.machine = {"a processor", 2, "gcc 12.2", "0.1.0", 2};
  r.tolerances = {1e-6, 1e-9};
  r.solvers = {{"cascade", Law::ncp, "the default", ""}, {"sap", Law::ccp, "convex, \"soft\"", "x=1, y=2"}};
  r.systems.resize(1);
  r.systems[0].id = "box";
  r.systems[0].mass_ratio = 1.0 / 3;
  r.samples.resize(1);
  r.samples[0].id = "box/7";
  r.samples[0].category = ProblemCategory::dense_contacts;
  r.samples[0].hash = "00ff";
  r.solves.resize(2);
  r.solves[0].start = Start::warm;
  r.solves[0].natural_map = 0.1;
  r.solves[1].solver = 1;
  r.solves[1].level = 1;
  r.solves[1].outcome = Outcome::refused;
  r.solves[1].natural_map = kNever;
  r.solves[1].message = "says \"no\", and why";
  r.runs.resize(1);
  r.runs[0].solver = "cascade";
  r.runs[0].joint_gap = 1e-13;
  r.curves = {{0, 1, {1, 2, 3}, {1, 0.5, kNever}}};
  r.scaling.resize(1);
  r.scaling[0].family = "chain";
  r.scaling[0].bytes = 1e9;
  r.seconds = 12.5;
  return r;
}

TEST(BenchResult, SurvivesJson) {
  const BenchResult a = example();
  const std::string text = to_json(a);
  const BenchResult b = bench_result_from_json(text, "a.json");
  EXPECT_EQ(to_json(b), text);
  EXPECT_EQ(b.systems[0].mass_ratio, 1.0 / 3);
  EXPECT_EQ(b.samples[0].category, ProblemCategory::dense_contacts);
  EXPECT_EQ(b.solves[0].start, Start::warm);
  EXPECT_EQ(b.solves[1].outcome, Outcome::refused);
  EXPECT_EQ(b.solves[1].natural_map, kNever);
  EXPECT_EQ(b.solvers[1].law, Law::ccp);
  EXPECT_EQ(b.curves[0].iterations, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(b.curves[0].residual[2], kNever);
}

void expect_refused(const std::string& text, const std::string& part) {
  try {
    bench_result_from_json(text, "bad.json");
    FAIL() << "accepted: " << part;
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).rfind("bad.json: ", 0), 0u) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = to_json(example());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(BenchResult, RefusesDamagedFiles) {
  expect_refused("", "cannot be read");
  expect_refused("[]", "no result of a benchmark");
  expect_refused("{\"format\": \"other\"}", "no result of a benchmark");
  expect_refused(to_json(example()).substr(0, 400), "cannot be read");
  expect_refused(replaced("\"version\":1", "\"version\":99"), "version 99");
  expect_refused(replaced("\"dense contacts\"", "\"dense things\""), "'dense things' is not known");
  expect_refused(replaced("\"mass_ratio\"", "\"mass\""), "column 'mass_ratio' is missing");
  expect_refused(replaced("\"tolerances\":[1e-06,1e-09]", "\"tolerances\":[1e-06]"), "'solves' has a level 1");
}

TEST(BenchResult, CsvNamesWhatIndicesMean) {
  const std::string text = solves_csv(example());
  EXPECT_EQ(text.rfind("sample,solver,level,start,outcome,", 0), 0u);
  EXPECT_NE(text.find("\nbox/7,cascade,1e-06,warm,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"says \"\"no\"\", and why\""), std::string::npos) << text;
  EXPECT_NE(runs_csv(example()).find("\nbox,cascade,"), std::string::npos);
  EXPECT_NE(scaling_csv(example()).find("\nchain,"), std::string::npos);
}

TEST(BenchResult, CountsRefusedSolvesAsNotSolved) {
  BenchResult r = example();
  r.solves[0].natural_map_relative = 1e-12;
  r.solves[1].natural_map_relative = r.solves[1].own_law_relative = kNever;
  const std::string text = to_text(r);
  EXPECT_NE(text.find("1/1"), std::string::npos);
  EXPECT_NE(text.find("0/1"), std::string::npos) << text;
}

TEST(SolveRecord, TimePerIterationLeavesTheFirstOut) {
  SolveRecord r;
  r.seconds = 10;
  r.seconds_first = 4;
  r.iterations = 4;
  EXPECT_DOUBLE_EQ(r.seconds_per_iteration(), 2);
  r.iterations = 1;
  EXPECT_EQ(r.seconds_per_iteration(), 0);
}

}  // namespace
}  // namespace sarrus::result_test
