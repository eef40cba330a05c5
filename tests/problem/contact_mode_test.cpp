// Open, sticking and sliding contacts by their impulses.
#include "sarrus/problem/contact_mode.h"

#include <gtest/gtest.h>

namespace sarrus::contact_mode_test {
namespace {

TEST(ContactMode, IsOpenWithoutImpulse) {
  EXPECT_EQ(contact_mode(Vec3::Zero(), 0.5), ContactMode::open);
  EXPECT_EQ(contact_mode(Vec3(0, 0, -1e-15), 0.5), ContactMode::open);
  EXPECT_EQ(contact_mode(Vec3(0, 0, 1e-9), 0.5, 1e-9), ContactMode::open);
  EXPECT_EQ(contact_mode(Vec3(0, 0, 2e-9), 0.5, 1e-9), ContactMode::sticking);
}

TEST(ContactMode, SticksInsideTheConeAndSlidesOnIt) {
  for (const double angle : {0.0, 1.0, 2.5, 4.0}) {
    const Vec3 direction(std::cos(angle), std::sin(angle), 0);
    for (const double load : {1e-6, 1.0, 1e6}) {
      const Vec3 normal(0, 0, load);
      EXPECT_EQ(contact_mode(normal + 0.5 * load * (1 - 1e-12) * direction, 0.5), ContactMode::sliding);
      EXPECT_EQ(contact_mode(normal + 0.5 * load * (1 - 1e-5) * direction, 0.5), ContactMode::sticking);
      EXPECT_EQ(contact_mode(normal + 0.1 * load * direction, 0.5), ContactMode::sticking);
    }
  }
}

TEST(ContactMode, LoadsNearTheToleranceAreToldByTheHalfOfTheCone) {
  EXPECT_EQ(contact_mode(Vec3(0, 0, 1.1e-9), 0.5, 1e-9), ContactMode::sticking);
  EXPECT_EQ(contact_mode(Vec3(0.4e-9, 0, 1.1e-9), 0.5, 1e-9), ContactMode::sliding);
}

TEST(ContactMode, WithoutFrictionALoadedContactSlides) {
  EXPECT_EQ(contact_mode(Vec3(0, 0, 1), 0), ContactMode::sliding);
}

TEST(ContactMode, HasNames) {
  EXPECT_EQ(name_of(ContactMode::open), "open");
  EXPECT_EQ(name_of(ContactMode::unknown), "unknown");
}

}  // namespace
}  // namespace sarrus::contact_mode_test
