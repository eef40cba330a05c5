// Other engines (MuJoCo, ODE, Bullet, DART, Simbody) and this one on the same scenes, judged by one geometry.
//
// The engines are programs of their own (peers/), which write the motion that they computed to a file
// (trajectory.h). What is reported comes from the poses and velocities in it and our own code, never from an engine:
//   gap, angle    largest residual of the joints over all samples, m and rad (dynamics/joint_kinematics.h)
//   penetration   largest depth of any contact over all samples, m (collision/detector.h)
//   energy_drift  (last - first total energy) / largest kinetic energy, which counts as at least what it takes to lift
//                 everything by 1 mm (scenes at rest); contacts and friction rightly take energy
//   energy_rise   the same with the largest total energy instead of the last: nothing here may rightly be positive
//   displacement  largest distance of a centre of mass from where it started, m: of scenes that should rest
// The programs are looked for in $SARRUS_PEERS, else beside the running program.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sarrus/bench/trajectory.h"
#include "sarrus/model/model.h"

namespace sarrus {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

struct PeerRun {
  std::string engine;
  std::string version;
  std::string setting;       // "default" or "stiff"
  std::string setting_text;  // what it means
  std::string scene;
  // "ok", "unstable", "collapsed", "unstable: ...", "not supported: ...", "not found: ...", "died with signal 11 ...",
  // ...
  std::string status;
  int level = 0;  // of the stiff setting: how often it was softened until it was stable
  double dt = 0;  // s
  double sim_time = 0;
  double gap = kNotMeasured;
  double angle = kNotMeasured;
  double penetration = kNotMeasured;
  double energy_drift = kNotMeasured;
  double energy_rise = kNotMeasured;
  double displacement = kNotMeasured;
  double us_per_step = kNotMeasured;  // median, of the step call alone
  double us_per_step_p95 = kNotMeasured;
  double real_time_factor = kNotMeasured;  // simulated time / time in steps

  bool ok() const { return status == "ok"; }
};

// Fills in what can be measured. The status becomes "unstable" if the total energy rises by more than a tenth of the
// largest kinetic energy plus what lifting everything by 1 mm takes, or a number is not finite; "collapsed" if a body
// of stack15, which starts in equilibrium, moves by more than 5 cm.
PeerRun judge_trajectory(const Model& model, const Trajectory& trajectory);

// The motion of a scene by our own Simulation with its default options, as the programs of the peers write it.
Trajectory run_sarrus(const Model& model, double dt, double duration, double sample);

const std::vector<std::string>& peer_scenes();  // fourbar_swing, stack15, ring20, ring20_tilted, clutter40, boxes_fixed
const std::vector<std::string>& peer_engines();  // sarrus first

struct PeerOptions {
  std::vector<std::string> scenes = peer_scenes();
  std::vector<std::string> engines = peer_engines();
  bool quick = false;            // at most 1 s of each scene
  double timeout = 600;          // s, for one program
  double sample = 0.01;          // s, between samples; at least a step
  std::filesystem::path folder;  // of the programs; empty: see above
};

// Called before each run with what comes next and how many there are.
using PeerProgress = std::function<void(int done, int total, const std::string& next)>;

// All engines on all scenes, by scene. Throws InputError for unknown scenes and engines; whatever happens to a program
// is told by the status of its run.
std::vector<PeerRun> run_peers(const PeerOptions& options, const PeerProgress& progress = {});

// The program of an engine, empty if there is none. `folder` as in PeerOptions.
std::filesystem::path find_peer(const std::string& engine, const std::filesystem::path& folder = {});

// --- Siconos on FCLIB ------------------------------------------------------------------------------------

// One solver on one problem. The error is the judge's relative natural map (problem/judge.h) of the impulses, for
// all solvers alike; seconds are those of the solver's call alone, without reading or building matrices.
struct FclibRun {
  std::string solver;   // "cascade", "siconos NSGS", "siconos NSN-AC", "siconos ADMM"
  std::string problem;  // path below the folder, without ending
  int contacts = 0;
  int equalities = 0;
  std::string status;    // "ok": there is an answer, good or not
  bool success = false;  // error <= tolerance
  double error = kNotMeasured;
  double seconds = kNotMeasured;
  double iterations = kNotMeasured;
};

struct FclibOptions {
  std::filesystem::path folder;  // of the collection, searched with its subfolders
  double tolerance = 1e-8;
  double timeout = 120;            // s, for one solve by Siconos
  bool quick = false;              // files of at most 100 kB
  std::filesystem::path programs;  // folder of sarrus-peer-siconos; empty: as in PeerOptions
};

// Problems in 2D and with rolling friction are left out. All solvers start from zero.
std::vector<FclibRun> run_fclib_peers(const FclibOptions& options, const PeerProgress& progress = {});

// --- reports -----------------------------------------------------------------------------------------------

struct PeerReport {
  std::vector<PeerRun> scenes;
  std::vector<FclibRun> fclib;
  std::string command = {};  // that made it
};

// Numbers that were not measured are null.
std::string to_json_text(const PeerReport& report);
// Throws InputError if the text is no such report.
PeerReport peer_report_from_json(const std::string& text);
// Tables for people.
std::string to_text(const PeerReport& report);
// One row per run of an engine.
std::string to_csv(const PeerReport& report);

}  // namespace sarrus
