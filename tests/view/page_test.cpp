// Written pages: self-contained, under a strict policy that names their scripts, and inert whatever names are in them.
#include "sarrus/view/page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <regex>

#include "sarrus/files/whole_file.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/view/deflate.h"
#include "sarrus/view/html_sink.h"
#include "sarrus/view/motion_payload.h"
#include "sarrus/view/viewer_files.h"
#include "view/decode.h"

namespace sarrus::page_test {
namespace {

namespace fs = std::filesystem;

std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    word = word << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(word >> bits & 255);
  }
  return out;
}

// By the program of the system, so that nobody checks himself.
std::string sha256(const std::string& content) {
  const fs::path file = fs::temp_directory_path() / fmt::format("sarrus_page_test_{}", ::getpid());
  std::ofstream(file, std::ios::binary) << content;
  std::FILE* pipe = ::popen(fmt::format("sha256sum {}", file.string()).c_str(), "r");
  char hex[65] = {};
  const std::size_t n = pipe != nullptr ? std::fread(hex, 1, 64, pipe) : 0;
  if (pipe != nullptr) ::pclose(pipe);
  fs::remove(file);
  std::string out;
  for (std::size_t i = 0; i + 1 < n; i += 2) out += static_cast<char>(std::stoi(std::string(hex + i, 2), nullptr, 16));
  return out;
}

// What stands between two marks, each time.
std::vector<std::string> between(const std::string& text, const std::string& begin, const std::string& end) {
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    const std::size_t stop = text.find(end, at);
    out.push_back(text.substr(at, stop - at));
    at = stop;
  }
  return out;
}

// The scripts that a page holds compressed.
std::vector<std::string> packed_scripts(const std::string& page) {
  std::vector<std::string> out;
  for (const std::string id : {"vendor.js", "app.js"}) {
    for (const std::string& packed : between(page, "<script type=\"text/plain\" id=\"" + id + "\">", "</script>")) {
      out.push_back(test::inflate(from_base64(packed)));
    }
  }
  return out;
}

TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(view::base64(""), "");
  EXPECT_EQ(view::base64("f"), "Zg==");
  EXPECT_EQ(view::base64("fo"), "Zm8=");
  EXPECT_EQ(view::base64("foo"), "Zm9v");
  EXPECT_EQ(view::base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(view::base64("\xff\xfe\xfd"), "//79");
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(from_base64(view::base64(all)), all);
}

TEST(Gzip, GivesBackWhatItTookAndIsTheSameEveryTime) {
  std::string text(3 << 20, 'x');
  for (std::size_t i = 0; i < text.size(); i += 7) text[i] = static_cast<char>(i * i);
  for (const std::string& t : {std::string(), std::string("a"), text}) {
    const std::string compressed = view::gzip(t);
    EXPECT_EQ(compressed, view::gzip(t));
    EXPECT_EQ(view::gunzip(compressed, t.size() + 1), t);
    EXPECT_EQ(test::inflate(compressed), t);
  }
  EXPECT_THROW(view::gunzip(view::gzip(text), 1000), std::runtime_error);
  EXPECT_THROW(view::gunzip("no gzip", 1000), std::runtime_error);
  EXPECT_THROW(view::gunzip(view::gzip(text).substr(0, 1000), text.size()), std::runtime_error);
}

TEST(ViewerFiles, AreThoseOfTheSourceWithTheirHashes) {
  EXPECT_EQ(view::viewer_files().size(), 6u);
  for (const view::ViewerFile& file : view::viewer_files()) {
    const std::string content = view::viewer_text(file.name);
    const fs::path source = fs::path(SARRUS_SOURCE_DIR) / "viewer" / "dist" / file.name;
    EXPECT_TRUE(content == read_file(source, "a file")) << file.name;
    std::string hex;
    for (const char c : sha256(content)) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    EXPECT_EQ(hex, file.sha256) << file.name;
    EXPECT_EQ(file.gzip.substr(4, 4), std::string_view("\0\0\0\0", 4)) << "a time stamp makes builds differ";
  }
}

// What would end a script or style before its end, or hide the rest of the page.
TEST(ViewerFiles, HaveNothingThatEndsTheirElements) {
  for (const char* name : {"vendor.js", "app.js", "load.js", "style.css"}) {
    const std::string content = view::viewer_text(name);
    EXPECT_EQ(content.find("<!--"), std::string::npos) << name;
    EXPECT_FALSE(std::regex_search(content, std::regex("</(script|style)", std::regex::icase))) << name;
    EXPECT_EQ(content.find('\r'), std::string::npos) << name << ": browsers hash line feeds";
    EXPECT_EQ(content.find('\0'), std::string::npos) << name;
  }
}

TEST(WrittenPage, NamesTheHashesOfItsScriptsAndNothingElseRuns) {
  const std::string page = view::written_page("title", "payload");
  const std::vector<std::string> policy = between(page, "Content-Security-Policy\" content=\"", "\"");
  ASSERT_EQ(policy.size(), 1u);
  EXPECT_EQ(policy[0].find("unsafe"), std::string::npos);
  EXPECT_EQ(policy[0].find("connect-src"), std::string::npos);
  EXPECT_EQ(policy[0].find("default-src 'none'"), 0u);
  EXPECT_NE(policy[0].find("require-trusted-types-for 'script'"), std::string::npos);
  std::vector<std::string> scripts = between(page, "<script>", "</script>");
  ASSERT_EQ(scripts.size(), 1u);
  for (const std::string& script : packed_scripts(page)) scripts.push_back(script);
  ASSERT_EQ(scripts.size(), 3u);
  for (const std::string& script : scripts) {
    EXPECT_NE(policy[0].find("'sha256-" + view::base64(sha256(script)) + "'"), std::string::npos);
  }
  const std::vector<std::string> styles = between(page, "<style>", "</style>");
  ASSERT_EQ(styles.size(), 1u);
  EXPECT_NE(policy[0].find("style-src 'sha256-" + view::base64(sha256(styles[0])) + "'"), std::string::npos);
  EXPECT_LT(page.find("Content-Security-Policy"), page.find("<style>"));
  EXPECT_LT(page.find("Content-Security-Policy"), page.find("<script"));
  EXPECT_EQ(page.find("<!--sarrus:"), std::string::npos);
}

TEST(WrittenPage, HoldsNoAddress) {
  const std::string written = view::written_page("title", "payload");
  std::string page = written;
  for (const std::string& script : packed_scripts(written)) page += script;
  const std::regex address("(https?|wss?|ftp)://[^\\s\"'`<>)]+", std::regex::icase);
  for (std::sregex_iterator it(page.begin(), page.end(), address), end; it != end; ++it) {
    // The live view connects to the host that the page came from.
    const bool own = it->str().starts_with("ws://${location.host}");
    EXPECT_TRUE(own || it->str().starts_with("http://www.w3.org/")) << it->str();
  }
  const std::regex outside("<(script|link|img|iframe)[^>]*(src|href)\\s*=", std::regex::icase);
  EXPECT_FALSE(std::regex_search(written.substr(0, written.find("<style>")), outside));
  EXPECT_FALSE(std::regex_search(written.substr(written.find("</style>"), 2000), outside));
}

TEST(WrittenPage, HasTheMotionsThatItGot) {
  const std::string one = "\x1f\x8b bytes \xff\x00 of one";
  const std::string page = view::written_page("title", one, "another");
  const std::vector<std::string> motion = between(page, "<script type=\"text/plain\" id=\"motion\">", "</script>");
  const std::vector<std::string> compare = between(page, "<script type=\"text/plain\" id=\"compare\">", "</script>");
  ASSERT_EQ(motion.size(), 1u);
  ASSERT_EQ(compare.size(), 1u);
  EXPECT_EQ(from_base64(motion[0]), one);
  EXPECT_EQ(from_base64(compare[0]), "another");
  EXPECT_EQ(view::written_page("title", one).find("id=\"compare\""), std::string::npos);
}

TEST(WrittenPage, TitlesAreText) {
  EXPECT_EQ(view::escape_title("</title><script>alert('\"&')</script>"),
            "&lt;/title&gt;&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;");
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(view::escape_title(std::string("a\0b\nc\x7f", 6)), "a" + mark + "b" + mark + "c" + mark);
  EXPECT_EQ(view::escape_title("\xE2\x80\xAE\xE2\x81\xA6\xD8\x9C"), mark + mark + mark);  // directions
  EXPECT_EQ(view::escape_title("\xff\xC0\xAF\xED\xA0\x80\xF5"), mark + mark + mark + mark + mark + mark + mark);
  EXPECT_EQ(view::escape_title("\xE2\x82"), mark + mark);
  EXPECT_EQ(view::escape_title("Gelenk übers Eck, 機構 😀"), "Gelenk übers Eck, 機構 😀");
  EXPECT_EQ(view::escape_title(std::string(1000, 'x')), std::string(200, 'x') + "…");
  const std::string nasty = view::written_page("</title><script>alert(1)</script>", "payload");
  EXPECT_EQ(nasty.find("<script>alert"), std::string::npos);
}

TEST(ServedPage, TakesItsPartsFromTheServer) {
  const std::string page = view::served_page("<b>");
  EXPECT_NE(page.find("<title>&lt;b&gt;</title>"), std::string::npos);
  EXPECT_NE(page.find("<script src=\"/vendor.js\"></script>\n<script src=\"/app.js\"></script>"), std::string::npos);
  EXPECT_NE(page.find("<link rel=\"stylesheet\" href=\"/style.css\">"), std::string::npos);
  EXPECT_EQ(page.find("id=\"motion\""), std::string::npos);
  EXPECT_EQ(page.find("<script>"), std::string::npos);
}

// Ten seconds of the walker have to fit in 1.5 MB at 120 frames a second; told from half a second, since the sanitizers
// run it, too.
TEST(WrittenPage, OfTheWalkerIsSmall) {
  Simulation sim(make_scene("jansen_walker"), {.dt = 1e-3});
  const view::Scene scene = view::scene_of(sim.model(), sim.state().X_WB);
  const view::RunFacts facts{1e-3, "cascade", "moreau", 1e-9, 1e-3, "0.1.0"};
  view::Motion motion(view::Layout(scene), 120);
  const auto run = [&](int steps) {
    for (int i = motion.frames().empty() ? 0 : 1; i <= steps; ++i) {
      if (i > 0) {
        ASSERT_NE(sim.step().status, StepStatus::failed);
      }
      view::Frame f;
      view::frame_of(sim, motion.layout(), f);
      motion.add(std::move(f));
    }
  };
  const auto size = [&] { return view::base64(view::motion_payload(scene, facts, motion)).size(); };
  run(250);
  const std::size_t quarter = size();
  run(250);
  const std::size_t half = size();
  const std::size_t viewer = view::written_page("", "").size();
  EXPECT_LE(viewer + half + 38 * (half - quarter), std::size_t{1500000}) << viewer << " + " << half << ", " << quarter;
}

}  // namespace
}  // namespace sarrus::page_test
