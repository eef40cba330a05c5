// Bodies, joints and rows are counted by int, containers by std::size_t.
#pragma once

#include <cstddef>

namespace sarrus {

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace sarrus
