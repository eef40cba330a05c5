#include "sarrus/files/png.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"

namespace sarrus::png {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

[[noreturn]] void fail(const std::string& message) { throw InputError("", message); }

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t x = 0;
  for (std::size_t i = 0; i < 4; ++i) x = x << 8 | static_cast<unsigned char>(bytes[i]);
  return x;
}

struct Header {
  int width = 0, height = 0, depth = 0, colour = 0;
  int channels() const {
    constexpr std::array<int, 7> n = {1, 0, 3, 1, 2, 0, 4};
    return n[static_cast<std::size_t>(colour)];
  }
  std::size_t row_bytes() const {
    return (static_cast<std::size_t>(width) * static_cast<std::size_t>(channels() * depth) + 7) / 8;
  }
  std::size_t pixel_bytes() const { return static_cast<std::size_t>(std::max(1, channels() * depth / 8)); }
};

Header header_of(std::string_view data) {
  if (data.size() != 13) fail("has a damaged header; save it again");
  Header h;
  const std::uint32_t width = big_endian(data);
  const std::uint32_t height = big_endian(data.substr(4));
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide) {
    fail(fmt::format("has {} x {} pixels; give 1 to {} each", width, height, kMaxSide));
  }
  h.width = static_cast<int>(width);
  h.height = static_cast<int>(height);
  h.depth = static_cast<unsigned char>(data[8]);
  h.colour = static_cast<unsigned char>(data[9]);
  const bool depth_known = h.depth == 1 || h.depth == 2 || h.depth == 4 || h.depth == 8 || h.depth == 16;
  if (h.colour > 6 || h.channels() == 0 || !depth_known || (h.depth < 8 && h.channels() > 1)) {
    fail("has an unknown kind of pixels; save it as grey");
  }
  if (data[12] != 0) fail("is interlaced; save it without");
  return h;
}

std::string inflated(const std::string& packed, std::size_t size) {
  std::string out(size, '\0');
  z_stream stream = {};
  if (inflateInit(&stream) != Z_OK) fail("cannot be unpacked");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = stream.avail_out == 0 && (result == Z_STREAM_END || result == Z_BUF_ERROR || result == Z_OK);
  inflateEnd(&stream);
  if (!whole) fail("has damaged pixels; save it again");
  return out;
}

int paeth(int a, int b, int c) {
  const int p = a + b - c;
  const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// Undoes the filters of the rows, each of which begins with its kind.
void unfilter(std::string& rows, const Header& h) {
  const std::size_t n = h.row_bytes();
  const std::size_t step = h.pixel_bytes();
  for (std::size_t y = 0; y < static_cast<std::size_t>(h.height); ++y) {
    char* row = rows.data() + y * (n + 1);
    const int kind = row[0];
    if (kind < 0 || kind > 4) fail("has damaged pixels; save it again");
    const char* above = y > 0 ? row - n : nullptr;
    ++row;
    for (std::size_t i = 0; i < n; ++i) {
      const int a = i >= step ? static_cast<unsigned char>(row[i - step]) : 0;
      const int b = above != nullptr ? static_cast<unsigned char>(above[i]) : 0;
      const int c = above != nullptr && i >= step ? static_cast<unsigned char>(above[i - step]) : 0;
      const int guess = kind == 1 ? a : kind == 2 ? b : kind == 3 ? (a + b) / 2 : kind == 4 ? paeth(a, b, c) : 0;
      row[i] = static_cast<char>(static_cast<unsigned char>(row[i]) + guess);
    }
  }
}

}  // namespace

Image parse(std::string_view bytes) {
  constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);
  if (!bytes.starts_with(kSignature)) fail("is no PNG image; save it as one");
  bytes.remove_prefix(kSignature.size());
  Header h;
  std::string packed;
  std::string palette;
  while (bytes.size() >= 12) {
    const std::size_t size = big_endian(bytes);
    const std::string_view kind = bytes.substr(4, 4);
    if (size > bytes.size() - 12) fail("ends too early; save it again");
    const std::string_view data = bytes.substr(8, size);
    if (kind == "IHDR") h = header_of(data);
    if (kind == "PLTE") palette = data;
    if (kind == "IDAT") packed += data;
    if (kind == "IEND") break;
    bytes.remove_prefix(size + 12);
  }
  if (h.width == 0) fail("has no header; save it again");
  std::string rows = inflated(packed, (h.row_bytes() + 1) * static_cast<std::size_t>(h.height));
  unfilter(rows, h);
  Image image;
  image.width = h.width;
  image.height = h.height;
  image.grey.reserve(static_cast<std::size_t>(h.width) * static_cast<std::size_t>(h.height));
  for (int y = 0; y < h.height; ++y) {
    const char* row = rows.data() + static_cast<std::size_t>(y) * (h.row_bytes() + 1) + 1;
    for (int x = 0; x < h.width; ++x) {
      const std::size_t bit = static_cast<std::size_t>(x) * static_cast<std::size_t>(h.channels() * h.depth);
      const unsigned char byte = static_cast<unsigned char>(row[bit / 8]);
      int value = byte;
      if (h.depth < 8) {
        const int shift = 8 - h.depth - static_cast<int>(bit % 8);
        value = byte >> shift & ((1 << h.depth) - 1);
        if (h.colour == 0) value = value * 255 / ((1 << h.depth) - 1);
      }
      if (h.colour == 3) {
        const std::size_t red = 3 * static_cast<std::size_t>(value);
        if (red >= palette.size()) fail("has a colour that is not in its palette; save it again");
        value = static_cast<unsigned char>(palette[red]);
      }
      image.grey.push_back(value);
    }
  }
  return image;
}

Image read(const std::filesystem::path& file) {
  try {
    return parse(read_file(file, "a PNG image", kMaxBytes));
  } catch (const InputError& error) {
    if (error.element() == file.string()) throw;
    throw InputError(file.string(), error.what());
  }
}

}  // namespace sarrus::png
