# Debian packages by CPack (make deb, docs/install.md): sarrus, libsarrus-dev and, with SARRUS_BUILD_PYTHON, python3-sarrus.
# The version is that of project(); what the programs need of shared libraries is found by dpkg-shlibdeps.
set(SARRUS_PACKAGER "Sarrus maintainers <maintainers@sarrus.invalid>" CACHE STRING "Maintainer field of the Debian packages")

set(components command development)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME sarrus)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "simulator for rigid mechanisms with loops and contact
Simulates linkages, parallel legs and other mechanisms with closed
kinematic loops, joint limits and hard frictional contact, from scene
files in JSON or robots in MJCF, URDF and SDF. Writes recordings, tables,
pictures and pages for the browser, and shows live simulations there.
.
This package has the command. It needs a processor with AVX2 unless it
was built otherwise, and says so.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsarrus-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "simulator for rigid mechanisms, static libraries and headers
A C++20 library for linkages, parallel legs and other mechanisms with
closed kinematic loops, joint limits and hard frictional contact.
.
This package has the headers, the static libraries, the files for
find_package(sarrus) of CMake, and the documentation.")
# What sarrusConfig.cmake finds. The static libraries hold names of this fmt and sizes of this Bullet, which change with the
# major version of the one and with any of the other.
string(REGEX MATCH "^[0-9]+" fmt_major "${fmt_VERSION}")
math(EXPR fmt_next "${fmt_major} + 1")
set(needed libeigen3-dev "libfmt-dev (>= ${fmt_major})" "libfmt-dev (<< ${fmt_next})" nlohmann-json3-dev libhdf5-dev zlib1g-dev
           libqhull-dev libtinyxml2-dev libbullet-dev libtbb-dev)
if(sdformat12_FOUND)
  list(APPEND needed libsdformat-dev)
endif()
list(JOIN needed ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake, g++")

if(SARRUS_BUILD_PYTHON)
  list(APPEND components python)
  find_package(Python REQUIRED COMPONENTS Interpreter)  # that of python/, whose variables are not seen here
  math(EXPR minor_next "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-sarrus)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  # The module is for one version of the interpreter.
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), \
python3 (<< ${Python_VERSION_MAJOR}.${minor_next}), python3-numpy (>= 1:1.24)")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/python3-sarrus/postinst"
                                                "${PROJECT_SOURCE_DIR}/packaging/python3-sarrus/prerm")
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION "simulator for rigid mechanisms, package for Python
Simulations of linkages, parallel legs and other mechanisms with closed
kinematic loops, joint limits and hard frictional contact, with NumPy
arrays that are the state; batches of many worlds on all cores, and
environments for learning.
.
This package has the module sarrus for Python 3.")
endif()

# For the packages alone: what Debian wants in /usr/share/doc, by the same date for the same commit.
set(packaging ${PROJECT_BINARY_DIR}/packaging)
file(READ ${PROJECT_SOURCE_DIR}/viewer/dist/LICENSES.txt viewer_licences)
set(nanobind_licence "")
if(SARRUS_BUILD_PYTHON)
  file(GLOB nanobind_file ${nanobind_DIR}/../../nanobind-*.dist-info/licenses/LICENSE)
  if(nanobind_file)
    list(GET nanobind_file 0 nanobind_file)
    file(READ ${nanobind_file} nanobind_licence)
  endif()
  set(nanobind_licence "---\n\nnanobind, in the Python module\n\n${nanobind_licence}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/packaging/copyright.in ${packaging}/copyright @ONLY)
string(TIMESTAMP changelog_date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH where it is set
configure_file(${PROJECT_SOURCE_DIR}/packaging/changelog.in ${packaging}/changelog @ONLY)
sarrus_gzip(${packaging}/changelog)
foreach(component IN LISTS components)
  string(TOUPPER ${component} COMPONENT)
  set(doc share/doc/${CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME})
  install(FILES ${packaging}/copyright ${packaging}/changelog.gz DESTINATION ${doc} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
if(SARRUS_BUILD_PYTHON)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/python3-sarrus/lintian-overrides DESTINATION share/lintian/overrides
          RENAME python3-sarrus COMPONENT python EXCLUDE_FROM_ALL)
endif()
set(doc share/doc/libsarrus-dev)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${doc} COMPONENT development
        EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${doc} COMPONENT development EXCLUDE_FROM_ALL
        PATTERN "*.html" EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_COMPONENTS_GROUPING IGNORE)  # a package for each
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${SARRUS_PACKAGER}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
