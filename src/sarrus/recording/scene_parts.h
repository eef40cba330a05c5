// What to draw of a model, flat: a part per geom, per child of a compound and per visual, and the surfaces of hulls,
// meshes and height fields, each once. Recordings hold it, and views are made of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus {

struct ScenePart {
  int body = kWorld;
  int geom = -1;  // -1: only seen
  ShapeKind kind = ShapeKind::sphere;
  Vec3 size = Vec3::Zero();  // as Shape::size, 0 for hulls, meshes and height fields
  Pose X_B;                  // pose in the body frame
  int mesh = -1;
  int height_field = -1;
  std::optional<Colour> colour;
};

// Triangles run counter-clockwise seen from outside.
struct SceneMesh {
  std::vector<Vec3> vertices;  // m, in the frame of the part
  std::vector<std::array<int, 3>> triangles;
};

// Samples row by row, x fastest; (i, j) lies at x = (i - (columns-1)/2) dx, y = (j - (rows-1)/2) dy.
struct SceneHeightField {
  int columns = 0;
  int rows = 0;
  double dx = 0;  // m
  double dy = 0;
  std::vector<double> heights;  // m
};

struct SceneParts {
  std::vector<ScenePart> parts;  // geoms in their order, then visuals
  std::vector<SceneMesh> meshes;
  std::vector<SceneHeightField> height_fields;
};

SceneParts scene_parts(const Model& model);

}  // namespace sarrus
