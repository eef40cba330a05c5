// 64-bit FNV-1a over raw bytes: golden hashes of states and problems, and stable constraint ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sarrus {

class Hash64 {
 public:
  void bytes(const void* data, std::size_t n) {
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < n; ++i) h_ = (h_ ^ p[i]) * 0x100000001b3ULL;
  }
  void add(double x) { bytes(&x, sizeof x); }
  void add(std::uint64_t x) { bytes(&x, sizeof x); }
  std::uint64_t value() const { return h_; }

 private:
  std::uint64_t h_ = 0xcbf29ce484222325ULL;
};

}  // namespace sarrus
