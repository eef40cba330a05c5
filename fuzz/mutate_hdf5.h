// Changes of HDF5 files that keep them HDF5: addresses that go elsewhere (also back), sizes and counts of headers,
// messages of another kind, order or length. The file is taken as what our writers make: superblock 0, object headers
// of version 1, symbol tables, B-trees of version 1.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "random.h"

namespace sarrus::fuzz {

inline constexpr char kHdf5Signature[] = "\x89HDF\r\n\x1a\n";

inline bool is_hdf5(const std::string& bytes) { return bytes.compare(0, 8, kHdf5Signature, 8) == 0; }

class Hdf5Changes {
 public:
  explicit Hdf5Changes(std::string& bytes) : bytes_(bytes) {
    for (std::size_t at = 8; at + 8 <= bytes_.size(); at += 8) {
      const auto word = get<std::uint64_t>(at);
      if (word > 0 && word < bytes_.size() && word % 8 == 0) addresses_.push_back(at);
      const char* here = bytes_.data() + at;
      for (const char* sign : {"TREE", "SNOD", "HEAP"}) {
        if (std::memcmp(here, sign, 4) == 0) blocks_.push_back(at);
      }
      if (word_is_header(at)) find_messages(at);
    }
  }

  void change(Random& random) {
    switch (random.below(6)) {
      case 0:  // an address: another one, itself, its neighbour
        if (!addresses_.empty()) {
          const std::size_t at = some(addresses_, random);
          const std::uint64_t values[] = {get<std::uint64_t>(some(addresses_, random)), at,
                                          get<std::uint64_t>(at) + 8 * random.below(8), odd_whole_number(random)};
          put(at, values[random.below(4)]);
        }
        return;
      case 1:  // counts, levels and sizes of the blocks of groups and chunks
        if (!blocks_.empty()) {
          const std::size_t at = some(blocks_, random) + 4 + 2 * random.below(16);
          change_number(at, random);
        }
        return;
      case 2:  // within a message: types, shapes, layouts, filters
      case 3:
        if (!messages_.empty()) {
          const std::size_t at = some(messages_, random);
          const std::size_t length = std::max<std::size_t>(get<std::uint16_t>(at + 2), 1);
          change_number(at + 8 + random.below(length), random);
        }
        return;
      case 4:  // another kind or length of message
        if (!messages_.empty()) {
          const std::size_t at = some(messages_, random);
          if (random.one_in(2)) {
            put(at, static_cast<std::uint16_t>(random.below(0x18)));
          } else {
            const std::size_t sizes[] = {0, 8, get<std::uint16_t>(at + 2) + 8U, get<std::uint16_t>(at + 2) - 8U, 65528};
            put(at + 2, static_cast<std::uint16_t>(sizes[random.below(5)]));
          }
        }
        return;
      default:  // a message over another one
        if (!messages_.empty()) {
          const std::size_t from = some(messages_, random), to = some(messages_, random);
          const std::size_t length = 8 + std::min(get<std::uint16_t>(from + 2), get<std::uint16_t>(to + 2));
          if (from + length <= bytes_.size() && to + length <= bytes_.size()) {
            std::memmove(bytes_.data() + to, bytes_.data() + from, length);
          }
        }
    }
  }

 private:
  template <class T>
  T get(std::size_t at) const {
    T value{};
    if (at + sizeof value <= bytes_.size()) std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  template <class T>
  void put(std::size_t at, T value) {
    if (at + sizeof value <= bytes_.size()) std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  static std::size_t some(const std::vector<std::size_t>& places, Random& random) {
    return places[random.below(places.size())];
  }

  // Of one, two, four or eight bytes: an odd one, or one more or less.
  void change_number(std::size_t at, Random& random) {
    const std::uint64_t near = get<std::uint64_t>(at) + (random.one_in(2) ? 1 : ~std::uint64_t{0});
    const std::uint64_t value = random.one_in(3) ? near : odd_whole_number(random);
    switch (random.below(4)) {
      case 0:
        return put(at, static_cast<std::uint8_t>(value));
      case 1:
        return put(at, static_cast<std::uint16_t>(value));
      case 2:
        return put(at, static_cast<std::uint32_t>(value));
      default:
        return put(at, value);
    }
  }

  // Version 1, a reserved zero, a count of messages, a count of references, a size that fits.
  bool word_is_header(std::size_t at) const {
    const auto count = get<std::uint16_t>(at + 2);
    const auto size = get<std::uint32_t>(at + 8);
    return bytes_[at] == 1 && bytes_[at + 1] == 0 && count > 0 && count < 256 && get<std::uint32_t>(at + 4) < 256 &&
           size >= 8 && at + 16 + size <= bytes_.size();
  }
  void find_messages(std::size_t header) {
    const std::size_t end = header + 16 + get<std::uint32_t>(header + 8);
    for (std::size_t at = header + 16; at + 8 <= end; at += 8 + get<std::uint16_t>(at + 2)) messages_.push_back(at);
  }

  std::string& bytes_;
  std::vector<std::size_t> addresses_, blocks_, messages_;
};

}  // namespace sarrus::fuzz
