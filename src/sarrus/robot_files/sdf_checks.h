// What an SDF file has to be before the library that reads it may see it: of a size that it bears, without files
// outside of the folders of the model, without includes that never end. Its reader is sdf.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sarrus/robot_files/findings.h"
#include "sarrus/robot_files/folders.h"

namespace sarrus::robot {

class SdfChecks {
 public:
  SdfChecks(const xml::Node& root, const Folders& folders, Findings& findings)
      : root_(root), folders_(folders), findings_(findings) {}

  // Throws InputError for what must not pass, notes what is left out.
  void run() {
    check_version();
    refuse_addresses(root_);
    note_elements(root_);
  }
  // The file or folder of a model that an address names; empty: none.
  std::string found(const std::string& address) const;

 private:
  void check_version();
  void weigh(const xml::Node& node);
  void refuse_addresses(const xml::Node& node, int depth = 0);
  void check_include(const xml::Node& node, const std::string& address, int depth);
  std::vector<std::filesystem::path> parts_of(const std::filesystem::path& included, const std::string& address) const;
  void note_elements(const xml::Node& node);

  const xml::Node& root_;
  const Folders& folders_;
  Findings& findings_;
  double weight_ = 0;  // of all elements, in links
  int includes_ = 0;
};

}  // namespace sarrus::robot
