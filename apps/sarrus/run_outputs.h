// The outputs of `sarrus run`: the list of sinks that was asked for. One that cannot be written ends the run, and the
// others are completed.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <vector>

#include "run_options.h"
#include "sarrus/recording/run_sink.h"

namespace sarrus::app {

class RunOutputs {
 public:
  // Throws InputError for names that are the same or cannot be written.
  explicit RunOutputs(const RunArguments& arguments);

  void begin(const Simulation& sim, const RunInfo& info);
  // Now and then it also flushes: after the wall time of --flush, and for at most a twentieth of the time.
  void step(const RunStep& step);
  void finish(const Simulation& sim, const RunSummary& run);

  bool failed() const { return error_ != nullptr; }
  // Throws the first error, if there was one.
  void rethrow() const;

 private:
  using Clock = std::chrono::steady_clock;
  template <class F>
  void each(F f);
  void flush();

  std::vector<std::unique_ptr<RunSink>> sinks_;
  std::exception_ptr error_;
  Clock::duration flush_;
  Clock::time_point next_flush_;
};

}  // namespace sarrus::app
