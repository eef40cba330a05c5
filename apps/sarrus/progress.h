// A progress line on stderr for runs longer than a second; only on a terminal.
#pragma once

#include <chrono>

namespace sarrus::app {

class Progress {
 public:
  Progress(bool enabled, double duration);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double time);

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool shown_ = false;
  double duration_;  // s
  Clock::time_point start_;
  Clock::time_point next_;
};

}  // namespace sarrus::app
