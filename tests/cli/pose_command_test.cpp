// `sarrus pose`: closes loops, moves to coordinates, and says what it cannot do.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>

#include "support/command.h"

namespace sarrus::pose_command_test {
namespace {

using test::read;
using test::Result;

class Pose : public test::Command {
 protected:
  // An exported four-bar, changed by `change`.
  template <class F>
  std::string scene(const std::string& name, F change) const {
    EXPECT_EQ(run("scenes --force --export " + file("scenes")).exit_code, 0);
    nlohmann::ordered_json j = nlohmann::ordered_json::parse(read(file("scenes/fourbar_swing.json")));
    change(j);
    std::ofstream(file(name)) << j.dump(2);
    return file(name);
  }
};

TEST_F(Pose, MovesACrankAndWritesTheSceneThere) {
  const Result r = run("pose fourbar_swing --set crank=90deg --json - -o " + file("up.json"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const nlohmann::json j = nlohmann::json::parse(r.out);
  EXPECT_EQ(j.at("status"), "assembled");
  EXPECT_NEAR(j.at("coordinates").at("crank.angle").at("after").get<double>(), std::numbers::pi / 2, 1e-10);
  EXPECT_LT(j.at("residual").get<double>(), 1e-11);
  EXPECT_EQ(j.at("bodies").size(), 3u);
  // The scene that was written begins there, closed.
  const Result again = run("pose " + file("up.json") + " --json -");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const nlohmann::json k = nlohmann::json::parse(again.out);
  EXPECT_EQ(k.at("status"), "already");
  EXPECT_EQ(k.at("mobility"), 1);
  EXPECT_EQ(run("run " + file("up.json") + " --duration 0.01").exit_code, 0);
}

TEST_F(Pose, ClosesAnOpenLoopAndDrawsIt) {
  const std::string open = scene("open.json", [](auto& j) {
    for (auto& body : j.at("bodies")) {
      auto& p = body.at("pose").at("p");
      p[0] = p[0].template get<double>() + 0.004;
    }
  });
  const Result r = run("pose " + open + " --svg " + file("pose.svg"));
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_NE(r.out.find("status      assembled"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("mobility 1"), std::string::npos) << r.out;
  const std::string svg = read(file("pose.svg"));
  EXPECT_NE(svg.find("as given"), std::string::npos);
  EXPECT_NE(svg.find("assembled"), std::string::npos);
}

TEST_F(Pose, WhatCannotBeReachedIsExitCodeThree) {
  const Result r = run(std::string("pose slider_crank") + " --set rail.position=9m");
  EXPECT_EQ(r.exit_code, 3) << r.out << r.err;
  EXPECT_NE(r.out.find("unreachable"), std::string::npos) << r.out;
}

TEST_F(Pose, RefusesBadValues) {
  expect_refused("pose fourbar_swing --set crank", "JOINT=VALUE");
  expect_refused("pose fourbar_swing --set crank=1furlong", "deg");
  expect_refused("pose fourbar_swing --set crank=nan", "no angle");
  expect_refused("pose fourbar_swing --set crank.angel=1", "crank.angle");
  expect_refused("pose fourbar_swing --set crank=1 --set crank=2", "twice");
  expect_refused("pose fourbar_swing --pin crank=1 --json " + file("no/such/dir.json"), "--json");
  const std::string mine = scene("mine.json", [](auto&) {});
  expect_refused("pose " + mine + " -o " + mine, "mine.json");
}

}  // namespace
}  // namespace sarrus::pose_command_test
