# What a processor must have for our objects, told by the compiler for SARRUS_MARCH: SARRUS_CPU_FEATURES as
# __builtin_cpu_supports() names it, SARRUS_CPU_FLAGS as /proc/cpuinfo does.
set(SARRUS_CPU_FEATURES)
set(SARRUS_CPU_FLAGS)
if(SARRUS_MARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  file(WRITE ${PROJECT_BINARY_DIR}/empty.c "")
  execute_process(COMMAND ${CMAKE_C_COMPILER} -march=${SARRUS_MARCH} -dM -E ${PROJECT_BINARY_DIR}/empty.c
                  OUTPUT_VARIABLE macros ERROR_QUIET)
  foreach(pair AVX2:avx2:avx2 FMA:fma:fma BMI:bmi:bmi1 BMI2:bmi2:bmi2 AVX512F:avx512f:avx512f AVX512VL:avx512vl:avx512vl
               AVX512BW:avx512bw:avx512bw AVX512DQ:avx512dq:avx512dq)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 macro)
    if(macros MATCHES "#define __${macro}__ 1")
      list(GET pair 1 feature)
      list(GET pair 2 flag)
      list(APPEND SARRUS_CPU_FEATURES ${feature})
      list(APPEND SARRUS_CPU_FLAGS ${flag})
    endif()
  endforeach()
endif()
