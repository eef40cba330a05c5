// Recordings as viewers get them: the same as the live run, version 1 with what it lacks named, damaged files refused.
#include "sarrus/view/recorded_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "effort.h"
#include "sarrus/files/hdf5.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/recording/recording.h"
#include "sarrus/recording/run_sink.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/view/html_sink.h"
#include "sarrus/view/motion_payload.h"
#include "view/decode.h"

namespace sarrus::recorded_run_test {
namespace {

namespace fs = std::filesystem;

class RecordedRun : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name) const { return folder_ / name; }
  // Runs a scene into the sinks.
  static void run(const std::string& scene, int steps, std::vector<std::unique_ptr<RunSink>> sinks) {
    Simulation sim(make_scene(scene), {.dt = 1e-3});
    RunSummary summary({scene, 1e-3 * steps, sim.options(), "1.2.3"}, sim.state(), energy(sim.model(), sim.state()));
    for (const auto& sink : sinks) sink->begin(sim, summary.info());
    for (std::int64_t i = 1; i <= steps; ++i) {
      const StepReport& report = sim.step();
      const Energy now = energy(sim.model(), sim.state());
      summary.add(report, now);
      for (const auto& sink : sinks) sink->step({sim, now, i, i == steps});
    }
    summary.finish(sim.state());
    for (const auto& sink : sinks) sink->finish(sim, summary);
  }
  fs::path version1() const {
    const fs::path source = fs::path(SARRUS_SOURCE_DIR) / "tests" / "view" / "fixtures" / "version1.h5.gz";
    std::ofstream(file("version1.h5"), std::ios::binary) << test::inflate(read_file(source, "a fixture"));
    return file("version1.h5");
  }

  fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("sarrus_recorded_run_{}", ::getpid());
};

// What stands in the page between the marks of its motion.
test::Decoded motion_of_page(const fs::path& page) {
  const std::string text = read_file(page, "a page");
  const std::string mark = "id=\"motion\">";
  const std::size_t begin = text.find(mark) + mark.size();
  const std::string encoded = text.substr(begin, text.find("</script>", begin) - begin);
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t word = 0;
  int bits = 0;
  for (const char c : encoded) {
    if (c == '=') break;
    word = word << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(word >> bits & 255);
  }
  return test::decode(bytes);
}

TEST_F(RecordedRun, IsWhatTheRunItselfWouldHaveShown) {
  for (const char* scene : {"fourbar_free", "stewart_platform"}) {
    std::vector<std::unique_ptr<RunSink>> sinks;
    const fs::path recording = file(fmt::format("{}.h5", scene));
    const fs::path page = file(fmt::format("{}.html", scene));
    sinks.push_back(recording_sink(recording.string(), 1));
    sinks.push_back(view::html_sink(page.string()));
    run(scene, 60, std::move(sinks));
    const view::RecordedRun recorded = view::load_recorded_run(recording);
    EXPECT_TRUE(recorded.motion.missing.empty());
    const test::Decoded from_file = test::decode(view::motion_payload(recorded.scene, recorded.facts, recorded.motion));
    const test::Decoded live = motion_of_page(page);
    nlohmann::json headers[] = {from_file.header, live.header};
    for (nlohmann::json& h : headers) h.erase("sections");
    EXPECT_EQ(headers[0], headers[1]) << nlohmann::json::diff(headers[0], headers[1]).dump();
    ASSERT_EQ(from_file.shapes, live.shapes);
    for (const auto& [name, values] : live.sections) {
      const std::vector<double>& other = from_file[name];
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(values[i], other[i], 1e-6 * std::abs(values[i]) + 1e-12) << scene << " " << name << " " << i;
      }
    }
  }
}

TEST_F(RecordedRun, OfEveryNthStepSaysSo) {
  std::vector<std::unique_ptr<RunSink>> sinks;
  sinks.push_back(recording_sink(file("run.h5").string(), 8));
  run("fourbar_swing", 80, std::move(sinks));
  const view::RecordedRun recorded = view::load_recorded_run(file("run.h5"));
  EXPECT_FALSE(recorded.motion.every_step);
  EXPECT_EQ(recorded.motion.frames().size(), 11u);
  EXPECT_EQ(recorded.motion.end_status(), "ok");
  EXPECT_EQ(view::load_recorded_run(file("run.h5"), 50).motion.frames().size(), 5u);
}

TEST_F(RecordedRun, OfVersion1IsReadableAndNamesWhatItLacks) {
  const view::RecordedRun recorded = view::load_recorded_run(version1());
  const view::Motion& motion = recorded.motion;
  const std::vector<std::string> lacks = {"targets",        "joint_gap",         "joint_angle",        "residual.error",
                                          "energy.work_in", "energy.dissipated", "energy.unaccounted", "contacts.mu"};
  EXPECT_EQ(motion.missing, lacks);
  EXPECT_EQ(motion.frames().size(), 31u);
  EXPECT_TRUE(motion.every_step);
  EXPECT_EQ(motion.end_status(), "unknown");
  EXPECT_FALSE(recorded.scene.has_inertia);
  EXPECT_EQ(recorded.facts.tolerance, 0);
  const Model model = make_scene("fourbar_free");
  EXPECT_EQ(recorded.scene.loops.size(), model.loop_joints().size());
  ASSERT_EQ(recorded.scene.scalars.size(), model.dofs().size());
  for (int i = 0; i < model.dof_count(); ++i) {
    const view::Scalar& s = recorded.scene.scalars[static_cast<std::size_t>(i)];
    EXPECT_EQ(s.name, model.dof_name(i));
    EXPECT_EQ(s.joint, model.joint_of_dof(i));
    EXPECT_TRUE(s.angular);
  }
  std::size_t contacts = 0;
  for (const view::Frame& f : motion.frames()) {
    for (const view::FrameContact& c : f.contacts) {
      EXPECT_EQ(c.mode, ContactMode::unknown);
      ++contacts;
    }
  }
  EXPECT_GT(contacts, 0u);
  const test::Decoded d = test::decode(view::motion_payload(recorded.scene, recorded.facts, motion));
  for (const std::string& name : lacks) EXPECT_FALSE(d.has(name)) << name;
  EXPECT_TRUE(d.header["bodies"]["inertia"].empty());
  EXPECT_EQ(d.header["missing"], lacks);
  EXPECT_EQ(load_recording(version1(), model).states.size(), 31u);
}

TEST_F(RecordedRun, OfANewerVersionOrAnotherFormatIsRefused) {
  for (const char* format : {"sarrus-recording", "something"}) {
    {
      hdf5::File h5(file("new.h5").string());
      h5.attribute(h5.id(), "format", std::string(format));
      h5.attribute(h5.id(), "version", kRecordingVersion + 1);
      h5.close();
    }
    try {
      view::load_recorded_run(file("new.h5"));
      ADD_FAILURE() << "not refused";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(std::string(format) == "something" ? "format" : "reads 1 to 2"),
                std::string::npos)
          << e.what();
    }
  }
}

// Damaged files give one error or a motion, and nothing else.
TEST_F(RecordedRun, SurvivesDamage) {
  std::vector<std::unique_ptr<RunSink>> sinks;
  sinks.push_back(recording_sink(file("run.h5").string(), 1));
  run("fourbar_free", 10, std::move(sinks));
  const std::string old = read_file(version1(), "a file");
  const std::string bytes = read_file(file("run.h5"), "a file");
  std::mt19937_64 random(11);
  int refused = 0;
  const int count = test::samples(400);
  for (int i = 0; i < count; ++i) {
    std::string damaged = i % 4 == 0 ? old : bytes;
    if (i % 5 == 0) {
      damaged.resize(random() % damaged.size());
    } else {
      for (int k = 0; k < 8; ++k) {
        damaged[random() % damaged.size()] = static_cast<char>(i % 2 == 0 ? 0 : random());
      }
    }
    std::ofstream(file("damaged.h5"), std::ios::binary) << damaged;
    try {
      const view::RecordedRun run = view::load_recorded_run(file("damaged.h5"));
      EXPECT_FALSE(view::motion_payload(run.scene, run.facts, run.motion).empty());
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace sarrus::recorded_run_test
