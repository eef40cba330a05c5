// The command on processors that lack what it is compiled for, which QEMU's user mode has.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/command.h"

namespace sarrus::cpu_check_test {
namespace {

using test::Command;
using test::Result;

#if defined(__AVX2__)

// Before the constructors of shared libraries, which may use templates that the command has a copy of.
TEST_F(Command, TellsWhatTheProcessorLacks) {
  if (std::system("qemu-x86_64 --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "needs qemu-x86_64 (Debian: qemu-user)";
  }
  // The first has all; then one of before 2011, and one that lacks a single thing.
  const Result all = run("--version", "qemu-x86_64 -cpu max");
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(all.out.rfind("sarrus ", 0), 0u);
  struct Case {
    const char* cpu;
    const char* lacks;
  };
  for (const Case& c : {Case{"Nehalem", "lacks LZCNT, MOVBE, BMI1, BMI2, F16C, FMA, AVX, AVX2, which"},
                        Case{"max,-bmi2", "lacks BMI2, which"}, Case{"max,-xsave", "F16C, FMA, AVX, AVX2, which"}}) {
    const Result r = run("--version", std::string("qemu-x86_64 -cpu ") + c.cpu);
    EXPECT_EQ(r.exit_code, 2) << c.cpu << "\n" << r.err;
    EXPECT_EQ(r.out, "") << c.cpu;
    EXPECT_NE(r.err.find("sarrus: error: this processor"), std::string::npos) << c.cpu << "\n" << r.err;
    EXPECT_NE(r.err.find(c.lacks), std::string::npos) << c.cpu << "\n" << r.err;
    EXPECT_NE(r.err.find("-DSARRUS_MARCH=x86-64"), std::string::npos) << c.cpu << "\n" << r.err;
  }
}

#endif

}  // namespace
}  // namespace sarrus::cpu_check_test
