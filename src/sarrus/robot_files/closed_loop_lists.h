// Lists of closed loops that stand beside URDF files as YAML:
//
//   closed_loop: [["frame_a", "frame_b"], [...]]
//   type: ["6d", "3d"]                  3d: a point, 6d: rigid; all 6d if there is none
//
// Lists may be in brackets or in lines that begin with a dash; other keys are left alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sarrus::robot {

struct ListedLoop {
  std::string a, b;
  bool rigid = true;
};

// Throws InputError "file: problem; remedy".
std::vector<ListedLoop> read_closed_loops(const std::filesystem::path& file);

}  // namespace sarrus::robot
