// Whole files: read at once after they were checked, written so that a reader, or a crash, never sees half of one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

namespace sarrus {

// Names that the system would cut at their first zero byte, so that another file than the named one is opened. Throws
// InputError.
void refuse_zero_byte(const std::filesystem::path& file);

// The bytes of a regular file. `what` it should be completes the messages ("a scene file"); `too_large` is the remedy
// for one that is larger than it may be. The size is looked at first: a huge file costs nothing. Throws InputError
// naming the file.
std::string read_file(const std::filesystem::path& file, const char* what,
                      std::uintmax_t max_bytes = std::numeric_limits<std::uintmax_t>::max(),
                      const char* too_large = "split it, or check the path");

// A file that is checked before the work starts and appears under its name only when complete: it is written beside the
// target, as <target>.partial-<process>-<number>, and renamed over it. A symbolic link is followed and an existing file
// keeps its permissions. Devices and pipes, which cannot be renamed over, are written directly. A file that this
// process has read is no target of an option (solve --in-place means it).
//
// What a run has written so far may be kept as <target>.unfinished; commit() removes it, and partial files that
// processes which are gone have left of the same target.
class OutputFile {
 public:
  // Not wanted: all operations do nothing.
  OutputFile() = default;
  // Creates the partial file; throws InputError "<option> <path>: ...". An empty path: not wanted. "-": write() prints
  // on standard output.
  OutputFile(const std::string& option, const std::string& path);
  // Removes the partial file unless committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool wanted() const { return !target_.empty(); }
  // Whether a path means standard output, which then has nothing else on it.
  static bool is_standard_output(std::string_view path) { return path == "-"; }
  // Where to write to until commit().
  const std::filesystem::path& path() const { return partial_; }
  void commit();
  // Writes the whole content, flushes it to disk and commits.
  void write(std::string_view content);

  // Copies what is in the file now to <target>.unfinished, which it replaces as a whole; false if that fails.
  bool keep_copy() const;
  // After a failure: the partial file, up to its last whole line, becomes <target>.unfinished.
  void keep_lines();

  // Removes the partial files of this process, and returns whether there was one: for handlers of signals, in which
  // this may be called.
  static bool remove_partial_files() noexcept;

 private:
  std::string element_;  // "--json out.json", for messages
  std::filesystem::path target_;
  std::filesystem::path unfinished() const;

  std::filesystem::path partial_;
  bool committed_ = false;
};

// Writes a regular file as an OutputFile. Throws InputError that names the path; the target is then unchanged.
void write_file_atomically(const std::filesystem::path& file, std::string_view content);

}  // namespace sarrus
