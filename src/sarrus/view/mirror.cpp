#include "sarrus/view/mirror.h"

#include <cmath>
#include <optional>
#include <utility>

#include "sarrus/math/error.h"
#include "sarrus/view/live_command.h"

namespace sarrus::view {

Mirror::Mirror(Message scene, const Layout& layout, Send send)
    : scene_(std::move(scene)), layout_(layout), send_(std::move(send)) {}

void Mirror::show(const Simulation& sim, std::int64_t steps) {
  const bool first = last_.row.empty();
  frame_of(sim, layout_, last_);
  if (first) first_ = last_.time;
  index_ += static_cast<std::uint32_t>(steps);
  solve_status_ = static_cast<std::uint8_t>(sim.report().solve_status);
  if (steps > 0) {
    last_.steps = static_cast<std::uint32_t>(steps);
    last_.interval = static_cast<double>(steps) * sim.dt();
  }
  for (auto& [page, p] : pages_) {
    if (steps > 0) {
      p.add(layout_, last_, solve_status_, 0);
    } else {
      p.set_state(layout_, last_);
    }
  }
}

void Mirror::connect(int page) {
  LivePage& p = pages_[page];
  send_(page, scene_);
  if (!last_.row.empty()) p.set_state(layout_, last_);
}

void Mirror::disconnect(int page) { pages_.erase(page); }

void Mirror::receive(int page, std::string_view text) {
  const auto known = pages_.find(page);
  if (known == pages_.end()) return;
  try {
    obey(known->second, text);
  } catch (const InputError& e) {
    send_(page, notice("refused", e.what(), e.element()));
  }
}

void Mirror::obey(LivePage& from, std::string_view text) {
  const LiveCommand c = parse_live_command(text);
  if (c.kind == LiveCommand::Kind::ack) {
    const auto sequence = static_cast<std::uint32_t>(c.number);
    if (sequence > from.sent || sequence < from.acknowledged) {
      throw InputError("ack", "this frame is not under way");
    }
    from.acknowledged = sequence;
  } else if (c.kind == LiveCommand::Kind::layer) {
    (c.layer == LiveCommand::Layer::joints ? from.joints : from.contacts) = c.on;
    if (!last_.row.empty()) from.touch(last_);
  } else {
    throw InputError("command", "a program steps this simulation; the page only shows it");
  }
}

double Mirror::advance() {
  for (auto& [page, p] : pages_) {
    if (!p.waiting()) continue;
    const bool earlier = p.before.has_value();
    std::optional<Frame>& frame = earlier ? p.before : p.pending;
    LiveFrame live;
    live.index = index_;
    live.earliest = first_;
    live.latest = frame->time;
    live.joints = p.joints;
    live.contacts = p.contacts;
    live.solve_status = earlier ? p.before_solve_status : p.solve_status;
    live.flags = LiveFrame::paused;
    if (!earlier) {
      if (p.state_set) live.flags |= LiveFrame::state_set;
      p.state_set = p.untold = false;
    }
    for (int i = 0; i < 3 && layout_.width(Column::position) > 0; ++i) {
      live.origin[i] = std::round(frame->row[static_cast<std::size_t>(i)]);
    }
    live.sequence = ++p.sent;
    send_(page, std::make_shared<const std::string>(encode_frame(live, layout_, *frame)));
    frame.reset();
  }
  return 1;
}

void Mirror::end() {
  for (const auto& [page, ignored] : pages_) send_(page, notice("end", "the program has ended the view"));
}

}  // namespace sarrus::view
