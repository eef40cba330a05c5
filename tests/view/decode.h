// A reader of SRV1 of its own, written after docs/motion-format.md: it shares nothing with the code that writes.
#pragma once

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sarrus::test {

inline std::vector<double> decode_delta2(std::string_view bytes, const std::vector<double>& lo,
                                         const std::vector<double>& scale, int planes, std::size_t frames) {
  const std::size_t channels = lo.size();
  std::vector<double> values(frames * channels);
  for (std::size_t k = 0; k < channels; ++k) {
    std::int32_t q = 0;
    std::int32_t d = 0;
    for (std::size_t i = 0; i < frames; ++i) {
      std::uint32_t z = 0;
      for (std::size_t b = 0; b < static_cast<std::size_t>(planes); ++b) {
        z |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[b * frames * channels + k * frames + i]))
             << (8 * b);
      }
      const auto e = static_cast<std::int32_t>(z >> 1) ^ -static_cast<std::int32_t>(z & 1);
      if (i == 0) {
        q = e;
      } else {
        d = i == 1 ? e : d + e;
        q += d;
      }
      values[i * channels + k] = lo[k] + scale[k] * q;
    }
  }
  return values;
}

inline std::vector<double> decode_quantised16(std::string_view bytes, const std::vector<double>& lo,
                                              const std::vector<double>& scale) {
  const std::size_t columns = lo.size();
  const std::size_t rows = bytes.size() / 2 / columns;
  std::vector<double> values(rows * columns);
  for (std::size_t k = 0; k < columns; ++k) {
    for (std::size_t i = 0; i < rows; ++i) {
      const int low = static_cast<unsigned char>(bytes[k * rows + i]);
      const int high = static_cast<unsigned char>(bytes[rows * columns + k * rows + i]);
      values[i * columns + k] = lo[k] + scale[k] * (256 * high + low);
    }
  }
  return values;
}

inline std::vector<double> decode_logarithm1(std::string_view bytes, int steps, std::size_t columns) {
  const std::size_t rows = bytes.size() / columns;
  std::vector<double> values(bytes.size());
  for (std::size_t k = 0; k < columns; ++k) {
    for (std::size_t i = 0; i < rows; ++i) {
      const auto v = static_cast<std::int8_t>(bytes[k * rows + i]);
      values[i * columns + k] = v == -128 ? 0.0 : std::pow(10.0, static_cast<double>(v) / steps);
    }
  }
  return values;
}

inline std::string inflate(std::string_view compressed) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::runtime_error("zlib");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string out;
  int status = Z_OK;
  while (status == Z_OK) {
    char piece[65536];
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof piece;
    status = ::inflate(&stream, Z_NO_FLUSH);
    out.append(piece, sizeof piece - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("damaged");
  return out;
}

// Every section as doubles, row by row.
struct Decoded {
  nlohmann::json header;
  std::map<std::string, std::vector<double>> sections;
  std::map<std::string, std::vector<std::size_t>> shapes;

  bool has(const std::string& name) const { return sections.count(name) > 0; }
  const std::vector<double>& operator[](const std::string& name) const {
    const auto found = sections.find(name);
    if (found == sections.end()) throw std::runtime_error("no section " + name);
    return found->second;
  }
};

template <class T>
std::vector<double> decode_plain(std::string_view bytes) {
  std::vector<double> values;
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T x;
    std::memcpy(&x, bytes.data() + i, sizeof x);
    values.push_back(static_cast<double>(x));
  }
  return values;
}

inline Decoded decode(std::string_view compressed) {
  const std::string all = inflate(compressed);
  const std::string_view bytes = all;
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 4, sizeof length);
  if (bytes.substr(0, 4) != "SRV1" || length % 8 != 0) throw std::runtime_error("no SRV1");
  Decoded out;
  out.header = nlohmann::json::parse(bytes.substr(8, length));
  const std::string_view data = bytes.substr(8 + length);
  for (const auto& s : out.header.at("sections")) {
    const std::string name = s.at("name");
    const std::string codec = s.at("codec");
    const auto shape = s.at("shape").get<std::vector<std::size_t>>();
    const std::size_t offset = s.at("offset");
    const std::size_t size = s.at("bytes");
    if (offset % 8 != 0 || offset + size > data.size()) throw std::runtime_error(name + " is out of place");
    const std::string_view part = data.substr(offset, size);
    std::size_t columns = 1;
    std::size_t count = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      count *= shape[i];
      if (i > 0) columns *= shape[i];
    }
    std::vector<double>& values = out.sections[name];
    if (codec == "f8") values = decode_plain<double>(part);
    if (codec == "f4") values = decode_plain<float>(part);
    if (codec == "u4") values = decode_plain<std::uint32_t>(part);
    if (codec == "i4") values = decode_plain<std::int32_t>(part);
    if (codec == "u1") values = decode_plain<std::uint8_t>(part);
    if (codec == "d2") values = decode_delta2(part, s.at("lo"), s.at("scale"), s.at("planes"), shape[0]);
    if (codec == "q2") values = decode_quantised16(part, s.at("lo"), s.at("scale"));
    if (codec == "l1") values = decode_logarithm1(part, s.at("steps"), columns);
    if (values.size() != count) throw std::runtime_error(name + " is not of its shape");
    out.shapes[name] = shape;
  }
  return out;
}

}  // namespace sarrus::test
