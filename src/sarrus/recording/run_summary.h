// What a run amounted to: counts, timings, worst violations, energy; as JSON for programs and as a table for
// people. Fed once per step with the engine's own judged report; it measures nothing itself.
//
// Units are SI; times per step are microseconds of Simulation::step() alone, without recording or logging.
// energy.drift_relative = (final - initial total energy) / (energy that was there to move with: kinetic at the start,
// the largest fall of potential energy, work put in), 0 if nothing ever moved. It does not grow with what a run
// creates: an explosion reads as one. With drives, friction, damping or impacts the energy changes for physical
// reasons; energy.unaccounted is what is left when those are taken away, the error of the scheme (EnergyFlow).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sarrus/dynamics/state.h"
#include "sarrus/step/simulation.h"

namespace sarrus {

// How a run was set up: goes into summaries, recordings and captions.
struct RunInfo {
  std::string scene;
  double duration = 0;        // s, requested
  SimulationOptions options;  // with every default resolved: those of Simulation::options()
  std::string version;        // of Sarrus
};

class RunSummary {
 public:
  RunSummary(RunInfo info, const State& initial, const Energy& initial_energy, std::vector<std::string> overlaps = {});

  // After every step, failed ones included (they count in status and message, not in steps).
  void add(const StepReport& report, const Energy& energy);
  // Once, after the last step: the time reached, the hash of the final state, what energy might have been created.
  void finish(const State& last, double energy_bound = 0);

  // The run was ended from outside before its time.
  void interrupt() { interrupted_ = true; }

  // "ok": every step converged and no energy was created beyond the bound of the scheme; "ok_with_warnings": some step
  // was accepted above the tolerance, needed the fallback solver or was substepped, energy was created, bodies
  // overlapped at the start, or a gimbal or serial joint came next to its lock; "interrupted": it was ended from
  // outside; "failed": a step failed and the run ended there.
  std::string status() const;
  bool failed() const { return failed_; }
  double worst_joint_gap() const { return worst_.joint_gap; }
  double drift_relative() const;
  const RunInfo& info() const { return info_; }

  std::string to_json_text() const;
  std::string to_text() const;

 private:
  struct Worst {
    double joint_gap = 0;        // m
    double joint_angle = 0;      // rad
    double limit_violation = 0;  // m or rad
    double penetration = 0;      // m
    double natural_map = 0;
    double natural_map_relative = 0;
  };
  struct Seconds {
    double collision = 0;
    double assembly = 0;
    double solve = 0;
    double projection = 0;
    double total = 0;
  };
  double real_time_factor() const;
  std::string energy_text() const;

  RunInfo info_;
  std::vector<double> microseconds_;  // by step, as the next two
  std::vector<double> iterations_;
  std::vector<double> contacts_;
  std::int64_t accepted_ = 0;
  std::int64_t fallback_ = 0;
  std::int64_t substepped_ = 0;
  std::int64_t non_converged_ = 0;
  std::map<std::string, std::int64_t, std::less<>> stages_;  // steps by the last stage of the solver that they needed
  bool failed_ = false;
  bool interrupted_ = false;
  std::string message_;
  Worst worst_;
  Seconds seconds_;
  Energy initial_energy_;
  Energy final_energy_;
  double max_kinetic_ = 0;    // J
  double min_potential_ = 0;  // J
  EnergyFlow flow_;           // of all steps
  double energy_bound_ = 0;   // J
  bool creates_energy_ = false;
  std::string locked_joint_;           // the first that came next to its lock, and when
  double locked_at_ = 0;               // s
  double restitution_scale_ = 1;       // smallest
  std::vector<std::string> overlaps_;  // at the start, in words
  double start_time_ = 0;              // s
  double end_time_ = 0;                // s
  std::uint64_t hash_ = 0;             // of the last state
};

}  // namespace sarrus
