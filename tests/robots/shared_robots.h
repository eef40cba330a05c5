// Robots of other projects, which stand beside the source tree and are not part of it: tests of them are skipped where
// they are not there.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "effort.h"

namespace sarrus::test {

inline std::filesystem::path shared_robots() {
  return std::filesystem::path(SARRUS_SOURCE_DIR).parent_path() / "shared" / "data";
}

// Whether a test takes this robot: the short run those with small meshes, of each format.
inline bool effort_takes(const std::filesystem::path& file) {
  constexpr const char* kSmall[] = {"cassie.xml",    "ur5e.xml",           "toddlerbot_2xc.xml", "panda_nohand.xml",
                                    "cassie_v2.sdf", "cassie_reduced.sdf", "panda.urdf",         "double_pendulum.urdf",
                                    "h1.urdf"};
  return sample_divisor() == 1 || std::find(std::begin(kSmall), std::end(kSmall), file.filename()) != std::end(kSmall);
}

}  // namespace sarrus::test

#define SARRUS_NEEDS_ROBOTS()                                                       \
  do {                                                                              \
    if (!std::filesystem::exists(sarrus::test::shared_robots() / "README.md"))      \
      GTEST_SKIP() << "the robots of other projects are not there: ../shared/data"; \
  } while (false)
