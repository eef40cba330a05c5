#include "sarrus/files/whole_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <set>
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

// The files that were read, which no output may replace; so many that no program of ours reads more by name.
class Inputs {
 public:
  void add(const fs::path& file) {
    struct ::stat info = {};
    if (::stat(file.c_str(), &info) != 0) return;
    const std::lock_guard lock(mutex_);
    if (files_.size() < kMost) files_.emplace(info.st_dev, info.st_ino);
  }
  bool has(const fs::path& file) {
    struct ::stat info = {};
    if (::stat(file.c_str(), &info) != 0) return false;
    const std::lock_guard lock(mutex_);
    return files_.count({info.st_dev, info.st_ino}) > 0;
  }

 private:
  static constexpr std::size_t kMost = 65536;
  std::mutex mutex_;
  std::set<std::pair<dev_t, ino_t>> files_;
};

Inputs& inputs() {
  static Inputs all;
  return all;
}

constexpr std::string_view kPartial = ".partial-";

// A new name in the folder of the target: rename() is atomic only within one file system.
fs::path partial_name(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  fs::path name = target;
  name += fmt::format("{}{}-{}", kPartial, ::getpid(), counter++);
  return name;
}

// Ended, or ended and waiting for its parent to notice.
bool is_gone(int process) {
  if (::kill(process, 0) != 0) return errno == ESRCH;
  std::string line;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", process)), line);
  const std::size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.substr(name_end, 3) == ") Z";
}

// The number of the process in the name of a partial file, 0 if it is none of the target.
int process_of(std::string_view name, std::string_view target) {
  if (name.substr(0, target.size()) != target) return 0;
  name.remove_prefix(target.size());
  if (name.substr(0, kPartial.size()) != kPartial) return 0;
  name.remove_prefix(kPartial.size());
  int process = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  const bool whole = error == std::errc{} && stop != name.data() + name.size() && *stop == '-';
  return whole ? process : 0;
}

// Partial files of the target whose processes are gone. The iterators of the standard library end the program when
// memory runs out.
void remove_stale(const fs::path& target) {
  const std::string name = target.filename().string();
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  ::DIR* directory = ::opendir(folder.c_str());
  if (directory == nullptr) return;
  while (const ::dirent* entry = ::readdir(directory)) {
    const int process = process_of(entry->d_name, name);
    if (process <= 0 || process == ::getpid() || !is_gone(process)) continue;
    ::unlinkat(::dirfd(directory), entry->d_name, 0);
  }
  ::closedir(directory);
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

void refuse_zero_byte(const fs::path& file) {
  const std::string& name = file.native();
  const std::size_t zero = name.find('\0');
  if (zero == std::string::npos) return;
  throw InputError(fmt::format("'{}'", name.substr(0, zero)),
                   "the name of the file goes on after a zero byte; correct it");
}

std::string read_file(const fs::path& file, const char* what, std::uintmax_t max_bytes, const char* too_large) {
  refuse_zero_byte(file);
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
  inputs().add(file);
  return bytes;
}

OutputFile::OutputFile(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  element_ = option.empty() ? path : fmt::format("{} {}", option, path);
  refuse_zero_byte(path);
  if (is_standard_output(path) && !option.empty()) {
    target_ = partial_ = path;
    return;
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw InputError(element_, "is a directory; give the path of a file");
  if (!option.empty() && option != "--in-place" && inputs().has(path)) {
    throw InputError(element_, "would overwrite a file that was just read; give another name");
  }
  // A link to a file is followed, so that the file behind it is replaced and not the link.
  const bool exists = fs::exists(status);
  const bool direct = exists && !fs::is_regular_file(status);
  target_ = exists && !direct ? fs::canonical(path, ignored) : fs::path(path);
  // A read-only target could be renamed over all the same; its owner did not mean that.
  int error = exists && ::access(target_.c_str(), W_OK) != 0 ? errno : 0;
  // A process that had our number may have left a file of the same name.
  constexpr int kTries = 1000;
  int descriptor = -1;
  for (int i = 0; error == 0 && descriptor < 0 && i < kTries; ++i) {
    partial_ = direct ? target_ : partial_name(target_);
    descriptor = ::open(partial_.c_str(), O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_EXCL), 0666);
    if (descriptor < 0 && errno != EEXIST) error = errno;
  }
  if (descriptor < 0 && error == 0) error = EEXIST;
  if (descriptor >= 0) ::close(descriptor);
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

bool OutputFile::remove_partial_files() noexcept {
  bool any = false;
  for (const auto& slot : partial_files) {
    if (const char* name = slot.load()) any = ::unlink(name) == 0 || any;
  }
  return any;
}

fs::path OutputFile::unfinished() const {
  fs::path name = target_;
  name += ".unfinished";
  return name;
}

bool OutputFile::keep_copy() const {
  if (!wanted() || partial_ == target_) return false;
  const fs::path copy = partial_name(target_);
  std::error_code error;
  fs::copy_file(partial_, copy, error);
  if (!error) fs::rename(copy, unfinished(), error);
  if (!error) return true;
  fs::remove(copy, error);
  return false;
}

void OutputFile::keep_lines() {
  if (!wanted() || partial_ == target_ || committed_) return;
  std::error_code error;
  std::uintmax_t size = fs::file_size(partial_, error);
  std::ifstream in(partial_, std::ios::binary);
  char last = 0;
  while (!error && size > 0 && in.seekg(static_cast<std::streamoff>(size - 1)) && in.get(last) && last != '\n') --size;
  if (error || size == 0) return;
  fs::resize_file(partial_, size, error);
  if (!error) fs::rename(partial_, unfinished(), error);
}

void OutputFile::commit() {
  if (!wanted()) return;
  if (partial_ != target_ && ::rename(partial_.c_str(), target_.c_str()) != 0) {
    throw InputError(element_, fmt::format("cannot be renamed to its final name ({}); check the folder",
                                           std::generic_category().message(errno)));
  }
  committed_ = true;
  if (partial_ == target_) return;
  std::error_code ignored;
  fs::remove(unfinished(), ignored);
  remove_stale(target_);
}

void OutputFile::write(std::string_view content) {
  if (!wanted()) return;
  if (is_standard_output(target_.native())) {
    // What fails here is found when the program ends, with all else on standard output.
    std::fwrite(content.data(), 1, content.size(), stdout);
    committed_ = true;
    return;
  }
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
  refuse_zero_byte(file);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    throw InputError(file.string(), "is not a regular file; give the path of a file");
  }
  OutputFile({}, file.string()).write(content);
}

}  // namespace sarrus
