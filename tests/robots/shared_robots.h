// Robots of other projects, which stand beside the source tree and are not part of it: tests of them are skipped where
// they are not there.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

namespace sarrus::test {

inline std::filesystem::path shared_robots() {
  return std::filesystem::path(SARRUS_SOURCE_DIR).parent_path() / "shared" / "data";
}

}  // namespace sarrus::test

#define SARRUS_NEEDS_ROBOTS()                                                       \
  do {                                                                              \
    if (!std::filesystem::exists(sarrus::test::shared_robots() / "README.md"))      \
      GTEST_SKIP() << "the robots of other projects are not there: ../shared/data"; \
  } while (false)
