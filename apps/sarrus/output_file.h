// An output file that is checked before the work starts and appears under its name only when complete: it is
// written beside the target and renamed. Devices and pipes, which cannot be renamed over, are written directly.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sarrus::app {

class OutputFile {
 public:
  // Not wanted: all operations do nothing.
  OutputFile() = default;
  // Creates the partial file; throws InputError naming the option and the path. An empty path: not wanted.
  OutputFile(const std::string& option, const std::string& path);
  // Removes the partial file unless committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool wanted() const { return !target_.empty(); }
  // Where to write to until commit().
  const std::filesystem::path& path() const { return partial_; }
  void commit();
  // Writes the whole content and commits.
  void write(std::string_view text);

 private:
  std::string element_;  // "--json out.json", for messages
  std::filesystem::path target_;
  std::filesystem::path partial_;
  bool committed_ = false;
};

}  // namespace sarrus::app
