# Options shared by every target of ours, and one library per folder of src/sarrus.

add_library(sarrus_options INTERFACE)
target_compile_options(sarrus_options INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror)
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
if(SARRUS_SANITIZE)
  target_compile_options(sarrus_options INTERFACE -fsanitize=${SARRUS_SANITIZE} -fno-sanitize-recover=all
                                                  -fno-omit-frame-pointer)
  target_link_options(sarrus_options INTERFACE -fsanitize=${SARRUS_SANITIZE})
  if(SARRUS_SANITIZE_SKIP)
    target_compile_options(sarrus_options INTERFACE -fno-sanitize=${SARRUS_SANITIZE_SKIP})
  endif()
endif()

# sarrus_library(<folder> SOURCES ... [DEPENDS folder...] [LINK target...] [PRIVATE_LINK target...])
# DEPENDS are the only sarrus folders that this one may use: the linker keeps the arrows of
# docs/architecture.md.
function(sarrus_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LINK;PRIVATE_LINK" ${ARGN})
  set(target sarrus_${folder})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(sarrus::${folder} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${folder})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # The alignment of Eigen types (static and dynamic) is part of our ABI: users compile with other -march flags.
  target_compile_definitions(${target} PUBLIC EIGEN_MAX_ALIGN_BYTES=32 EIGEN_MAX_STATIC_ALIGN_BYTES=32)
  target_compile_features(${target} PUBLIC cxx_std_20)
  foreach(dependency IN LISTS arg_DEPENDS)
    target_link_libraries(${target} PUBLIC sarrus_${dependency})
  endforeach()
  target_link_libraries(${target} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK} $<BUILD_INTERFACE:sarrus_options>)
  # Eigen's headers are most of what a source costs to compile: they are precompiled once, in math, and once more in
  # io, which has other flags.
  if(folder MATCHES "^(math|io)$")
    target_precompile_headers(${target} PRIVATE <Eigen/Core> <Eigen/Geometry> <algorithm> <cmath> <string> <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM sarrus_math)
  endif()
  set_property(GLOBAL APPEND PROPERTY SARRUS_LIBRARIES ${target})
endfunction()
