// Runs a simulation and keeps the worst values over the run, for the physics tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sarrus/dynamics/state.h"
#include "sarrus/model/builder.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/step/simulation.h"

namespace sarrus::testing {

// Requires |value| <= limit and keeps both in the XML report.
inline void expect_within(const std::string& what, double value, double limit) {
  ::testing::Test::RecordProperty(what, fmt::format("{:.4g} (limit {:.4g})", value, limit));
  EXPECT_LE(std::abs(value), limit) << what;
}
// Requires |value - expected| <= tolerance and keeps all three.
inline void expect_near(const std::string& what, double value, double expected, double tolerance) {
  ::testing::Test::RecordProperty(what, fmt::format("{:.8g} (expected {:.8g}, off by {:.3g}, tolerance {:.3g})", value,
                                                    expected, value - expected, tolerance));
  EXPECT_NEAR(value, expected, tolerance) << what;
}

inline SimulationOptions options_with(double dt, std::optional<Integrator> integrator = {}) {
  SimulationOptions o;
  o.dt = dt;
  o.integrator = integrator;
  return o;
}

// Largest values of the step reports of a run.
struct Worst {
  double joint_gap = 0;        // m
  double joint_angle = 0;      // rad
  double penetration = 0;      // m
  double limit_violation = 0;  // m or rad
  double natural_map_relative = 0;
  int failed = 0;
  int not_converged = 0;  // any status but `converged`
  int not_finite = 0;

  void add(const StepReport& r) {
    joint_gap = std::max(joint_gap, r.joint_gap);
    joint_angle = std::max(joint_angle, r.joint_angle);
    penetration = std::max(penetration, r.penetration);
    limit_violation = std::max(limit_violation, r.limit_violation);
    natural_map_relative = std::max(natural_map_relative, r.residuals.error());
    failed += r.status == StepStatus::failed;
    not_converged += r.status != StepStatus::converged;
    not_finite += !r.residuals.finite;
  }
};

// Takes `steps` steps and calls each(report) after every one.
template <class Each>
Worst run(Simulation& sim, int steps, Each each) {
  Worst worst;
  for (int i = 0; i < steps; ++i) {
    const StepReport& report = sim.step();
    worst.add(report);
    each(report);
  }
  EXPECT_EQ(worst.failed, 0) << sim.model().name();
  EXPECT_EQ(worst.not_finite, 0) << sim.model().name();
  return worst;
}
inline Worst run(Simulation& sim, int steps) {
  return run(sim, steps, [](const StepReport&) {});
}

inline Simulation simulate(std::string_view scene, SimulationOptions options = {}) {
  return Simulation(make_scene(scene), std::move(options));
}

inline const Pose& pose(const Simulation& sim, int body) { return sim.state().X_WB[static_cast<std::size_t>(body)]; }
inline const Pose& pose(const Simulation& sim, std::string_view body) { return pose(sim, sim.model().body(body)); }
inline const Vec6& twist(const Simulation& sim, int body) { return sim.state().twist[static_cast<std::size_t>(body)]; }
inline const Vec6& twist(const Simulation& sim, std::string_view body) { return twist(sim, sim.model().body(body)); }
inline double coordinate(const Simulation& sim, std::string_view dof) {
  return sim.state().q[static_cast<std::size_t>(sim.model().dof(dof))];
}
inline Energy energy_of(const Simulation& sim) { return energy(sim.model(), sim.state()); }

// Energy of a conservative run: drift relative to the largest kinetic energy.
class EnergyDrift {
 public:
  explicit EnergyDrift(const Simulation& sim) : start_(energy_of(sim).total()) {}
  void add(const Simulation& sim) {
    const Energy e = energy_of(sim);
    peak_kinetic_ = std::max(peak_kinetic_, e.kinetic);
    now_ = e.total() - start_;
    worst_ = std::max(worst_, std::abs(now_));
  }
  double worst() const { return worst_ / peak_kinetic_; }
  double at_end() const { return now_ / peak_kinetic_; }

 private:
  double start_;
  double peak_kinetic_ = 0;
  double now_ = 0;
  double worst_ = 0;
};

inline double order_of(double error_coarse, double error_fine) { return std::log2(error_coarse / error_fine); }

}  // namespace sarrus::testing
