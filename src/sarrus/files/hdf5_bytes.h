// Little-endian numbers out of bytes, each checked to be there. Internal to the readers of HDF5 files.
#pragma once

#include <cstdint>
#include <string_view>

#include "sarrus/files/hdf5_tree.h"

namespace sarrus::hdf5 {

inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};  // HDF5's undefined address

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t size() const { return bytes_.size(); }
  std::string_view take(std::uint64_t n) {
    if (n > bytes_.size()) throw BadTree("points outside of the file");
    const std::string_view out = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return out;
  }
  std::string_view peek(std::uint64_t n) const { return bytes_.substr(0, n); }
  void skip(std::uint64_t n) { take(n); }
  std::uint64_t sized(int n) {
    const std::string_view in = take(static_cast<std::uint64_t>(n));
    std::uint64_t value = 0;
    for (int i = n - 1; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(in[static_cast<std::size_t>(i)]);
    return value;
  }
  int u8() { return static_cast<int>(sized(1)); }
  int u16() { return static_cast<int>(sized(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(sized(4)); }
  std::uint64_t u64() { return sized(8); }

 private:
  std::string_view bytes_;
};

// The rest of the file from an address on.
inline Bytes at(std::string_view file, std::uint64_t address) {
  if (address >= file.size()) throw BadTree("points outside of the file");
  return Bytes(file.substr(address));
}

inline std::string_view until_zero(std::string_view text) { return text.substr(0, text.find('\0')); }

}  // namespace sarrus::hdf5
