#include "output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "sarrus/math/error.h"

namespace sarrus::app {

namespace fs = std::filesystem;

OutputFile::OutputFile(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  element_ = fmt::format("{} {}", option, path);
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw InputError(element_, "is a directory; give the path of a file");
  // A link to a file is followed, so that the file behind it is replaced and not the link.
  target_ = fs::is_regular_file(status) ? fs::canonical(path, ignored) : fs::path(path);
  const bool direct = fs::exists(status) && !fs::is_regular_file(status);
  partial_ = target_;
  if (!direct) partial_ += fmt::format(".partial-{}", ::getpid());
  // A read-only target could be renamed over all the same; its owner did not mean that.
  int error = fs::exists(status) && ::access(target_.c_str(), W_OK) != 0 ? errno : 0;
  if (error == 0) {
    const int descriptor = ::open(partial_.c_str(), O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_EXCL), 0666);
    if (descriptor < 0) error = errno;
    if (descriptor >= 0) ::close(descriptor);
  }
  if (error != 0) {
    throw InputError(element_, fmt::format("cannot be written ({}); check the folder and its permissions",
                                           std::generic_category().message(error)));
  }
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
