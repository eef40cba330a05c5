#include "sarrus/io/text_file.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "sarrus/math/error.h"

namespace sarrus {

std::string read_text_file(const std::filesystem::path& file, std::uintmax_t max_bytes, const char* what) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) throw InputError(file.string(), "the file does not exist; check the path");
  if (fs::is_directory(status))
    throw InputError(file.string(), fmt::format("is a directory; give the path of {}", what));
  if (!fs::is_regular_file(status))
    throw InputError(file.string(), fmt::format("is not a regular file; give the path of {}", what));
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > max_bytes) {
    throw InputError(file.string(),
                     fmt::format("has {} MB, more than the limit of {} MB of {}; split it, or check the path",
                                 size >> 20, max_bytes >> 20, what));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(error ? 0 : static_cast<std::size_t>(size), '\0');
  if (error || !stream.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    throw InputError(file.string(), "cannot read the file; check its permissions");
  }
  return text;
}

}  // namespace sarrus
