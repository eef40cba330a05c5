// MJCF given as text in tests, with files beside it where they are needed.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sarrus/robot_files/load.h"

namespace sarrus::test {

// A folder of its own, removed at the end.
class ModelFolder {
 public:
  ModelFolder() : folder_(std::filesystem::temp_directory_path() / ("sarrus_mjcf_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "model");
  }
  ~ModelFolder() { std::filesystem::remove_all(folder_); }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_ / "model" / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  ImportResult import(const std::string& text, const ImportOptions& options = {}) const {
    return import_model(write("model.xml", text), options);
  }
  // "<mujoco>" around the text.
  ImportResult mjcf(const std::string& inside, const ImportOptions& options = {}) const {
    return import("<mujoco>" + inside + "</mujoco>", options);
  }

 private:
  std::filesystem::path folder_;
};

inline ImportOptions accepting(const std::string& kinds) {
  ImportOptions options;
  options.accept = {kinds};
  return options;
}

// A cube on a hinge about y, which is what most tests need around what they test.
inline std::string hinge(const std::string& joint, const std::string& rest = {}) {
  return "<worldbody><body name='b'><joint name='j' " + joint + "/><geom size='.1'/></body></worldbody>" + rest;
}

}  // namespace sarrus::test
