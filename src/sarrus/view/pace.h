// How a simulation keeps to the wall clock: simulated time goes on by `speed` times wall time from an anchor. What
// cannot be kept up with is not made up for later: the anchor moves.
#pragma once

#include <deque>

namespace sarrus::view {

class Pace {
 public:
  explicit Pace(double speed) : speed_(speed) {}

  double speed() const { return speed_; }
  void set_speed(double speed, double now, double time) {
    speed_ = speed;
    start(now, time);
  }
  // From here on: wall time now, simulated time.
  void start(double now, double time) {
    wall_ = now;
    time_ = time;
  }
  // Simulated time that should be reached.
  double due(double now) const { return time_ + speed_ * (now - wall_); }
  // Wall time until a simulated time is due, s.
  double wait(double time, double now) const { return (time - due(now)) / speed_; }

  // After each slice of steps: whether it lags, and then from here on.
  void measure(double now, double time) {
    constexpr double kLag = 0.1;       // s of wall time
    constexpr double kRemember = 0.5;  // s
    if (due(now) - time > kLag * speed_) {
      start(now, time);
      behind_until_ = now + kRemember;
    }
    seen_.push_back({now, time});
    while (seen_.size() > 2 && seen_[1].wall <= now - 1) seen_.pop_front();
  }
  void forget() { seen_.clear(); }
  bool behind(double now) const { return now < behind_until_; }
  // Over the last second.
  double reached() const {
    if (seen_.size() < 2) return 0;
    const double wall = seen_.back().wall - seen_.front().wall;
    return wall > 0 ? (seen_.back().time - seen_.front().time) / wall : 0;
  }

 private:
  struct Point {
    double wall, time;
  };
  double speed_;
  double wall_ = 0, time_ = 0;
  double behind_until_ = -1;
  std::deque<Point> seen_;
};

}  // namespace sarrus::view
