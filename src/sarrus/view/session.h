// A live simulation as pages see it (docs/live-protocol.md): it plays by the clock, stops, steps forward and back,
// takes targets and drags, and tells each page as much as that page draws.
//
//   advance   commands -> steps until simulated time has caught up, at most 50 ms of them -> frames to who is ready
//   back      the last snapshot before the wanted step is restored and the way to it is taken again, with the inputs
//             that were set on it: the same bits (history.h). An input there begins another future.
//   failure   of a step, or whatever is thrown on the way: paused in the state before it, and a notice to all
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "sarrus/view/history.h"
#include "sarrus/view/live_command.h"
#include "sarrus/view/live_page.h"
#include "sarrus/view/pace.h"
#include "sarrus/view/speaker.h"

namespace sarrus::view {

struct SessionOptions {
  bool paused = false;
  double speed = 1;
  std::string save;     // where snapshots go; empty: nowhere
  double history = 10;  // s
  std::size_t history_bytes = std::size_t{256} << 20;
  double frame_rate = 60;  // Hz
  int follow = -1;         // body whose place the origin of frames is
};

struct SessionEvents {
  // A step that was never taken before, or was in a future that is no more.
  std::function<void(const Simulation&, std::int64_t index)> stepped = {};
  // Steps after `index` are no longer what happened.
  std::function<void(std::int64_t index)> branched = {};
  // The state after the latest step is left for an earlier one: it may not be seen again.
  std::function<void(const Simulation&, std::int64_t index)> left = {};
  // The step to `index` failed; the state is the one before it.
  std::function<void(const Simulation&, std::int64_t index)> failed = {};
  // Writes the problem of the step to `index`, which is the last one that was tried; returns the name of the file.
  std::function<std::string(const Simulation&, std::int64_t index)> dump = {};
};

class Session final : public Speaker {
 public:
  // `scene`: message 1. `also`: what else each page gets at first. `clock`: wall time, s.
  Session(Simulation simulation, Message scene, Message also, SessionOptions options, Send send,
          std::function<double()> clock, SessionEvents events = {});

  void connect(int page) override;
  void disconnect(int page) override;
  void receive(int page, std::string_view text) override;
  double advance() override;
  void end() override;
  // To all pages.
  void tell(std::string_view kind, std::string_view text);

  const Simulation& simulation() const { return sim_; }
  std::int64_t index() const { return index_; }
  std::int64_t latest() const { return latest_; }
  bool paused() const { return !playing_; }
  bool failed() const { return failed_; }

 private:
  void obey(int page, std::string_view text);
  void obey(int page, LivePage& from, const LiveCommand& command);
  void set_input(int page, const LiveCommand& command);
  void acknowledge(LivePage& from, std::uint32_t sequence);
  void play();
  void pause();
  void go_to(std::int64_t step);
  bool restore(std::int64_t step, const Snapshot& snapshot);
  void arrive();
  void reset();
  void let_go();
  void drop_future();
  void save(int page);
  void dump(int page);

  void take_steps(double now);
  bool step();
  void fail(std::string_view why);
  void show_step();
  void touch();
  void publish(double now);
  double time_of(std::int64_t step) const { return begin_ + static_cast<double>(step) * sim_.dt(); }
  bool waits() const { return goal_ && hidden_; }

  Simulation sim_;
  Message scene_, also_;
  SessionOptions options_;
  Send send_;
  std::function<double()> clock_;
  SessionEvents events_;

  Layout layout_;
  History history_;
  Pace pace_;
  double begin_;                      // s, of the initial state
  std::int64_t index_ = 0;            // of the present state
  std::int64_t latest_ = 0;           // from which on steps are new
  std::optional<std::int64_t> goal_;  // steps are taken until there
  bool hidden_ = false;               // they are not shown
  bool playing_ = true;
  bool failed_ = false;
  std::string failure_;  // why
  int holder_ = -1;      // page that holds a body; the drag of a step that is taken again may have none
  Snapshot initial_snapshot_;
  Frame initial_, last_;  // of the initial state and the present one
  std::map<int, LivePage> pages_;
  struct Waiting {
    int page;
    std::string text;
  };
  std::deque<Waiting> waiting_;  // commands, until a way that is not shown is taken
};

}  // namespace sarrus::view
