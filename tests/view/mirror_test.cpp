// A simulation that a program steps, shown to pages: each state once, the worst of what a page missed, nothing obeyed.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "sarrus/scenes/scenes.h"
#include "sarrus/view/live_view.h"
#include "sarrus/view/mirror.h"

namespace sarrus::mirror_test {
namespace {

using namespace sarrus::view;

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T x;
  std::memcpy(&x, bytes.data() + offset, sizeof(T));
  return x;
}

struct Bench {
  Simulation sim{make_scene("fourbar_free"), {}};
  Scene scene = scene_of(sim.model(), sim.state().X_WB);
  std::map<int, std::vector<std::string>> sent;
  Mirror mirror{typed_message(1, "scene"), Layout(scene),
                [this](int page, const Message& m) { sent[page].push_back(*m); }};

  void step(int n) {
    for (int i = 0; i < n; ++i) sim.step();
    mirror.show(sim, n);
    mirror.advance();
  }
  void draw(int page) {
    const std::string& last = sent[page].back();
    if (last[0] != 2) return;
    mirror.receive(page, "{\"c\":\"ack\",\"n\":" + std::to_string(at<std::uint32_t>(last, 4)) + "}");
  }
};

TEST(Mirror, APageGetsTheSceneTheStateAndEachStateAfterIt) {
  Bench b;
  b.mirror.show(b.sim, 0);
  b.mirror.connect(7);
  b.mirror.advance();
  ASSERT_EQ(b.sent[7].size(), 2u);
  EXPECT_EQ(b.sent[7][0], "\x01scene");
  EXPECT_EQ(at<double>(b.sent[7][1], 8), 0);
  b.draw(7);
  b.step(5);
  ASSERT_EQ(b.sent[7].size(), 3u);
  EXPECT_EQ(at<double>(b.sent[7][2], 8), b.sim.time());
  EXPECT_EQ(at<std::uint32_t>(b.sent[7][2], 56), 5u);
  EXPECT_EQ(at<std::uint32_t>(b.sent[7][2], 60), 5u);
  EXPECT_EQ(at<std::uint32_t>(b.sent[7][2], 120), 4u);  // bodies
  b.mirror.end();
  EXPECT_EQ(b.sent[7].back()[0], 3);
}

TEST(Mirror, APageThatDoesNotDrawCostsNothingAndIsToldAllStepsLater) {
  Bench b;
  b.mirror.show(b.sim, 0);
  b.mirror.connect(1);
  b.mirror.advance();
  for (int i = 0; i < 20; ++i) b.step(1);
  EXPECT_EQ(b.sent[1].size(), 3u);  // the scene, and two frames that are not acknowledged
  b.draw(1);
  b.mirror.advance();
  ASSERT_EQ(b.sent[1].size(), 4u);
  EXPECT_EQ(at<std::uint32_t>(b.sent[1].back(), 56), 20u);
  EXPECT_EQ(at<std::uint32_t>(b.sent[1].back(), 60), 19u);
}

TEST(Mirror, CommandsAreRefusedButLayers) {
  Bench b;
  b.mirror.show(b.sim, 0);
  b.mirror.connect(1);
  b.mirror.advance();
  b.draw(1);
  for (const char* command :
       {R"({"c":"play"})", R"({"c":"step","n":1})", R"({"c":"reset"})", "{", R"({"c":"ack","n":99})"}) {
    b.mirror.receive(1, command);
    EXPECT_EQ(b.sent[1].back()[0], 3) << command;
  }
  b.mirror.receive(1, R"({"c":"layer","name":"joints","on":false})");
  b.mirror.receive(2, R"({"c":"play"})");  // of no page
  b.mirror.advance();
  EXPECT_EQ(at<std::uint32_t>(b.sent[1].back(), 128), 0u);  // joints
  EXPECT_EQ(b.sim.time(), 0);
  b.mirror.disconnect(1);
  EXPECT_EQ(b.mirror.pages(), 0);
}

TEST(LiveView, ListensAndEnds) {
  Simulation sim(make_scene("fourbar_free"));
  LiveView view(sim, "test");
  EXPECT_NE(view.url().find("http://127.0.0.1:"), std::string::npos);
  sim.step();
  view.show(sim, 1);
  EXPECT_EQ(view.pages(), 0);
}

}  // namespace
}  // namespace sarrus::mirror_test
