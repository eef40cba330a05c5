#include "sarrus/view/history.h"

#include <algorithm>
#include <utility>

namespace sarrus::view {

void LiveInput::set_in(Simulation& sim) const {
  switch (kind) {
    case Kind::target:
      sim.set_drive_target(index, value);
      break;
    case Kind::release:
      sim.clear_drive_target(index);
      break;
    case Kind::drag:
      sim.set_drag(index, point_B, target_W);
      break;
    case Kind::drop:
      sim.clear_drag();
      break;
  }
}

namespace {

bool replaces(const LiveInput& a, const LiveInput& b) {
  const auto of_drag = [](const LiveInput& x) {
    return x.kind == LiveInput::Kind::drag || x.kind == LiveInput::Kind::drop;
  };
  return of_drag(a) ? of_drag(b) : !of_drag(b) && a.index == b.index;
}

}  // namespace

History::History(std::int64_t steps, std::int64_t spacing, std::size_t max_bytes)
    : steps_(steps), spacing_(std::max<std::int64_t>(1, spacing)), first_spacing_(spacing_), max_bytes_(max_bytes) {}

void History::begin(Snapshot initial) {
  places_.clear();
  inputs_.clear();
  spacing_ = first_spacing_;
  bytes_ = initial.bytes().size();
  places_.push_back({0, std::move(initial)});
}

void History::keep(std::int64_t step, Snapshot snapshot) {
  bytes_ += snapshot.bytes().size();
  places_.push_back({step, std::move(snapshot)});
  drop_old(step);
  while (bytes_ > max_bytes_ && places_.size() > 2) thin();
}

void History::drop_old(std::int64_t latest) {
  while (places_.size() > 1 && places_[1].step + 1 <= latest - steps_) {
    bytes_ -= places_.front().snapshot.bytes().size();
    places_.pop_front();
  }
  while (!inputs_.empty() && inputs_.front().step < places_.front().step) inputs_.pop_front();
}

// Half as many; the first and the last one stay.
void History::thin() {
  spacing_ *= 2;
  const std::int64_t last = places_.back().step;
  std::deque<Place> kept;
  bytes_ = 0;
  for (Place& p : places_) {
    if (!kept.empty() && p.step != last && p.step % spacing_ != 0) continue;
    bytes_ += p.snapshot.bytes().size();
    kept.push_back(std::move(p));
  }
  // With two left of any spacing there is no more to drop but the first.
  if (kept.size() == places_.size() && kept.size() > 2) {
    bytes_ -= kept.front().snapshot.bytes().size();
    kept.pop_front();
  }
  places_.swap(kept);
}

void History::add(const LiveInput& input) {
  const auto first = std::ranges::lower_bound(inputs_, input.step, {}, &LiveInput::step);
  inputs_.erase(std::remove_if(first, inputs_.end(), [&](const LiveInput& x) { return replaces(x, input); }),
                inputs_.end());
  inputs_.push_back(input);
}

void History::drop_after(std::int64_t step) {
  while (places_.size() > 1 && places_.back().step > step) {
    bytes_ -= places_.back().snapshot.bytes().size();
    places_.pop_back();
  }
  while (!inputs_.empty() && inputs_.back().step >= step) inputs_.pop_back();
}

const History::Place& History::before(std::int64_t step) const {
  const auto after = std::ranges::lower_bound(places_, step, {}, &Place::step);
  return after == places_.begin() ? *after : *std::prev(after);
}

void History::set_inputs_of(std::int64_t step, Simulation& sim) const {
  for (auto x = std::ranges::lower_bound(inputs_, step, {}, &LiveInput::step); x != inputs_.end() && x->step == step;
       ++x) {
    x->set_in(sim);
  }
}

}  // namespace sarrus::view
