# Install rules: libraries, public headers, the command, and find_package(sarrus).
include(CMakePackageConfigHelpers)

get_property(sarrus_targets GLOBAL PROPERTY SARRUS_LIBRARIES)
install(TARGETS ${sarrus_targets} sarrus_all EXPORT sarrusTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
get_property(sarrus_headers GLOBAL PROPERTY SARRUS_PUBLIC_HEADERS)
foreach(header IN LISTS sarrus_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/sarrus/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sarrus/${folder})
endforeach()
install(EXPORT sarrusTargets NAMESPACE sarrus:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sarrus)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sarrusConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/sarrusConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sarrus)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sarrusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sarrusConfig.cmake ${PROJECT_BINARY_DIR}/sarrusConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindBulletDouble.cmake ${CMAKE_CURRENT_LIST_DIR}/FindTinyXml2.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sarrus)
# Of the libraries in the viewer, which is part of libsarrus_view.
install(FILES ${PROJECT_SOURCE_DIR}/viewer/dist/LICENSES.txt DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME VIEWER-LICENSES.txt)
if(TARGET sarrus_command)
  install(TARGETS sarrus_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
