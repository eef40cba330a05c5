// The container SRV1: a JSON header and binary sections (docs/motion-format.md). Internal to motion_payload.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/view/motion_codec.h"

namespace sarrus::view {

static_assert(std::endian::native == std::endian::little, "sections are written as they lie in memory");

using Json = nlohmann::ordered_json;

class Container {
 public:
  using Shape = std::vector<std::size_t>;

  // Plain numbers, by the type T of the file. Empty sections are left out.
  template <class T>
  void plain(std::string_view name, const Shape& shape, std::span<const T> values) {
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
    add(name, code<T>(), shape, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  template <class T>
  void plain(std::string_view name, const Shape& shape, const std::vector<T>& values) {
    plain(name, shape, std::span<const T>(values));
  }
  // Rows in time of all that follows the first number of the shape; `least` step by channel.
  void delta(std::string_view name, const Shape& shape, std::span<const double> values,
             std::span<const double> least = {}, int bits = kDeltaBits);
  void quantised(std::string_view name, const Shape& shape, std::span<const double> values);
  void logarithmic(std::string_view name, const Shape& shape, std::span<const double> values, int steps);

  // The file. `header` gets the list of sections.
  std::string finish(Json header) const;

 private:
  template <class T>
  static std::string_view code() {
    if constexpr (std::is_same_v<T, double>) return "f8";
    if constexpr (std::is_same_v<T, float>) return "f4";
    if constexpr (std::is_same_v<T, std::uint32_t>) return "u4";
    if constexpr (std::is_same_v<T, std::int32_t>) return "i4";
    if constexpr (std::is_same_v<T, std::uint8_t>) return "u1";
  }
  Json* add(std::string_view name, std::string_view codec, const Shape& shape, std::string_view bytes);
  void add(std::string_view name, std::string_view codec, const Shape& shape, const Quantised& section);

  Json sections_ = Json::array();
  std::string data_;
};

}  // namespace sarrus::view
