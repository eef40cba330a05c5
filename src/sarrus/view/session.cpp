#include "sarrus/view/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "sarrus/math/error.h"
#include "sarrus/recording/checkpoint.h"

namespace sarrus::view {
namespace {

using Kind = LiveCommand::Kind;

constexpr double kSlice = 0.05;     // s of wall time
constexpr double kSpacing = 0.025;  // s of simulated time between snapshots

std::int64_t steps_of(double seconds, double dt) {
  return static_cast<std::int64_t>(std::clamp(std::ceil(seconds / dt - 1e-6), 1.0, 1e9));
}

}  // namespace

Session::Session(Simulation simulation, Message scene, Message also, SessionOptions options, Send send,
                 std::function<double()> clock, SessionEvents events)
    : sim_(std::move(simulation)),
      scene_(std::move(scene)),
      also_(std::move(also)),
      options_(std::move(options)),
      send_(std::move(send)),
      clock_(std::move(clock)),
      events_(std::move(events)),
      layout_(sim_.model().bodies().size(), sim_.model().scalars().size(), sim_.model().joints().size()),
      history_(steps_of(options_.history, sim_.dt()), steps_of(kSpacing, sim_.dt()), options_.history_bytes),
      pace_(options_.speed),
      begin_(sim_.time()),
      playing_(!options_.paused) {
  frame_of(sim_, layout_, initial_);
  last_ = initial_;
  initial_snapshot_ = sim_.snapshot();
  history_.begin(initial_snapshot_);
  pace_.start(clock_(), sim_.time());
}

void Session::connect(int page) {
  LivePage& p = pages_[page];
  p.heard = clock_();
  send_(page, scene_);
  if (also_) send_(page, also_);
  if (waits()) return;
  if (index_ > 0) frame_of(sim_, layout_, last_);
  p.set_state(layout_, last_);
  if (failed_) send_(page, notice("failed", failure_));
}

// What was dragged in the past stays what happened.
void Session::disconnect(int page) {
  pages_.erase(page);
  if (page != holder_) return;
  holder_ = -1;
  if (!waits() && index_ == latest_) let_go();
}

// Nobody holds what is dragged: that ends here.
void Session::let_go() {
  LiveCommand drop;
  drop.kind = Kind::drop;
  set_input(-1, drop);
}

void Session::tell(std::string_view kind, std::string_view text) {
  const Message message = notice(kind, text);
  for (const auto& [page, ignored] : pages_) send_(page, message);
}

void Session::end() { tell("end", "the simulation has ended"); }

void Session::receive(int page, std::string_view text) {
  constexpr std::size_t kMostWaiting = 1000;
  const auto known = pages_.find(page);
  if (known == pages_.end()) return;
  if (!waits()) {
    obey(page, text);
  } else if (waiting_.size() < kMostWaiting) {
    waiting_.push_back({page, std::string(text.substr(0, kMaxCommandBytes + 1))});
  }
}

void Session::obey(int page, std::string_view text) {
  const auto known = pages_.find(page);
  if (known == pages_.end()) return;
  LivePage& from = known->second;
  try {
    const LiveCommand command = parse_live_command(text);
    const double now = clock_();
    CommandLimit& limit = command.kind == Kind::ack ? from.acknowledgements : from.commands;
    if (limit.takes(now)) {
      if (command.kind == Kind::drag || command.kind == Kind::drop) from.late_drag.clear();
      obey(page, from, command);
      return;
    }
    if (command.kind == Kind::drag || command.kind == Kind::drop) from.late_drag = text;
    if (limit.first_too_many()) {
      send_(page, notice("refused", fmt::format("more than {} in a second: some are left out", CommandLimit::kMost),
                         "command"));
    }
  } catch (const InputError& e) {
    if (!from.commands.takes(clock_())) return;
    send_(page, notice("refused", e.what(), e.element()));
  } catch (const std::exception& e) {
    send_(page, notice("refused", e.what(), "command"));
  }
}

void Session::obey(int page, LivePage& from, const LiveCommand& c) {
  switch (c.kind) {
    case Kind::hello:
      break;  // refused when it was read
    case Kind::play:
      play();
      break;
    case Kind::pause:
      goal_.reset();
      pause();
      break;
    case Kind::step:
      if (index_ + c.number < history_.earliest() && index_ == history_.earliest()) {
        throw InputError("step", "this is as far back as can be gone");
      }
      go_to(std::max(history_.earliest(), index_ + c.number));
      break;
    case Kind::seek: {
      const double step = std::floor((c.value - begin_) / sim_.dt() + 1e-6);
      go_to(static_cast<std::int64_t>(
          std::clamp(step, static_cast<double>(history_.earliest()), static_cast<double>(latest_))));
      break;
    }
    case Kind::reset:
      reset();
      break;
    case Kind::speed:
      pace_.set_speed(c.value, clock_(), sim_.time());
      touch();
      break;
    case Kind::target:
    case Kind::release:
    case Kind::drag:
    case Kind::drop:
      set_input(page, c);
      break;
    case Kind::layer:
      (c.layer == LiveCommand::Layer::joints ? from.joints : from.contacts) = c.on;
      from.touch(last_);
      break;
    case Kind::save:
      save(page);
      break;
    case Kind::dump:
      dump(page);
      break;
    case Kind::ack:
      acknowledge(from, static_cast<std::uint32_t>(c.number));
      break;
  }
}

void Session::acknowledge(LivePage& from, std::uint32_t sequence) {
  from.heard = clock_();
  if (sequence > from.sent || sequence < from.acknowledged) {
    throw InputError("ack", fmt::format("frame {} is not under way", sequence));
  }
  from.acknowledged = sequence;
}

// An input where the simulation has gone back to is the end of the future that was.
void Session::set_input(int page, const LiveCommand& c) {
  LiveInput input;
  input.step = index_;
  input.index = static_cast<int>(c.number);
  input.value = c.value;
  input.point_B = c.point;
  input.target_W = c.target;
  using Input = LiveInput::Kind;
  input.kind = c.kind == Kind::target    ? Input::target
               : c.kind == Kind::release ? Input::release
               : c.kind == Kind::drag    ? Input::drag
                                         : Input::drop;
  if (c.kind == Kind::target || c.kind == Kind::release) {
    const Model& model = sim_.model();
    if (input.index < model.scalar_count() &&
        model.scalars()[static_cast<std::size_t>(input.index)].drive.mode == DriveMode::none) {
      throw InputError(c.kind == Kind::target ? "target" : "release", fmt::format("dof {} has no drive", input.index));
    }
  }
  if (c.kind == Kind::drop) holder_ = -1;
  if (c.kind == Kind::drop && sim_.dragged_body() == kWorld) return;
  input.set_in(sim_);
  if (c.kind == Kind::drag) holder_ = page;
  if (index_ < latest_) drop_future();
  history_.add(input);
  touch();
}

// With it goes the moment when a drag was let go.
void Session::drop_future() {
  history_.drop_after(index_);
  latest_ = index_;
  for (auto& [page, p] : pages_) p.drop_after(time_of(index_));
  if (events_.branched) events_.branched(index_);
  if (holder_ < 0) let_go();
}

void Session::play() {
  goal_.reset();
  playing_ = true;
  pace_.start(clock_(), sim_.time());
  pace_.forget();
  touch();
}

void Session::pause() {
  playing_ = false;
  pace_.forget();
  touch();
}

void Session::go_to(std::int64_t step) {
  pause();
  goal_.reset();
  hidden_ = false;
  if (step == index_) return;
  const History::Place& place = history_.before(step);
  // What was never taken is shown as it is taken.
  if (step < index_ || (place.step > index_ && step <= latest_)) {
    if (index_ == latest_ && events_.left) events_.left(sim_, index_);
    if (!restore(place.step, place.snapshot)) return;
    hidden_ = true;
  }
  if (index_ == step) {
    arrive();
  } else {
    goal_ = step;
  }
}

bool Session::restore(std::int64_t step, const Snapshot& snapshot) {
  try {
    sim_.restore(snapshot);
  } catch (const std::exception& e) {
    fail(e.what());
    return false;
  }
  index_ = step;
  failed_ = false;
  if (index_ == latest_) history_.set_inputs_of(index_, sim_);
  return true;
}

// Of a way that was not shown, or where the state was set.
void Session::arrive() {
  goal_.reset();
  hidden_ = false;
  if (index_ == 0) {
    last_ = initial_;
  } else {
    frame_of(sim_, layout_, last_);
  }
  for (auto& [page, p] : pages_) p.set_state(layout_, last_);
}

void Session::reset() {
  goal_.reset();
  if (index_ == latest_ && index_ > 0 && events_.left) events_.left(sim_, index_);
  history_.begin(initial_snapshot_);  // before restore(), which sets the inputs of the latest step again
  if (!restore(0, initial_snapshot_)) return;
  if (latest_ > 0 && events_.branched) events_.branched(0);
  latest_ = 0;
  holder_ = -1;
  for (auto& [page, p] : pages_) p.drop_after(begin_);
  pace_.start(clock_(), sim_.time());
  pace_.forget();
  arrive();
}

void Session::save(int page) {
  if (options_.save.empty()) throw InputError("save", "needs --save FILE where the view was started");
  save_checkpoint(options_.save, sim_.snapshot());
  send_(page, notice("saved", fmt::format("the state at t = {:.6g} s is in {}", sim_.time(), options_.save)));
}

void Session::dump(int page) {
  if (!events_.dump) throw InputError("dump", "needs --dump-problems FOLDER where the view was started");
  if (index_ == 0 && !failed_) throw InputError("dump", "no step led to the initial state; take one first");
  const std::int64_t step = failed_ ? index_ + 1 : index_;
  const std::string file = events_.dump(sim_, step);
  send_(page, notice("saved", fmt::format("the problem of step {} is in {}", step, file)));
}

void Session::fail(std::string_view why) {
  failure_ = why;
  goal_.reset();
  hidden_ = false;
  failed_ = true;
  pause();
  const StepReport& report = sim_.report();
  for (auto& [page, p] : pages_) {
    p.touch(last_);
    p.untold = true;
    p.pending->status = static_cast<std::uint8_t>(StepStatus::failed);
    p.solve_status = static_cast<std::uint8_t>(report.solve_status);
    p.pending->error = std::max(p.pending->error, report.error);
    p.pending->natural_map = std::max(p.pending->natural_map, report.residuals.natural_map);
  }
  tell("failed", failure_);
}

bool Session::step() {
  if (index_ < latest_) history_.set_inputs_of(index_, sim_);
  try {
    if (index_ == latest_ && holder_ < 0 && sim_.dragged_body() != kWorld) let_go();
    if (sim_.step().status == StepStatus::failed) {
      if (index_ == latest_ && events_.failed) events_.failed(sim_, index_ + 1);
      fail(sim_.report().message);
      return false;
    }
    ++index_;
    failed_ = false;
    const bool fresh = index_ > latest_;
    if (fresh) latest_ = index_;
    if (index_ == latest_ && !fresh) history_.set_inputs_of(index_, sim_);
    if (history_.wants(index_)) history_.keep(index_, sim_.snapshot());
    if (fresh && events_.stepped) events_.stepped(sim_, index_);
  } catch (const std::exception& e) {
    fail(e.what());
    return false;
  }
  if (!hidden_) show_step();
  return true;
}

void Session::take_steps(double now) {
  const double end = now + kSlice;
  if (goal_) {
    while (goal_ && index_ < *goal_ && step() && clock_() < end) {
    }
    if (goal_ && index_ >= *goal_) hidden_ ? arrive() : goal_.reset();
  } else if (playing_) {
    const double round = 1e-6 * sim_.dt();
    while (playing_ && sim_.time() + sim_.dt() <= pace_.due(now) + round && step() && clock_() < end) {
    }
    if (playing_) pace_.measure(clock_(), sim_.time());
  }
}

void Session::show_step() {
  if (pages_.empty()) return;
  frame_of(sim_, layout_, last_);
  const auto solve = static_cast<std::uint8_t>(sim_.report().solve_status);
  const double now = clock_();
  for (auto& [page, p] : pages_) p.add(layout_, last_, solve, now);
}

void Session::touch() {
  if (waits()) return;
  for (auto& [page, p] : pages_) p.touch(last_);
}

double Session::advance() {
  for (auto& [page, p] : pages_) {
    if (waits() || p.late_drag.empty() || !p.commands.room(clock_())) continue;
    obey(page, std::exchange(p.late_drag, {}));
  }
  take_steps(clock_());
  while (!waits() && !waiting_.empty()) {
    const Waiting w = std::move(waiting_.front());
    waiting_.pop_front();
    obey(w.page, w.text);
  }
  const double now = clock_();
  publish(now);
  if (goal_) return 0;
  double wait = 1;
  if (playing_) wait = std::clamp(pace_.wait(sim_.time() + sim_.dt(), now), 0.0, wait);
  for (const auto& [page, p] : pages_) {
    if (p.waiting()) wait = std::min(wait, std::max(0.0, p.next - now));
    if (!p.late_drag.empty()) wait = std::min(wait, 0.1);
  }
  return wait;
}

// The origin goes with the mechanism in whole metres.
void Session::publish(double now) {
  LiveFrame live;
  live.flags =
      static_cast<std::uint8_t>((playing_ || goal_ ? 0 : LiveFrame::paused) | (failed_ ? LiveFrame::failed : 0) |
                                (playing_ && pace_.behind(now) ? LiveFrame::behind : 0) |
                                (sim_.dragged_body() != kWorld ? LiveFrame::dragging : 0));
  live.index = static_cast<std::uint32_t>(index_);
  live.earliest = time_of(history_.earliest());
  live.latest = time_of(latest_);
  live.speed_asked = pace_.speed();
  live.speed_reached = pace_.reached();
  live.dragged = sim_.dragged_body();
  const std::vector<Pose>& X_WB = sim_.state().X_WB;
  if (live.dragged != kWorld) {
    live.held_W = X_WB[static_cast<std::size_t>(live.dragged)] * sim_.drag_point_B();
    live.target_W = sim_.drag_target_W();
    live.drag_force_W = sim_.drag_force_W();
  }
  for (auto& [page, p] : pages_) {
    if (!p.ready(now)) continue;
    const bool earlier = p.before.has_value();
    std::optional<Frame>& frame = earlier ? p.before : p.pending;
    const auto body = static_cast<std::size_t>(std::max(0, options_.follow));
    if (body < X_WB.size()) {
      for (int i = 0; i < 3; ++i) live.origin[i] = std::round(frame->row[3 * body + static_cast<std::size_t>(i)]);
    }
    LiveFrame mine = live;
    mine.sequence = ++p.sent;
    mine.joints = p.joints;
    mine.contacts = p.contacts;
    mine.forget = std::exchange(p.forget, std::numeric_limits<double>::infinity());
    mine.solve_status = earlier ? p.before_solve_status : p.solve_status;
    if (earlier) {
      mine.index = static_cast<std::uint32_t>(std::llround((frame->time - begin_) / sim_.dt()));
      mine.dragged = kWorld;
    } else {
      if (p.state_set) mine.flags |= LiveFrame::state_set;
      p.state_set = p.untold = false;
    }
    send_(page, std::make_shared<const std::string>(encode_frame(mine, layout_, *frame)));
    frame.reset();
    p.next = std::max(p.next + 1 / options_.frame_rate, now);
  }
}

}  // namespace sarrus::view
