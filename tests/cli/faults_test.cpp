// What fails below the command: the n-th allocation, opening, write, flush or renaming (tests/faults). Whichever it is,
// the command ends by itself, with exit code 2 and one line if it could not do what it was asked, and a file is there
// as a whole or not at all: the one that was there before, or the new one.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "effort.h"
#include "support/command.h"

namespace sarrus::faults_test {
namespace {

namespace fs = std::filesystem;
using test::read;
using test::Result;

class Faults : public test::Command {
 protected:
  struct Case {
    std::string arguments;
    std::vector<std::string> outputs;  // names; those ending in .json must be JSON
  };

  Result run_with(const std::string& arguments, const std::string& fault) const {
    return run(arguments, "SARRUS_FAULT=" + fault + " SARRUS_FAULT_COUNTS='" + file("counts") +
                              "' LD_PRELOAD='" SARRUS_FAULTS "'");
  }
  std::map<std::string, int> counts() const {
    std::istringstream in(read(file("counts")));
    std::map<std::string, int> out;
    std::string name;
    for (int n = 0; in >> name >> n;) out[name] = n;
    return out;
  }

  // The outputs, and nothing else that the fault could have left.
  void look_at_files(const Case& c, const std::map<std::string, std::string>& before, const std::string& what) const {
    for (const std::string& name : leftovers()) {
      EXPECT_EQ(name.find(".partial-"), std::string::npos) << what << " leaves " << name;
    }
    for (const std::string& name : c.outputs) {
      const std::string now = read(file(name));
      if (now == before.at(name)) continue;
      const bool json = name.size() > 5 && name.substr(name.size() - 5) == ".json";
      EXPECT_FALSE(now.empty()) << what << ": " << name;
      EXPECT_TRUE(!json || nlohmann::json::accept(now)) << what << ": " << name << "\n" << now;
      const bool table = name.size() > 4 && name.substr(name.size() - 4) == ".csv";
      EXPECT_TRUE(!table || now.empty() || now.back() == '\n') << what << ": " << name;
    }
  }

  void fail_everything(const Case& c, int samples) {
    const Result good = run_with(c.arguments, "none");
    ASSERT_EQ(good.exit_code, 0) << c.arguments << "\n" << good.err;
    const std::map<std::string, int> all = counts();
    ASSERT_GT(all.at("malloc"), 100) << "the faults are not injected";
    ASSERT_GT(all.at("open"), 0);
    for (const auto& [kind, count] : all) {
      const int most = kind == "malloc" ? 4 * samples : samples;
      const int tries = std::min(most, count);
      for (int i = 0; i < tries; ++i) {
        // The first ones, and the others evenly.
        const int n = i < tries / 4
                          ? i + 1
                          : 1 + static_cast<int>((static_cast<std::int64_t>(count) - 1) * i / std::max(1, tries - 1));
        for (const char* after : {"", ":all"}) {
          try_fault(c, kind + ":" + std::to_string(n) + after);
        }
      }
    }
  }

  void try_fault(const Case& c, const std::string& fault) {
    std::map<std::string, std::string> before;
    for (const std::string& name : c.outputs) {
      std::ofstream(file(name)) << "what was there before\n";
      before[name] = read(file(name));
    }
    const Result r = run_with(c.arguments, fault);
    const std::string what = c.arguments + " with " + fault;
    // What is not needed may fail: a copy, a flush of a folder, memory that is asked for in another way then.
    EXPECT_TRUE(r.exit_code == 2 || r.exit_code == 0) << what << " ends with " << r.exit_code << "\n" << r.err;
    if (r.exit_code == 2) {
      EXPECT_EQ(r.err.rfind("sarrus: error: ", 0), 0u) << what << "\n" << r.err;
      EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << what << "\n" << r.err;
      ++refused_;
    } else {
      EXPECT_EQ(r.err, "") << what;
    }
    look_at_files(c, before, what);
    for (const std::string& name : leftovers()) {
      if (name.find(".unfinished") != std::string::npos) fs::remove(file(name));
    }
  }

  std::string out(const std::string& option, const std::string& name) const { return " " + option + " " + file(name); }

  int refused_ = 0;
};

TEST_F(Faults, RunEndsWellWhateverFails) {
  fail_everything({"run stack15_equal --duration 0.02 --quiet" + out("--json", "a.json") + out("--csv", "a.csv") +
                       out("--record", "a.h5") + out("--svg", "a.svg") + out("--checkpoint", "a.check"),
                   {"a.json", "a.csv", "a.h5", "a.svg", "a.check"}},
                  std::max(2, test::samples(12)));
  EXPECT_GT(refused_, 20);
}

TEST_F(Faults, SolveEndsWellWhateverFails) {
  ASSERT_EQ(run("run box_on_plane --duration 0.003 --quiet --dump-problems " + file("problems")).exit_code, 0);
  const std::string problem = fs::directory_iterator(file("problems"))->path().string();
  fail_everything({"solve " + problem + out("--output", "a.h5") + out("--json", "a.json"), {"a.h5", "a.json"}},
                  std::max(2, test::samples(8)));
  EXPECT_GT(refused_, 10);
}

TEST_F(Faults, CheckAndInverseEndWellWhateverFails) {
  fail_everything({"check jansen_walker" + out("--json", "a.json"), {"a.json"}}, std::max(2, test::samples(6)));
  ASSERT_EQ(run("run box_on_plane --duration 0.02 --quiet --record " + file("r.h5")).exit_code, 0);
  fail_everything({"inverse box_on_plane --reference " + file("r.h5") + out("--csv", "b.csv") + out("--json", "b.json"),
                   {"b.csv", "b.json"}},
                  std::max(2, test::samples(6)));
  EXPECT_GT(refused_, 10);
}

}  // namespace
}  // namespace sarrus::faults_test
