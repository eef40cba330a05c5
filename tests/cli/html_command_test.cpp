// Pages of motions: `sarrus run --html`, `sarrus html`, `sarrus pose --html`.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/command.h"

namespace sarrus::html_command_test {
namespace {

using test::read;
using test::Result;

class Html : public test::Command {
 protected:
  static std::string text_between(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t at = text.find(begin);
    if (at == std::string::npos) return {};
    const std::size_t from = at + begin.size();
    return text.substr(from, text.find(end, from) - from);
  }
  static std::string motion(const std::string& page, const std::string& id = "motion") {
    return text_between(page, "<script type=\"text/plain\" id=\"" + id + "\">", "</script>");
  }
};

TEST_F(Html, ARunWritesItsPage) {
  const std::string line = "run fourbar_free --duration 0.05 --quiet --html ";
  const Result r = run(line + file("a.html"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.out, "");
  const std::string page = read(file("a.html"));
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0u);
  EXPECT_NE(page.find("<title>fourbar_free</title>"), std::string::npos);
  EXPECT_FALSE(motion(page).empty());
  EXPECT_EQ(motion(page, "compare"), "");
  EXPECT_EQ(leftovers(), std::vector<std::string>{"a.html"});
  ASSERT_EQ(run(line + file("b.html")).exit_code, 0);
  EXPECT_EQ(read(file("b.html")), page) << "equal runs give equal pages";
  ASSERT_EQ(run(line + file("c.html") + " --html-fps 20").exit_code, 0);
  EXPECT_LT(motion(read(file("c.html"))).size(), motion(page).size());
}

TEST_F(Html, ARecordingBecomesAPage) {
  ASSERT_EQ(run("run fourbar_free --duration 0.05 --quiet --record " + file("a.h5")).exit_code, 0);
  ASSERT_EQ(run("run fourbar_free --duration 0.05 --dt 5e-4 --quiet --record " + file("b.h5")).exit_code, 0);
  const Result r = run("html " + file("a.h5"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NE(r.out.find("wrote " + file("a.html")), std::string::npos) << r.out;
  const std::string alone = motion(read(file("a.html")));
  EXPECT_FALSE(alone.empty());
  const Result both = run("html " + file("a.h5") + " --compare " + file("b.h5") + " -o -");
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(motion(both.out), alone);
  EXPECT_FALSE(motion(both.out, "compare").empty());
  EXPECT_NE(motion(both.out, "compare"), alone);
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"a.h5", "a.html", "b.h5"}));
}

TEST_F(Html, APoseIsShownAsGivenAndClosed) {
  ASSERT_EQ(run("pose fourbar_swing --set crank=90deg --html " + file("pose.html")).exit_code, 0);
  EXPECT_FALSE(motion(read(file("pose.html"))).empty());
}

// The frame before the failure is there, and the page says why there is no more.
TEST_F(Html, AFailedRunWritesItsPage) {
  const Result r =
      run("run fourbar_free --duration 0.05 --tol 1e-300 --acceptable 1e-300 --quiet --html " + file("a.html"));
  EXPECT_EQ(r.exit_code, 3) << r.err;
  EXPECT_FALSE(motion(read(file("a.html"))).empty());
}

TEST_F(Html, TitlesOfScenesAreText) {
  ASSERT_EQ(run("scenes --export " + file("scenes")).exit_code, 0);
  std::string scene = read(file("scenes/box_on_plane.json"));
  const std::string name = "\"name\": \"box_on_plane\"";
  const std::size_t at = scene.find(name);
  ASSERT_NE(at, std::string::npos);
  scene.replace(at, name.size(), R"("name": "</title><script>alert(1)</script>")");
  std::ofstream(file("nasty.json")) << scene;
  const Result r = run("run " + file("nasty.json") + " --duration 0.01 --quiet --html " + file("a.html"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const std::string page = read(file("a.html"));
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("<title>&lt;/title&gt;&lt;script&gt;alert(1)"), std::string::npos);
}

TEST_F(Html, OutputsThatCannotBeAreRefusedAndNothingIsHalfWritten) {
  ASSERT_EQ(run("run box_on_plane --duration 0.01 --quiet --record " + file("a.h5")).exit_code, 0);
  const std::string before = read(file("a.h5"));
  expect_refused("html " + file("a.h5") + " -o " + file("a.h5"), "a.h5");
  EXPECT_EQ(read(file("a.h5")), before);
  expect_refused("html " + file("a.h5") + " -o " + file("no/such/folder.html"), "folder.html");
  expect_refused("html " + file("a.h5") + " -o /dev/full", "/dev/full");
  expect_refused("html " + file("missing.h5"), "missing.h5");
  expect_refused("html " + file("a.h5") + " --compare " + file("missing.h5"), "missing.h5");
  expect_refused("html " + file("a.h5") + " --html-fps -3", "--html-fps");
  expect_refused("run box_on_plane --html-fps 60", "--html");
  expect_refused("run box_on_plane --html -", "--html");
  expect_refused("run box_on_plane --html " + file("x") + " --svg " + file("x"), "same file");
  std::ofstream(file("text.h5")) << "no recording";
  expect_refused("html " + file("text.h5"), "text.h5");
  EXPECT_EQ(leftovers(), (std::vector<std::string>{"a.h5", "text.h5"}));
  EXPECT_EQ(run("run box_on_plane --duration 0.01 --quiet --html /dev/full").exit_code, 2);
}

}  // namespace
}  // namespace sarrus::html_command_test
