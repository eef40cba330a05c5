// Progress of a benchmark on stderr, and what to say when it is told to end.
#pragma once

#include <chrono>
#include <filesystem>

#include "sarrus/work/work_folder.h"

namespace sarrus::app {

// A line on a terminal, rewritten; else a line every half minute.
class SuiteProgress {
 public:
  explicit SuiteProgress(bool enabled);
  ~SuiteProgress();
  SuiteProgress(const SuiteProgress&) = delete;
  SuiteProgress& operator=(const SuiteProgress&) = delete;

  void operator()(const WorkFolder::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point next_ = Clock::now();
};

// SIGTERM (mpirun's, when a rank was lost) and SIGINT: say where the finished work is, then end.
void prepare_last_words(const std::filesystem::path& folder);

// Others may still look for the last results; a folder that is kept would make the next run repeat old figures.
void remove_when_deserted(const std::filesystem::path& folder, double patience);

}  // namespace sarrus::app
