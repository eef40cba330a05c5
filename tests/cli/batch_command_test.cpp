// `sarrus batch`: the same results whoever did the runs, killed and resumed, what is refused, the page and the schema.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.h"

namespace sarrus::batch_command_test {
namespace {

using test::Command;
using test::read;
using test::Result;
using test::fs::path;
namespace fs = test::fs;

class BatchCommand : public Command {
 protected:
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  void write_sweep(int runs, double duration) const {
    write("sweep.json", R"({"scene": "fourbar_free", "samples": )" + std::to_string(runs) +
                            R"(, "options": {"duration": )" + std::to_string(duration) +
                            R"(}, "vary": [{"target": "material.default.friction", "uniform": [0.2, 0.9]},
                               {"target": "state.v.base.x", "normal": [0, 1]}],
                               "record": {"every": 20, "keep": ["q"]}})");
  }
  Result batch(const std::string& arguments, const std::string& before = {}) const {
    return run("batch '" + file("sweep.json") + "' --quiet " + arguments, before);
  }
  std::string results(const std::string& name) const {
    return "--out '" + file(name + ".h5") + "' --csv '" + file(name + ".csv") + "' ";
  }
};

TEST_F(BatchCommand, ThreadsAndRanksGiveTheSameResults) {
  write_sweep(7, 0.04);
  ASSERT_EQ(batch(results("one") + "--threads 1").exit_code, 0);
  ASSERT_EQ(batch(results("three") + "--threads 3").exit_code, 0);
  const std::string one = read(file("one.csv"));
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 8);
  EXPECT_EQ(read(file("three.csv")), one);
  EXPECT_GT(fs::file_size(file("one.h5")), 1000U);
#ifdef SARRUS_MPIRUN
  // As root (containers) Open MPI wants to be told so; two ranks on one core too.
  const Result r = batch(results("ranks"), SARRUS_MPIRUN " -n 2 --oversubscribe --allow-run-as-root");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(read(file("ranks.csv")), one);
#endif
  EXPECT_FALSE(fs::exists(file("one.h5.work")));
}

TEST_F(BatchCommand, KilledItGoesOnBehindWhatWasFinished) {
  write_sweep(150, 0.5);
  ASSERT_EQ(batch(results("whole")).exit_code, 0);
  const path work = file("work");
  const auto finished = [&] {
    std::map<std::string, std::string> out;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(work / "results", ignored)) {
      const std::string name = entry.path().filename();
      if (name.find('.') == std::string::npos) out[name] = read(entry.path());
    }
    return out;
  };
  // Killed as soon as a few more are done.
  std::map<std::string, std::string> known;
  for (int round = 1; round <= 2; ++round) {
    const std::string wanted = std::to_string(known.size() + 5);
    const std::string script = "'" SARRUS_COMMAND "' batch '" + file("sweep.json") + "' --quiet --threads 1 " +
                               results("killed") + "--work '" + work.string() +
                               "' & pid=$!; for i in $(seq 3000); do "
                               "[ \"$(ls '" +
                               (work / "results").string() + "' 2>/dev/null | grep -vc part)\" -ge " + wanted +
                               " ] && break; sleep 0.01; done; kill -9 $pid; wait $pid 2>/dev/null";
    (void)std::system(script.c_str());
    const auto now = finished();
    EXPECT_GE(now.size(), known.size() + 5);
    EXPECT_LT(now.size(), 150U);
    // With the wall clock of each: nothing was done twice.
    for (const auto& [name, text] : known) EXPECT_EQ(now.at(name), text) << name;
    known = now;
  }
  EXPECT_FALSE(fs::exists(file("killed.h5")));
  const Result r = batch(results("killed") + "--work '" + work.string() + "'");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(read(file("killed.csv")), read(file("whole.csv")));
  EXPECT_FALSE(fs::exists(work));
}

TEST_F(BatchCommand, RefusesByName) {
  const auto refused = [&](const std::string& text, const std::string& part) {
    write("bad.json", text);
    expect_refused("batch '" + file("bad.json") + "' --out '" + file("x.h5") + "'", part);
  };
  refused("{", "bad.json");
  refused(R"({"scene": "fourbar_free"})", "vary");
  refused(R"({"scene": "nobody", "vary": [{"target": "gravity.z", "values": [1]}]})", "nobody");
  refused(R"({"scene": "fourbar_free", "vary": [{"target": "body.copler.mass", "values": [1]}]})", "body.coupler.mass");
  refused(R"({"scene": "fourbar_free", "vary": [{"target": "gravity.z", "values": ["a"]}]})", "no number");
  refused(R"({"scene": "fourbar_free", "samples": 0, "vary": [{"target": "gravity.z", "values": [1]}]})", "samples");
  expect_refused("batch /nowhere.json", "/nowhere.json");
  write_sweep(1, 0.02);
  expect_refused("batch '" + file("sweep.json") + "' --threads -1", "--threads");
  expect_refused("batch '" + file("sweep.json") + "' --out /nowhere/x.h5", "/nowhere/x.h5");
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"bad.json", "sweep.json"}));
}

TEST_F(BatchCommand, AnotherSweepDoesNotTakeOverAFolder) {
  write_sweep(3, 0.02);
  fs::create_directories(file("w"));
  write("w/plan.txt", "another command\n");
  expect_refused("batch '" + file("sweep.json") + "' --out '" + file("x.h5") + "' --work '" + file("w") + "'",
                 "holds the work of another command");
}

TEST_F(BatchCommand, RunsThatFailAreRows) {
  write("sweep.json", R"({"scene": "fourbar_free", "options": {"duration": 0.01}, "vary": [
    {"target": "body.coupler.mass", "values": [1, -1, 2]}]})");
  ASSERT_EQ(batch(results("r")).exit_code, 0);
  const std::string csv = read(file("r.csv"));
  EXPECT_NE(csv.find("\n0,1,finished,10,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n1,-1,refused,0,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n2,2,finished,10,"), std::string::npos) << csv;
}

// Without MuJoCo's package: this engine's figures alone, and a bad Python is named.
TEST_F(BatchCommand, SpeedIsTabled) {
  const Result r = run("bench batch fourbar_free incline --worlds 3 --steps 5 --repeats 2 --threads 1,2 --json '" +
                       file("speed.json") + "'");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NE(r.out.find("\nfourbar_free "), std::string::npos) << r.out;
  const auto j = nlohmann::json::parse(read(file("speed.json")));
  ASSERT_EQ(j["rows"].size(), 4U);
  for (const auto& row : j["rows"]) {
    EXPECT_EQ(row["failed_worlds"], 0);
    EXPECT_EQ(row["steps_per_second"].size(), 2U);
    EXPECT_GT(row["steps_per_second"][0], 0);
    EXPECT_EQ(row["mujoco_steps_per_second"].size(), 0U);
  }
  expect_refused("bench batch fourbar_free --worlds 0", "--worlds");
  expect_refused("bench batch '" SARRUS_SOURCE_DIR
                 "/peers/rollout/arm.xml' --worlds 2 --steps 2 --repeats 1 --threads 1"
                 " --mujoco /nowhere/python",
                 "/nowhere/python");
}

// Every sweep of the page is one, and as the schema says; --list has as many runs as it makes.
TEST_F(BatchCommand, ThePageAndTheSchemaAreRight) {
  const path docs = path(SARRUS_SOURCE_DIR) / "docs";
  std::istringstream page(read(docs / "batch.md"));
  std::string text;
  int found = 0;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "```json") {
      inside = true;
      text.clear();
    } else if (inside && line == "```") {
      inside = false;
      ++found;
      write("sweep.json", text);
      const Result r = run("batch '" + file("sweep.json") + "' --list");
      EXPECT_EQ(r.exit_code, 0) << r.err;
      EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 41) << r.out;
    } else if (inside) {
      text += line + "\n";
    }
  }
  EXPECT_EQ(found, 1);
  const char* check =
      "import json,sys\n"
      "try:\n  import jsonschema\nexcept ImportError: sys.exit(77)\n"
      "schema=json.load(open(sys.argv[1])); v=jsonschema.Draft202012Validator(schema)\n"
      "jsonschema.Draft202012Validator.check_schema(schema)\n"
      "good=json.load(open(sys.argv[2])); v.validate(good)\n"
      "bad=dict(good, varry=[]); assert not v.is_valid(bad)\n"
      "bad=dict(good, vary=[{'target':'gravity.z'}]); assert not v.is_valid(bad)\n"
      "bad=dict(good, vary=[{'target':'gravity.z','values':[1],'uniform':[0,1]}]); assert not v.is_valid(bad)\n";
  write("check.py", check);
  const int status = std::system(("python3 '" + file("check.py") + "' '" + (docs / "batch.schema.json").string() +
                                  "' '" + file("sweep.json") + "'")
                                     .c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs python3-jsonschema";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sarrus::batch_command_test
