// Constants that descriptions of a mechanism share.
#pragma once

#include <limits>

namespace sarrus {

inline constexpr int kWorld = -1;                                              // the body index of the world
inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();  // of a coordinate, an angle, an effort
inline constexpr double kUseDefault = -1.0;  // "take the simulation's default" for ERP values, margins, dampings

}  // namespace sarrus
