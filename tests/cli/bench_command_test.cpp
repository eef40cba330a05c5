// `sarrus bench` as a user runs it: outputs, resuming, and several ranks.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/command.h"

namespace sarrus::bench_command_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Command;
using test::read;
using test::Result;

constexpr const char* kSmall =
    "bench suite --quick --systems fourbar_fixed,fourbar_free --solvers cascade,pgs-ncp,drum-qcqp --run-solvers "
    "cascade "
    "--samples 2 --repeats 1 --quiet";

// What must not depend on the machine's load: everything but times and the number of ranks.
json without_times(json j) {
  j.erase("seconds");
  j["machine"].erase("ranks");
  for (auto& [key, table] : j.items()) {
    if (!table.is_object() || !table.contains("columns")) continue;
    std::vector<std::size_t> keep;
    for (std::size_t i = 0; i < table["columns"].size(); ++i) {
      const std::string column = table["columns"][i];
      const bool timed = column.rfind("seconds", 0) == 0 || column == "assembly_s" || column == "real_time_factor" ||
                         column.rfind("step_", 0) == 0 || column.rfind("solve_median", 0) == 0;
      if (!timed) keep.push_back(i);
    }
    for (json& row : table["rows"]) {
      json kept = json::array();
      for (const std::size_t i : keep) kept.push_back(row[i]);
      row = kept;
    }
  }
  return j;
}

class BenchCommand : public Command {
 protected:
  std::string small(const std::string& more) const {
    return std::string(kSmall) + " --work '" + file("work") + "' " + more;
  }
  json results(const std::string& name) const { return json::parse(read(folder_ / name)); }
};

TEST_F(BenchCommand, WritesAllOutputsAndCleansUp) {
  const Result r =
      run(small("--json '" + file("a.json") + "' --csv '" + file("a.csv") + "' --html '" + file("a.html") + "'"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"a.csv", "a.html", "a.json"}));
  const json j = results("a.json");
  EXPECT_EQ(j["samples"]["rows"].size(), 4u);
  EXPECT_EQ(j["solves"]["rows"].size(), 4u * 3 * 2 * 2);
  EXPECT_EQ(j["runs"]["rows"].size(), 2u);
  EXPECT_EQ(j["command"],
            "sarrus bench suite --quick --systems fourbar_fixed,fourbar_free --solvers cascade,pgs-ncp,drum-qcqp "
            "--run-solvers cascade --samples 2 --repeats 1");
  const std::string html = read(folder_ / "a.html");
  EXPECT_NE(html.find("<svg"), std::string::npos);
  EXPECT_EQ(html.find("src=\"http"), std::string::npos);
  const std::string csv = read(folder_ / "a.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 4 * 3 * 2 * 2);
}

TEST_F(BenchCommand, SameResultsEveryTimeAndComparedAsSuch) {
  ASSERT_EQ(run(small("--json '" + file("a.json") + "'")).exit_code, 0);
  ASSERT_EQ(run(small("--json '" + file("b.json") + "'")).exit_code, 0);
  EXPECT_EQ(without_times(results("a.json")), without_times(results("b.json")));
  const Result same = run("bench compare '" + file("a.json") + "' '" + file("a.json") + "'");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  expect_refused("bench compare '" + file("a.json") + "' '" + file("nothing.json") + "'", "nothing.json");
}

TEST_F(BenchCommand, ComparesBuildsInTurn) {
  const std::string self = "'" + std::string(SARRUS_COMMAND) + "'";
  const std::string scenes = " --scenes fourbar_swing,box_on_plane --rounds 2 --duration 0.05";
  const Result r = run("bench compare " + self + " " + self + scenes + " --json '" + file("c.json") + "'");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NE(r.out.find("| fourbar_swing | "), std::string::npos) << r.out;
  const json j = results("c.json");
  ASSERT_EQ(j["scenes"].size(), 2u);
  for (const json& row : j["scenes"]) {
    EXPECT_GT(row["old"]["us_median"], 0);
    EXPECT_LE(row["old"]["us_median"], row["old"]["us_p99"]);
    EXPECT_LE(row["old"]["us_p99"], row["old"]["us_worst"]);
    // What no clock measures is the same in the same build.
    for (const char* key : {"joint_gap_m", "residual", "drift", "missed_steps"}) {
      EXPECT_EQ(row["old"][key], row["new"][key]) << key;
    }
  }
  expect_refused("bench compare " + self + " " + self + " --scenes fourbar_swin", "fourbar_swing");
  const std::string other = "/bin/false";  // a program, but no command of ours
  expect_refused("bench compare " + self + " " + other + " --scenes fourbar_swing", other);
  expect_refused("bench compare " + self + " '" + file("c.json") + "'", "two results or two commands");
  expect_refused("bench compare '" + file("c.json") + "' '" + file("c.json") + "' --rounds 2", "are for two commands");
}

TEST_F(BenchCommand, RefusesWhatItCannotDo) {
  expect_refused("bench suite --systems walker_lik", "did you mean 'walker_like'");
  expect_refused("bench suite --systems box_on_plane --solvers pgs --work '" + file("w") + "'", "solver 'pgs'");
  expect_refused("bench suite --samples -1", "--samples");
  expect_refused("bench scaling --sizes 0", "--sizes");
  expect_refused("bench suite --systems box_on_plane --json '" + file("no/such/folder.json") + "'", "--json");
  EXPECT_TRUE(leftovers().empty());
}

TEST_F(BenchCommand, SamplesAreProblemFiles) {
  const Result r = run("bench samples --quick --systems fourbar_free --out '" + file("s") + "'");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  std::string problem;
  for (const auto& entry : fs::directory_iterator(folder_ / "s" / "fourbar_free")) problem = entry.path().string();
  ASSERT_FALSE(problem.empty());
  EXPECT_EQ(run("solve '" + problem + "'").exit_code, 0);
}

#ifdef SARRUS_MPIRUN

// As root (containers) Open MPI wants to be told so; two ranks on one core too.
constexpr const char* kMpirun = SARRUS_MPIRUN " -n 2 --oversubscribe --allow-run-as-root";

TEST_F(BenchCommand, TwoRanksGiveTheSameResults) {
  ASSERT_EQ(run(small("--json '" + file("one.json") + "'")).exit_code, 0);
  const Result r = run(small("--json '" + file("two.json") + "'"), kMpirun);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(results("two.json")["machine"]["ranks"], 2);
  EXPECT_EQ(without_times(results("one.json")), without_times(results("two.json")));
}

// Process number of the worker of a rank, from the name of its sign of life: rank1.<host>.<number>.
int process_of(const fs::path& work, const std::string& rank) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(work / "alive", ignored)) {
    const std::string name = entry.path().filename();
    if (name.rfind(rank + ".", 0) == 0) return std::stoi(name.substr(name.rfind('.') + 1));
  }
  return 0;
}

TEST_F(BenchCommand, AKilledRankIsReportedAndItsWorkDoneWhenRunAgain) {
  const std::string arguments =
      "bench suite --systems jansen_walker,box_wall --solvers cascade,raisim --run-solvers cascade --samples 4 --quiet "
      "--patience 1 --work '" +
      file("work") + "' --json '" + file("a.json") + "'";
  std::thread killer([&] {
    for (int i = 0; i < 3000; ++i) {
      const int process = process_of(folder_ / "work", "rank1");
      std::error_code ignored;
      if (process > 0 && !fs::is_empty(folder_ / "work" / "claims", ignored) && !ignored) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        ::kill(process, SIGKILL);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  const Result r = run(arguments, kMpirun);
  killer.join();
  EXPECT_NE(r.exit_code, 0);
  EXPECT_NE(r.err.find("a rank was lost"), std::string::npos) << r.err;
  EXPECT_FALSE(fs::exists(folder_ / "a.json"));
  const Result again = run("bench suite --quick --systems box_on_plane --work '" + file("work") + "'");
  EXPECT_EQ(again.exit_code, 2) << "another benchmark must not mix with unfinished work";
}

#endif

}  // namespace
}  // namespace sarrus::bench_command_test
