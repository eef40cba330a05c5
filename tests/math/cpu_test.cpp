// What processors are said to have, and what the objects are compiled for.
#include "sarrus/math/cpu.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sarrus/math/cpu_features.h"

namespace sarrus::cpu_test {
namespace {

using namespace cpu;

// x86-64-v3 by the definition of its name.
constexpr unsigned kV3 =
    kSse3 | kSsse3 | kSse41 | kSse42 | kPopcnt | kLzcnt | kMovbe | kBmi1 | kBmi2 | kF16c | kFma | kAvx | kAvx2;

// As the manuals of Intel's fourth generation of Core have them: SSE3, PCLMUL, SSSE3, FMA, CX16, SSE4, MOVBE, POPCNT,
// XSAVE, AVX, F16C; FSGSBASE, BMI1, AVX2, BMI2; LAHF, LZCNT. The system keeps x87, SSE and AVX.
constexpr Words kHaswell{0x3fd87a03, 0x000023a9, 0, 0x21, 0x7};

std::string explained(unsigned missing, unsigned size = 400) {
  std::vector<char> line(size + 1, '#');
  explain(missing, line.data(), size);
  EXPECT_EQ(line[size], '#');
  return line.data();
}

TEST(Cpu, ProcessorsAreKnownByTheirBits) {
  EXPECT_EQ(features(kHaswell) & kV3, kV3);
  EXPECT_EQ(features({0, 0, 0, 0, 0}), 0u);
  EXPECT_EQ(features({~0u, ~0u, ~0u, ~0u, 0xe6}), 2 * kGfni - 1);
  Words no_bmi2 = kHaswell;
  no_bmi2.leaf7_ebx &= ~(1u << 8);
  EXPECT_EQ(kV3 & ~features(no_bmi2), kBmi2);
}

// The instructions alone do not help: registers that the system does not keep are lost.
TEST(Cpu, RegistersThatTheSystemDoesNotKeepCount) {
  Words words = kHaswell;
  words.xcr0 = 0x3;
  EXPECT_EQ(kV3 & ~features(words), kF16c | kFma | kAvx | kAvx2);
  words.leaf7_ebx |= 1u << 16;
  words.xcr0 = 0x7;
  EXPECT_EQ(features(words) & kAvx512F, 0u);
  words.xcr0 = 0xe7;
  EXPECT_EQ(features(words) & kAvx512F, kAvx512F);
}

TEST(Cpu, TheLineNamesWhatIsMissingAndTheRemedy) {
  const std::string line = explained(kAvx2 | kFma | kBmi2);
  EXPECT_EQ(line.rfind("this processor lacks BMI2, FMA, AVX2, which", 0), 0u) << line;
  EXPECT_NE(line.find("-DSARRUS_MARCH=x86-64"), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_NE(explained(~0u).find("-DSARRUS_MARCH=x86-64"), std::string::npos) << "the longest line is cut";
  EXPECT_EQ(explained(kAvx2, 10), "this proc");
}

#if defined(__x86_64__)

// The test has the same options as the libraries, and it runs.
TEST(Cpu, WhatTheObjectsAreCompiledForIsHere) {
  EXPECT_EQ(check_cpu(), nullptr);
  EXPECT_EQ(kBuiltFor & ~features(cpuid_words()), 0u);
#ifdef __AVX2__
  EXPECT_EQ(kBuiltFor & kV3, kV3);
#else
  EXPECT_EQ(kBuiltFor & kAvx2, 0u);
#endif
}

// The system's list of the same, read by another way.
TEST(Cpu, AgreesWithTheSystem) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && line.rfind("flags", 0) != 0) {
  }
  if (line.rfind("flags", 0) != 0) GTEST_SKIP() << "/proc/cpuinfo has no flags";
  line = " " + line + " ";
  const unsigned here = features(cpuid_words());
  const std::vector<std::pair<const char*, unsigned>> flags = {
      {"pni", kSse3},          {"ssse3", kSsse3},     {"sse4_1", kSse41},      {"sse4_2", kSse42},
      {"popcnt", kPopcnt},     {"abm", kLzcnt},       {"movbe", kMovbe},       {"bmi1", kBmi1},
      {"bmi2", kBmi2},         {"f16c", kF16c},       {"fma", kFma},           {"avx", kAvx},
      {"avx2", kAvx2},         {"avx512f", kAvx512F}, {"avx512vl", kAvx512Vl}, {"avx512bw", kAvx512Bw},
      {"avx512dq", kAvx512Dq}, {"gfni", kGfni}};
  for (const auto& [name, feature] : flags) {
    EXPECT_EQ(line.find(" " + std::string(name) + " ") != std::string::npos, (here & feature) != 0) << name;
  }
}

#endif

}  // namespace
}  // namespace sarrus::cpu_test
