// Compiled with the options of all other sources, and tells what they let the compiler use. A constant, no code.
#include "sarrus/math/cpu_features.h"

namespace sarrus::cpu {

constinit const unsigned kBuiltFor = 0
#ifdef __SSE3__
                                     | kSse3
#endif
#ifdef __SSSE3__
                                     | kSsse3
#endif
#ifdef __SSE4_1__
                                     | kSse41
#endif
#ifdef __SSE4_2__
                                     | kSse42
#endif
#ifdef __POPCNT__
                                     | kPopcnt
#endif
#ifdef __LZCNT__
                                     | kLzcnt
#endif
#ifdef __MOVBE__
                                     | kMovbe
#endif
#ifdef __BMI__
                                     | kBmi1
#endif
#ifdef __BMI2__
                                     | kBmi2
#endif
#ifdef __F16C__
                                     | kF16c
#endif
#ifdef __FMA__
                                     | kFma
#endif
#ifdef __AVX__
                                     | kAvx
#endif
#ifdef __AVX2__
                                     | kAvx2
#endif
#ifdef __AVX512F__
                                     | kAvx512F
#endif
#ifdef __AVX512CD__
                                     | kAvx512Cd
#endif
#ifdef __AVX512DQ__
                                     | kAvx512Dq
#endif
#ifdef __AVX512BW__
                                     | kAvx512Bw
#endif
#ifdef __AVX512VL__
                                     | kAvx512Vl
#endif
#ifdef __AVX512IFMA__
                                     | kAvx512Ifma
#endif
#ifdef __AVX512VBMI__
                                     | kAvx512Vbmi
#endif
#ifdef __AVX512VBMI2__
                                     | kAvx512Vbmi2
#endif
#ifdef __AVX512VNNI__
                                     | kAvx512Vnni
#endif
#ifdef __AVX512BITALG__
                                     | kAvx512Bitalg
#endif
#ifdef __AVX512VPOPCNTDQ__
                                     | kAvx512Vpopcntdq
#endif
#ifdef __GFNI__
                                     | kGfni
#endif
    ;

}  // namespace sarrus::cpu
