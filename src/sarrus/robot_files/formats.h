// The readers of robots' files: each turns the root element of a file into a graph.
#pragma once

#include <string_view>

#include "sarrus/robot_files/findings.h"
#include "sarrus/robot_files/folders.h"
#include "sarrus/robot_files/graph.h"

namespace sarrus::robot {

struct Format {
  const char* root;  // name of the root element
  const char* name;
  Graph (*read)(xml::Node root, const Folders& folders, Findings& findings);
  bool has_filters;  // it says which bodies do not collide; else those that overlap at the start do not (overlaps.h)
};

// Null if no reader knows the root element.
const Format* format_of(std::string_view root);

Graph read_mjcf(xml::Node root, const Folders& folders, Findings& findings);

}  // namespace sarrus::robot
