// The outputs of a run. Each is a sink, which is shown the run step by step and makes one file (or folder) of it: a new
// kind of output is one source with its sink, and one line where the sinks of a run are listed (apps/sarrus).
//
// A file is checked when its sink is made, before the run starts, and appears under its name only when it is complete:
// a run that is killed, or whose disk is full, leaves what it has flushed beside it (files/whole_file.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sarrus/recording/run_summary.h"
#include "sarrus/recording/svg_strip.h"
#include "sarrus/step/simulation.h"

namespace sarrus {

// A step that was just taken; its report and contacts are those of the simulation.
struct RunStep {
  const Simulation& sim;
  const Energy& energy;  // after it
  std::int64_t index;    // from 1
  bool last;             // of the run, if it does not fail before

  // The state is then the one before the step, and no step follows.
  bool failed() const { return sim.report().status == StepStatus::failed; }
};

class RunSink {
 public:
  virtual ~RunSink() = default;
  // Before the first step.
  virtual void begin(const Simulation&, const RunInfo&) {}
  virtual void step(const RunStep&) {}
  // Now and then: what is written so far shall survive whatever happens to the process.
  virtual void flush() {}
  // After the last step: completes the file.
  virtual void finish(const Simulation&, const RunSummary&) {}
};

// All throw InputError naming the option of `sarrus run` and the path if it cannot be written.
std::unique_ptr<RunSink> json_sink(const std::string& path);         // summary (run_summary.h)
std::unique_ptr<RunSink> csv_sink(const std::string& path);          // row per step (csv_log.h)
std::unique_ptr<RunSink> contact_csv_sink(const std::string& path);  // row per contact of a step (csv_log.h)
std::unique_ptr<RunSink> recording_sink(const std::string& path,
                                        int every);  // every n-th state and the last (recording.h)
std::unique_ptr<RunSink> svg_sink(const std::string& path, SvgOptions options = {});  // drawing (svg_strip.h)
// A checkpoint (checkpoint.h) at the end, and whenever so much wall time, s, has passed.
std::unique_ptr<RunSink> checkpoint_sink(const std::string& path, double every);
// <folder>/<scene>-<step>.h5: the problem of every n-th step and of one that failed, with the warm start and the
// impulses of its (last) solve (problem_files/problem_file.h). Creates the folder.
std::unique_ptr<RunSink> problem_sink(const std::string& folder, int every);
// The name of such a file; the scene's name may hold anything.
std::string problem_file(const std::string& folder, std::string_view scene, std::int64_t step);

}  // namespace sarrus
