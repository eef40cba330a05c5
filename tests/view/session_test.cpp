// A live session without sockets: every command, what is refused, going back in the same bits, pacing by a clock of the
// test, what slow pages are told, and that no message ends it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "effort.h"
#include "sarrus/math/random.h"
#include "sarrus/model/builder.h"
#include "sarrus/recording/checkpoint.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/view/playback.h"
#include "sarrus/view/session.h"

namespace sarrus::session_test {
namespace {

using nlohmann::json;
using namespace sarrus::view;

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T x;
  std::memcpy(&x, bytes.data() + offset, sizeof(T));
  return x;
}

// A session with a clock that moves only as the test says, and all that it has sent.
struct Bench {
  explicit Bench(const Model& model, SessionOptions options = {}, SimulationOptions simulation = {},
                 SessionEvents events = {})
      : session(
            Simulation(model, simulation), typed_message(1, "scene"), nullptr, std::move(options),
            [this](int page, const Message& m) { sent[page].push_back(*m); }, [this] { return now += tick; },
            std::move(events)) {}

  // In slices of a millisecond, as a frame of a page is drawn at once.
  void run(double seconds, bool acknowledge = true) {
    for (int i = 0; i < std::lround(seconds * 1000); ++i) {
      now += 1e-3;
      session.advance();
      if (acknowledge) draw();
    }
  }
  void finish() {
    for (int i = 0; i < 100000 && session.advance() == 0; ++i) {
    }
    now += 1;
    session.advance();
    draw();
  }
  void draw() {
    for (auto& [page, messages] : sent) {
      for (; drawn[page] < messages.size(); ++drawn[page]) {
        const std::string& m = messages[drawn[page]];
        if (m[0] == 2) session.receive(page, fmt::format(R"({{"c":"ack","n":{}}})", at<std::uint32_t>(m, 4)));
      }
    }
  }
  void say(const std::string& text, int page = 1) { session.receive(page, text); }
  std::vector<std::string> of_type(char type, int page = 1) {
    std::vector<std::string> out;
    for (const std::string& m : sent[page]) {
      if (m[0] == type) out.push_back(m);
    }
    return out;
  }
  std::vector<json> notices(const std::string& kind, int page = 1) {
    std::vector<json> out;
    for (const std::string& m : of_type(3, page)) {
      const json n = json::parse(m.substr(1));
      if (n["kind"] == kind) out.push_back(n);
    }
    return out;
  }
  std::string frame(int page = 1) {
    const auto frames = of_type(2, page);
    return frames.empty() ? std::string() : frames.back();
  }
  std::uint64_t hash() const { return session.simulation().state().hash(); }
  double time() const { return session.simulation().time(); }

  double now = 100;
  double tick = 0;  // what every look at the clock takes
  std::map<int, std::vector<std::string>> sent;
  std::map<int, std::size_t> drawn;
  Session session;
};

SessionOptions paused() {
  SessionOptions o;
  o.paused = true;
  return o;
}

TEST(Session, PlaysByTheClockAndStopsOnPause) {
  Bench b(make_scene("fourbar_swing"));
  b.session.connect(1);
  ASSERT_EQ(b.sent[1].front()[0], 1);
  b.run(0.5);
  EXPECT_NEAR(b.time(), 0.5, 0.002);
  b.say(R"({"c":"pause"})");
  b.run(0.5);
  EXPECT_NEAR(b.time(), 0.5, 0.002);
  EXPECT_EQ(b.frame()[1] & LiveFrame::paused, LiveFrame::paused);
  b.say(R"({"c":"speed","x":0.1})");
  b.say(R"({"c":"play"})");
  b.run(1);
  EXPECT_NEAR(b.time(), 0.6, 0.002);
  EXPECT_NEAR(at<float>(b.frame(), 64), 0.1, 1e-6);
  EXPECT_NEAR(at<float>(b.frame(), 68), 0.1, 0.01);
  EXPECT_EQ(b.frame()[1] & LiveFrame::paused, 0);
  EXPECT_TRUE(b.notices("refused").empty());
}

TEST(Session, AtMostSixtyFramesASecondTellOfEveryStep) {
  Bench b(make_scene("fourbar_swing"));
  b.session.connect(1);
  b.run(1);
  const auto frames = b.of_type(2);
  EXPECT_LE(frames.size(), 62U);
  EXPECT_GE(frames.size(), 55U);
  std::uint32_t steps = 0;
  std::uint32_t sequence = 0;
  for (const std::string& f : frames) {
    steps += at<std::uint32_t>(f, 60);
    EXPECT_EQ(at<std::uint32_t>(f, 4), ++sequence);
  }
  EXPECT_EQ(steps, at<std::uint32_t>(frames.back(), 56));
}

TEST(Session, AFrameHoldsTheStateInThePlacesThatTheProtocolNames) {
  const Model model = make_scene("fourbar_free");
  Bench b(model, paused());
  b.session.connect(1);
  b.say(R"({"c":"step","n":400})");
  b.finish();
  const std::string f = b.frame();
  const State& s = b.session.simulation().state();
  const std::size_t n = model.bodies().size();
  const std::size_t nd = model.scalars().size();
  const std::size_t nj = model.joints().size();
  EXPECT_EQ(at<double>(f, 8), s.time);
  EXPECT_EQ(at<std::uint32_t>(f, 56), 400U);
  ASSERT_EQ(at<std::uint32_t>(f, 120), n);
  ASSERT_EQ(at<std::uint32_t>(f, 124), nd);
  ASSERT_EQ(at<std::uint32_t>(f, 128), nj);
  const std::size_t contacts = at<std::uint32_t>(f, 132);
  EXPECT_GT(contacts, 0U);
  ASSERT_EQ(f.size(), 184 + 28 * n + 16 * nd + 16 * nj + 56 * contacts);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(at<float>(f, 184 + 28 * i + 4 * k) + at<double>(f, 16 + 8 * k), s.X_WB[i].p[static_cast<int>(k)],
                  1e-6);
    }
    EXPECT_NEAR(at<float>(f, 184 + 28 * i + 12), s.X_WB[i].q.w(), 1e-6);
  }
  // All the weight is on the floor.
  double force = 0;
  for (std::size_t i = 0; i < contacts; ++i) force += at<float>(f, f.size() - 56 * (i + 1) + 32);
  double weight = 0;
  for (const sarrus::Body& body : model.bodies()) weight += 9.81 * body.mass;
  EXPECT_NEAR(std::abs(force), weight, 0.05 * weight);

  b.say(R"({"c":"layer","name":"contacts","on":false})");
  b.say(R"({"c":"layer","name":"joints","on":false})");
  b.finish();
  EXPECT_EQ(b.frame().size(), 184 + 28 * n + 16 * nd);
  EXPECT_EQ(at<std::uint32_t>(b.frame(), 60), 0U);
}

// The worst of the steps that a frame stands for, and all their impulses, against those of every step.
TEST(Session, ASlowPageIsToldTheWorstOfWhatItMissed) {
  const Model model = make_scene("box_on_plane");
  Simulation alone(model);
  Bench b(model);
  b.session.connect(1);
  b.run(0.1);
  const std::int64_t from = at<std::uint32_t>(b.frame(), 56);
  for (int i = 0; i < from; ++i) alone.step();
  for (auto& messages : b.sent) messages.second.clear();
  b.drawn.clear();
  b.run(0.6, false);
  EXPECT_LE(b.of_type(2).size(), 2U);
  for (const std::string& f : b.of_type(2)) {
    b.say(fmt::format(R"({{"c":"ack","n":{}}})", at<std::uint32_t>(f, 4)));
  }
  b.run(0.02, false);
  float worst = 0;
  std::uint32_t steps = 0;
  for (const std::string& f : b.of_type(2)) {
    worst = std::max(worst, at<float>(f, 88));
    steps += at<std::uint32_t>(f, 60);
  }
  const std::int64_t to = at<std::uint32_t>(b.frame(), 56);
  EXPECT_GT(to, 650);
  EXPECT_EQ(from + steps, to);
  double penetration = 0;
  while (alone.time() < static_cast<double>(to) * alone.dt() - 1e-9)
    penetration = std::max(penetration, alone.step().penetration);
  EXPECT_EQ(worst, static_cast<float>(penetration));
}

TEST(Session, BackAndOnGivesTheSameBits) {
  for (const char* scene : {"fourbar_free", "jansen_walker", "nunchuk"}) {
    SCOPED_TRACE(scene);
    Bench b(make_scene(scene), paused());
    b.session.connect(1);
    std::vector<std::uint64_t> bits = {b.hash()};
    const int steps = std::max(40, test::samples(120));
    for (int i = 0; i < steps; ++i) {
      // Inputs on the way, some of them several in a step.
      if (i % 7 == 3)
        b.say(fmt::format(R"({{"c":"drag","body":0,"point":[0,0,0.01],"target":[0,0.1,{}]}})", 1 + 0.01 * i));
      if (i % 20 == 19) b.say(R"({"c":"drop"})");
      b.say(R"({"c":"step","n":1})");
      b.finish();
      bits.push_back(b.hash());
    }
    ASSERT_EQ(b.session.index(), steps);
    Random random(3);
    for (int i = 0; i < 8; ++i) {
      const int to = random.below(steps + 1);
      b.say(fmt::format(R"({{"c":"seek","time":{:.17g}}})", to * b.session.simulation().dt()));
      b.finish();
      ASSERT_EQ(b.session.index(), to);
      EXPECT_EQ(b.hash(), bits[static_cast<std::size_t>(to)]) << to;
      EXPECT_EQ(at<std::uint32_t>(b.frame(), 56), static_cast<std::uint32_t>(to));
    }
    b.say(fmt::format(R"({{"c":"step","n":-{}}})", 10000));
    b.finish();
    EXPECT_EQ(b.session.index(), 0);
    EXPECT_EQ(b.hash(), bits[0]);
    EXPECT_NE(b.frame()[1] & LiveFrame::state_set, 0);
    // On, through all of it.
    for (int i = 1; i <= steps; ++i) {
      b.say(R"({"c":"step","n":1})");
      b.finish();
      ASSERT_EQ(b.hash(), bits[static_cast<std::size_t>(i)]) << i;
    }
    EXPECT_EQ(b.session.latest(), steps);
    EXPECT_TRUE(b.notices("refused").empty());
  }
}

TEST(Session, PlayingFromThePastGoesThroughTheSameBits) {
  Bench a(make_scene("fourbar_swing"));
  Bench b(make_scene("fourbar_swing"));
  for (Bench* x : {&a, &b}) {
    x->session.connect(1);
    x->run(0.2);
    x->say(R"({"c":"drag","body":1,"point":[0,0,0],"target":[0.3,0,0.3]})");
    x->run(0.2);
  }
  b.say(R"({"c":"seek","time":0.1})");
  b.finish();
  EXPECT_NEAR(b.time(), 0.1, 1e-3);
  EXPECT_EQ(b.session.simulation().dragged_body(), kWorld);
  b.say(R"({"c":"play"})");
  while (b.session.index() < a.session.index()) b.run(0.001);
  EXPECT_EQ(b.session.simulation().dragged_body(), 1);
  EXPECT_EQ(a.hash(), b.hash());
}

TEST(Session, AnInputInThePastBeginsAnotherFuture) {
  std::vector<std::int64_t> branches;
  std::vector<std::int64_t> stepped;
  SessionEvents events;
  events.branched = [&](std::int64_t i) { branches.push_back(i); };
  events.stepped = [&](const Simulation&, std::int64_t i) { stepped.push_back(i); };
  Bench b(make_scene("fourbar_swing"), paused(), {}, events);
  b.session.connect(1);
  b.say(R"({"c":"step","n":100})");
  b.finish();
  b.say(R"({"c":"step","n":-60})");
  b.finish();
  EXPECT_EQ(b.session.index(), 40);
  EXPECT_EQ(b.session.latest(), 100);
  EXPECT_EQ(at<double>(b.frame(), 48), 100 * b.session.simulation().dt());
  b.say(R"({"c":"drag","body":0,"point":[0,0,0],"target":[1,0,1]})");
  EXPECT_EQ(b.session.latest(), 40);
  EXPECT_EQ(branches, std::vector<std::int64_t>{40});
  b.say(R"({"c":"step","n":5})");
  b.finish();
  EXPECT_EQ(b.session.latest(), 45);
  ASSERT_EQ(stepped.size(), 105U);
  EXPECT_EQ(stepped[100], 41);
}

TEST(Session, ResetIsTheInitialState) {
  Bench b(make_scene("stewart_platform"));
  b.session.connect(1);
  const std::uint64_t initial = b.hash();
  b.say(R"({"c":"drag","body":0,"point":[0,0,0],"target":[1,0,1]})");
  b.run(0.3);
  EXPECT_NE(b.hash(), initial);
  b.say(R"({"c":"pause"})");
  b.say(R"({"c":"reset"})");
  EXPECT_EQ(b.hash(), initial);
  EXPECT_EQ(b.session.latest(), 0);
  EXPECT_EQ(b.session.simulation().dragged_body(), kWorld);
  b.run(0.1);
  EXPECT_EQ(b.hash(), initial);
  EXPECT_EQ(at<std::uint32_t>(b.frame(), 56), 0U);
  EXPECT_NE(b.frame()[1] & LiveFrame::state_set, 0);
}

TEST(Session, OnlyTheLastSecondsAreKept) {
  SessionOptions o = paused();
  o.history = 0.1;
  Bench b(make_scene("fourbar_swing"), o);
  b.session.connect(1);
  b.say(R"({"c":"step","n":1000})");
  b.finish();
  const double dt = b.session.simulation().dt();
  EXPECT_GT(at<double>(b.frame(), 40), 0.5 * 1000 * dt);
  EXPECT_LE(at<double>(b.frame(), 40), 1000 * dt - 0.1 + 1e-9);
  b.say(R"({"c":"step","n":-1000})");
  b.finish();
  EXPECT_NEAR(b.time(), at<double>(b.frame(), 40), 1e-9);
  EXPECT_TRUE(b.notices("refused").empty());
  b.say(R"({"c":"step","n":-1})");
  EXPECT_EQ(b.notices("refused").size(), 1U);
}

TEST(Session, LittleMemoryMakesFewerSnapshotsAndTheSameBits) {
  SessionOptions o = paused();
  Bench wide(make_scene("fourbar_swing"), o);
  o.history_bytes = 100'000;
  Bench b(make_scene("fourbar_swing"), o);
  for (Bench* x : {&wide, &b}) {
    x->session.connect(1);
    x->say(R"({"c":"step","n":2000})");
    x->finish();
    x->say(R"({"c":"step","n":-700})");
    x->finish();
    EXPECT_EQ(x->session.index(), 1300);
  }
  EXPECT_EQ(wide.hash(), b.hash());
}

TEST(Session, TargetsAndTheirRelease) {
  Bench b(make_scene("stewart_platform"));
  b.session.connect(1);
  int driven = 0;
  while (b.session.simulation().model().scalars()[static_cast<std::size_t>(driven)].drive.mode == DriveMode::none)
    ++driven;
  b.say(fmt::format(R"({{"c":"target","dof":{},"value":0.25}})", driven));
  EXPECT_EQ(b.session.simulation().drive_target(driven), 0.25);
  b.say(fmt::format(R"({{"c":"release","dof":{}}})", driven));
  EXPECT_NE(b.session.simulation().drive_target(driven), 0.25);
  EXPECT_TRUE(b.notices("refused").empty());
}

TEST(Session, ADraggedBodyFollowsAndIsLetGoWithItsPage) {
  Bench b(make_scene("fourbar_swing"));
  b.session.connect(1);
  b.session.connect(2);
  b.say(R"({"c":"drag","body":1,"point":[0,0,0],"target":[0.3,0,0.4]})");
  b.run(0.2);
  EXPECT_EQ(at<std::int32_t>(b.frame(), 136), 1);
  EXPECT_NE(b.frame()[1] & LiveFrame::dragging, 0);
  EXPECT_NEAR(at<float>(b.frame(), 152) + at<double>(b.frame(), 16), 0.3, 1e-6);
  EXPECT_NE(at<float>(b.frame(), 164), 0);
  b.session.disconnect(2);
  b.run(0.01);
  EXPECT_EQ(b.session.simulation().dragged_body(), 1);
  b.session.disconnect(1);
  EXPECT_EQ(b.session.simulation().dragged_body(), kWorld);
}

// The moment of letting go may be in a future that is dropped: nobody holds the body then.
TEST(Session, ADragWhoseEndIsDroppedEnds) {
  Bench b(make_scene("stewart_platform"));
  b.session.connect(1);
  b.run(0.05);
  b.say(R"({"c":"drag","body":0,"point":[0,0,0],"target":[0.1,0,1]})");
  b.run(0.1);
  b.say(R"({"c":"drop"})");
  b.run(0.05);
  b.say(R"({"c":"seek","time":0.1})");
  b.finish();
  EXPECT_EQ(b.session.simulation().dragged_body(), 0);
  int driven = 0;
  while (b.session.simulation().model().scalars()[static_cast<std::size_t>(driven)].drive.mode == DriveMode::none)
    ++driven;
  b.say(fmt::format(R"({{"c":"target","dof":{},"value":0.25}})", driven));
  EXPECT_EQ(b.session.simulation().dragged_body(), kWorld);
  const std::int64_t from = b.session.index();
  b.say(R"({"c":"step","n":20})");
  b.finish();
  const std::uint64_t there = b.hash();
  for (const int n : {-20, 20}) {
    b.say(fmt::format(R"({{"c":"step","n":{}}})", n));
    b.finish();
  }
  EXPECT_EQ(b.session.index(), from + 20);
  EXPECT_EQ(b.hash(), there);
}

// A page that goes away while its drag is still to come again takes nothing of what happened with it.
TEST(Session, ADragOfThePastEndsWhereItsHolderIsGone) {
  Bench a(make_scene("fourbar_swing"));
  Bench b(make_scene("fourbar_swing"));
  for (Bench* x : {&a, &b}) {
    x->session.connect(1);
    x->session.connect(2);
    x->run(0.1);
    x->say(R"({"c":"drag","body":1,"point":[0,0,0],"target":[0.3,0,0.3]})");
    x->run(0.1);
  }
  b.say(R"({"c":"seek","time":0.05})");
  b.finish();
  b.session.disconnect(1);
  EXPECT_EQ(b.session.latest(), a.session.index());
  b.say(R"({"c":"play"})", 2);
  while (b.session.index() < a.session.index()) b.run(0.001);
  EXPECT_EQ(b.hash(), a.hash());
  EXPECT_EQ(b.session.simulation().dragged_body(), 1);
  b.run(0.01);
  EXPECT_EQ(b.session.simulation().dragged_body(), kWorld);
}

// Where the state is set before a slow page was told of the last steps, it is told of them first.
TEST(Session, WhatWasBadIsToldBeforeTheStateIsSet) {
  Bench b(make_scene("box_on_plane"));
  b.session.connect(1);
  b.run(0.1);
  b.run(0.6, false);  // the impact
  const std::int64_t latest = b.session.latest();
  Simulation alone(make_scene("box_on_plane"));
  double worst = 0;
  while (alone.time() < 0.1) alone.step();
  for (auto i = std::llround(alone.time() / alone.dt()); i < latest; ++i) {
    worst = std::max(worst, alone.step().residuals.natural_map);
  }
  ASSERT_GT(worst, 0);
  b.say(R"({"c":"seek","time":0.05})");
  for (int i = 0; i < 1000 && b.session.advance() == 0; ++i) {
  }
  b.sent.clear();
  b.drawn.clear();
  b.say(R"({"c":"ack","n":2})");
  for (std::uint32_t n = 3; n < 20; ++n) b.say(fmt::format(R"({{"c":"ack","n":{}}})", n));
  b.sent.clear();
  b.run(0.1);
  const auto frames = b.of_type(2);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_NEAR(at<float>(frames[0], 72), worst, 1e-6 * worst);
  EXPECT_EQ(at<std::uint32_t>(frames[0], 56), static_cast<std::uint32_t>(latest));
  EXPECT_EQ(frames[0][1] & LiveFrame::state_set, 0);
  EXPECT_NE(frames[1][1] & LiveFrame::state_set, 0);
  EXPECT_NEAR(at<double>(frames[1], 8), 0.05, 1e-9);
}

TEST(Session, ASlowPageIsToldWhichFutureIsNoMore) {
  Bench b(make_scene("fourbar_swing"));
  b.session.connect(1);
  b.run(0.2);
  EXPECT_EQ(at<double>(b.frame(), 176), std::numeric_limits<double>::infinity());
  b.run(0.1, false);
  b.say(R"({"c":"seek","time":0.1})");
  for (int i = 0; i < 1000 && b.session.advance() == 0; ++i) {
  }
  b.say(R"({"c":"drag","body":1,"point":[0,0,0],"target":[0.3,0,0.3]})");
  b.say(R"({"c":"play"})");
  b.run(0.4, false);
  const std::size_t seen = b.of_type(2).size();
  b.run(0.1);
  const auto frames = b.of_type(2);
  ASSERT_GT(frames.size(), seen);
  EXPECT_NEAR(at<double>(frames[seen], 176), 0.1, 1e-9);
  EXPECT_GT(at<double>(frames[seen], 8), 0.3);
  EXPECT_EQ(at<double>(frames.back(), 176), std::numeric_limits<double>::infinity());
}

TEST(Session, TellsWhenTheLatestStateIsLeftAndWritesProblemsOnDemand) {
  std::vector<std::int64_t> left;
  std::vector<std::int64_t> dumped;
  SessionEvents events;
  events.left = [&](const Simulation&, std::int64_t i) { left.push_back(i); };
  events.dump = [&](const Simulation& s, std::int64_t i) {
    dumped.push_back(i);
    EXPECT_EQ(s.impulses().size(), static_cast<std::size_t>(s.problem().rows()));
    return fmt::format("folder/problem-{}.h5", i);
  };
  Bench none(make_scene("fourbar_swing"), paused());
  none.session.connect(1);
  none.say(R"({"c":"step","n":1})");
  none.finish();
  none.say(R"({"c":"dump"})");
  EXPECT_EQ(none.notices("refused").size(), 1U);
  Bench b(make_scene("fourbar_swing"), paused(), {}, events);
  b.session.connect(1);
  b.say(R"({"c":"dump"})");
  EXPECT_EQ(b.notices("refused").size(), 1U);
  for (const int n : {30, -10, -5, 15, -30}) {
    b.say(fmt::format(R"({{"c":"step","n":{}}})", n));
    b.finish();
    if (n != -30) b.say(R"({"c":"dump"})");
  }
  EXPECT_EQ(left, (std::vector<std::int64_t>{30, 30}));
  EXPECT_EQ(dumped, (std::vector<std::int64_t>{30, 20, 15, 30}));
  ASSERT_EQ(b.notices("saved").size(), 4U);
  EXPECT_EQ(b.notices("saved")[1]["text"], "the problem of step 20 is in folder/problem-20.h5");
  b.say(R"({"c":"dump"})");  // at the start again
  EXPECT_EQ(b.notices("refused").size(), 2U);
}

TEST(Session, SavesOnlyWhereTheCommandLineSays) {
  Bench none(make_scene("fourbar_swing"), paused());
  none.session.connect(1);
  none.say(R"({"c":"save"})");
  EXPECT_EQ(none.notices("refused").size(), 1U);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("sarrus_session_{}", ::getpid());
  std::filesystem::create_directories(folder);
  SessionOptions o = paused();
  o.save = (folder / "state.ck").string();
  Bench b(make_scene("fourbar_swing"), o);
  b.session.connect(1);
  b.say(R"({"c":"step","n":50})");
  b.finish();
  b.say(R"({"c":"save"})");
  EXPECT_EQ(b.notices("saved").size(), 1U);
  Simulation sim(make_scene("fourbar_swing"));
  sim.restore(load_checkpoint(o.save));
  EXPECT_EQ(sim.state().hash(), b.hash());
  std::filesystem::remove_all(folder);
}

// A step that cannot be taken: no solver iterations, nothing acceptable.
TEST(Session, AFailedStepPausesAndSaysWhy) {
  SimulationOptions bad;
  bad.solver = "admm-ncp-sa";
  bad.fallback = "admm-ncp-la";
  bad.solver_parameters = bad.fallback_parameters = {{"max_iterations", 1}};
  bad.tolerance = 1e-12;
  bad.acceptable = 1e-11;
  std::vector<std::int64_t> failures;
  SessionEvents events;
  events.failed = [&](const Simulation& s, std::int64_t i) {
    failures.push_back(i);
    EXPECT_EQ(s.report().status, StepStatus::failed);
  };
  events.dump = [](const Simulation&, std::int64_t i) { return fmt::format("{}", i); };
  Bench b(make_scene("stack15_equal"), {}, bad, events);
  b.session.connect(1);
  b.run(2);
  ASSERT_TRUE(b.session.failed());
  EXPECT_EQ(failures, std::vector<std::int64_t>{b.session.index() + 1});
  EXPECT_TRUE(b.session.paused());
  const auto failed = b.notices("failed");
  ASSERT_GE(failed.size(), 1U);
  EXPECT_NE(failed[0]["text"].get<std::string>().find("failed"), std::string::npos);
  EXPECT_EQ(b.frame()[2], static_cast<char>(StepStatus::failed));
  EXPECT_NE(b.frame()[1] & LiveFrame::failed, 0);
  b.say(R"({"c":"dump"})");
  EXPECT_EQ(b.notices("saved")[0]["text"],
            fmt::format("the problem of step {} is in {}", b.session.index() + 1, b.session.index() + 1));
  b.session.connect(2);  // who comes later is told, too
  ASSERT_EQ(b.notices("failed", 2).size(), 1U);
  EXPECT_EQ(b.notices("failed", 2)[0]["text"], failed[0]["text"]);
  b.say(R"({"c":"reset"})");
  EXPECT_FALSE(b.session.failed());
}

TEST(Session, WhatIsNoCommandIsRefusedAndHasNoEffect) {
  Bench b(make_scene("fourbar_swing"), paused());
  b.session.connect(1);
  const std::vector<std::string> bad = {
      "",
      "{",
      "[]",
      "7",
      "null",
      "\"play\"",
      "{}",
      R"({"c":7})",
      R"({"c":"fly"})",
      R"({"c":"hello","token":"","version":1})",
      R"({"c":"play","x":1})",
      R"({"c":"play","c":"play"})",
      R"({"c":"step"})",
      R"({"c":"step","n":0})",
      R"({"c":"step","n":0.5})",
      R"({"c":"step","n":10001})",
      R"({"c":"step","n":-10001})",
      R"({"c":"step","n":1e300})",
      R"({"c":"step","n":"1"})",
      R"({"c":"step","n":null})",
      R"({"c":"step","n":NaN})",
      R"({"c":"seek","time":1e999})",
      R"({"c":"seek","time":true})",
      R"({"c":"speed","x":0})",
      R"({"c":"speed","x":-1})",
      R"({"c":"speed","x":101})",
      R"({"c":"speed","x":Infinity})",
      R"({"c":"target","dof":-1,"value":0})",
      R"({"c":"target","dof":4294967296,"value":0})",
      R"({"c":"target","dof":2147483647,"value":0})",
      R"({"c":"target","dof":0,"value":0})",
      R"({"c":"target","dof":0,"value":1e13})",
      R"({"c":"release","dof":99})",
      R"({"c":"release","dof":0})",
      R"({"c":"drag","body":-1,"point":[0,0,0],"target":[0,0,0]})",
      R"({"c":"drag","body":1e9,"point":[0,0,0],"target":[0,0,0]})",
      R"({"c":"drag","body":0,"point":[0,0],"target":[0,0,0]})",
      R"({"c":"drag","body":0,"point":[0,0,1e20],"target":[0,0,0]})",
      R"({"c":"drag","body":0,"point":[0,0,"0"],"target":[0,0,0]})",
      R"({"c":"drag","body":0,"target":[0,0,0]})",
      R"({"c":"layer","name":"secrets","on":true})",
      R"({"c":"layer","name":"joints"})",
      R"({"c":"layer","name":"joints","on":1})",
      R"({"c":"save","path":"/etc/passwd"})",
      R"({"c":"ack","n":1000})",
      R"({"c":"ack","n":-1})",
      "\xff\xfe{\"c\":\"play\"}",
      std::string(5000, ' ') + R"({"c":"play"})",
      std::string(4000, '['),
      std::string("{\"c\":\"pl\0ay\"}", 13),
  };
  const std::uint64_t before = b.hash();
  for (std::size_t i = 0; i < bad.size(); ++i) {
    b.now += 2;
    b.say(bad[i]);
    EXPECT_EQ(b.notices("refused").size(), i + 1) << bad[i];
  }
  b.finish();
  EXPECT_EQ(b.hash(), before);
  EXPECT_TRUE(b.session.paused());
  EXPECT_EQ(b.session.simulation().dragged_body(), kWorld);
  // And it still works.
  b.say(R"({"c":"step","n":1})");
  b.finish();
  EXPECT_EQ(b.session.index(), 1);
}

TEST(Session, TooManyCommandsAreDroppedButTheNewestDragComesLate) {
  Bench b(make_scene("fourbar_swing"), paused());
  b.session.connect(1);
  for (int i = 0; i < 1000; ++i) {
    b.say(fmt::format(R"({{"c":"drag","body":0,"point":[0,0,0],"target":[{},0,0]}})", i));
  }
  EXPECT_EQ(b.session.simulation().drag_target_W().x(), CommandLimit::kMost - 1);
  EXPECT_EQ(b.notices("refused").size(), 1U);
  b.now += 1.1;
  b.session.advance();
  EXPECT_EQ(b.session.simulation().drag_target_W().x(), 999);
}

TEST(Session, AHiddenPageCostsTwoFrames) {
  Bench b(make_scene("stack15_equal"));
  b.session.connect(1);
  b.run(1.5, false);
  EXPECT_EQ(b.of_type(2).size(), 2U);
  b.draw();
  b.run(0.05, false);
  EXPECT_EQ(b.of_type(2).size(), 4U);
}

TEST(Session, CommandsThatComeOnTheWayBackWaitForItsEnd) {
  SessionOptions o = paused();
  Bench b(make_scene("jansen_walker"), o);
  b.session.connect(1);
  b.say(R"({"c":"step","n":60})");
  b.finish();
  b.say(R"({"c":"step","n":-11})");
  EXPECT_NE(b.session.index(), 49);
  b.say(R"({"c":"drag","body":0,"point":[0,0,0],"target":[0,0,1]})");
  b.finish();
  EXPECT_EQ(b.session.index(), 49);
  EXPECT_EQ(b.session.latest(), 49);
  EXPECT_EQ(b.session.simulation().dragged_body(), 0);
}

// What an attacker, or a page with a bug, might send: pieces of commands with numbers and words that were changed.
std::string random_message(Random& random) {
  static const std::vector<std::string> words = {
      "hello", "play",   "pause", "step", "seek",  "reset",  "speed",    "target",  "release", "drag",    "drop",
      "layer", "save",   "dump",  "ack",  "c",     "n",      "time",     "x",       "dof",     "value",   "body",
      "point", "target", "name",  "on",   "token", "joints", "contacts", "version", "",        "\\u0000", "\\ud800"};
  static const std::vector<std::string> values = {
      "0",     "1",          "-1",          "2",      "0.5",        "1e308",       "-1e308",  "1e400",
      "true",  "false",      "null",        "NaN",    "[]",         "{}",          "[0,0,0]", "[1,2,3]",
      "[0,0]", "2147483648", "-2147483649", "1e-320", "\"joints\"", "\"contacts\""};
  const auto word = [&] { return words[static_cast<std::size_t>(random.below(static_cast<int>(words.size())))]; };
  const auto value = [&]() -> std::string {
    if (random.chance(0.2)) return fmt::format("{}", random.uniform(-3, 3));
    if (random.chance(0.2))
      return fmt::format("[{},{},{}]", random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0, 1));
    return values[static_cast<std::size_t>(random.below(static_cast<int>(values.size())))];
  };
  static const std::vector<std::vector<std::string>> good = {{"step", "n"},
                                                             {"seek", "time"},
                                                             {"speed", "x"},
                                                             {"target", "dof", "value"},
                                                             {"release", "dof"},
                                                             {"drag", "body", "point", "target"},
                                                             {"layer", "name", "on"},
                                                             {"ack", "n"},
                                                             {"play"},
                                                             {"pause"},
                                                             {"reset"},
                                                             {"drop"},
                                                             {"save"},
                                                             {"dump"}};
  std::string text;
  if (random.chance(0.7)) {
    const auto& keys = good[static_cast<std::size_t>(random.below(static_cast<int>(good.size())))];
    text = "{\"c\":\"" + keys[0] + "\"";
    for (std::size_t i = 1; i < keys.size(); ++i) text += ",\"" + keys[i] + "\":" + value();
  } else {
    text = "{\"c\":\"" + word() + "\"";
    for (int i = random.below(4); i > 0; --i) text += ",\"" + word() + "\":" + value();
  }
  text += "}";
  if (random.chance(0.1)) text.resize(static_cast<std::size_t>(random.below(static_cast<int>(text.size()) + 1)));
  if (random.chance(0.1) && !text.empty()) {
    text[static_cast<std::size_t>(random.below(static_cast<int>(text.size())))] = static_cast<char>(random.below(256));
  }
  return text;
}

TEST(Session, RandomMessagesAreAnsweredAndNothingEnds) {
  Bench b(make_scene("fourbar_free"), paused());
  b.tick = 2e-4;
  Random random(11);
  const int count = test::samples(100'000);
  int next = 1;
  for (int i = 0; i < count; ++i) {
    if (i % 500 == 0) {
      if (i > 0 && random.chance(0.7)) b.session.disconnect(1 + random.below(next));
      b.session.connect(next++);
    }
    b.now += 0.002;
    b.say(random_message(random), 1 + random.below(next));
    // Few steps: the messages are the test.
    if (i % 50 == 0) {
      b.say(R"({"c":"pause"})", next - 1);
      b.session.advance();
    }
    if (i % 1000 == 0) {
      b.draw();
      b.sent.clear();
      b.drawn.clear();
    }
  }
  b.session.connect(next);
  b.now += 2;
  b.say(R"({"c":"pause"})", next);
  b.say(R"({"c":"reset"})", next);
  b.finish();
  b.say(R"({"c":"step","n":3})", next);
  b.finish();
  EXPECT_EQ(b.session.index(), 3);
  EXPECT_TRUE(b.session.simulation().state().X_WB[0].p.allFinite());
}

TEST(Playback, SendsBothMotionsAndRefusesTheRest) {
  std::vector<std::string> sent;
  Playback p(typed_message(4, "motion"), typed_message(5, "other"), [&](int, const Message& m) { sent.push_back(*m); });
  p.connect(1);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0], "\4motion");
  EXPECT_EQ(sent[1], "\5other");
  p.receive(1, R"({"c":"ack","n":0})");
  EXPECT_EQ(sent.size(), 2U);
  p.receive(1, R"({"c":"play"})");
  p.receive(1, "\xff");
  ASSERT_EQ(sent.size(), 4U);
  EXPECT_EQ(json::parse(sent[3].substr(1))["kind"], "refused");
  p.disconnect(1);
  p.receive(1, "x");
  EXPECT_EQ(sent.size(), 4U);
}

}  // namespace
}  // namespace sarrus::session_test
