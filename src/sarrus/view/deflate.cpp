#include "sarrus/view/deflate.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>

namespace sarrus::view {
namespace {

constexpr int kLevel = 6;
constexpr int kGzip = 15 + 16;  // window bits, and the format
constexpr std::size_t kPiece = std::size_t{1} << 18;

Bytef* bytes_of(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

// zlib counts input in 32 bits: it gets it in pieces.
void feed(z_stream& stream, std::string_view& rest) {
  if (stream.avail_in > 0 || rest.empty()) return;
  const std::size_t n = std::min<std::size_t>(rest.size(), std::numeric_limits<uInt>::max() / 2);
  stream.next_in = bytes_of(rest);
  stream.avail_in = static_cast<uInt>(n);
  rest.remove_prefix(n);
}

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string out;
  std::size_t used = 0;
  int status = Z_OK;
  try {
    while (status != Z_STREAM_END) {
      feed(stream, bytes);
      out.resize(used + kPiece);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      stream.avail_out = static_cast<uInt>(kPiece);
      status = ::deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      used += kPiece - stream.avail_out;
    }
  } catch (...) {
    deflateEnd(&stream);
    throw;
  }
  deflateEnd(&stream);
  out.resize(used);
  return out;
}

std::string gunzip(std::string_view compressed, std::size_t limit) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzip) != Z_OK) throw std::bad_alloc();
  std::string out;
  std::size_t used = 0;
  int status = Z_OK;
  try {
    while (status == Z_OK && used <= limit) {
      feed(stream, compressed);
      out.resize(used + kPiece);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      stream.avail_out = static_cast<uInt>(kPiece);
      status = ::inflate(&stream, Z_NO_FLUSH);
      used += kPiece - stream.avail_out;
    }
  } catch (...) {
    inflateEnd(&stream);
    throw;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("the compressed data is damaged or too large");
  out.resize(used);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace sarrus::view
