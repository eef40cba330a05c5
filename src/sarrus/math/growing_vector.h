// A vector of run-time size whose memory only grows: Eigen's own resize() allocates whenever the size changes.
//
// The memory is aligned like Eigen's own: on unaligned memory Eigen's sums depend on the address, and runs would not
// repeat bit by bit.
#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "sarrus/math/types.h"

namespace sarrus {

class GrowingVector : public Eigen::Map<VecX, Eigen::AlignedMax> {
 public:
  using Base = Eigen::Map<VecX, Eigen::AlignedMax>;

  GrowingVector() : Base(nullptr, 0) {}
  GrowingVector(const GrowingVector& other) : Base(nullptr, 0) { *this = other; }
  GrowingVector& operator=(const GrowingVector& other) {
    resize(other.size());
    Base::operator=(static_cast<const Base&>(other));
    return *this;
  }
  GrowingVector(GrowingVector&& other) noexcept : Base(nullptr, 0) { *this = std::move(other); }
  // The memory changes hands: swapping two vectors copies nothing.
  GrowingVector& operator=(GrowingVector&& other) noexcept {
    const Eigen::Index n = other.size();
    memory_.swap(other.memory_);
    new (static_cast<Base*>(this)) Base(memory_.data(), n);
    new (static_cast<Base*>(&other)) Base(other.memory_.data(), 0);
    return *this;
  }
  // The size is kept: call resize() first.
  template <class Derived>
  GrowingVector& operator=(const Eigen::DenseBase<Derived>& other) {
    Base::operator=(other.derived());
    return *this;
  }

  void resize(Eigen::Index n) {
    const auto size = static_cast<std::size_t>(n);
    if (memory_.size() < size) memory_.resize(std::max(size, 2 * memory_.size()));
    new (static_cast<Base*>(this)) Base(memory_.data(), n);  // how Eigen re-seats a Map
  }

 private:
  std::vector<double, Eigen::aligned_allocator<double>> memory_;
};

}  // namespace sarrus
