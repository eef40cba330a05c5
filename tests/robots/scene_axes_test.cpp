// JSON scenes are run as they are written; loops that rounded axes lock are told, and freed on demand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "mjcf_text.h"
#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/robot_files/load.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/step/simulation.h"

namespace sarrus::scene_axes_test {
namespace {

std::string tilted_fourbar(double angle) {
  ModelData data = make_scene("fourbar_swing").data();
  Joint& j = data.joints[2];
  const Quat turn = so3_exp(angle * Vec3(0, 0.6, 0.8));
  j.q_BJ = j.q_BJ * turn;
  j.q_FJ = j.q_FJ * turn;
  return scene_to_json(finish_model(std::move(data)));
}

double turned_after_half_a_second(const Model& model) {
  Simulation sim(model, {.dt = 1e-3});
  const double start = sim.state().q[0];
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(sim.step().met_tolerance) << i;
  return std::abs(sim.state().q[0] - start);
}

TEST(SceneAxes, LoopsThatRoundingLocksAreToldAndFreed) {
  const test::ModelFolder folder;
  for (const double angle : {1e-5, 1e-4}) {
    const auto file = folder.write("fourbar.json", tilted_fourbar(angle));
    const ImportResult written = import_model(file);
    ASSERT_EQ(written.report.findings.size(), 1u);
    const ImportFinding& told = written.report.findings[0];
    EXPECT_EQ(told.kind, "locked-loop");
    EXPECT_EQ(told.severity, ImportSeverity::warning);
    EXPECT_NE(told.text().find("--snap"), std::string::npos) << told.text();
    ImportOptions options;
    options.strict = true;
    EXPECT_THROW(import_model(file, options), InputError);
    options = {};
    options.snap_scene = true;
    const ImportResult freed = import_model(file, options);
    ASSERT_EQ(freed.report.findings.size(), 1u);
    EXPECT_EQ(freed.report.findings[0].kind, "snapped-axes");
    EXPECT_GT(turned_after_half_a_second(freed.model), 0.1);
  }
  // What the step frees by itself, and what is exact, is not told of.
  for (const double angle : {0.0, 1e-6}) {
    const ImportResult r = import_model(folder.write("fourbar.json", tilted_fourbar(angle)));
    EXPECT_TRUE(r.report.findings.empty()) << angle;
    EXPECT_GT(turned_after_half_a_second(r.model), 0.1);
  }
}

}  // namespace
}  // namespace sarrus::scene_axes_test
