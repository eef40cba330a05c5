# Installs the build to a scratch prefix and builds, links and runs a consumer against it with find_package(sarrus).
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix ${WORK_DIR}/prefix)
set(consumer ${WORK_DIR}/consumer)
file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
# No -march flag here: the installed headers must not depend on ours.
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${consumer} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release
    -DSARRUS_INCLUDE_DIR=${prefix}/include)
run(${CMAKE_COMMAND} --build ${consumer} --parallel 2)
run(${consumer}/consumer)
if(NOT output MATCHES "pendulum swings")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
run(${prefix}/bin/sarrus --version)
