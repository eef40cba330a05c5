// What a session knows of one page: what it wants to see, what it has acknowledged, what it has not been shown yet, and
// how much it may ask for.
#pragma once

#include <cstdint>
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
  }
  // Nothing happened, but something else of the frame is new: the last step once more.
  void touch(const Frame& last) {
    if (pending) return;
    pending = last;
    pending->steps = 0;
    pending->status = kNoStep;
    solve_status = kNoStep;
  }
  void set_state(const Frame& now) {
    pending = now;
    solve_status = kNoStep;
    state_set = true;
  }
  bool ready(double now) const { return pending && sent - acknowledged <= 1 && now >= next; }
};

}  // namespace sarrus::view
