// Recorded steps on which the default solver was slow or missed 1e-9 (data/hard_problems beside the repository, with a
// README of its own). They are no part of it: tests that need them are skipped where they are not there.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace sarrus::testing {

inline std::filesystem::path hard_problem_folder() {
  return std::filesystem::path(SARRUS_SOURCE_DIR) / ".." / "shared" / "data" / "hard_problems";
}

inline std::filesystem::path hard_problem(const std::string& name) { return hard_problem_folder() / (name + ".h5"); }

// In the order of their names; none where there is no such folder.
inline std::vector<std::filesystem::path> hard_problems() {
  std::vector<std::filesystem::path> out;
  if (!std::filesystem::is_directory(hard_problem_folder())) return out;
  for (const auto& entry : std::filesystem::directory_iterator(hard_problem_folder())) {
    if (entry.path().extension() == ".h5") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace sarrus::testing
