# Install rules: libraries, public headers, the command, and find_package(sarrus). Components: command, development (and
# python, of python/).
include(CMakePackageConfigHelpers)

# FILE.gz beside FILE, with the same bytes for the same file.
function(sarrus_gzip file)
  execute_process(COMMAND gzip -9nc ${file} OUTPUT_FILE ${file}.gz COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sarrus)
get_property(sarrus_targets GLOBAL PROPERTY SARRUS_LIBRARIES)
install(TARGETS ${sarrus_targets} sarrus_all EXPORT sarrusTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
get_property(sarrus_headers GLOBAL PROPERTY SARRUS_PUBLIC_HEADERS)
foreach(header IN LISTS sarrus_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/sarrus/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sarrus/${folder}
          COMPONENT development)
endforeach()
install(EXPORT sarrusTargets NAMESPACE sarrus:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sarrusConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/sarrusConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sarrusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sarrusConfig.cmake ${PROJECT_BINARY_DIR}/sarrusConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindBulletDouble.cmake ${CMAKE_CURRENT_LIST_DIR}/FindTinyXml2.cmake
        DESTINATION ${package_dir} COMPONENT development)
# Of the libraries in the viewer, which is part of libsarrus_view.
install(FILES ${PROJECT_SOURCE_DIR}/viewer/dist/LICENSES.txt DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME VIEWER-LICENSES.txt
        COMPONENT development)
if(TARGET sarrus_command)
  install(TARGETS sarrus_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/sarrus.1.in ${PROJECT_BINARY_DIR}/packaging/sarrus.1 @ONLY)
  sarrus_gzip(${PROJECT_BINARY_DIR}/packaging/sarrus.1)
  install(FILES ${PROJECT_BINARY_DIR}/packaging/sarrus.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
endif()
