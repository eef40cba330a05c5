// What a session knows of one page: what it wants to see, what it has acknowledged, what it has not been shown yet, and
// how much it may ask for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "sarrus/view/live_frame.h"

namespace sarrus::view {

// Commands per second. What is beyond is dropped, but the newest drag, which comes late.
class CommandLimit {
 public:
  static constexpr int kMost = 240;

  // Whether one more is taken at this time, s.
  bool takes(double now) {
    if (now - begin_ >= 1) {
      begin_ = now;
      count_ = 0;
    }
    return ++count_ <= kMost;
  }
  bool first_too_many() const { return count_ == kMost + 1; }
  bool room(double now) const { return now - begin_ >= 1 || count_ < kMost; }

 private:
  double begin_ = -1e300;
  int count_ = 0;
};

struct LivePage {
  bool joints = true, contacts = true;
  std::uint32_t sent = 0, acknowledged = 0;  // sequence numbers
  double heard = 0;                          // s, of the last acknowledgement
  double next = 0;                           // s, when a frame may be sent again
  bool state_set = false;                    // since the last frame
  CommandLimit commands, acknowledgements;
  std::string late_drag;

  // What the next frame has to tell.
  std::optional<Frame> pending;
  std::uint8_t solve_status = kNoStep;  // of its worst step
  bool untold = false;                  // it stands for steps that no frame has told of
  // What has to be told before: steps that were taken before the state was set.
  std::optional<Frame> before;
  std::uint8_t before_solve_status = kNoStep;
  // What was told of later times is no longer what happened, s.
  double forget = std::numeric_limits<double>::infinity();

  // A step was taken. A page that does not draw is told the worst of what it missed, but not every contact.
  void add(const Layout& layout, const Frame& step, std::uint8_t solve, double now) {
    constexpr std::size_t kMostContacts = 100'000;
    constexpr double kHidden = 1;  // s
    Frame f = step;
    if (pending) {
      if (now - heard > kHidden || pending->contacts.size() > kMostContacts) {
        pending->contacts.clear();
        pending->interval = 0;
      }
      if (pending->steps > 0) {
        if (pending->status == kNoStep || step.status >= pending->status) solve_status = solve;
        take_over(layout, *pending, f);
      } else {
        solve_status = solve;
      }
    } else {
      solve_status = solve;
    }
    pending = std::move(f);
    untold = true;
  }
  // Nothing happened, but something else of the frame is new: the last step once more.
  void touch(const Frame& last) {
    if (pending) return;
    pending = last;
    pending->steps = 0;
    pending->status = kNoStep;
    solve_status = kNoStep;
  }
  // Nothing bad is lost on the way: steps that the page was not told of go first, in a frame of their own.
  void set_state(const Layout& layout, const Frame& now) {
    if (pending && untold) {
      if (before) {
        before_solve_status = before->status > pending->status ? before_solve_status : solve_status;
        take_over(layout, *before, *pending);
      } else {
        before_solve_status = solve_status;
      }
      before = std::move(pending);
    }
    pending = now;
    solve_status = kNoStep;
    state_set = true;
    untold = false;
  }
  // Steps after this time, s, did not happen.
  void drop_after(double time) {
    constexpr double kRound = 1e-9;
    forget = std::min(forget, time);
    if (before && before->time > time + kRound) before.reset();
    if (pending && pending->time > time + kRound) untold = false;
  }
  bool waiting() const { return (before || pending) && sent - acknowledged <= 1; }
  bool ready(double now) const { return waiting() && now >= next; }
};

}  // namespace sarrus::view
