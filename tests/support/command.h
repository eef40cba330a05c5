// The `sarrus` command as a user runs it, in a folder of the test's own. SARRUS_COMMAND is its path.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace sarrus::test {

namespace fs = std::filesystem;

inline std::string read(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

struct Result {
  int exit_code = -1;
  std::string out;
  std::string err;
};

class Command : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("sarrus-cli-" + std::to_string(::getpid()) + "-" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // `before` goes in front of the command: another program that starts it, variables.
  Result run(const std::string& arguments, const std::string& before = {}) const {
    const fs::path out = folder_ / "stdout";
    const fs::path err = folder_ / "stderr";
    const std::string line =
        before + " '" + SARRUS_COMMAND + "' " + arguments + " >'" + out.string() + "' 2>'" + err.string() + "'";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  // Exit code 2, nothing on stdout, one line on stderr that holds `part`.
  void expect_refused(const std::string& arguments, const std::string& part) const {
    const Result r = run(arguments);
    EXPECT_EQ(r.exit_code, 2) << arguments;
    EXPECT_EQ(r.out, "") << arguments;
    EXPECT_EQ(r.err.rfind("sarrus: error: ", 0), 0u) << arguments << "\n" << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << arguments << "\n" << r.err;
    EXPECT_NE(r.err.find(part), std::string::npos) << arguments << "\n" << r.err;
  }

  // Files of the test folder besides the captured output.
  std::vector<std::string> leftovers() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      if (name != "stdout" && name != "stderr") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path folder_;
};

}  // namespace sarrus::test
