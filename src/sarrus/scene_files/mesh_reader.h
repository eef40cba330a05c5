// What the readers of mesh files share. Internal to mesh_file. All throw InputError without the file's name:
// "line 12: problem; remedy".
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/types.h"

namespace sarrus::mesh {

// Points and triangles as they come from a file, within the limits of a mesh.
struct Surface {
  std::vector<Vec3> points;
  std::vector<std::array<int, 3>> triangles;
  std::int64_t cutting = 0;  // corners looked at so far

  void add_triangle(int a, int b, int c);
  // A triangle of the last three points.
  void add_last_three();
  // Cut into triangles; it need not be convex. Without area (less than three different corners in a row): nothing.
  void add_polygon(std::span<const int> corners);
};

// Triangles, polygons and nodes of the scene of a Collada file, in metres.
void read_collada(std::string_view text, Surface& out);

// A number that is finite in single precision, which is more than lengths need; false if the word is none.
bool parse_number(std::string_view word, double& value);

[[noreturn]] void fail_at_line(int line, const std::string& problem_and_remedy);

}  // namespace sarrus::mesh
