// Arithmetic of run summaries and the CSV log, on fabricated reports.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sarrus/math/error.h"
#include "sarrus/math/statistics.h"
#include "sarrus/model/builder.h"
#include "sarrus/recording/csv_log.h"
#include "sarrus/recording/run_summary.h"

namespace sarrus::summary_test {
namespace {

State state_at(double time) {
  State s;
  s.time = time;
  return s;
}

StepReport report_of(double microseconds, int iterations, StepStatus status = StepStatus::converged) {
  StepReport r;
  r.status = status;
  r.met_tolerance = status != StepStatus::accepted;
  r.seconds_total = 1e-6 * microseconds;
  r.seconds_solve = 0.5e-6 * microseconds;
  r.iterations = iterations;
  return r;
}

RunSummary summary_from_rest() {
  RunInfo info;
  info.scene = "fabricated";
  info.options.dt = 0.01;
  info.options.integrator = Integrator::semi_implicit;
  return RunSummary(info, state_at(0), {0.0, 10.0});
}

nlohmann::json json_of(const RunSummary& summary) { return nlohmann::json::parse(summary.to_json_text()); }

TEST(Statistics, MedianIsTheMiddleOrTheMeanOfTheTwoMiddleValues) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Statistics, PercentileIsTheNearestRank) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(percentile(values, 0.95), 95);
  EXPECT_EQ(percentile(values, 1.0), 100);
  EXPECT_EQ(percentile({1, 2, 3}, 0.95), 3);
  EXPECT_EQ(percentile({}, 0.95), 0);
}

TEST(RunSummary, CountsTimesAndIterations) {
  RunSummary s = summary_from_rest();
  for (int i = 1; i <= 20; ++i) {
    StepReport report = report_of(i, 2 * i);
    if (i % 4 == 0) report.stage = "reduction";
    s.add(report, {1.0, 9.0});
  }
  s.finish(state_at(0.2));
  const nlohmann::json j = json_of(s);
  EXPECT_EQ(j["status"], "ok");
  EXPECT_EQ(j["steps"], 20);
  EXPECT_DOUBLE_EQ(j["sim_time"], 0.2);
  EXPECT_NEAR(j["us_per_step"]["median"], 10.5, 1e-9);
  EXPECT_NEAR(j["us_per_step"]["p95"], 19, 1e-9);
  EXPECT_NEAR(j["us_per_step"]["p99"], 20, 1e-9);
  EXPECT_NEAR(j["us_per_step"]["max"], 20, 1e-9);
  EXPECT_EQ(j["iterations"]["median"], 21);
  EXPECT_EQ(j["iterations"]["max"], 40);
  EXPECT_EQ(j["steps_by_stage"]["reduction"], 5);
  EXPECT_EQ(j["steps_by_stage"].size(), 1u);
  EXPECT_NEAR(j["timing_shares"]["solve"], 0.5, 1e-12);
  EXPECT_NEAR(j["timing_shares"]["other"], 0.5, 1e-12);
  EXPECT_NEAR(j["real_time_factor"], 0.2 / 210e-6, 1e-6);
}

// Here what the potential energy fell by. An explosion reads as one, since it adds nothing to the scale.
TEST(RunSummary, DriftIsRelativeToTheEnergyThatWasThere) {
  RunSummary s = summary_from_rest();
  s.add(report_of(1, 1), {4.0, 6.5});
  s.add(report_of(1, 1), {2.0, 8.2});
  EXPECT_NEAR(s.drift_relative(), (10.2 - 10.0) / 3.5, 1e-12);
  const nlohmann::json j = json_of(s);
  EXPECT_NEAR(j["energy"]["initial"], 10, 1e-12);
  EXPECT_NEAR(j["energy"]["final"], 10.2, 1e-12);
  EXPECT_NEAR(j["energy"]["drift_relative"], 0.2 / 3.5, 1e-12);
  s.add(report_of(1, 1), {1e30, 8.2});
  EXPECT_NEAR(s.drift_relative(), 1e30 / 3.5, 1e16);
}

// Energy from nowhere is no plain ok, in words and for programs.
TEST(RunSummary, SaysThatEnergyWasCreated) {
  RunSummary s = summary_from_rest();
  StepReport r = report_of(1, 1);
  r.energy.drives = 2;
  r.energy.friction = -0.5;
  r.energy.unaccounted = 3;
  s.add(r, {4.0, 6.5});
  EXPECT_EQ(s.status(), "ok");
  r.creates_energy = true;
  s.add(r, {4.0, 6.5});
  s.finish(state_at(0.02), 1e-3);
  EXPECT_EQ(s.status(), "ok_with_warnings");
  EXPECT_NE(s.to_text().find("energy was created: 6 J"), std::string::npos) << s.to_text();
  const nlohmann::json j = json_of(s);
  EXPECT_EQ(j["energy"]["created"], true);
  EXPECT_EQ(j["energy"]["work_in"]["drives"], 4);
  EXPECT_EQ(j["energy"]["dissipated"]["friction"], 1);
  EXPECT_EQ(j["energy"]["unaccounted"], 6);
}

TEST(RunSummary, DriftIsZeroIfNothingMoved) {
  RunSummary s = summary_from_rest();
  s.add(report_of(1, 1), {0.0, 11.0});
  EXPECT_EQ(s.drift_relative(), 0);
}

TEST(RunSummary, KeepsTheWorstOfEachViolation) {
  RunSummary s = summary_from_rest();
  StepReport r = report_of(1, 1);
  r.joint_gap = 1e-3;
  r.penetration = 2e-3;
  r.residuals.natural_map = 1e-9;
  s.add(r, {});
  r.joint_gap = 1e-6;
  r.joint_angle = 3e-3;
  r.residuals.natural_map = 1e-5;
  r.residuals.energy[0] = 1e-7;
  s.add(r, {});
  const nlohmann::json j = json_of(s);
  EXPECT_EQ(j["max"]["joint_gap_m"], 1e-3);
  EXPECT_EQ(j["max"]["joint_angle_rad"], 3e-3);
  EXPECT_EQ(j["max"]["penetration_m"], 2e-3);
  EXPECT_EQ(j["max"]["natural_map"], 1e-5);
  EXPECT_EQ(j["max"]["natural_map_relative"], 1e-7);
}

TEST(RunSummary, NeverHidesANumberThatIsNotOne) {
  RunSummary s = summary_from_rest();
  StepReport r = report_of(1, 1);
  r.joint_gap = std::numeric_limits<double>::quiet_NaN();
  s.add(r, {});
  r.joint_gap = 1e-3;
  s.add(r, {});
  EXPECT_TRUE(std::isnan(s.worst_joint_gap()));
  EXPECT_TRUE(json_of(s)["max"]["joint_gap_m"].is_null());
}

TEST(RunSummary, WarnsAboutStepsThatNeededHelp) {
  for (const StepStatus status : {StepStatus::accepted, StepStatus::fallback, StepStatus::substepped}) {
    RunSummary s = summary_from_rest();
    s.add(report_of(1, 1), {});
    s.add(report_of(1, 1, status), {});
    EXPECT_EQ(s.status(), "ok_with_warnings");
    const nlohmann::json j = json_of(s);
    EXPECT_EQ(j["non_converged_steps"], status == StepStatus::accepted ? 1 : 0);
    EXPECT_EQ(j["fallback_steps"], status == StepStatus::fallback ? 1 : 0);
    EXPECT_EQ(j["substepped_steps"], status == StepStatus::substepped ? 1 : 0);
  }
}

TEST(RunSummary, TellsWhenAndWhyARunFailed) {
  RunSummary s = summary_from_rest();
  s.add(report_of(1, 1), {});
  StepReport r = report_of(1, 1, StepStatus::failed);
  r.message = "joint 'a' is worst";
  s.add(r, {});
  s.finish(state_at(0.01));
  const nlohmann::json j = json_of(s);
  EXPECT_EQ(j["status"], "failed");
  EXPECT_EQ(j["message"], "joint 'a' is worst");
  EXPECT_EQ(j["failed_at"], 0.01);
  EXPECT_EQ(j["steps"], 1);
  EXPECT_NE(s.to_text().find("joint 'a' is worst"), std::string::npos);
}

TEST(RunSummary, HashIsSixteenHexDigits) {
  RunSummary s = summary_from_rest();
  const std::string hash = json_of(s)["state_hash"];
  EXPECT_EQ(hash.size(), 16u);
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(CsvLog, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
}

TEST(CsvLog, WritesOneRowPerStepWithAllCoordinates) {
  ModelBuilder b("hinge");
  const int rod = b.add_box_body("rod", 1.0, {0.1, 0.1, 0.1}, {});
  const int knee = b.add_joint_at("knee, left", JointType::revolute, kWorld, rod, {0, 0, 0});
  b.dof(knee).drive.mode = DriveMode::force;
  const auto path = std::filesystem::path(testing::TempDir()) / ("sarrus-" + std::to_string(::getpid()) + "-log.csv");
  CsvLog log(path, b.build());
  State s = state_at(0.1);
  s.q = {0.25};
  Vec6 reaction;
  reaction << 3, 4, 0, 0, 0, -2;
  StepForces forces;
  forces.joint_rates = {0.5};
  forces.drive_efforts = {9};
  forces.joint_reactions = {reaction};
  log.add(s, report_of(12.5, 7), {1.5, 2.0}, forces);
  log.close();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::string header, row;
  std::getline(text, header);
  std::getline(text, row);
  EXPECT_NE(header.find(",us,\"knee, left.angle\",\"knee, left.angle.rate\",\"knee, left.angle.effort\",\"knee, "
                        "left.force\",\"knee, left.torque\""),
            std::string::npos)
      << header;
  EXPECT_EQ(row, "0.1,converged,7,0,0,0,0,0,0,0,0,1.5,2,3.5,12.500,0.25,0.5,9,5,2");
  std::filesystem::remove(path);
}

TEST(CsvLog, WritesOneRowPerContact) {
  ModelBuilder b("ball");
  b.add_floor();
  b.add_sphere_body("ball, red", 1.0, 0.1, {});
  const auto path = std::filesystem::path(testing::TempDir()) / ("sarrus-" + std::to_string(::getpid()) + "-touch.csv");
  ContactCsvLog log(path, b.build());
  Contact c;
  c.body_a = kWorld;
  c.body_b = 0;
  c.geom_a = 0;
  c.geom_b = 1;
  c.p_W = Vec3(1, 2, 3);
  c.n_W = Vec3::UnitZ();
  c.gap = -0.5;
  StepForces forces;
  forces.contact_forces = {Vec3(0.25, 0, 9.81), Vec3(0, 0, 1)};
  log.add(0.1, {}, {});
  log.add(0.2, std::vector<Contact>{c, c}, forces);
  log.close();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(),
            "time,body_a,body_b,geom_a,geom_b,x,y,z,nx,ny,nz,gap,fx,fy,fz\n"
            "0.2,world,\"ball, red\",geom0,geom1,1,2,3,0,0,1,-0.5,0.25,0,9.81\n"
            "0.2,world,\"ball, red\",geom0,geom1,1,2,3,0,0,1,-0.5,0,0,1\n");
  std::filesystem::remove(path);
}

TEST(CsvLog, ReportsADiskThatIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  ModelBuilder b("ball");
  b.add_sphere_body("ball", 1.0, 0.1, {});
  CsvLog log("/dev/full", b.build());
  EXPECT_THROW(log.close(), InputError);
}

}  // namespace
}  // namespace sarrus::summary_test
