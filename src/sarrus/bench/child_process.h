// Runs another program and waits for it, at most so long: whatever it does, this process goes on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sarrus {

struct ChildResult {
  bool ok = false;      // ended by itself with exit code 0
  std::string status;   // "ok", "exit code 3", "died with signal 11 (Segmentation fault)", "no end after 10 s"
  std::string message;  // the last line that it printed on stderr
  double seconds = 0;   // from start to end, s
};

// The child's stdout is dropped; its stderr goes to a file in `scratch`. A child that takes longer than `timeout` (s)
// is killed with everything that it started.
ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments, double timeout,
                      const std::filesystem::path& scratch);

// A new folder for temporary files, removed with everything in it at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sarrus
