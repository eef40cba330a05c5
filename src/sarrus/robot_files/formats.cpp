#include "sarrus/robot_files/formats.h"

#include "sarrus/robot_files/sdf_reader.h"
#include "sarrus/robot_files/urdf_reader.h"

namespace sarrus::robot {
namespace {

constexpr Format kFormats[] = {
    {"mujoco", "MJCF", read_mjcf, true}, {"robot", "URDF", read_urdf, false}, {"sdf", "SDF", read_sdf, true}};

}  // namespace

const Format* format_of(std::string_view root) {
  for (const Format& f : kFormats) {
    if (root == f.root) return &f;
  }
  return nullptr;
}

}  // namespace sarrus::robot
