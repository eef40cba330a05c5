// Which files a robot's file may name, and where they are: under its own folder, the parent of it, or the folder of a
// package. Everything else is refused unless the user allows it; so are addresses of the network.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sarrus/robot_files/options.h"

namespace sarrus::robot {

class Folders {
 public:
  Folders(const std::filesystem::path& main_file, const ImportOptions& options);

  // Of the main file.
  const std::filesystem::path& folder() const { return folder_; }

  // The file that `address` means: a path, relative to the first of `bases` in which there is such a file; file://,
  // package:// and model:// addresses. Symbolic links are resolved before the folder is judged. Returns false, with the
  // places that were tried, if there is no such file; throws InputError for what is refused.
  bool find(const std::string& address, const std::vector<std::filesystem::path>& bases, std::filesystem::path& file,
            std::string& tried) const;
  // The same; throws InputError if there is none.
  std::filesystem::path require(const std::string& address, const std::vector<std::filesystem::path>& bases) const;
  // Throws InputError for a file that is outside of the folders of the model and not allowed.
  void require_inside(const std::filesystem::path& file, const std::string& address) const;

 private:
  std::vector<std::filesystem::path> package_candidates(const std::string& package) const;

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> packages_;
  std::vector<std::filesystem::path> roots_;  // canonical folders in which files may be
  bool allow_outside_ = false;
};

}  // namespace sarrus::robot
