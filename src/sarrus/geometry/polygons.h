// A surface of polygons over numbered vertices: what the hull builder passes between its stages.
#pragma once

#include <span>
#include <vector>

namespace sarrus {

struct Polygons {
  std::vector<int> begin = {0};  // of the corners of each face
  std::vector<int> corner;       // vertex ids, CCW from outside

  int count() const { return static_cast<int>(begin.size()) - 1; }
  std::span<const int> of(int face) const {
    const auto f = static_cast<std::size_t>(face);
    return std::span<const int>(corner).subspan(static_cast<std::size_t>(begin[f]),
                                                static_cast<std::size_t>(begin[f + 1] - begin[f]));
  }
  void add(std::span<const int> corners) {
    corner.insert(corner.end(), corners.begin(), corners.end());
    begin.push_back(static_cast<int>(corner.size()));
  }
};

}  // namespace sarrus
