// What happens to the files of a run when something goes wrong: signals, full disks, outputs that are inputs.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/command.h"

namespace sarrus::outputs_test {
namespace {

namespace fs = std::filesystem;
using test::read;
using test::Result;

class Outputs : public test::Command {
 protected:
  std::string all() const {
    return " --json " + file("a.json") + " --csv " + file("a.csv") + " --record " + file("a.h5") + " --svg " +
           file("a.svg");
  }
  // Sends the signal once a file whose name begins like this is there; returns the exit code, -1 if it died of it.
  int run_and_signal(const std::string& arguments, const std::string& name, int signal) const {
    const std::string line = std::string("exec '") + SARRUS_COMMAND + "' " + arguments + " >'" + file("stdout") +
                             "' 2>'" + file("stderr") + "'";
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    const auto is_there = [&] {
      const std::vector<std::string> names = leftovers();
      return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return n.rfind(name, 0) == 0; });
    };
    for (int i = 0; i < 6000 && !is_there(); ++i) ::usleep(10000);
    ::usleep(50000);
    ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }
};

TEST_F(Outputs, ASignalEndsTheRunWithValidOutputs) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int exit_code = run_and_signal("run box_on_plane --duration 1e5" + all(), "a.csv.partial", signal);
    EXPECT_EQ(exit_code, 130) << signal << read(file("stderr"));
    EXPECT_NE(read(file("stdout")).find("interrupted"), std::string::npos) << read(file("stdout"));
    const auto j = nlohmann::json::parse(read(file("a.json")));
    EXPECT_EQ(j["status"], "interrupted");
    EXPECT_GT(j["steps"], 0);
    EXPECT_EQ(j["interrupted_at"], j["sim_time"]);
    const std::string csv = read(file("a.csv"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), j["steps"].get<int>() + 1);
    EXPECT_EQ(leftovers(), (std::vector<std::string>{"a.csv", "a.h5", "a.json", "a.svg"}));
  }
  // The recording is whole: it is read back.
  EXPECT_EQ(run("inverse box_on_plane --reference " + file("a.h5")).exit_code, 0);
}

TEST_F(Outputs, AKilledRunLeavesWhatItHasFlushed) {
  run_and_signal(
      "run box_on_plane --duration 1e5 --flush 0.1 --quiet --csv " + file("a.csv") + " --record " + file("a.h5"),
      "a.h5.unfinished", SIGKILL);
  EXPECT_FALSE(fs::exists(file("a.h5")));
  ASSERT_TRUE(fs::exists(file("a.h5.unfinished")));
  const Result r = run("inverse box_on_plane --reference " + file("a.h5.unfinished"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  // What it left does not block the next run, and is gone after it.
  EXPECT_EQ(
      run("run box_on_plane --duration 0.01 --quiet --csv " + file("a.csv") + " --record " + file("a.h5")).exit_code,
      0);
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"a.csv", "a.h5"}));
}

// A limit on the size of files fails like a disk that is full.
TEST_F(Outputs, AFullDiskIsOneLineAndKeepsWhatWasWritten) {
  const std::string limit = "ulimit -f 800;";
  const Result csv =
      run("run box_on_plane --duration 1e4 --quiet --csv " + file("a.csv") + " --json " + file("a.json"), limit);
  EXPECT_EQ(csv.exit_code, 2);
  EXPECT_EQ(std::count(csv.err.begin(), csv.err.end(), '\n'), 1) << csv.err;
  EXPECT_NE(csv.err.find("free space"), std::string::npos) << csv.err;
  const std::string kept = read(file("a.csv.unfinished"));
  EXPECT_GT(kept.size(), 100000u);
  EXPECT_EQ(kept.back(), '\n');
  EXPECT_EQ(nlohmann::json::parse(read(file("a.json")))["status"], "interrupted");
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"a.csv.unfinished", "a.json"}));

  const Result h5 = run("run box_on_plane --duration 1e4 --quiet --flush 0.02 --record " + file("b.h5"),
                        "ulimit -f 8000;");  // which takes several flushes to fill
  EXPECT_EQ(h5.exit_code, 2);
  EXPECT_EQ(std::count(h5.err.begin(), h5.err.end(), '\n'), 1) << h5.err;
  EXPECT_NE(h5.err.find("free space"), std::string::npos) << h5.err;
  EXPECT_EQ(run("inverse box_on_plane --reference " + file("b.h5.unfinished")).exit_code, 0);
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"a.csv.unfinished", "a.json", "b.h5.unfinished"}));
}

TEST_F(Outputs, StandardOutputThatIsFullIsAnError) {
  for (const char* arguments : {"run box_on_plane --duration 0.01", "scenes", "check box_on_plane",
                                "run box_on_plane --duration 0.01 --json -"}) {
    const std::string line = std::string("'") + SARRUS_COMMAND + "' " + arguments + " >/dev/full 2>'" + file("e") + "'";
    const int status = std::system(line.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << arguments;
    EXPECT_NE(read(file("e")).find("standard output"), std::string::npos) << arguments << read(file("e"));
  }
}

TEST_F(Outputs, JsonGoesToStandardOutput) {
  for (const char* arguments : {"run box_on_plane --duration 0.01 --json -", "check box_on_plane --json -",
                                "scenes --json -", "solvers --json -"}) {
    const Result r = run(arguments);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_TRUE(nlohmann::json::accept(r.out)) << arguments << "\n" << r.out;
  }
  expect_refused("run box_on_plane --csv -", "--csv: '-' is standard output");
  EXPECT_TRUE(leftovers().empty());
}

TEST_F(Outputs, InputsAreNotOverwritten) {
  ASSERT_EQ(run("scenes --export " + file("scenes")).exit_code, 0);
  const std::string scene = file("scenes/box_on_plane.json");
  const std::string text = read(scene);
  ASSERT_EQ(run("run " + scene + " --duration 0.01 --quiet --record " + file("a.h5")).exit_code, 0);
  const std::string recording = read(file("a.h5"));
  fs::create_hard_link(scene, file("link.json"));
  for (const std::string& arguments :
       {"run " + scene + " --json " + scene, "run " + scene + " --csv " + file("link.json"),
        "run " + scene + " --checkpoint " + scene, "check " + scene + " --json " + scene,
        "inverse " + scene + " --reference " + file("a.h5") + " --csv " + file("a.h5"),
        "inverse " + scene + " --reference " + file("a.h5") + " --json " + scene}) {
    expect_refused(arguments, "would overwrite a file that was just read");
  }
  EXPECT_EQ(read(scene), text);
  EXPECT_EQ(read(file("a.h5")), recording);
  // Edited scenes stay unless they are given up.
  write("scenes/box_on_plane.json", "edited");
  expect_refused("scenes --export " + file("scenes"), "--force");
  EXPECT_EQ(read(scene), "edited");
  EXPECT_EQ(run("scenes --force --export " + file("scenes")).exit_code, 0);
  EXPECT_EQ(read(scene), text);
}

TEST_F(Outputs, ARunGoesOnFromItsCheckpoint) {
  const std::string scene = "run stack15_equal --quiet ";
  ASSERT_EQ(run(scene + "--duration 0.06 --json " + file("whole.json")).exit_code, 0);
  ASSERT_EQ(run(scene + "--duration 0.02 --checkpoint " + file("c")).exit_code, 0);
  const Result r = run(scene + "--duration 0.06 --resume " + file("c") + " --checkpoint " + file("c") + " --json " +
                       file("rest.json"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto whole = nlohmann::json::parse(read(file("whole.json")));
  const auto rest = nlohmann::json::parse(read(file("rest.json")));
  EXPECT_EQ(whole["state_hash"], rest["state_hash"]);
  EXPECT_LT(rest["steps"], whole["steps"]);
  expect_refused(scene + "--duration 0.06 --resume " + file("c"), "give a longer --duration");
  // Seconds between checkpoints by their short name, too.
  EXPECT_EQ(run(scene + "--duration 0.01 --every 0.5 --checkpoint " + file("d")).exit_code, 0);
  fs::remove(file("d"));
  expect_refused(scene + "--every 0 --checkpoint " + file("d"), "--every");
  expect_refused(scene + "--every 2", "--checkpoint");
  expect_refused(scene + "--every 1.5 --dump-problems " + file("dump"), "whole number");
  expect_refused("run box_on_plane --resume " + file("c"), "it is of another model");
  expect_refused(scene + "--resume " + file("none"), "does not exist");
  expect_refused(scene + "--resume " + file("whole.json"), "is no checkpoint");
  std::string bytes = read(file("c"));
  write("cut", bytes.substr(0, bytes.size() / 2));
  expect_refused(scene + "--resume " + file("cut"), "cut off");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
  write("bad", bytes);
  expect_refused(scene + "--resume " + file("bad"), "damaged");
}

TEST_F(Outputs, NamesAreQuotedInTables) {
  write("s.json", R"({"format": "sarrus-scene", "version": 1, "angle_unit": "rad", "name": "n",
    "bodies": [{"name": "a", "mass": 1, "inertia": [1, 1, 1]}],
    "joints": [{"name": "pin, \"left\"", "type": "revolute", "at": [0, 0, 0], "axis": [0, 0, 1], "base": "world", "follower": "a"}]})");
  const Result made = run("run " + file("s.json") + " --duration 0.01 --quiet --record " + file("a.h5"));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  run("inverse " + file("s.json") + " --reference " + file("a.h5") + " --csv " + file("a.csv"));
  EXPECT_NE(read(file("a.csv")).find(",\"pin, \"\"left\"\".angle\"\n"), std::string::npos)
      << read(file("a.csv")).substr(0, 200);
}

TEST_F(Outputs, AReferenceOfAnotherModelIsRefused) {
  ASSERT_EQ(run("scenes --export " + file("scenes")).exit_code, 0);
  ASSERT_EQ(run("run box_on_plane --duration 0.01 --quiet --record " + file("a.h5")).exit_code, 0);
  std::string text = read(file("scenes/box_on_plane.json"));
  const std::size_t mass = text.find("\"mass\": ") + 8;
  text.replace(mass, text.find_first_of(",}", mass) - mass, "12.5");
  write("heavy.json", text);
  expect_refused("inverse " + file("heavy.json") + " --reference " + file("a.h5"),
                 "is of another model: the mass of body");
}

// One line, whatever it was that did not fit.
TEST_F(Outputs, TooLittleMemoryIsAnError) {
  std::string scene = R"({"format": "sarrus-scene", "version": 1, "angle_unit": "rad", "name": "n", "bodies": [)";
  for (int i = 0; i < 3000; ++i) {
    scene += (i > 0 ? "," : "") + std::string(R"({"name": "b)") + std::to_string(i) +
             R"(", "density": 1000, "pose": {"p": [)" + std::to_string(0.09 * i) +
             R"(, 0, 0]}, "shapes": [{"type": "sphere", "radius": 1}]})";
  }
  write("s.json", scene + "]}");
  const Result overlap =
      run("run " + file("s.json") + " --duration 0.01 --quiet --json " + file("a.json"), "ulimit -v 250000;");
  EXPECT_EQ(overlap.exit_code, 2) << overlap.err;
  EXPECT_NE(overlap.err.find("out of memory"), std::string::npos) << overlap.err;
  EXPECT_EQ(std::count(overlap.err.begin(), overlap.err.end(), '\n'), 1) << overlap.err;
  // It was in a step: what the run had come to is told.
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"a.json", "s.json"}));
  EXPECT_EQ(nlohmann::json::parse(read(file("a.json")))["status"], "interrupted");
}

TEST_F(Outputs, ANameWithAZeroByteIsRefused) {
  write("cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
  write("s.json", R"({"format": "sarrus-scene", "version": 1, "angle_unit": "rad", "name": "n",
    "bodies": [{"name": "a", "density": 1, "recenter": true, "shapes": [{"type": "hull", "file": "cube.obj\u0000.obj"}]}]})");
  expect_refused("check " + file("s.json"), "zero byte");
}

}  // namespace
}  // namespace sarrus::outputs_test
