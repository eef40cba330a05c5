#include <cstdio>

#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/scene_files/scene_file.h"
#include "sarrus/step/simulation.h"

// A pendulum, built, written as a scene, read again and simulated.
int main() {
  sarrus::ModelBuilder b("pendulum");
  const int rod = b.add_box_body("rod", 1.0, {0.25, 0.02, 0.02}, {{0.25, 0, 1}});
  b.add_joint_at("pivot", sarrus::JointType::revolute, sarrus::kWorld, rod, {0, 0, 1}, sarrus::frame_with_x({0, 1, 0}));
  const sarrus::Model model = sarrus::parse_scene(sarrus::scene_to_json(b.build()), "pendulum", {});
  sarrus::Simulation sim(model, {.dt = 1e-3});
  while (sim.time() < 0.3 && sim.step().status != sarrus::StepStatus::failed) {
  }
  if (sim.state().q[0] > 0.3) std::puts("pendulum swings");
}
