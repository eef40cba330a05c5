// `sarrus view` as a user runs it and a page speaks with it: over its WebSocket, until it is ended.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "sarrus/view/recorded_run.h"
#include "support/command.h"
#include "view/raw_client.h"

extern char** environ;

namespace sarrus::view_command_test {
namespace {

using nlohmann::json;
using test::RawClient;
using test::read;

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T x;
  std::memcpy(&x, bytes.data() + offset, sizeof(T));
  return x;
}

// The command in the background, ended with this.
class View {
 public:
  View(const std::vector<std::string>& arguments, const std::string& out, const std::string& err, bool opens = false)
      : out_(out) {
    std::vector<std::string> words = {SARRUS_COMMAND, "view"};
    if (!opens) words.emplace_back("--no-open");
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_EQ(posix_spawn(&process_, SARRUS_COMMAND, &files, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
  }
  ~View() {
    if (process_ > 0) end(SIGKILL);
  }

  // What it prints: "http://127.0.0.1:PORT/#TOKEN" on one line.
  bool read_address() {
    for (int i = 0; i < 6000; ++i) {
      const std::string text = read(out_);
      if (const std::size_t end = text.find('\n'); end != std::string::npos) {
        const std::size_t hash = text.find("/#");
        if (text.rfind("http://127.0.0.1:", 0) != 0 || hash == std::string::npos) return false;
        host_ = text.substr(7, hash - 7);
        token_ = text.substr(hash + 2, end - hash - 2);
        return token_.size() == 32;
      }
      if (int status = 0; ::waitpid(process_, &status, WNOHANG) == process_) {
        process_ = 0;
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  const std::string& host() const { return host_; }
  const std::string& token() const { return token_; }
  int port() const { return std::stoi(host_.substr(host_.find(':') + 1)); }
  // Its exit code, or minus the signal that ended it.
  int end(int signal) {
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  std::string out_, host_, token_;
  pid_t process_ = 0;
};

// A page that draws what it gets.
class Page {
 public:
  explicit Page(const View& view) : client_(view.port()) {
    EXPECT_NE(client_.upgrade(view.host(), "http://" + view.host()).find(" 101 "), std::string::npos);
    say(R"({"c":"hello","token":")" + view.token() + R"(","version":1})");
  }
  void say(const std::string& text) { client_.send(RawClient::frame(text)); }
  // The next message of a type; frames are acknowledged. Empty: it ended.
  std::string next(char type) {
    while (true) {
      const std::string m = client_.message(60);
      if (m.empty()) return {};
      if (m[0] == 2) say(R"({"c":"ack","n":)" + std::to_string(at<std::uint32_t>(m, 4)) + "}");
      if (m[0] == type) return m;
    }
  }
  // The next frame that is so.
  template <class F>
  std::string frame(F is) {
    for (int i = 0; i < 5000; ++i) {
      const std::string f = next(2);
      if (f.empty() || is(f)) return f;
    }
    ADD_FAILURE() << "no such frame";
    return {};
  }

 private:
  RawClient client_;
};

bool is_paused(const std::string& f) { return (f[1] & 1) != 0; }
double time_of(const std::string& f) { return at<double>(f, 8); }
std::uint32_t index_of(const std::string& f) { return at<std::uint32_t>(f, 56); }
double position(const std::string& f, std::size_t body, std::size_t axis) {
  return at<float>(f, 184 + 28 * body + 4 * axis) + at<double>(f, 16 + 8 * axis);
}

class ViewCommand : public test::Command {};

TEST_F(ViewCommand, PlaysStepsDragsResetsAndEnds) {
  View view(std::vector<std::string>{"fourbar_free", "--port", "0", "--record", file("motion.h5"), "--save",
                                     file("state.ck")},
            file("out"), file("err"));
  ASSERT_TRUE(view.read_address()) << read(file("err"));
  Page page(view);
  const std::string scene = page.next(1);
  ASSERT_GT(scene.size(), 100U);
  EXPECT_EQ(scene.substr(1, 2), "\x1f\x8b");
  const std::string playing = page.frame([](const std::string& f) { return time_of(f) > 0.1; });
  EXPECT_FALSE(is_paused(playing));
  page.say(R"({"c":"pause"})");
  const std::string stopped = page.frame(is_paused);
  page.say(R"({"c":"step","n":1})");
  const std::string on = page.frame([&](const std::string& f) { return index_of(f) != index_of(stopped); });
  EXPECT_EQ(index_of(on), index_of(stopped) + 1);
  page.say(R"({"c":"step","n":-10})");
  const std::string back = page.frame([&](const std::string& f) { return index_of(f) < index_of(stopped); });
  EXPECT_EQ(index_of(back), index_of(stopped) - 9);
  page.say(R"({"c":"seek","time":)" + std::to_string(time_of(on)) + "}");
  page.frame([&](const std::string& f) { return index_of(f) == index_of(on); });

  // A body follows the mouse.
  const double x = position(on, 0, 0);
  page.say(R"({"c":"drag","body":0,"point":[0,0,0],"target":[)" + std::to_string(x + 0.5) + ",0,0.5]}");
  page.say(R"({"c":"play"})");
  const std::string dragged = page.frame([&](const std::string& f) { return position(f, 0, 0) > x + 0.2; });
  EXPECT_EQ(at<std::int32_t>(dragged, 136), 0);
  page.say(R"({"c":"drop"})");
  page.say(R"({"c":"save"})");
  EXPECT_EQ(json::parse(page.next(3).substr(1))["kind"], "saved");
  page.say(R"({"c":"fly"})");
  EXPECT_EQ(json::parse(page.next(3).substr(1))["kind"], "refused");
  page.say(R"({"c":"pause"})");
  const double reached = time_of(page.frame(is_paused));
  EXPECT_GT(reached, time_of(dragged));
  EXPECT_EQ(view.end(SIGINT), 0);
  EXPECT_EQ(json::parse(page.next(3).substr(1))["kind"], "end");
  EXPECT_EQ(read(file("err")), "");
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"err", "motion.h5", "out", "state.ck"}));
  EXPECT_EQ(
      run("run fourbar_free --quiet --duration " + std::to_string(reached + 0.1) + " --resume " + file("state.ck"))
          .exit_code,
      0);
}

// All users of a machine see the arguments of programs: the browser is given a file of this user, which leads to the
// address.
TEST_F(ViewCommand, TheBrowserIsToldTheTokenByAFileOfThisUser) {
  const std::string bin = file("bin"), runtime = file("runtime");
  std::filesystem::create_directories(bin);
  std::filesystem::create_directories(runtime);
  std::ofstream(bin + "/xdg-open") << "#!/bin/sh\nstat -c %a \"$1\" >>" << file("seen") << "\ncat \"$1\" >>"
                                   << file("seen") << "\necho \"$@\" >" << file("arguments.tmp") << "\nmv "
                                   << file("arguments.tmp") << " " << file("arguments") << "\n";
  std::filesystem::permissions(bin + "/xdg-open", std::filesystem::perms::owner_all);
  const char* path = std::getenv("PATH");
  const std::string before = path == nullptr ? "/usr/bin:/bin" : path;
  ::setenv("PATH", (bin + ":" + before).c_str(), 1);
  ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  View view({"fourbar_free"}, file("out"), file("err"), true);
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_TRUE(view.read_address()) << read(file("err"));
  for (int i = 0; i < 3000 && !std::filesystem::exists(file("arguments")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::string arguments = read(file("arguments")), seen = read(file("seen"));
  EXPECT_TRUE(arguments.starts_with(runtime + "/sarrus-view-")) << arguments;
  EXPECT_EQ(arguments.find(view.token()), std::string::npos);
  EXPECT_TRUE(seen.starts_with("600\n")) << seen;
  EXPECT_NE(seen.find("url=http://" + view.host() + "/#" + view.token() + "\""), std::string::npos) << seen;
  EXPECT_EQ(view.end(SIGINT), 0);
  EXPECT_TRUE(std::filesystem::is_empty(runtime));
}

TEST_F(ViewCommand, BeginsPausedAndResets) {
  View view({"fourbar_swing", "--paused", "--speed", "2"}, file("out"), file("err"));
  ASSERT_TRUE(view.read_address()) << read(file("err"));
  Page page(view);
  const std::string first = page.next(2);
  EXPECT_TRUE(is_paused(first));
  EXPECT_EQ(index_of(first), 0U);
  EXPECT_EQ(at<float>(first, 64), 2.0F);
  page.say(R"({"c":"step","n":100})");
  page.frame([](const std::string& f) { return index_of(f) == 100; });
  page.say(R"({"c":"reset"})");
  const std::string reset = page.frame([](const std::string& f) { return index_of(f) == 0; });
  EXPECT_EQ(position(reset, 1, 2), position(first, 1, 2));
}

// Every seventh step, and the last one before it is left; a problem of a step, as `sarrus run` would have written it.
TEST_F(ViewCommand, RecordsTheLastStepAndWritesProblems) {
  View view(std::vector<std::string>{"fourbar_free", "--paused", "--record", file("motion.h5"), "--record-every", "7",
                                     "--dump-problems", file("problems")},
            file("out"), file("err"));
  ASSERT_TRUE(view.read_address()) << read(file("err"));
  Page page(view);
  page.say(R"({"c":"step","n":45})");
  page.frame([](const std::string& f) { return index_of(f) == 45; });
  page.say(R"({"c":"dump"})");
  const std::string said = json::parse(page.next(3).substr(1))["text"];
  const std::string problem = file("problems") + "/fourbar_free-45.h5";
  EXPECT_EQ(said, "the problem of step 45 is in " + problem);
  page.say(R"({"c":"step","n":-5})");
  page.frame([](const std::string& f) { return index_of(f) == 40; });
  EXPECT_EQ(view.end(SIGINT), 0);
  EXPECT_EQ(read(file("err")), "");
  EXPECT_EQ(run("solve " + problem).exit_code, 0);
  const view::RecordedRun recorded = view::load_recorded_run(file("motion.h5"));
  ASSERT_EQ(recorded.motion.frames().size(), 8U);  // 0, 7, ... 42, 45
  EXPECT_NEAR(recorded.motion.frames().back().time, 0.045, 1e-9);
  ASSERT_EQ(run("run fourbar_free --quiet --duration 0.045 --every 45 --dump-problems " + file("same")).exit_code, 0);
  EXPECT_EQ(read(file("same") + "/fourbar_free-45.h5"), read(problem));
}

TEST_F(ViewCommand, RecordsThatAStepFailed) {
  View view(std::vector<std::string>{"fourbar_free", "--paused", "--tol", "1e-300", "--acceptable", "1e-300",
                                     "--record", file("motion.h5"), "--dump-problems", file("problems")},
            file("out"), file("err"));
  ASSERT_TRUE(view.read_address()) << read(file("err"));
  Page page(view);
  page.say(R"({"c":"step","n":1})");
  const std::string notice = page.next(3);
  ASSERT_FALSE(notice.empty());
  const json ends = json::parse(notice.substr(1));
  EXPECT_EQ(ends["kind"], "warning");
  EXPECT_EQ(ends["text"], "the recording " + file("motion.h5") + " ends here: a step failed");
  const json failed = json::parse(page.next(3).substr(1));
  EXPECT_EQ(failed["kind"], "failed");
  EXPECT_EQ(view.end(SIGINT), 0);
  const view::RecordedRun recorded = view::load_recorded_run(file("motion.h5"));
  EXPECT_EQ(recorded.motion.end_status(), "failed");
  EXPECT_EQ(recorded.motion.end_message(), failed["text"]);
  EXPECT_EQ(recorded.motion.frames().back().status, static_cast<std::uint8_t>(StepStatus::failed));
  EXPECT_TRUE(std::filesystem::exists(file("problems") + "/fourbar_free-1.h5"));
}

TEST_F(ViewCommand, ServesThePageAndIsGoneWhenKilled) {
  View view({"fourbar_swing"}, file("out"), file("err"));
  ASSERT_TRUE(view.read_address()) << read(file("err"));
  RawClient client(view.port());
  client.send("GET / HTTP/1.1\r\nHost: " + view.host() + "\r\n\r\n");
  const std::string answer = client.rest();
  EXPECT_NE(answer.find(" 200 "), std::string::npos);
  EXPECT_NE(answer.find("<title>fourbar_swing</title>"), std::string::npos);
  EXPECT_NE(answer.find("src=\"/app.js\""), std::string::npos);
  Page page(view);
  page.next(2);
  EXPECT_EQ(view.end(SIGKILL), -SIGKILL);
  while (!page.next(2).empty()) {
  }
  EXPECT_FALSE(RawClient(view.port()).connected());
}

TEST_F(ViewCommand, PlaysARecordingAndComparesAnother) {
  ASSERT_EQ(run("run fourbar_swing --quiet --duration 0.1 --record " + file("a.h5")).exit_code, 0);
  ASSERT_EQ(run("run fourbar_swing --quiet --duration 0.1 --dt 0.002 --record " + file("b.h5")).exit_code, 0);
  View view({file("a.h5"), "--compare", file("b.h5")}, file("out"), file("err"));
  ASSERT_TRUE(view.read_address()) << read(file("err"));
  Page page(view);
  EXPECT_EQ(page.next(4).substr(1, 2), "\x1f\x8b");
  EXPECT_EQ(page.next(5).substr(1, 2), "\x1f\x8b");
  page.say(R"({"c":"play"})");
  EXPECT_EQ(json::parse(page.next(3).substr(1))["kind"], "refused");
  EXPECT_EQ(view.end(SIGTERM), 0);
}

TEST_F(ViewCommand, WhatCannotBeServedIsOneLine) {
  expect_refused("view --no-open no_such_scene", "no_such_scene");
  expect_refused("view --no-open fourbar_swing --port 70000", "--port");
  expect_refused("view --no-open fourbar_swing --speed 0", "--speed");
  expect_refused("view --no-open fourbar_swing --history nan", "--history");
  expect_refused("view --no-open fourbar_swing --host 0.0.0.0", "--allow-remote");
  expect_refused("view --no-open fourbar_swing --host example.org", "--host");
  expect_refused("view --no-open fourbar_swing --compare " + file("none.h5"), "none.h5");
  expect_refused("view --no-open fourbar_swing --record /no/such/folder/x.h5", "/no/such/folder");
  std::ofstream(file("cut.h5")) << "\x89HDF\r\n\x1a\n and no more";
  expect_refused("view --no-open " + file("cut.h5"), "cut.h5");
  expect_refused("view --no-open " + file("cut.h5") + " --dt 0.001", "--dt");
}

}  // namespace
}  // namespace sarrus::view_command_test
