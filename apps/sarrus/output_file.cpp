#include "output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "sarrus/model/error.h"

namespace sarrus::app {

namespace fs = std::filesystem;

OutputFile::OutputFile(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  element_ = fmt::format("{} {}", option, path);
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw InputError(element_, "is a directory; give the path of a file");
  target_ = fs::exists(status) ? fs::canonical(path, ignored) : fs::path(path);
  const bool direct = fs::exists(status) && !fs::is_regular_file(status);
  partial_ = target_;
  if (!direct) partial_ += fmt::format(".partial-{}", ::getpid());
  const int flags = direct ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const int descriptor = ::open(partial_.c_str(), flags, 0666);
  // A read-only target could be renamed over all the same; its owner did not mean that.
  const bool readable_only = fs::exists(status) && ::access(target_.c_str(), W_OK) != 0;
  if (descriptor < 0 || readable_only) {
    const std::string reason = std::generic_category().message(errno);
    if (descriptor >= 0 && !direct) fs::remove(partial_, ignored);
    if (descriptor >= 0) ::close(descriptor);
    throw InputError(element_, fmt::format("cannot be written ({}); check the folder and its permissions", reason));
  }
  ::close(descriptor);
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (wanted() && !committed_ && partial_ != target_) fs::remove(partial_, ignored);
}

void OutputFile::commit() {
  if (!wanted()) return;
  std::error_code error;
  if (partial_ != target_) fs::rename(partial_, target_, error);
  if (error) throw InputError(element_, fmt::format("cannot be renamed to its final name ({})", error.message()));
  committed_ = true;
}

void OutputFile::write(std::string_view text) {
  if (!wanted()) return;
  std::ofstream out(partial_, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw InputError(element_, "could not be written completely; check the free space on its disk");
  commit();
}

}  // namespace sarrus::app
