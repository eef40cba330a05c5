// Instructions beyond those of every x86-64 that compilers use on their own, as one bit each.
//
// What is here runs on processors that lack them: no functions are inline, of which the linker would keep one copy for
// all sources, perhaps that of a source with AVX.
#pragma once

namespace sarrus::cpu {

enum Feature : unsigned {
  kSse3 = 1U << 0,
  kSsse3 = 1U << 1,
  kSse41 = 1U << 2,
  kSse42 = 1U << 3,
  kPopcnt = 1U << 4,
  kLzcnt = 1U << 5,
  kMovbe = 1U << 6,
  kBmi1 = 1U << 7,
  kBmi2 = 1U << 8,
  kF16c = 1U << 9,
  kFma = 1U << 10,
  kAvx = 1U << 11,
  kAvx2 = 1U << 12,
  kAvx512F = 1U << 13,
  kAvx512Cd = 1U << 14,
  kAvx512Dq = 1U << 15,
  kAvx512Bw = 1U << 16,
  kAvx512Vl = 1U << 17,
  kAvx512Ifma = 1U << 18,
  kAvx512Vbmi = 1U << 19,
  kAvx512Vbmi2 = 1U << 20,
  kAvx512Vnni = 1U << 21,
  kAvx512Bitalg = 1U << 22,
  kAvx512Vpopcntdq = 1U << 23,
  kGfni = 1U << 24,
};

// What CPUID tells of them (leaves 1, 7 and 0x80000001), and XCR0: the registers that the system keeps for a process.
struct Words {
  unsigned leaf1_ecx, leaf7_ebx, leaf7_ecx, extended_ecx, xcr0;
};

// Of this processor; all zero where it is no x86-64.
Words cpuid_words();
unsigned features(const Words& words);

// What the objects are compiled for (cpu_built_for.cpp).
extern const unsigned kBuiltFor;

// Writes the line of check_cpu() about `missing`, cut to `size` bytes with its end.
void explain(unsigned missing, char* line, unsigned size);

}  // namespace sarrus::cpu
