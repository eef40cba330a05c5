// Frames that stand for several samples: nothing bad is lost, impulses add up; and motions as containers.
#include "sarrus/view/motion.h"
#include "sarrus/math/error.h"
#include "sarrus/view/html_sink.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "sarrus/scenes/scenes.h"
#include "sarrus/view/motion_payload.h"
#include "view/decode.h"

namespace sarrus::motion_test {
namespace {

constexpr std::size_t kBodies = 2;
constexpr std::size_t kScalars = 3;
constexpr std::size_t kJoints = 2;
constexpr double kStep = 1e-3;

// Samples of numbers by chance, with contacts that come and go.
std::vector<view::Frame> random_samples(const view::Layout& layout, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(0, 1);
  std::vector<view::Frame> samples;
  for (int i = 0; i < count; ++i) {
    view::Frame f;
    f.time = 0.5 + kStep * i;
    f.interval = i == 0 ? 0 : kStep;
    f.steps = i == 0 ? 0 : 1;
    for (std::size_t k = 0; k < layout.size(); ++k) f.row.push_back(number(random));
    for (double view::Frame::*x :
         {&view::Frame::natural_map, &view::Frame::error, &view::Frame::joint_gap, &view::Frame::joint_angle,
          &view::Frame::penetration, &view::Frame::limit_violation, &view::Frame::kinetic, &view::Frame::work_in}) {
      f.*x = std::pow(number(random), 8);
    }
    f.iterations = static_cast<std::uint32_t>(random() % 100);
    f.status = i == 0 ? view::kNoStep : static_cast<std::uint8_t>(random() % 20 == 0 ? random() % 5 : 0);
    for (int c = static_cast<int>(random() % 4); i > 0 && c > 0; --c) {
      view::FrameContact contact;
      contact.geom_a = static_cast<int>(random() % 2);
      contact.geom_b = 2 + static_cast<int>(random() % 2);
      contact.point = Vec3(number(random), number(random), number(random));
      contact.impulse_W = Vec3(number(random), number(random), number(random)) * kStep;
      contact.gap = number(random) - 0.5;
      contact.mu = 0.7;
      contact.mode = static_cast<ContactMode>(random() % 4);
      f.contacts.push_back(contact);
    }
    samples.push_back(std::move(f));
  }
  return samples;
}

using Pair = std::pair<int, int>;
std::map<Pair, Vec3> impulses_by_pair(const std::vector<view::Frame>& frames, std::size_t from, std::size_t to) {
  std::map<Pair, Vec3> sums;
  for (std::size_t i = from; i < to; ++i) {
    for (const view::FrameContact& c : frames[i].contacts) {
      sums.try_emplace({c.geom_a, c.geom_b}, Vec3::Zero()).first->second += c.impulse_W;
    }
  }
  return sums;
}

// Against the plain definition, over the samples that each frame stands for.
void expect_worst_of_intervals(const std::vector<view::Frame>& samples, const std::vector<view::Frame>& frames,
                               const view::Layout& layout) {
  std::size_t from = 0;
  for (const view::Frame& f : frames) {
    std::size_t to = from;
    while (to < samples.size() && samples[to].time <= f.time) ++to;
    ASSERT_GT(to, from);
    const auto most = [&](auto value) {
      double worst = value(samples[from]);
      for (std::size_t i = from; i < to; ++i) worst = std::max<double>(worst, value(samples[i]));
      return worst;
    };
    for (double view::Frame::*x :
         {&view::Frame::natural_map, &view::Frame::error, &view::Frame::joint_gap, &view::Frame::joint_angle,
          &view::Frame::penetration, &view::Frame::limit_violation}) {
      EXPECT_EQ(f.*x, most([x](const view::Frame& s) { return s.*x; }));
    }
    EXPECT_EQ(f.iterations, most([](const view::Frame& s) { return s.iterations; }));
    if (f.time > samples[0].time) {
      EXPECT_EQ(f.status, most([](const view::Frame& x) { return x.status; }));
    }
    for (std::size_t k = 0; k < layout.size(); ++k) {
      const bool worst = k >= layout.first(view::Column::joint_gap);
      const bool mean = !worst && k >= layout.first(view::Column::efforts);
      if (worst) {
        EXPECT_EQ(f.row[k], most([k](const view::Frame& s) { return s.row[k]; })) << k;
      } else if (!mean) {
        EXPECT_EQ(f.row[k], samples[to - 1].row[k]) << k;
      } else {
        double sum = 0;
        for (std::size_t i = from; i < to; ++i) sum += samples[i].row[k] / static_cast<double>(to - from);
        EXPECT_NEAR(f.row[k], sum, 1e-12) << k;
      }
    }
    EXPECT_EQ(f.steps, from == 0 ? 0 : to - from);
    EXPECT_NEAR(f.interval, from == 0 ? 0 : kStep * static_cast<double>(to - from), 1e-12);
    EXPECT_EQ(f.kinetic, samples[to - 1].kinetic);
    const auto expected = impulses_by_pair(samples, from, to);
    const auto found = impulses_by_pair(std::vector<view::Frame>{f}, 0, 1);
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [pair, sum] : expected) EXPECT_LT((found.at(pair) - sum).norm(), 1e-15);
    from = to;
  }
  EXPECT_EQ(from, samples.size());
}

TEST(Motion, FramesHaveTheWorstOfTheirIntervals) {
  const view::Layout layout(kBodies, kScalars, kJoints);
  for (const double rate : {0.0, 700.0, 240.0, 120.0, 7.0}) {
    const std::vector<view::Frame> samples = random_samples(layout, 400, 3);
    view::Motion motion(layout, rate);
    for (const view::Frame& s : samples) motion.add(s);
    expect_worst_of_intervals(samples, motion.frames(), layout);
    EXPECT_EQ(motion.samples(), samples.size());
    EXPECT_EQ(motion.frames().front().time, samples.front().time);
    EXPECT_EQ(motion.frames().back().time, samples.back().time);
    if (rate == 0) {
      EXPECT_EQ(motion.frames().size(), samples.size());
    }
    if (rate == 120) {
      EXPECT_EQ(motion.frames().size(), 49u);
    }  // 0.399 s: 47.88 intervals and the last sample
  }
}

// Thinned twice is as honest as thinned once.
TEST(Motion, ThinnedAgainLosesNothing) {
  const view::Layout layout(kBodies, kScalars, kJoints);
  const std::vector<view::Frame> samples = random_samples(layout, 500, 4);
  view::Motion motion(layout);
  for (const view::Frame& s : samples) motion.add(s);
  expect_worst_of_intervals(samples, motion.thinned(240).thinned(60).frames(), layout);
  const view::Motion thinner = motion.thinner().thinner();
  EXPECT_EQ(thinner.rate(), 120);
  expect_worst_of_intervals(samples, thinner.frames(), layout);
}

TEST(Motion, KeepsWithinItsMemoryByThinningItself) {
  const view::Layout layout(kBodies, kScalars, kJoints);
  const std::vector<view::Frame> samples = random_samples(layout, 2000, 5);
  view::Motion motion(layout);
  constexpr std::size_t kLimit = 100000;
  for (const view::Frame& s : samples) {
    motion.add(s);
    motion.fit_memory(kLimit);
    ASSERT_LE(motion.bytes(), kLimit);
  }
  EXPECT_GT(motion.rate(), 0);
  EXPECT_GT(motion.frames().size(), 50u);
  expect_worst_of_intervals(samples, motion.frames(), layout);
}

// A contact goes on in the nearest one of the same pair; one that ended within the interval is kept.
TEST(Motion, ContactsThatEndAreKept) {
  const view::Layout layout(0, 0, 0);
  view::Frame before;
  view::Frame after;
  before.interval = after.interval = kStep;
  view::FrameContact c;
  c.geom_b = 1;
  c.gap = -0.1;
  c.impulse_W = Vec3(0, 0, 1);
  c.mode = ContactMode::sliding;
  before.contacts = {c};
  c.point = Vec3(1, 0, 0);
  before.contacts.push_back(c);
  c.point = Vec3(0.9, 0, 0);
  c.gap = 0.2;
  c.impulse_W = Vec3(0, 0, 2);
  c.mode = ContactMode::sticking;
  after.contacts = {c};
  view::take_over(layout, before, after);
  ASSERT_EQ(after.contacts.size(), 2u);
  EXPECT_EQ(after.contacts[0].impulse_W.z(), 3);
  EXPECT_EQ(after.contacts[0].gap, -0.1);
  EXPECT_EQ(after.contacts[0].mode, ContactMode::sliding);
  EXPECT_EQ(after.contacts[1].impulse_W.z(), 1);
  EXPECT_EQ(after.contacts[1].point, Vec3::Zero());
}

TEST(Motion, AFailedRunShowsItInItsLastFrame) {
  view::Motion motion{view::Layout(0, 0, 0)};
  view::Frame f;
  motion.add(f);
  f.time = 1;
  f.status = 0;
  motion.add(f);
  motion.end("failed", "why");
  EXPECT_EQ(motion.frames()[0].status, view::kNoStep);
  EXPECT_EQ(motion.frames()[1].status, static_cast<std::uint8_t>(StepStatus::failed));
  EXPECT_EQ(motion.thinned(10).end_message(), "why");
}

// The payload says what the simulation did, within the steps of the codecs.
TEST(MotionPayload, GivesBackARun) {
  Simulation sim(make_scene("fourbar_free"), {.dt = 1e-3});
  const view::Scene scene = view::scene_of(sim.model(), sim.state().X_WB);
  view::Motion motion{view::Layout(scene)};
  std::vector<State> states;
  const auto add = [&] {
    view::Frame f;
    view::frame_of(sim, motion.layout(), f);
    motion.add(f);
    states.push_back(sim.state());
  };
  add();
  std::vector<std::vector<Vec3>> forces(1);
  for (int i = 0; i < 40; ++i) {
    sim.step();
    add();
    forces.emplace_back();
    for (std::size_t c = 0; c < sim.contacts().size(); ++c) {
      forces.back().push_back(sim.contact_force_W(static_cast<int>(c)));
    }
  }
  const view::RunFacts facts{1e-3, "cascade", "moreau", 1e-9, 1e-3, "0.1.0"};
  const std::string payload = view::motion_payload(scene, facts, motion);
  EXPECT_EQ(payload, view::motion_payload(scene, facts, motion));
  const test::Decoded d = test::decode(payload);
  EXPECT_EQ(d.header["frames"], 41);
  EXPECT_EQ(d.header["samples"], 41);
  EXPECT_EQ(d.header["frame_rate"], 0);
  EXPECT_NEAR(d.header["duration"].get<double>(), 0.04, 1e-15);
  const std::size_t n = states[0].X_WB.size();
  const auto scale_of = [&](const char* name) {
    for (const auto& s : d.header["sections"]) {
      if (s["name"] == name) return s["scale"].get<std::vector<double>>();
    }
    throw std::runtime_error(name);
  };
  const std::vector<double> scale = scale_of("position");
  const std::vector<double> force_scale = scale_of("contacts.force");
  std::size_t contact = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(d["time"][i], states[i].time);
    EXPECT_EQ(d["status"][i], i == 0 ? 255 : 0);
    for (std::size_t b = 0; b < n; ++b) {
      for (std::size_t k = 0; k < 3; ++k) {
        const double x = states[i].X_WB[b].p[static_cast<Eigen::Index>(k)];
        EXPECT_NEAR(d["position"][(i * n + b) * 3 + k], x, 0.5 * scale[3 * b + k] + 1e-14);
      }
      Quat q(d["quaternion"][(i * n + b) * 4], d["quaternion"][(i * n + b) * 4 + 1],
             d["quaternion"][(i * n + b) * 4 + 2], d["quaternion"][(i * n + b) * 4 + 3]);
      EXPECT_LT(q.normalized().angularDistance(states[i].X_WB[b].q), 6e-4);
    }
    ASSERT_EQ(d["contacts.offset"][i], contact);
    for (const Vec3& force : forces[i]) {
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(d["contacts.force"][3 * contact + static_cast<std::size_t>(k)], force[k],
                    0.5 * force_scale[static_cast<std::size_t>(k)] + 1e-12);
      }
      ++contact;
    }
  }
  EXPECT_EQ(d["contacts.offset"].back(), contact);
  EXPECT_GT(contact, 0u);
  // A gap is never shown smaller than it was, and at most a quarter of a decade larger, but that all
  // below 1e-13 m is rounding.
  for (int j = 0; j < sim.model().joint_count(); ++j) {
    const double gap = sim.joint_opening(j).gap;
    const double shown = d["joint_gap"][40 * sim.model().joints().size() + static_cast<std::size_t>(j)];
    EXPECT_GE(shown, gap * (1 - 1e-9));
    if (gap > 1e-13) {
      EXPECT_LE(shown, gap * std::pow(10, 0.25) * (1 + 1e-9));
    }
  }
}

TEST(MotionPayload, TakesFewerFramesWhereAllDoNotFit) {
  const view::Layout layout(120, 0, 0);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(0, 1);
  view::Scene scene;
  scene.bodies.resize(120);
  view::Motion motion(layout);
  for (int i = 0; i < 3000; ++i) {  // numbers by chance are not compressed
    view::Frame f;
    f.time = kStep * i;
    f.interval = kStep;
    f.steps = 1;
    for (std::size_t k = 0; k < layout.size(); ++k) f.row.push_back(number(random));
    motion.add(std::move(f));
  }
  const std::string all = view::motion_payload(scene, {}, motion);
  const std::string fitted = view::fitted_payload(scene, {}, motion);
  EXPECT_GT(all.size(), std::size_t{4} << 20);
  EXPECT_LE(fitted.size(), std::size_t{4} << 20);
  const test::Decoded d = test::decode(fitted);
  EXPECT_EQ(d.header["frame_rate"], 240);
  EXPECT_EQ(d.header["samples"], 3000);
  EXPECT_EQ(std::accumulate(d["steps"].begin(), d["steps"].end(), 0.0), 2999);
}

// What a page does not hold is refused with the way out, not written.
TEST(MotionPayload, APageHoldsSoMuchAndNoMore) {
  EXPECT_EQ(view::kMaxPagePayload, std::size_t{64} << 20);
  const view::Layout layout(3, 0, 0);
  view::Scene scene;
  scene.bodies.resize(3);
  view::Motion motion(layout);
  for (int i = 0; i < 20; ++i) {
    view::Frame f;
    f.time = kStep * i;
    f.row.assign(layout.size(), 0.1 * i);
    motion.add(std::move(f));
  }
  const std::string all = view::motion_payload(scene, {}, motion);
  EXPECT_EQ(view::page_payload("--html x.html", scene, {}, motion, all.size()), all);
  try {
    view::page_payload("--html x.html", scene, {}, motion, all.size() - 1);
    ADD_FAILURE() << "was taken";
  } catch (const InputError& e) {
    EXPECT_EQ(e.element(), "--html x.html");
    EXPECT_NE(std::string(e.what()).find("sarrus view"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("--html-fps"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace sarrus::motion_test
