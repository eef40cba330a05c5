// Shared by the tests of compliance.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sarrus/model/compliance.h"

namespace sarrus::test {

inline void expect_relative(double value, double expected, double tolerance) {
  EXPECT_NEAR(value, expected, tolerance * std::abs(expected));
}

// One of each, but rigid.
inline std::vector<Compliance> all_models() {
  return {Compliance::soft_cfm_erp(1e-3, 0.3), Compliance::soft_mujoco(), Compliance::soft_physical(1e5, 0.02),
          Compliance::soft_spring_damper(1e4, 100), Compliance::soft_hertz(1e7, 0.1, 50)};
}

}  // namespace sarrus::test
