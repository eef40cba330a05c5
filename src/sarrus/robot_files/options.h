// What a user chooses about the import of a robot's file (docs/robots.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sarrus {

enum class ImportBase : std::uint8_t { fixed, free };                   // URDF: what the root link does
enum class ImportCompliance : std::uint8_t { none, source };            // soft constraints: rigid, or as the file says
enum class ImportLoops : std::uint8_t { automatic, as_written };        // pairs of point constraints: one joint
enum class ImportAssembly : std::uint8_t { automatic, always, never };  // loops that are open at the start
enum class ImportMesh : std::uint8_t { hull, exact };                   // shapes of meshes that collide

struct ImportOptions {
  std::string key;  // MJCF: the keyframe that is the initial state, by name or number; empty: none
  ImportBase base = ImportBase::fixed;
  bool merge_fixed = true;  // bodies that are fixed to each other become one
  bool visuals = true;      // keep shapes that do not collide, for pictures
  ImportCompliance compliance = ImportCompliance::none;
  ImportLoops loops = ImportLoops::automatic;
  std::string loops_from;                       // URDF: "names", or a YAML file with pairs of links
  std::vector<std::filesystem::path> packages;  // folders in which package:// and model:// addresses are looked for
  ImportAssembly assemble = ImportAssembly::automatic;
  std::map<std::string, double> pins;  // coordinates that keep a value while loops are closed
  double snap_length = 1e-4;           // of the size of a joint: loops that miss by less are closed
  double snap_angle = 1e-3;            // rad: axes that are parallel within it
  bool snap_scene = false;             // JSON, which is run as it is written: its axes, too
  bool repair_inertia = true;
  std::vector<std::string> accept;  // kinds of forces and constraints that may be dropped, or "all"
  bool strict = false;              // what is approximated is an error
  bool allow_outside = false;       // files outside of the folders of the model
  ImportMesh mesh = ImportMesh::hull;
};

}  // namespace sarrus
