// Codecs of motions: what they give back, decoded by another hand from the text of the format.
#include "sarrus/view/motion_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "view/decode.h"

namespace sarrus::motion_codec_test {
namespace {

std::vector<double> random_walks(std::size_t frames, std::size_t channels, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> step;
  std::vector<double> values(frames * channels);
  for (std::size_t k = 0; k < channels; ++k) {
    double x = 10 * step(random);
    for (std::size_t i = 0; i < frames; ++i) values[i * channels + k] = x += std::pow(10.0, k % 7) * step(random);
  }
  return values;
}

void expect_within_half_a_step(const std::vector<double>& values, const view::Quantised& q,
                               const std::vector<double>& decoded) {
  const std::size_t channels = q.lo.size();
  ASSERT_EQ(decoded.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double quantum = q.scale[i % channels];
    ASSERT_LE(std::abs(decoded[i] - values[i]), 0.5 * quantum + 1e-14 * std::abs(values[i])) << i;
  }
}

TEST(Delta2, GivesBackSeriesWithinHalfAStep) {
  for (const std::size_t frames : {1u, 2u, 3u, 100u}) {
    for (const std::size_t channels : {1u, 5u}) {
      const std::vector<double> values = random_walks(frames, channels, static_cast<unsigned>(31 * frames + channels));
      const view::Quantised q = view::delta2(values, channels);
      EXPECT_EQ(q.bytes.size(), 3 * values.size());
      expect_within_half_a_step(values, q, test::decode_delta2(q.bytes, q.lo, q.scale, q.planes, frames));
    }
  }
}

// The largest second differences that there are: from end to end of the range and back.
TEST(Delta2, HasRoomForJumpsOverTheWholeRange) {
  std::vector<double> values;
  for (int i = 0; i < 50; ++i) values.push_back(i % 2 == 0 ? -3.0 : 8.0);
  const view::Quantised q = view::delta2(values, 1);
  expect_within_half_a_step(values, q, test::decode_delta2(q.bytes, q.lo, q.scale, q.planes, values.size()));
}

// Not finer than is asked for, with fewer bits if wanted.
TEST(Delta2, StepsAreNotBelowTheLeast) {
  const std::vector<double> values = random_walks(60, 3, 9);
  const std::vector<double> least = {1e-9, 5, 1e6};
  for (const int bits : {16, 12, 5}) {
    const view::Quantised q = view::delta2(values, 3, least, bits);
    EXPECT_EQ(q.planes, bits == 16 ? 3 : bits == 12 ? 2 : 1);
    EXPECT_GE(q.scale[1], 5);
    EXPECT_EQ(q.scale[2], 1e6);
    expect_within_half_a_step(values, q, test::decode_delta2(q.bytes, q.lo, q.scale, q.planes, 60));
  }
}

TEST(Delta2, ConstantChannelsAreExact) {
  const double x = 0.1 + 0.2;
  const std::vector<double> values = {x, 1, x, 2, x, 4};
  const view::Quantised q = view::delta2(values, 2);
  EXPECT_EQ(q.scale[0], 0);
  const std::vector<double> decoded = test::decode_delta2(q.bytes, q.lo, q.scale, q.planes, 3);
  for (const std::size_t i : {0u, 2u, 4u}) EXPECT_EQ(decoded[i], x);
}

TEST(Delta2, HugeAndTinyRangesAreNoTrap) {
  for (const double size : {1e307, 1e-300, 5e-324}) {
    const std::vector<double> values = {-size, 0, size, size};
    const view::Quantised q = view::delta2(values, 1);
    for (const double x : test::decode_delta2(q.bytes, q.lo, q.scale, q.planes, 4)) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(Quantise16, GivesBackRowsWithinHalfAStep) {
  const std::vector<double> values = random_walks(77, 3, 5);
  const view::Quantised q = view::quantise16(values, 3);
  EXPECT_EQ(q.bytes.size(), 2 * values.size());
  expect_within_half_a_step(values, q, test::decode_quantised16(q.bytes, q.lo, q.scale));
}

// Never smaller than it was, and at most an eighth of a decade larger.
TEST(Logarithm1, RoundsUp) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-15.5, 15.5);
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) values.push_back((i % 2 == 0 ? 1 : -1) * std::pow(10.0, exponent(random)));
  const std::vector<double> decoded = test::decode_logarithm1(view::logarithm1(values, 4, 8), 8, 4);
  ASSERT_EQ(decoded.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_GE(decoded[i], std::abs(values[i]) * (1 - 1e-9));
    EXPECT_LE(decoded[i], std::abs(values[i]) * std::pow(10.0, 1.0 / 8) * (1 + 1e-9));
  }
}

TEST(Logarithm1, KeepsZeroPowersAndTheEndsOfItsRange) {
  EXPECT_EQ(view::log_byte(0, 8), -128);
  EXPECT_EQ(view::log_byte(1, 8), 0);
  EXPECT_EQ(view::log_byte(1e-9, 8), -72);
  EXPECT_EQ(view::log_byte(1e-12, 8), -96);
  EXPECT_EQ(view::log_byte(1e300, 8), 127);
  EXPECT_EQ(view::log_byte(1e-300, 8), -127);
  EXPECT_EQ(view::log_byte(std::numeric_limits<double>::infinity(), 8), 127);
  EXPECT_EQ(view::log_byte(std::numeric_limits<double>::quiet_NaN(), 8), 127);
}

}  // namespace
}  // namespace sarrus::motion_codec_test
