# Options shared by every target of ours, and one library per folder of src/sarrus.

# The alignment of Eigen types (static and dynamic) is part of our ABI: users compile with other -march flags.
set(SARRUS_ABI EIGEN_MAX_ALIGN_BYTES=32 EIGEN_MAX_STATIC_ALIGN_BYTES=32)

add_library(sarrus_options INTERFACE)
target_compile_options(sarrus_options INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror)
# Nobody reads errno after std::sqrt, and nobody replaces our functions by others of the same name at load time: without
# these the first is a call, and position-independent code (which the libraries are, for shared objects of users) inlines
# no function that is visible outside of its source.
target_compile_options(sarrus_options INTERFACE -fno-math-errno -fno-semantic-interposition)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(sarrus_options INTERFACE -Wno-sign-conversion -Wno-shadow)  # say more than those of GCC
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports std::string concatenation as overlapping or overlong memcpy at -O3 (its bugs 105651, 105329).
  target_compile_options(sarrus_options INTERFACE -Wno-restrict -Wno-stringop-overflow)
  if(SARRUS_MARCH STREQUAL "native")
    # Its AVX-512 intrinsics read "uninitialised" variables on purpose (bug 105593).
    target_compile_options(sarrus_options INTERFACE -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
endif()
if(SARRUS_MARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" OR SARRUS_MARCH STREQUAL "native")
  target_compile_options(sarrus_options INTERFACE -march=${SARRUS_MARCH})
endif()
# For sources that run before the processor is known to have what the others are compiled for (math/cpu.h).
function(sarrus_for_every_cpu)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-march=x86-64;-mtune=generic")
  endif()
endfunction()
set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
if(SARRUS_SANITIZE)
  target_compile_options(sarrus_options INTERFACE ${sanitize})
  target_link_options(sarrus_options INTERFACE ${sanitize})
endif()
# For libFuzzer (fuzz/CMakeLists.txt). What reads no file is watched for memory errors alone: it is most of what there is to
# compile and to run, and its branches would draw the fuzzer away from those of the readers.
option(SARRUS_FUZZ "Build for libFuzzer, with clang" OFF)
if(SARRUS_FUZZ)
  target_compile_options(sarrus_options INTERFACE -fsanitize=address -fno-omit-frame-pointer)
  target_link_options(sarrus_options INTERFACE -fsanitize=address,undefined)
endif()

# What runs in no step (scenes, files, reports, the command, tests) is more than half of the sources. The presets compile
# it with less optimisation; a packager's own flags reach every file.
set(SARRUS_COLD_OPTIONS "" CACHE STRING "Compiler options added for what runs in no step, for example -O1")
# Most of the time of a compilation goes into the same templates of Eigen, in every source again. The presets compile
# up to twelve sources of a folder as one, which halves it; `make sanitize` compiles each alone, without precompiled
# headers, and so finds a missing include.
option(SARRUS_UNITY "Compile several sources of a folder as one" OFF)
foreach(kind hot_options cold_options)
  add_library(sarrus_${kind} INTERFACE)
  target_link_libraries(sarrus_${kind} INTERFACE sarrus_options)
endforeach()
target_compile_options(sarrus_cold_options INTERFACE ${SARRUS_COLD_OPTIONS})
if(SARRUS_FUZZ)
  target_compile_options(sarrus_cold_options INTERFACE -fsanitize=fuzzer-no-link,undefined -fno-sanitize-recover=all)
endif()
if(SARRUS_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The heap in kB at which GCC begins to collect its garbage: a tenth of the time goes there otherwise.
  target_compile_options(sarrus_options INTERFACE --param=ggc-min-heapsize=500000)
  # GCC inlines less where a source is long; what is many sources shall be optimised as they are alone.
  target_compile_options(sarrus_hot_options INTERFACE --param=large-unit-insns=100000)
endif()

# With SARRUS_SANITIZED_TESTS every library has a twin under the sanitizers, which the tests run with, too. Assertions are
# on in it. Without those checks of each pointer that are two thirds of the code and of the time to compile it; what they find
# is mostly found by the address sanitizer and Eigen's assertions, too, and SARRUS_SANITIZE has them. Warnings are those of the
# libraries themselves.
foreach(kind sanitized_hot_options sanitized_cold_options)
  add_library(sarrus_${kind} INTERFACE)
  target_link_libraries(sarrus_${kind} INTERFACE sarrus_options)
  target_compile_options(sarrus_${kind} INTERFACE -UNDEBUG -w ${sanitize}
                         -fno-sanitize=null,alignment,object-size,vptr)
  target_link_options(sarrus_${kind} INTERFACE ${sanitize})
endforeach()
target_compile_options(sarrus_sanitized_hot_options INTERFACE -O1)
target_compile_options(sarrus_sanitized_cold_options INTERFACE -O0)

# Headers are most of what a source costs to compile: precompiled once for each kind of flags. Executables have others
# again: -fPIE.
set(SARRUS_PRECOMPILED <Eigen/Core> <Eigen/Geometry> <fmt/format.h> <algorithm> <cmath> <functional> <string> <vector>)
set(kinds hot_options cold_options)
if(SARRUS_SANITIZED_TESTS)
  list(APPEND kinds sanitized_hot_options sanitized_cold_options)
endif()
foreach(kind IN LISTS kinds)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp CONTENT "// Carries the precompiled headers.\n")
  add_library(sarrus_precompiled_${kind} OBJECT ${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp)
  target_compile_definitions(sarrus_precompiled_${kind} PRIVATE ${SARRUS_ABI})
  target_link_libraries(sarrus_precompiled_${kind} PRIVATE sarrus_${kind} Eigen3::Eigen fmt::fmt)
  target_precompile_headers(sarrus_precompiled_${kind} PRIVATE ${SARRUS_PRECOMPILED})
  if(kind MATCHES cold)
    target_link_libraries(sarrus_precompiled_${kind} PRIVATE nlohmann_json::nlohmann_json)
    target_precompile_headers(sarrus_precompiled_${kind} PRIVATE <nlohmann/json.hpp>)
  endif()
endforeach()

# sarrus_library(<folder> [COLD] [INTERNAL] SOURCES ... [PUBLIC_HEADERS ...] [DEPENDS folder...] [LINK target...]
#                [PRIVATE_LINK target...])
# DEPENDS are the only sarrus folders that this one may use (docs/architecture.md); tests/architecture checks it. COLD:
# nothing of it runs in a step. INTERNAL: it is not installed; of the others only PUBLIC_HEADERS are.
function(sarrus_library folder)
  cmake_parse_arguments(arg "COLD;INTERNAL" "" "SOURCES;PUBLIC_HEADERS;DEPENDS;LINK;PRIVATE_LINK" ${ARGN})
  set(target sarrus_${folder})
  set(kind hot_options)
  if(arg_COLD OR (SARRUS_FUZZ AND folder MATCHES "^(geometry|step)$"))  # meshes and snapshots are read there
    set(kind cold_options)
  endif()
  sarrus_build(${target} "" ${kind})
  if(SARRUS_SANITIZED_TESTS)
    sarrus_build(${target}_sanitized _sanitized sanitized_${kind})
  endif()
  add_library(sarrus::${folder} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${folder})
  if(NOT arg_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY SARRUS_LIBRARIES ${target})
    list(TRANSFORM arg_PUBLIC_HEADERS PREPEND ${folder}/ OUTPUT_VARIABLE headers)
    set_property(GLOBAL APPEND PROPERTY SARRUS_PUBLIC_HEADERS ${headers})
  endif()
  list(JOIN arg_SOURCES " " sources)
  list(JOIN arg_DEPENDS " " depends)
  string(JOIN " " links ${arg_LINK} ${arg_PRIVATE_LINK})
  set_property(GLOBAL APPEND_STRING PROPERTY SARRUS_FOLDERS "${folder} | ${sources} | ${depends} | ${links}\n")
endfunction()

# One library of the sources and links of sarrus_library; `suffix` is that of the folders it depends on.
macro(sarrus_build target suffix kind)
  # Whoever changes a solver waits for its batch: smaller ones where optimising takes the time.
  set(batch 12)
  if("${kind}" STREQUAL "hot_options")
    set(batch 7)
  endif()
  add_library(${target} STATIC ${arg_SOURCES})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_definitions(${target} PUBLIC ${SARRUS_ABI})
  target_compile_features(${target} PUBLIC cxx_std_20)
  foreach(dependency IN LISTS arg_DEPENDS)
    target_link_libraries(${target} PUBLIC sarrus_${dependency}${suffix})
  endforeach()
  target_link_libraries(${target} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK} fmt::fmt
                                                             $<BUILD_INTERFACE:sarrus_${kind}>)
  target_precompile_headers(${target} REUSE_FROM sarrus_precompiled_${kind})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SARRUS_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endmacro()
