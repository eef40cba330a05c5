#include "sarrus/view/container.h"

#include <functional>
#include <numeric>

namespace sarrus::view {
namespace {

constexpr std::size_t kAlignment = 8;

void pad(std::string& text, char with) { text.append((kAlignment - text.size() % kAlignment) % kAlignment, with); }

std::size_t channels_of(const Container::Shape& shape) {
  return std::accumulate(shape.begin() + 1, shape.end(), std::size_t{1}, std::multiplies<>());
}

}  // namespace

Json* Container::add(std::string_view name, std::string_view codec, const Shape& shape, std::string_view bytes) {
  if (bytes.empty()) return nullptr;
  pad(data_, '\0');
  sections_.push_back(
      {{"name", name}, {"codec", codec}, {"shape", shape}, {"offset", data_.size()}, {"bytes", bytes.size()}});
  data_.append(bytes);
  return &sections_.back();
}

void Container::add(std::string_view name, std::string_view codec, const Shape& shape, const Quantised& section) {
  Json* entry = add(name, codec, shape, section.bytes);
  if (entry == nullptr) return;
  (*entry)["lo"] = section.lo;
  (*entry)["scale"] = section.scale;
  if (section.planes == 0) return;
  (*entry)["bits"] = section.bits;
  (*entry)["planes"] = section.planes;
}

void Container::delta(std::string_view name, const Shape& shape, std::span<const double> values,
                      std::span<const double> least, int bits) {
  add(name, "d2", shape, delta2(values, channels_of(shape), least, bits));
}

void Container::quantised(std::string_view name, const Shape& shape, std::span<const double> values) {
  add(name, "q2", shape, quantise16(values, channels_of(shape)));
}

void Container::logarithmic(std::string_view name, const Shape& shape, std::span<const double> values, int steps) {
  Json* entry = add(name, "l1", shape, logarithm1(values, channels_of(shape), steps));
  if (entry != nullptr) (*entry)["steps"] = steps;
}

std::string Container::finish(Json header) const {
  header["sections"] = sections_;
  // Names come from files: what is no UTF-8 becomes the replacement character.
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  pad(text, ' ');
  const auto length = static_cast<std::uint32_t>(text.size());
  std::string out = "SRV1";
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out += text;
  out += data_;
  return out;
}

}  // namespace sarrus::view
