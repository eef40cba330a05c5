// Compiled for every x86-64 (CMakeLists.txt), and without templates and inline functions: see cpu_features.h.
#include "sarrus/math/cpu.h"

#include "sarrus/math/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sarrus {
namespace cpu {
namespace {

// Of AVX the system must keep the upper halves of the registers (XCR0 bits 1 and 2), of AVX-512 those of that, too.
constexpr unsigned kYmm = 0x6;
constexpr unsigned kZmm = 0xe6;

struct Place {
  Feature feature;
  const char* name;
  unsigned Words::*word;
  unsigned bit;
  unsigned registers;
};

constexpr Place kPlaces[] = {
    {kSse3, "SSE3", &Words::leaf1_ecx, 0, 0},
    {kSsse3, "SSSE3", &Words::leaf1_ecx, 9, 0},
    {kSse41, "SSE4.1", &Words::leaf1_ecx, 19, 0},
    {kSse42, "SSE4.2", &Words::leaf1_ecx, 20, 0},
    {kPopcnt, "POPCNT", &Words::leaf1_ecx, 23, 0},
    {kLzcnt, "LZCNT", &Words::extended_ecx, 5, 0},
    {kMovbe, "MOVBE", &Words::leaf1_ecx, 22, 0},
    {kBmi1, "BMI1", &Words::leaf7_ebx, 3, 0},
    {kBmi2, "BMI2", &Words::leaf7_ebx, 8, 0},
    {kF16c, "F16C", &Words::leaf1_ecx, 29, kYmm},
    {kFma, "FMA", &Words::leaf1_ecx, 12, kYmm},
    {kAvx, "AVX", &Words::leaf1_ecx, 28, kYmm},
    {kAvx2, "AVX2", &Words::leaf7_ebx, 5, kYmm},
    {kAvx512F, "AVX512F", &Words::leaf7_ebx, 16, kZmm},
    {kAvx512Cd, "AVX512CD", &Words::leaf7_ebx, 28, kZmm},
    {kAvx512Dq, "AVX512DQ", &Words::leaf7_ebx, 17, kZmm},
    {kAvx512Bw, "AVX512BW", &Words::leaf7_ebx, 30, kZmm},
    {kAvx512Vl, "AVX512VL", &Words::leaf7_ebx, 31, kZmm},
    {kAvx512Ifma, "AVX512IFMA", &Words::leaf7_ebx, 21, kZmm},
    {kAvx512Vbmi, "AVX512VBMI", &Words::leaf7_ecx, 1, kZmm},
    {kAvx512Vbmi2, "AVX512VBMI2", &Words::leaf7_ecx, 6, kZmm},
    {kAvx512Vnni, "AVX512VNNI", &Words::leaf7_ecx, 11, kZmm},
    {kAvx512Bitalg, "AVX512BITALG", &Words::leaf7_ecx, 12, kZmm},
    {kAvx512Vpopcntdq, "AVX512VPOPCNTDQ", &Words::leaf7_ecx, 14, kZmm},
    {kGfni, "GFNI", &Words::leaf7_ecx, 8, 0},
};

// Behind what `line` has already, `length` bytes of `size`.
void append(const char* text, char* line, unsigned& length, unsigned size) {
  while (*text != '\0' && length + 1 < size) line[length++] = *text++;
  line[length] = '\0';
}

}  // namespace

Words cpuid_words() {
  Words words{0, 0, 0, 0, 0};
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) words.leaf1_ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    words.leaf7_ebx = ebx;
    words.leaf7_ecx = ecx;
  }
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0) words.extended_ecx = ecx;
  if ((words.leaf1_ecx & bit_OSXSAVE) != 0) {
    unsigned upper = 0;
    __asm__("xgetbv" : "=a"(words.xcr0), "=d"(upper) : "c"(0));
  }
#endif
  return words;
}

unsigned features(const Words& words) {
  unsigned found = 0;
  for (const Place& p : kPlaces) {
    const bool kept = (words.xcr0 & p.registers) == p.registers;
    if (kept && (words.*p.word >> p.bit & 1U) != 0) found |= p.feature;
  }
  return found;
}

void explain(unsigned missing, char* line, unsigned size) {
  unsigned length = 0;
  append("this processor lacks ", line, length, size);
  const char* between = "";
  for (const Place& p : kPlaces) {
    if ((missing & p.feature) == 0) continue;
    append(between, line, length, size);
    append(p.name, line, length, size);
    between = ", ";
  }
  append(", which Sarrus is built for here (" SARRUS_MARCH_NAME
         "); build it with cmake -DSARRUS_MARCH=x86-64, for every x86-64 processor",
         line, length, size);
}

}  // namespace cpu

const char* check_cpu() {
#if defined(__x86_64__)
  const unsigned missing = cpu::kBuiltFor & ~cpu::features(cpu::cpuid_words());
  if (missing == 0) return nullptr;
  static thread_local char line[400];
  cpu::explain(missing, line, sizeof line);
  return line;
#else
  return nullptr;
#endif
}

}  // namespace sarrus
