// The C++ of docs/batch.md: it is here line by line, compiles, and does what the page says.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sarrus/batch/batch.h"
#include "sarrus/model/parameters.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::page_test {
namespace {

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(' ') + 1 - first);
}

TEST(BatchPage, ItsCodeRuns) {
  const Model model = make_scene("fourbar_free");
  std::vector<std::uint8_t> fallen(64, 0);
  fallen[5] = 1;
  // clang-format off
  Batch batch(model, 64, {.simulation = {.dt = 1e-3}, .threads = 2});
  std::vector<double> targets(64 * static_cast<std::size_t>(batch.control_count()), 0.1);
  batch.step(targets, 20);                             // 20 steps of every world towards these targets of its drives
  const std::span<const double> p = batch.position();  // worlds x bodies x 3
  const StepStatus worst = batch.reports()[17].worst;  // what the steps of world 17 were like
  batch.reset(fallen);                                 // by mask: these begin again
  // clang-format on
  EXPECT_EQ(p.size(), 64 * model.bodies().size() * 3);
  EXPECT_NE(worst, StepStatus::failed);
  EXPECT_EQ(batch.time()[5], 0);
  const std::vector<double> plan(10 * static_cast<std::size_t>(batch.control_count()), 0.05);
  // clang-format off
  const Rollout out = batch.rollout(plan, {.steps = 100, .hold = 10, .every = 20, .keep = Keep::q | Keep::contact_force});
  const double angle = out.q[(3 * 5 + 4) * model.dofs().size()];  // world 3, frame 4 of 5, first coordinate
  std::vector<Model> models;
  for (int i = 0; i < 16; ++i) {
    const std::vector<ParameterChange> changes = {{"body.*.mass", 0.9 + 0.01 * i, true},  // a factor
                                                  {"material.default.friction", 0.4 + 0.02 * i},
                                                  {"drive.*.kd", 2, true}};
    models.push_back(changed(model, changes));
  }
  Batch varied(models);
  // clang-format on
  EXPECT_EQ(angle, batch.q()[3 * model.dofs().size()]);
  varied.step(5);
  EXPECT_EQ(varied.failed_count(), 0);
}

TEST(BatchPage, ItsCodeIsTheOneAbove) {
  std::ifstream source(__FILE__);
  std::vector<std::string> lines;
  for (std::string line; std::getline(source, line);) lines.push_back(trimmed(line));
  ASSERT_FALSE(lines.empty()) << __FILE__;
  std::ifstream page(std::string(SARRUS_SOURCE_DIR) + "/docs/batch.md");
  bool inside = false;
  int count = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = line == "```cpp";
    } else if (inside && !line.empty() && !line.starts_with("#include")) {
      ++count;
      EXPECT_NE(std::find(lines.begin(), lines.end(), trimmed(line)), lines.end()) << line;
    }
  }
  EXPECT_GT(count, 15);
}

}  // namespace
}  // namespace sarrus::page_test
