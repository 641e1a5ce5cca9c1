# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# Install rules: every library of the project, the headers, and what find_package(tenure) and
# pkg-config read. Included last, when all targets are known.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY TENURE_LIBRARIES)
get_property(header_folders GLOBAL PROPERTY TENURE_HEADER_FOLDERS)
get_property(dependencies GLOBAL PROPERTY TENURE_DEPENDENCIES)
get_property(pc_requires GLOBAL PROPERTY TENURE_PC_REQUIRES)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tenure")

install(TARGETS ${libraries} EXPORT tenure-targets)
list(REMOVE_DUPLICATES header_folders)
# Not the headers of stores that are switched off: what they declare is not there to be linked.
set(left_out "")
foreach(store IN ITEMS sqlite etcd)
  string(TOUPPER ${store} option)
  if(NOT TENURE_STORE_${option})
    list(APPEND left_out PATTERN "${store}_store.h" EXCLUDE)
  endif()
endforeach()
foreach(folder IN LISTS header_folders)
  install(
    DIRECTORY "${folder}/"
    TYPE INCLUDE
    FILES_MATCHING
    PATTERN "*.h" ${left_out})
endforeach()
install(
  EXPORT tenure-targets
  NAMESPACE tenure::
  DESTINATION "${package_folder}")

# Parts: each with an export set of its own. What is found for it is what it links.
get_property(parts GLOBAL PROPERTY TENURE_PARTS)
set(TENURE_PART_DEPENDENCIES "")
foreach(part IN LISTS parts)
  get_target_property(name ${part} EXPORT_NAME)
  install(TARGETS ${part} EXPORT tenure-${name}-targets)
  install(
    EXPORT tenure-${name}-targets
    NAMESPACE tenure::
    DESTINATION "${package_folder}")
  if(NOT BUILD_SHARED_LIBS)
    get_target_property(packages ${part} TENURE_FIND)
    string(APPEND TENURE_PART_DEPENDENCIES "set(tenure_${name}_packages ${packages})\n")
  endif()
endforeach()

# What the package must find for its user: with shared libraries only what public headers need.
set(TENURE_FIND_DEPENDENCIES "")
foreach(dependency IN LISTS dependencies)
  string(APPEND TENURE_FIND_DEPENDENCIES "find_dependency(${dependency})\n")
endforeach()
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/tenure-config.cmake.in" "${PROJECT_BINARY_DIR}/tenure-config.cmake"
  INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/tenure-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/tenure-config.cmake"
        "${PROJECT_BINARY_DIR}/tenure-config-version.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindGrpcpp.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindLibuv.cmake"
  DESTINATION "${package_folder}")

# pkg-config: a static archive does not know what it needs, so what a shared library keeps to
# itself is public there. Archives are named from the one that uses to the one that is used.
set(pc_libraries tenure)
if(NOT BUILD_SHARED_LIBS)
  foreach(library IN LISTS libraries)
    if(NOT library MATCHES "^(tenure|tenure_core|tenure_testkit)$")
      list(APPEND pc_libraries ${library})
    endif()
  endforeach()
endif()
list(APPEND pc_libraries tenure_core)
list(TRANSFORM pc_libraries PREPEND "-l")
list(JOIN pc_libraries " " TENURE_PC_LIBS)
list(JOIN pc_requires " " TENURE_PC_REQUIRES)
if(BUILD_SHARED_LIBS)
  set(TENURE_PC_REQUIRES_KIND "Requires.private")
else()
  set(TENURE_PC_REQUIRES_KIND "Requires")
endif()
# The prefix is told from where the file lies, so an installation may be moved.
set(pc_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH TENURE_PC_PREFIX "/prefix/${pc_folder}" "/prefix")
set(pc_files tenure.pc)
if(TENURE_BUILD_TESTKIT)
  list(APPEND pc_files tenure-testkit.pc)
endif()
foreach(pc IN LISTS pc_files)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${pc}.in" "${PROJECT_BINARY_DIR}/${pc}" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${pc}" DESTINATION "${pc_folder}")
endforeach()

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/NOTICE" TYPE DOC)
