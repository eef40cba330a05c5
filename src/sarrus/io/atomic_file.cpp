#include "sarrus/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "sarrus/math/error.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, int error_number) {
  throw InputError(file.string(), fmt::format("cannot write the file ({}); check that its folder exists, has space "
                                              "left and that you may write there",
                                              std::generic_category().message(error_number)));
}

// A new name in the folder of the target: rename() is atomic only within one file system.
fs::path temporary_name(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  fs::path name = target;
  name += fmt::format(".{}-{}.tmp", ::getpid(), counter++);
  return name;
}

// Returns 0 or the errno of the first failure.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(descriptor, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

}  // namespace

void write_file_atomically(const fs::path& file, std::string_view content) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::is_directory(status)) throw InputError(file.string(), "is a directory; give the path of a file");
  // Renaming over a device or a pipe would replace it instead of writing to it.
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw InputError(file.string(), "is not a regular file; give the path of a file");
  }
  fs::path target = file;
  if (fs::is_symlink(file, ignored) && fs::exists(status)) target = fs::canonical(file, ignored);

  const fs::path temporary = temporary_name(target);
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(file, errno);
  int error_number = write_all(descriptor, content);
  if (::close(descriptor) != 0 && error_number == 0) error_number = errno;
  if (error_number == 0 && fs::exists(status)) fs::permissions(temporary, status.permissions(), ignored);
  if (error_number == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error_number = errno;
  if (error_number != 0) {
    ::unlink(temporary.c_str());
    fail(file, error_number);
  }
}

}  // namespace sarrus
