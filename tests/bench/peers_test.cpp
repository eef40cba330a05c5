// Comparison with other engines: exact files, a judge that measures by hand-made motions, and programs that misbehave.
// No other engine is needed: the programs are shell scripts.
#include "sarrus/bench/peers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "io/hdf5_test_file.h"
#include "sarrus/bench/child_process.h"
#include "sarrus/math/error.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::peers_test {
namespace {

using testing_io::RawFile;
using testing_io::read_text;
using testing_io::TemporaryFolder;
using testing_io::write_text;

// The reference poses of a scene at rest, so many times.
Trajectory at_rest(const std::string& scene, int samples = 1) {
  const Model model = make_scene(scene);
  Trajectory t;
  t.engine = "hand";
  t.version = "1";
  t.setting_text = "none";
  t.scene = scene;
  t.dt = 0.01;
  t.bodies = model.body_count();
  for (int s = 0; s < samples; ++s) {
    t.time.push_back(0.01 * s);
    for (const Body& b : model.bodies()) {
      const Vec3& p = b.X_WB0.p;
      const Quat& q = b.X_WB0.q;
      t.motion.insert(t.motion.end(), {p.x(), p.y(), p.z(), q.w(), q.x(), q.y(), q.z(), 0, 0, 0, 0, 0, 0});
    }
  }
  return t;
}

double& number(Trajectory& t, int sample, int body, int k) {
  return t.motion[static_cast<std::size_t>((sample * t.bodies + body) * kNumbersPerBody + k)];
}

PeerRun judged(const Trajectory& t) { return judge_trajectory(make_scene(t.scene), t); }

// A program in the folder that is found as that of `engine`.
void write_program(const TemporaryFolder& folder, const std::string& engine, const std::string& commands) {
  const std::filesystem::path file = folder / ("sarrus-peer-" + engine);
  write_text(file, "#!/bin/sh\nfor last; do :; done\n" + commands + "\n");
  ASSERT_EQ(chmod(file.c_str(), 0755), 0);
}

PeerRun run_fake(const TemporaryFolder& folder, double timeout = 20) {
  PeerOptions options;
  options.scenes = {"box_on_plane"};
  options.engines = {"mujoco"};
  options.folder = folder.path();
  options.timeout = timeout;
  const std::vector<PeerRun> runs = run_peers(options);
  EXPECT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].engine, "mujoco");
  EXPECT_EQ(runs[0].setting, "default");
  EXPECT_EQ(runs[1].setting, "stiff");
  EXPECT_EQ(runs[0].scene, "box_on_plane");
  return runs[0];
}

TEST(Trajectory, KeepsEveryBit) {
  const TemporaryFolder folder;
  Trajectory t = at_rest("fourbar_swing", 3);
  t.setting = "stiff";
  t.setting_text = "ERP \"0.8\"\nand more";
  t.status = "unstable: not finite at 0.02 s";
  number(t, 1, 2, 0) = std::nextafter(1.0, 2.0);
  number(t, 1, 2, 1) = -0.0;
  number(t, 2, 0, 7) = std::numeric_limits<double>::denorm_min();
  number(t, 2, 0, 8) = std::numeric_limits<double>::quiet_NaN();
  number(t, 2, 0, 9) = -std::numeric_limits<double>::infinity();
  t.step_seconds = {1e-6, 0.1};
  save_trajectory(folder / "t", t);
  const Trajectory back = load_trajectory(folder / "t");
  EXPECT_EQ(back.engine, t.engine);
  EXPECT_EQ(back.version, t.version);
  EXPECT_EQ(back.setting, t.setting);
  EXPECT_EQ(back.setting_text, t.setting_text);
  EXPECT_EQ(back.scene, t.scene);
  EXPECT_EQ(back.status, t.status);
  EXPECT_EQ(back.dt, t.dt);
  EXPECT_EQ(back.bodies, 3);
  EXPECT_EQ(back.time, t.time);
  EXPECT_EQ(back.step_seconds, t.step_seconds);
  ASSERT_EQ(back.motion.size(), t.motion.size());
  EXPECT_EQ(std::memcmp(back.motion.data(), t.motion.data(), sizeof(double) * t.motion.size()), 0);
}

TEST(Trajectory, RefusesDamagedFilesByName) {
  const TemporaryFolder folder;
  save_trajectory(folder / "t", at_rest("fourbar_swing", 2));
  const std::string good = read_text(folder / "t");
  const auto refused = [&](const std::string& bytes, const std::string& part) {
    write_text(folder / "damaged", bytes);
    try {
      load_trajectory(folder / "damaged");
      ADD_FAILURE() << "not refused: " << part;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("damaged"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused("", "no number file");
  refused("rubbish", "no number file");
  refused(good.substr(0, 17), "no header");
  refused(good.substr(0, good.size() - 1), "bytes");
  refused(good + "x", "bytes");
  std::string changed = good;
  changed[good.size() - 100] ^= 1;
  refused(changed, "hash");
  EXPECT_THROW(load_trajectory(folder / "nothing"), InputError);

  // A valid number file with sizes that do not fit, and one without the members of a trajectory.
  NumberFile file = load_numbers(folder / "t");
  file.numbers.pop_back();
  save_numbers(folder / "damaged", file);
  EXPECT_THROW(load_trajectory(folder / "damaged"), InputError);
  file.header = "{\"engine\": 3}";
  save_numbers(folder / "damaged", file);
  EXPECT_THROW(load_trajectory(folder / "damaged"), InputError);
}

// The rocker DC, moved along the axes of its two hinges.
TEST(PeerJudge, MeasuresAnOpenHinge) {
  Trajectory t = at_rest("fourbar_swing", 2);
  EXPECT_LT(judged(t).gap, 1e-15);
  number(t, 1, 2, 1) += 1e-3;
  const PeerRun run = judged(t);
  EXPECT_NEAR(run.gap, 1e-3, 1e-15);
  EXPECT_LT(run.angle, 1e-15);
  EXPECT_NEAR(run.displacement, 1e-3, 1e-15);
  EXPECT_EQ(run.penetration, 0);
  EXPECT_EQ(run.status, "ok");
}

// The crank AB turned by 0.01 rad about its own long axis, which lies across the hinges at its ends: q <- q [x turn].
// It starts 60 degrees from the vertical; residuals are components along the world axes at the hinge A.
TEST(PeerJudge, MeasuresABentHinge) {
  Trajectory t = at_rest("fourbar_swing");
  double* q = &number(t, 0, 0, 3);
  const double c = std::cos(0.005);
  const double s = std::sin(0.005);
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  q[0] = w * c - x * s;
  q[1] = w * s + x * c;
  q[2] = y * c + z * s;
  q[3] = z * c - y * s;
  const PeerRun run = judged(t);
  EXPECT_NEAR(run.angle, 0.01 * std::sin(std::acos(-1.0) / 3), 1e-6);
  EXPECT_LT(run.gap, 1e-12);
}

TEST(PeerJudge, MeasuresPenetration) {
  Trajectory t = at_rest("box_on_plane", 3);
  EXPECT_EQ(judged(t).penetration, 0);
  number(t, 1, 0, 2) = 0.1 - 2e-3;
  EXPECT_NEAR(judged(t).penetration, 2e-3, 1e-12);
}

// A body in free fall, and one that gains speed 10 % too fast: K = 1.21 m (g t)^2 / 2 instead of m (g t)^2 / 2.
TEST(PeerJudge, MeasuresEnergy) {
  for (const double factor : {1.0, 1.1}) {
    Trajectory t = at_rest("box_on_plane", 10);
    for (int s = 0; s < 10; ++s) {
      const double time = 0.01 * s;
      number(t, s, 0, 2) -= 0.5 * 9.81 * time * time;
      number(t, s, 0, 9) = -9.81 * time * factor;
    }
    const PeerRun run = judged(t);
    const double expected = factor == 1.0 ? 0 : 0.21 / 1.21;
    EXPECT_NEAR(run.energy_drift, expected, 1e-12);
    EXPECT_NEAR(run.energy_rise, expected, 1e-12);
    EXPECT_EQ(run.status, factor == 1.0 ? "ok" : "unstable");
  }
}

// The cube of 1 kg rises by 0.5 mm: half of the least scale, what lifting it by 1 mm takes.
TEST(PeerJudge, ScalesEnergyOfScenesAtRest) {
  Trajectory t = at_rest("box_on_plane", 2);
  number(t, 1, 0, 2) += 5e-4;
  const PeerRun run = judged(t);
  EXPECT_NEAR(run.energy_drift, 0.5, 1e-9);
  EXPECT_EQ(run.status, "ok");
}

TEST(PeerJudge, TellsCollapseNonFiniteNumbersAndWrongSizes) {
  Trajectory stack = at_rest("stack15", 2);
  number(stack, 1, 14, 0) += 0.04;
  EXPECT_EQ(judged(stack).status, "ok");
  number(stack, 1, 14, 0) += 0.04;
  EXPECT_EQ(judged(stack).status, "collapsed");

  Trajectory broken = at_rest("box_on_plane", 2);
  number(broken, 1, 0, 4) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judged(broken).status, "unstable: not finite");

  EXPECT_THROW(judge_trajectory(make_scene("fourbar_swing"), broken), InputError);
}

TEST(PeerJudge, TimesAreMedianPercentileAndFactor) {
  Trajectory t = at_rest("box_on_plane", 2);
  t.step_seconds = {1e-6, 3e-6, 2e-6, 10e-6};
  const PeerRun run = judged(t);
  EXPECT_NEAR(run.us_per_step, 2.5, 1e-12);
  EXPECT_NEAR(run.us_per_step_p95, 10, 1e-12);
  EXPECT_NEAR(run.real_time_factor, 0.04 / 16e-6, 1e-6);
}

TEST(Peers, OurOwnRunIsJudgedLikeTheOthers) {
  const PeerRun run =
      judge_trajectory(make_scene("fourbar_swing"), run_sarrus(make_scene("fourbar_swing"), 1e-3, 0.1, 0.01));
  EXPECT_EQ(run.engine, "sarrus");
  EXPECT_EQ(run.status, "ok");
  EXPECT_NEAR(run.sim_time, 0.1, 1e-12);
  EXPECT_LT(run.gap, 1e-11);
  EXPECT_LT(std::abs(run.energy_drift), 0.02);
  EXPECT_GT(run.us_per_step, 0);
}

TEST(Peers, AProgramThatIsNotThereIsSaidSo) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_fake(folder).status.substr(0, 10), "not found:");
  EXPECT_NE(run_fake(folder).status.find("sarrus-peer-mujoco"), std::string::npos);
}

TEST(Peers, CrashesTimeoutsAndFailuresAreReportedByName) {
  const TemporaryFolder folder;
  write_program(folder, "mujoco", "kill -SEGV $$");
  EXPECT_EQ(run_fake(folder).status.substr(0, 19), "died with signal 11");
  write_program(folder, "mujoco", "echo first >&2; echo 'no such scene' >&2; exit 3");
  EXPECT_EQ(run_fake(folder).status, "exit code 3: no such scene");
  write_program(folder, "mujoco", "sleep 60");
  EXPECT_EQ(run_fake(folder, 0.2).status, "no end after 0.2 s");
}

TEST(Peers, AnswersThatAreNoneAreRefused) {
  const TemporaryFolder folder;
  write_program(folder, "mujoco", "echo rubbish > \"$last\"");
  EXPECT_EQ(run_fake(folder).status.substr(0, 18), "unreadable answer:");
  write_program(folder, "mujoco", "exit 0");
  EXPECT_EQ(run_fake(folder).status.substr(0, 18), "unreadable answer:");
  save_trajectory(folder / "other", at_rest("fourbar_swing"));
  write_program(folder, "mujoco", "cp '" + (folder / "other").string() + "' \"$last\"");
  EXPECT_EQ(run_fake(folder).status.substr(0, 18), "unreadable answer:");
}

TEST(Peers, AGoodAnswerIsJudged) {
  const TemporaryFolder folder;
  Trajectory t = at_rest("box_on_plane", 2);
  number(t, 1, 0, 2) = 0.1 - 2e-3;
  save_trajectory(folder / "good", t);
  write_program(folder, "mujoco", "cp '" + (folder / "good").string() + "' \"$last\"");
  const PeerRun run = run_fake(folder);
  EXPECT_EQ(run.status, "ok");
  EXPECT_EQ(run.version, "1");
  EXPECT_NEAR(run.penetration, 2e-3, 1e-12);
}

// Unstable at levels 0 and 1, stable at 2: that one counts.
TEST(Peers, TheStiffSettingIsSoftenedUntilItIsStable) {
  const TemporaryFolder folder;
  Trajectory t = at_rest("box_on_plane", 2);
  save_trajectory(folder / "good", t);
  number(t, 1, 0, 2) += 1;
  save_trajectory(folder / "bad", t);
  write_program(folder, "mujoco",
                "case \"$*\" in *'--setting stiff --level 2'*) f=good;; *) f=bad;; esac\ncp '" +
                    folder.path().string() + "'/$f \"$last\"");
  PeerOptions options;
  options.scenes = {"box_on_plane"};
  options.engines = {"mujoco"};
  options.folder = folder.path();
  const std::vector<PeerRun> runs = run_peers(options);
  EXPECT_EQ(runs[0].status, "unstable");
  EXPECT_EQ(runs[0].level, 0);
  EXPECT_EQ(runs[1].status, "ok");
  EXPECT_EQ(runs[1].level, 2);
}

TEST(Peers, UnknownScenesAndEnginesAreRefused) {
  PeerOptions options;
  options.engines = {"mujocco"};
  EXPECT_THROW(run_peers(options), InputError);
  options.engines = {};
  options.scenes = {"four_bar"};
  EXPECT_THROW(run_peers(options), InputError);
}

// One contact, W = 1, q = (-1, 0.1, 0), mu = 0.5: it sticks with r = (1, -0.1, 0). With the equality row
// 0 = 0.5 r_n + l + 0.2 and u_n = r_n + 0.5 l - 1: r_n = 1.1 / 0.75.
void write_problem(const std::filesystem::path& path, bool equality) {
  RawFile file(path, RawFile::create);
  const std::string root = "/fclib_local/";
  const auto put = [&](const std::string& name, int rows, int columns, std::vector<int> p, std::vector<int> i,
                       const std::vector<double>& x) {
    file.put(root + name + "/m", std::vector<int>{rows});
    file.put(root + name + "/n", std::vector<int>{columns});
    file.put(root + name + "/nz", std::vector<int>{-1});
    file.put(root + name + "/nzmax", std::vector<int>{static_cast<int>(x.size())});
    file.put(root + name + "/p", p);
    file.put(root + name + "/i", i);
    file.put(root + name + "/x", x);
  };
  file.put(root + "spacedim", std::vector<int>{3});
  put("W", 3, 3, {0, 1, 2, 3}, {0, 1, 2}, {1, 1, 1});
  if (equality) {
    put("V", 3, 1, {0, 1}, {0}, {0.5});
    put("R", 1, 1, {0, 1}, {0}, {1});
    file.put(root + "vectors/s", std::vector<double>{0.2});
  }
  file.put(root + "vectors/q", std::vector<double>{-1, 0.1, 0});
  file.put(root + "vectors/mu", std::vector<double>{0.5});
}

TEST(FclibPeers, EverybodyIsJudgedByOneMeasure) {
  const TemporaryFolder folder;
  FclibOptions options;
  options.folder = folder / "problems";
  options.programs = folder.path();
  std::filesystem::create_directories(options.folder);
  for (const bool equality : {false, true}) {
    write_problem(options.folder / "p.hdf5", equality);
    const double normal = equality ? 1.1 / 0.75 : 1.0;
    const std::string header = R"({"seconds": 0.25, "iterations": 7, "info": 0})";
    save_numbers(folder / "exact", {header, {normal, -0.1, 0}});
    save_numbers(folder / "wrong", {header, {normal, -0.09, 0}});
    // NSGS answers exactly, the others are a little off.
    write_program(
        folder, "siconos",
        "if grep -q NSGS \"$1\"; then f=exact; else f=wrong; fi\ncp '" + folder.path().string() + "'/$f \"$2\"");
    const std::vector<FclibRun> runs = run_fclib_peers(options);
    ASSERT_EQ(runs.size(), 4u);
    EXPECT_EQ(runs[0].solver, "cascade");
    EXPECT_TRUE(runs[0].success);
    EXPECT_EQ(runs[0].contacts, 1);
    EXPECT_EQ(runs[0].equalities, equality ? 1 : 0);
    EXPECT_EQ(runs[1].solver, "siconos NSGS");
    EXPECT_TRUE(runs[1].success);
    EXPECT_LT(runs[1].error, 1e-14);
    EXPECT_EQ(runs[1].seconds, 0.25);
    EXPECT_EQ(runs[1].iterations, 7);
    EXPECT_FALSE(runs[2].success);
    // 0.01 over what the impulses do: (r' [W V; V' R] r)^1/2 with r of the contact and the l that the equality gives.
    const double l = equality ? -0.2 - 0.5 * normal : 0.0;
    const double size = std::sqrt(normal * normal + 0.09 * 0.09 + l * normal + l * l);
    EXPECT_NEAR(runs[2].error, 0.01 / size, 1e-10);
    EXPECT_EQ(runs[3].solver, "siconos ADMM");
  }
}

TEST(FclibPeers, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  FclibOptions options;
  options.folder = folder / "nothing";
  options.programs = folder.path();
  EXPECT_THROW(run_fclib_peers(options), InputError);
  options.folder = folder.path();
  EXPECT_TRUE(run_fclib_peers(options).empty());
  write_problem(folder / "p.hdf5", false);
  const std::vector<FclibRun> runs = run_fclib_peers(options);
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_TRUE(runs[0].success);
  EXPECT_EQ(runs[1].status.substr(0, 10), "not found:");
}

TEST(PeerReport, SurvivesJsonAndNamesEverybody) {
  PeerReport report;
  report.scenes.push_back(judged(at_rest("box_on_plane", 2)));
  PeerRun missing;
  missing.engine = "dart";
  missing.setting = "stiff";
  missing.scene = "box_on_plane";
  missing.status = "not supported: \"this\"";
  missing.level = 2;
  report.scenes.push_back(missing);
  FclibRun solve;
  solve.solver = "siconos ADMM";
  solve.problem = "Rover/Rover1039";
  solve.contacts = 4;
  solve.status = "ok";
  solve.success = true;
  solve.error = 1e-9;
  solve.seconds = 0.001;
  solve.iterations = 12;
  report.fclib.push_back(solve);

  const PeerReport back = peer_report_from_json(to_json_text(report));
  ASSERT_EQ(back.scenes.size(), 2u);
  EXPECT_EQ(back.scenes[0].engine, "hand");
  EXPECT_EQ(back.scenes[0].gap, 0);
  EXPECT_EQ(back.scenes[1].status, missing.status);
  EXPECT_EQ(back.scenes[1].level, 2);
  EXPECT_TRUE(std::isnan(back.scenes[1].gap));
  ASSERT_EQ(back.fclib.size(), 1u);
  EXPECT_EQ(back.fclib[0].error, 1e-9);
  EXPECT_TRUE(back.fclib[0].success);
  EXPECT_EQ(to_json_text(back), to_json_text(report));

  const std::string text = to_text(report);
  for (const char* part : {"hand", "dart", "not supported: \"this\"", "Rover/Rover1039", "siconos ADMM", "solved"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  EXPECT_THROW(peer_report_from_json("{}"), InputError);
  EXPECT_THROW(peer_report_from_json("rubbish"), InputError);
}

}  // namespace
}  // namespace sarrus::peers_test
