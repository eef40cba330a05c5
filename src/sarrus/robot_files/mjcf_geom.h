// Geoms of MJCF: their shapes, filters and masses.
#pragma once

#include <set>
#include <string>

#include "sarrus/robot_files/mjcf_source.h"

namespace sarrus::robot::mjcf {

class GeomReader {
 public:
  GeomReader(Source& s, const Folders& folders, Findings& findings);

  // A geom in a frame F of a body.
  SourceGeom read(const xml::Node& node, const Attributes& a, int body, const Pose& X_BF, int context);
  // Its mass and inertia from its size and density.
  void weigh(SourceGeom& geom);

 private:
  void read_shape(SourceGeom& geom, const Attributes& a, const Compiler& compiler, const Pose& X_BF);
  void read_size(SourceGeom& geom, const Attributes& a, ShapeKind kind, bool between, double half_length);
  void read_mesh(SourceGeom& geom, const Attributes& a, const Compiler& compiler);

  Source& s_;
  const Folders& folders_;
  Findings& findings_;
  std::set<std::string> paired_;  // geoms that <pair> names
};

// Of a shape with its length along z from the second point to the first.
Pose pose_between(const double* from_to, const xml::Node& at);

}  // namespace sarrus::robot::mjcf
