// What the documentation says of the command. Every `sarrus ...` that it prints must be one that the command takes:
// short forms are run, one step instead of a duration, one small stored problem instead of many; benchmarks take
// minutes, so only their names and options are compared with the help. Every solver has a page with its parameters and
// defaults.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.h"

namespace sarrus::docs_commands_test {
namespace {

namespace fs = std::filesystem;
using test::Command;
using test::read;
using test::Result;
using Words = std::vector<std::string>;

// Words after "sarrus", without comment and brackets; nothing if `code` is another command.
Words words_of(const std::string& code) {
  Words words;
  std::istringstream in(code);
  for (std::string word; in >> word && word != "#";) {
    if (word.front() == '[') word.erase(0, 1);
    if (word.back() == ']') word.pop_back();
    words.push_back(word);
  }
  if (words.size() > 3 && words[0] == "mpirun") words.erase(words.begin(), words.begin() + 3);
  if (words.empty() || words[0] != "sarrus") return {};
  words.erase(words.begin());
  return words;
}

// Commands in fenced blocks, where a backslash continues a line, and in inline code, which may span lines.
std::vector<Words> commands_of(const std::string& text) {
  std::vector<std::string> code;
  std::string prose;
  bool fenced = false;
  bool continued = false;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("```", 0) == 0) {
      fenced = !fenced;
      continue;
    }
    if (!fenced) {
      prose += line + " ";
      continue;
    }
    if (!continued) code.emplace_back();
    continued = !line.empty() && line.back() == '\\';
    code.back() += " " + line.substr(0, line.size() - (continued ? 1 : 0));
  }
  std::istringstream spans(prose);
  bool inside = false;
  for (std::string span; std::getline(spans, span, '`'); inside = !inside) {
    if (inside) code.push_back(span);
  }
  std::vector<Words> commands;
  for (const std::string& c : code) {
    if (Words words = words_of(c); !words.empty()) commands.push_back(std::move(words));
  }
  return commands;
}

bool is_option(const std::string& word) { return word.rfind("--", 0) == 0; }

void set_option(Words& words, const std::string& option, const std::string& value) {
  const auto at = std::find(words.begin(), words.end(), option);
  if (at == words.end()) {
    words.insert(words.end(), {option, value});
  } else if (at + 1 != words.end()) {
    at[1] = value;
  }
}

std::string joined(const Words& words) {
  std::string out;
  for (const std::string& w : words) out += w + " ";
  return out;
}

class DocsCommands : public Command {
 protected:
  // What the documentation's files stand for.
  void SetUp() override {
    Command::SetUp();
    ASSERT_EQ(in_folder("scenes --export .").exit_code, 0);
    fs::copy_file(file("box_on_plane.json"), file("scene.json"));
    std::ofstream(file("robot.xml")) << "<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody>"
                                        "<actuator><position joint='j'/></actuator>"
                                        "<keyframe><key name='home' qpos='.5'/></keyframe></mujoco>";
    ASSERT_EQ(in_folder("run box_on_plane --duration 0.01 --dump-problems stored --quiet").exit_code, 0);
    for (const auto& entry : fs::directory_iterator(file("stored"))) stored_ = entry.path().string();
    ASSERT_FALSE(stored_.empty());
  }

  // Blocks that say which file they are: ```json NAME
  void write_files_of(const std::string& page) const {
    const std::string fence = "```";
    const std::string start = "\n" + fence + "json ";
    for (std::size_t at = page.find(start); at != std::string::npos; at = page.find(start, at)) {
      at += start.size();
      const std::size_t line = page.find('\n', at);
      const std::size_t end = page.find("\n" + fence, line);
      ASSERT_NE(end, std::string::npos);
      std::ofstream(file(page.substr(at, line - at))) << page.substr(line, end - line);
      at = end;
    }
  }

  Result in_folder(const std::string& arguments) const { return run(arguments, "cd '" + folder_.string() + "' &&"); }

  // The same command with its placeholders filled in and little to do.
  Words shortened(Words words) const {
    const std::map<std::string, std::string> placeholders = {
        {"SCENE", "box_on_plane"}, {"ID", "cascade"}, {"N", "1"}, {"FILE.h5", "file.h5"}};
    for (std::string& w : words) {
      if (const auto p = placeholders.find(w); p != placeholders.end()) w = p->second;
    }
    const auto first_option = std::find_if(words.begin() + 1, words.end(), is_option);
    if (words[0] == "solve") {
      words.erase(words.begin() + 1, first_option);
      words.insert(words.begin() + 1, stored_);
    } else if (words[0] == "run") {
      if (first_option == words.begin() + 1) words.insert(words.begin() + 1, "box_on_plane");
      set_option(words, "--duration", "1e-9");
      if (std::find(words.begin(), words.end(), "--every") != words.end()) set_option(words, "--every", "1");
    }
    return words;
  }

  void check_benchmark(const Words& words) const {
    std::istringstream kinds(words[1]);
    for (std::string kind; std::getline(kinds, kind, '|');) check_options("bench " + kind, words);
  }
  void check_options(const std::string& command, const Words& words) const {
    const Result help = in_folder(command + " --help");
    EXPECT_EQ(help.exit_code, 0) << help.err;
    for (const std::string& w : words) {
      if (!is_option(w)) continue;
      EXPECT_NE(help.out.find(w), std::string::npos) << command << " has no " << w;
    }
  }

  void check(const Words& words) const {
    if (words[0] == "bench" && words.size() > 1) return check_benchmark(words);
    if (words.size() == 1) {
      EXPECT_EQ(in_folder(words[0] + " --help").exit_code, 0) << words[0];
      return;
    }
    if (words[0] == "batch") return check_options(words[0], words);  // its page has a test of its own
    if (words[0] == "view") return check_options(words[0], words);   // it would wait for a browser
    if (words[0] == "html") {
      for (const char* name : {"file.h5", "motion.h5", "other.h5"}) {
        ASSERT_EQ(in_folder(std::string("run box_on_plane --duration 0.01 --quiet --record ") + name).exit_code, 0);
      }
    }
    if (words[0] == "inverse") {
      const std::string record = "run " + words[1] + " --duration 0.02 --record motion.h5 --quiet";
      ASSERT_EQ(in_folder(record).exit_code, 0) << record;
    }
    const Result r = in_folder(joined(shortened(words)));
    EXPECT_TRUE(r.exit_code == 0 || r.exit_code == 3) << r.err;  // 3: a result, not a refusal
  }

  std::string stored_;
};

TEST_F(DocsCommands, AreFoundInBlocksAndInText) {
  const auto found = commands_of(
      "Use `sarrus run\nSCENE [--svg FILE]` or `make`.\n```\nmpirun -n 4 sarrus bench suite  # all\n"
      "sarrus solve a.h5 \\\n  --warm\nls\n```\n");
  const std::vector<Words> expected = {
      {"bench", "suite"}, {"solve", "a.h5", "--warm"}, {"run", "SCENE", "--svg", "FILE"}};
  EXPECT_EQ(found, expected);
}

TEST_F(DocsCommands, RefusalsAreSeen) {
  EXPECT_EQ(in_folder(joined(shortened({"run", "box_on_plane", "--param", "split_joints=1"}))).exit_code, 2);
}

TEST_F(DocsCommands, AreAccepted) {
  std::vector<fs::path> files = {fs::path(SARRUS_SOURCE_DIR) / "README.md"};
  for (const char* folder : {"docs", "docs/solvers", "docs/theory"}) {
    const fs::path path = fs::path(SARRUS_SOURCE_DIR) / folder;
    if (!fs::exists(path)) continue;
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".md") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  int count = 0;
  for (const fs::path& f : files) {
    write_files_of(read(f));
    for (const Words& words : commands_of(read(f))) {
      SCOPED_TRACE(f.filename().string() + ": sarrus " + joined(words));
      check(words);
      ++count;
    }
  }
  EXPECT_GT(count, 30);
}

// The page, and those of its family that it links to.
std::string with_links(const fs::path& page) {
  std::string text = read(page);
  const std::string own = text;
  for (std::size_t at = own.find("]("); at != std::string::npos; at = own.find("](", at + 2)) {
    const std::string target = own.substr(at + 2, own.find_first_of("#)", at) - at - 2);
    if (target.find('/') == std::string::npos && target.ends_with(".md")) text += read(page.parent_path() / target);
  }
  return text;
}

// The default in the row "| `name` | default | meaning |" of a table; NaN without such a row.
double tabulated_default(const std::string& page, const std::string& name) {
  const std::string row = "\n| `" + name + "` | ";
  const std::size_t at = page.find(row);
  return at == std::string::npos ? std::nan("") : std::strtod(page.c_str() + at + row.size(), nullptr);
}

TEST_F(DocsCommands, PagesOfSolversHaveTheirParameters) {
  ASSERT_EQ(in_folder("solvers --json solvers.json").exit_code, 0);
  const auto list = nlohmann::json::parse(read(file("solvers.json")));
  const fs::path folder = fs::path(SARRUS_SOURCE_DIR) / "docs" / "solvers";
  const std::string overview = read(folder / "README.md");
  ASSERT_GT(list.size(), 20u);
  for (const auto& solver : list) {
    const std::string id = solver["id"];
    EXPECT_NE(overview.find("](" + id + ".md)"), std::string::npos) << id << " is not in the overview";
    const std::string page = read(folder / (id + ".md"));
    const std::string family = with_links(folder / (id + ".md"));
    ASSERT_FALSE(page.empty()) << id;
    for (const auto& parameter : solver["parameters"]) {
      const std::string name = parameter["name"];
      EXPECT_NE(family.find("`" + name + "`"), std::string::npos) << id << ": " << name;
      const double said = tabulated_default(page, name);
      EXPECT_TRUE(std::isnan(said) || said == parameter["default"].get<double>()) << id << ": " << name;
    }
  }
}

}  // namespace
}  // namespace sarrus::docs_commands_test
