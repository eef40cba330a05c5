#include "sarrus/view/motion_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sarrus::view {
namespace {

// Of one channel: lo, and the size of a step.
struct Range {
  double lo = 0;
  double scale = 0;
};

Range range_of(std::span<const double> values, std::size_t channel, std::size_t channels, int bits) {
  double lo = std::numeric_limits<double>::infinity();
  double hi = -lo;
  for (std::size_t i = channel; i < values.size(); i += channels) {
    lo = std::min(lo, values[i]);
    hi = std::max(hi, values[i]);
  }
  if (!(hi > lo)) return {values.empty() ? 0.0 : lo, 0};
  const double steps = (1 << bits) - 1;
  return {lo, hi / steps - lo / steps};
}

std::int32_t quantum(double value, const Range& range, int bits) {
  if (range.scale == 0) return 0;
  const double q = std::round((value - range.lo) / range.scale);
  return static_cast<std::int32_t>(std::clamp(q, 0.0, static_cast<double>((1 << bits) - 1)));
}

std::uint32_t zigzag(std::int32_t e) {
  return static_cast<std::uint32_t>(e) << 1 ^ static_cast<std::uint32_t>(e >> 31);
}

}  // namespace

Quantised delta2(std::span<const double> values, std::size_t channels, std::span<const double> least, int bits) {
  Quantised out;
  out.bits = bits;
  // Second differences have two bits more, and their zigzag a third.
  out.planes = (bits + 3 + 7) / 8;
  const auto planes = static_cast<std::size_t>(out.planes);
  const std::size_t frames = channels == 0 ? 0 : values.size() / channels;
  out.bytes.resize(planes * frames * channels);
  for (std::size_t k = 0; k < channels; ++k) {
    Range range = range_of(values, k, channels, bits);
    if (range.scale > 0 && !least.empty()) range.scale = std::max(range.scale, least[k]);
    out.lo.push_back(range.lo);
    out.scale.push_back(range.scale);
    std::int32_t last = 0;        // q
    std::int32_t difference = 0;  // of the last two
    for (std::size_t i = 0; i < frames; ++i) {
      const std::int32_t q = quantum(values[i * channels + k], range, bits);
      const std::int32_t d = q - last;
      const std::int32_t e = i < 2 ? d : d - difference;
      if (i > 0) difference = d;
      last = q;
      const std::uint32_t z = zigzag(e);
      for (std::size_t b = 0; b < planes; ++b) {
        out.bytes[b * frames * channels + k * frames + i] = static_cast<char>(z >> (8 * b) & 255);
      }
    }
  }
  return out;
}

Quantised quantise16(std::span<const double> values, std::size_t columns) {
  constexpr int kBits = 16;
  Quantised out;
  const std::size_t rows = values.size() / columns;
  out.bytes.resize(2 * values.size());
  for (std::size_t k = 0; k < columns; ++k) {
    const Range range = range_of(values, k, columns, kBits);
    out.lo.push_back(range.lo);
    out.scale.push_back(range.scale);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::int32_t q = quantum(values[i * columns + k], range, kBits);
      out.bytes[k * rows + i] = static_cast<char>(q & 255);
      out.bytes[values.size() + k * rows + i] = static_cast<char>(q >> 8);
    }
  }
  return out;
}

std::int8_t log_byte(double value, int steps) {
  const double size = std::abs(value);
  if (size == 0) return -128;
  // A value that is a power itself must not be rounded to the next one.
  const double v = std::ceil(steps * std::log10(size) - 1e-9);
  return std::isnan(v) ? std::int8_t{127} : static_cast<std::int8_t>(std::clamp(v, -127.0, 127.0));
}

std::string logarithm1(std::span<const double> values, std::size_t columns, int steps) {
  const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
  std::string out(values.size(), '\0');
  for (std::size_t k = 0; k < columns; ++k) {
    for (std::size_t i = 0; i < rows; ++i) {
      out[k * rows + i] = static_cast<char>(log_byte(values[i * columns + k], steps));
    }
  }
  return out;
}

}  // namespace sarrus::view
