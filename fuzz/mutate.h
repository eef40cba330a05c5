// Changes to good files: bytes, runs and numbers anywhere, half of them where headers are; values, keys and whole parts
// of JSON; pieces of two files put together. A seed gives the same changes again.
#pragma once

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sarrus::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) { next(); }
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_;
};

inline double odd_number(Random& random) {
  constexpr double kOdd[] = {0,    -0.0, 1,    -1,    0.5,   1e-300, 1e300, -1e300,     5e-324,       1e-12, 1e-6,
                             1e-3, 1e3,  1e6,  1e12,  1e18,  90,     180,   2147483647, -2147483648., 1e154, 1e-162,
                             3,    2,    1e-9, 65536, 1e100, 360,    4,     -1e-9,      0.1,          7,     1e9};
  return kOdd[random.below(std::size(kOdd))];
}

inline void mutate_bytes(std::string& bytes, Random& random, const std::string& other) {
  if (bytes.empty()) bytes = "x";
  const std::size_t range = random.below(2) == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 4096);
  const std::size_t at = random.below(range);
  const std::size_t length = std::min(bytes.size() - at, 1 + random.below(8));
  constexpr std::uint64_t kNumbers[] = {0,        1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, ~std::uint64_t{0},
                                        1U << 20, 8};
  switch (random.below(8)) {
    case 0:
      bytes[at] = static_cast<char>(random.next());
      break;
    case 1:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 2:
      bytes.replace(at, length, length, '\0');
      break;
    case 3: {
      const std::uint64_t number = kNumbers[random.below(std::size(kNumbers))];
      std::memcpy(bytes.data() + at, &number, length);
      break;
    }
    case 4:
      bytes.erase(at, length);
      break;
    case 5:
      bytes.insert(at, bytes.substr(random.below(bytes.size()), 1 + random.below(64)));
      break;
    case 6:
      bytes.resize(at);
      break;
    default: {
      const std::size_t from = random.below(other.size());
      bytes.replace(at, length, other.substr(from, 1 + random.below(64)));
    }
  }
}

using FuzzJson = nlohmann::ordered_json;

inline void collect(FuzzJson& j, std::vector<FuzzJson*>& out, int depth = 0) {
  out.push_back(&j);
  if (depth > 40 || !j.is_structured()) return;
  for (FuzzJson& child : j) collect(child, out, depth + 1);
}

// One change of a document; keys and words come from the other one.
inline void mutate_json(FuzzJson& root, Random& random, FuzzJson& other) {
  std::vector<FuzzJson*> all, others;
  collect(root, all);
  collect(other, others);
  FuzzJson& here = *all[random.below(all.size())];
  const FuzzJson part = *others[random.below(others.size())];
  switch (random.below(6)) {
    case 0:
    case 1:
      for (int i = 0; i < 50; ++i) {
        FuzzJson& number = *all[random.below(all.size())];
        if (!number.is_number()) continue;
        const double x = number.get<double>();
        number = random.below(2) == 0 ? odd_number(random) : x * (static_cast<double>(random.below(9)) - 4);
        return;
      }
      return;
    case 2:
      if (&here != &root) here = part;
      return;
    case 3:
      if (here.is_structured() && !here.empty()) {
        auto it = here.begin();
        std::advance(it, static_cast<long>(random.below(here.size())));
        here.erase(it);
      }
      return;
    case 4:
      if (here.is_array()) here.push_back(part);
      return;
    default:
      if (here.is_object() && part.is_object() && !part.empty()) {
        auto it = part.begin();
        std::advance(it, static_cast<long>(random.below(part.size())));
        here[it.key()] = it.value();
      }
  }
}

// One to four changes of one of the files.
inline std::string mutate(const std::vector<std::string>& files, Random& random) {
  std::string bytes = files[random.below(files.size())];
  const std::string& other = files[random.below(files.size())];
  const std::size_t changes = 1 + random.below(4);
  if (!bytes.empty() && bytes[0] == '{' && random.below(8) != 0) {
    FuzzJson document = FuzzJson::parse(bytes, nullptr, false);
    FuzzJson donor = FuzzJson::parse(other, nullptr, false);
    if (!document.is_discarded() && !donor.is_discarded()) {
      for (std::size_t i = 0; i < changes; ++i) mutate_json(document, random, donor);
      return document.dump(-1, ' ', false, FuzzJson::error_handler_t::replace);
    }
  }
  for (std::size_t i = 0; i < changes; ++i) mutate_bytes(bytes, random, other);
  return bytes;
}

}  // namespace sarrus::fuzz
