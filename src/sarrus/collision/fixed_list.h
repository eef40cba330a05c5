// A list with room for N elements inside the object, so the narrow phase never touches the heap.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>

namespace sarrus {

template <class T, int N>
class FixedList {
 public:
  static constexpr int capacity() { return N; }
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  void push(const T& x) {
    assert(size_ < N);
    if (size_ < N) data_[static_cast<std::size_t>(size_++)] = x;
  }
  void truncate(int size) { size_ = size; }

  T& operator[](int i) { return data_[static_cast<std::size_t>(i)]; }
  const T& operator[](int i) const { return data_[static_cast<std::size_t>(i)]; }
  T* begin() { return data_.data(); }
  T* end() { return data_.data() + size_; }
  const T* begin() const { return data_.data(); }
  const T* end() const { return data_.data() + size_; }

 private:
  std::array<T, N> data_;
  int size_ = 0;
};

}  // namespace sarrus
