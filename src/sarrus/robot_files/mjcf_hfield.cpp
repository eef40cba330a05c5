// Height fields of MJCF.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/files/png.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/robot_files/mjcf_mesh.h"

namespace sarrus::robot::mjcf {

std::vector<double> read_png_heights(const Context& context, const Folders& folders, const xml::Node& asset, int& rows,
                                     int& columns) {
  try {
    const png::Image image = png::read(folders.require(asset.get("file"), {context.folder / context.compiler.meshdir}));
    rows = image.height;
    columns = image.width;
    return image.grey;
  } catch (const InputError& error) {
    xml::fail(asset, error.what());
  }
}

Shape height_field(const std::vector<Context>& contexts, int context, const std::string& name, const Folders& folders,
                   const xml::Node& where, Vec3& mass_box) {
  const Context& ctx = contexts[static_cast<std::size_t>(context)];
  for (const xml::Node& asset : ctx.assets) {
    if (asset.name != "hfield") continue;
    std::string own = asset.get("name");
    if (own.empty()) own = std::filesystem::path(asset.get("file")).stem().string();
    if (own != name) continue;
    const Attributes a(asset);
    double size[4] = {};
    if (a.numbers("size", size, 4, 4) == 0 || *std::min_element(size, size + 4) <= 0) {
      a.fail("needs size with four positive numbers");
    }
    int rows = a.integer("nrow", 0);
    int columns = a.integer("ncol", 0);
    std::vector<double> heights;  // row by row, the first one at +y
    if (asset.has("file")) {
      heights = read_png_heights(ctx, folders, asset, rows, columns);
    } else {
      heights = a.list("elevation");
      if (rows < 2 || columns < 2) a.fail("needs nrow and ncol of 2 or more, or a file");
      if (static_cast<double>(rows) * columns > kMaxHeightFieldSamples)
        a.fail(fmt::format("has more than {} samples; use several fields", kMaxHeightFieldSamples));
      if (heights.empty()) heights.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0.0);
    }
    if (heights.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {
      a.fail(fmt::format("elevation has {} numbers for {} rows and {} columns", heights.size(), rows, columns));
    }
    const auto [low, high] = std::minmax_element(heights.begin(), heights.end());
    const double lowest = *low;
    const double range = *high - lowest;
    std::vector<double> z(heights.size());
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const auto from = static_cast<std::size_t>(rows - 1 - row) * static_cast<std::size_t>(columns) +
                          static_cast<std::size_t>(column);
        const auto to =
            static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column);
        z[to] = range > 0 ? size[2] * (heights[from] - lowest) / range : 0.0;
      }
    }
    mass_box = Vec3(size[0], size[1], size[2] / 4 + size[3] / 2);
    return Shape::terrain(HeightField::build(columns, rows, 2 * size[0] / (columns - 1), 2 * size[1] / (rows - 1), z,
                                             asset.place.text() + ": " + xml::describe(asset)));
  }
  xml::fail(where, fmt::format("there is no hfield {}; put one into <asset>", in_quotes(name)));
}

}  // namespace sarrus::robot::mjcf
