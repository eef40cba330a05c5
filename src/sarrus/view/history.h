// The last seconds of a live simulation: snapshots now and then, and every input in between, so that any step of them
// can be taken again in the same bits.
//
// Steps are counted from the initial state, 0. A snapshot of step k is taken before any input at k; an input of step k
// is set before the step from k to k + 1. The memory that snapshots may take is bounded: where it does not suffice
// there are fewer of them, and going back takes longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "sarrus/step/simulation.h"

namespace sarrus::view {

struct LiveInput {
  enum class Kind : std::uint8_t { target, release, drag, drop };
  std::int64_t step = 0;
  Kind kind = Kind::target;
  int index = 0;  // dof or body
  double value = 0;
  Vec3 point_B = Vec3::Zero();
  Vec3 target_W = Vec3::Zero();

  void set_in(Simulation& sim) const;
};

class History {
 public:
  // Keeps at least the last `steps`; `spacing` steps from snapshot to snapshot.
  History(std::int64_t steps, std::int64_t spacing, std::size_t max_bytes);

  struct Place {
    std::int64_t step = 0;
    Snapshot snapshot;
  };

  void begin(Snapshot initial);
  bool wants(std::int64_t step) const { return step % spacing_ == 0 && step > places_.back().step; }
  void keep(std::int64_t step, Snapshot snapshot);
  // Of one step the last input of its kind and index counts.
  void add(const LiveInput& input);
  // What came after `step`, and inputs at it.
  void drop_after(std::int64_t step);

  // The first step that can be taken again (or the initial state).
  std::int64_t earliest() const { return places_.front().step == 0 ? 0 : places_.front().step + 1; }
  // The last snapshot from which a step leads to `step`; for 0, the initial one.
  const Place& before(std::int64_t step) const;
  void set_inputs_of(std::int64_t step, Simulation& sim) const;

  std::size_t bytes() const { return bytes_; }
  std::size_t places() const { return places_.size(); }

 private:
  void drop_old(std::int64_t latest);
  void thin();

  std::int64_t steps_;
  std::int64_t spacing_, first_spacing_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::deque<Place> places_;      // by step
  std::deque<LiveInput> inputs_;  // likewise
};

}  // namespace sarrus::view
