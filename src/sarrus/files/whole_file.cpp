#include "sarrus/files/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "sarrus/math/error.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

// Names of partial files that a handler of signals can read at any time.
std::array<std::atomic<const char*>, 64> partial_files{};

void replace_first(const char* old_name, const char* new_name) {
  for (auto& slot : partial_files) {
    const char* expected = old_name;
    if (slot.compare_exchange_strong(expected, new_name)) return;
  }
}

// A new name in the folder of the target: rename() is atomic only within one file system.
fs::path partial_name(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  fs::path name = target;
  name += fmt::format(".partial-{}-{}", ::getpid(), counter++);
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
  // Devices and pipes have no disk to be flushed to.
  return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

}  // namespace

std::string read_file(const fs::path& file, const char* what, std::uintmax_t max_bytes, const char* too_large) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) throw InputError(file.string(), "the file does not exist; check the path");
  if (!fs::is_regular_file(status)) {
    throw InputError(file.string(), fmt::format("is {}; give the path of {}",
                                                fs::is_directory(status) ? "a directory" : "not a regular file", what));
  }
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > max_bytes) {
    throw InputError(file.string(), fmt::format("has {} MB, more than the limit of {} MB; {}", size >> 20,
                                                max_bytes >> 20, too_large));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(error ? 0 : static_cast<std::size_t>(size), '\0');
  if (error || !stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    throw InputError(file.string(), "cannot read the file; check its permissions");
  }
  return bytes;
}

OutputFile::OutputFile(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  element_ = option.empty() ? path : fmt::format("{} {}", option, path);
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw InputError(element_, "is a directory; give the path of a file");
  // A link to a file is followed, so that the file behind it is replaced and not the link.
  const bool exists = fs::exists(status);
  const bool direct = exists && !fs::is_regular_file(status);
  target_ = exists && !direct ? fs::canonical(path, ignored) : fs::path(path);
  partial_ = direct ? target_ : partial_name(target_);
  // A read-only target could be renamed over all the same; its owner did not mean that.
  int error = exists && ::access(target_.c_str(), W_OK) != 0 ? errno : 0;
  if (error == 0) {
    const int descriptor = ::open(partial_.c_str(), O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_EXCL), 0666);
    if (descriptor < 0) error = errno;
    if (descriptor >= 0) ::close(descriptor);
  }
  if (error != 0) {
    throw InputError(element_,
                     fmt::format("cannot be written ({}); check that its folder exists and that you may write there",
                                 std::generic_category().message(error)));
  }
  if (direct) return;
  if (exists) fs::permissions(partial_, status.permissions(), ignored);
  replace_first(nullptr, partial_.c_str());
}

OutputFile::~OutputFile() {
  if (!wanted() || partial_ == target_) return;
  if (!committed_) ::unlink(partial_.c_str());
  replace_first(partial_.c_str(), nullptr);
}

void OutputFile::remove_partial_files() noexcept {
  for (const auto& slot : partial_files) {
    if (const char* name = slot.load()) ::unlink(name);
  }
}

void OutputFile::commit() {
  if (!wanted()) return;
  if (partial_ != target_ && ::rename(partial_.c_str(), target_.c_str()) != 0) {
    throw InputError(element_, fmt::format("cannot be renamed to its final name ({}); check the folder",
                                           std::generic_category().message(errno)));
  }
  committed_ = true;
}

void OutputFile::write(std::string_view content) {
  if (!wanted()) return;
  const int descriptor = ::open(partial_.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC);
  int error = descriptor < 0 ? errno : write_all(descriptor, content);
  if (descriptor >= 0 && ::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) {
    throw InputError(element_, fmt::format("could not be written completely ({}); check the free space on its disk",
                                           std::generic_category().message(error)));
  }
  commit();
}

void write_file_atomically(const fs::path& file, std::string_view content) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    throw InputError(file.string(), "is not a regular file; give the path of a file");
  }
  OutputFile({}, file.string()).write(content);
}

}  // namespace sarrus
