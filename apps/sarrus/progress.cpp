#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace sarrus::app {

Progress::Progress(bool enabled, double duration)
    : enabled_(enabled && ::isatty(STDERR_FILENO) == 1),
      duration_(duration),
      start_(Clock::now()),
      next_(start_ + std::chrono::seconds(1)) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::update(double time) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  shown_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "\r\033[K{:3.0f} %  t = {:.3g} of {:.3g} s, {:.3g} x real time, {:.0f} s left",
             100 * time / duration_, time, duration_, time / elapsed, elapsed * (duration_ / time - 1));
  std::fflush(stderr);
}

}  // namespace sarrus::app
