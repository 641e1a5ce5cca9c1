# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# How every target of this project is built. What is set here is private to our own targets:
# nothing of it reaches a consumer. Warnings become errors only by CMAKE_COMPILE_WARNING_AS_ERROR,
# which the presets set.

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TENURE_CCACHE ccache)
  if(TENURE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TENURE_CCACHE}")
  endif()
endif()

set(TENURE_WARNINGS
    -Wall
    -Wextra
    -Wpedantic
    -Wcast-align
    -Wcast-qual
    -Wconversion
    -Wsign-conversion
    -Wdouble-promotion
    -Wextra-semi
    -Wformat=2
    -Wimplicit-fallthrough
    -Wnon-virtual-dtor
    -Wnull-dereference
    -Wold-style-cast
    -Woverloaded-virtual
    -Wshadow
    -Wswitch
    -Wundef
    -Wunused)

# Our own includes are written from src/ ("core/backoff.h") or from include/ (<tenure/time.h>).
function(tenure_configure_target target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_options(${target} PRIVATE ${TENURE_WARNINGS})
endfunction()

# tenure_find(PUBLIC|PRIVATE PACKAGE [VERSION] [PKGCONFIG name...])
#
# A package that our libraries link, which must be there. Whoever links us from an installed tree
# must find it too: always if PUBLIC, and for static libraries also if PRIVATE. PKGCONFIG names the
# same thing for pkg-config, if it has a name there. (Tests, benchmarks and the command use plain
# find_package: nobody links them.)
macro(tenure_find kind package)
  cmake_parse_arguments(tenure_find "" "" "PKGCONFIG" ${ARGN})
  find_package(${package} ${tenure_find_UNPARSED_ARGUMENTS} REQUIRED)
  if("${kind}" STREQUAL "PUBLIC" OR NOT BUILD_SHARED_LIBS)
    set_property(GLOBAL APPEND PROPERTY TENURE_DEPENDENCIES ${package})
  endif()
  set_property(GLOBAL APPEND PROPERTY TENURE_PC_REQUIRES ${tenure_find_PKGCONFIG})
endmacro()

# tenure_library(TARGET EXPORT NAME [PART] SOURCES file... [INCLUDE folder] [PUBLIC lib...]
#                [PRIVATE lib...])
#
# A library of the project: build flags, the alias tenure::NAME, the public headers, and its place
# in the export set. SOURCES are relative to the calling folder. INCLUDE is where its public headers
# are, include/ of the project if it is not given. A PART has an export set of its
# own, so that only who asks for it needs its dependencies: its property TENURE_FIND lists the
# packages to find.
function(tenure_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PART" "EXPORT;INCLUDE" "SOURCES;PUBLIC;PRIVATE")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_EXPORT OR NOT arg_SOURCES)
    message(FATAL_ERROR "tenure_library(${target}): needs EXPORT and SOURCES, got '${ARGN}'")
  endif()
  if(NOT arg_INCLUDE)
    set(arg_INCLUDE "${PROJECT_SOURCE_DIR}/include")
  endif()
  cmake_path(ABSOLUTE_PATH arg_INCLUDE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  add_library(${target} ${arg_SOURCES})
  add_library(tenure::${arg_EXPORT} ALIAS ${target})
  tenure_configure_target(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(
    ${target} PUBLIC "$<BUILD_INTERFACE:${arg_INCLUDE}>"
                     "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(
    ${target}
    PUBLIC ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE})
  set_target_properties(
    ${target}
    PROPERTIES EXPORT_NAME ${arg_EXPORT}
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
               # Shared libraries of ours find each other wherever they are installed.
               INSTALL_RPATH "$ORIGIN")
  if(arg_PART)
    set_property(GLOBAL APPEND PROPERTY TENURE_PARTS ${target})
  else()
    set_property(GLOBAL APPEND PROPERTY TENURE_LIBRARIES ${target})
  endif()
  set_property(GLOBAL APPEND PROPERTY TENURE_HEADER_FOLDERS "${arg_INCLUDE}")
endfunction()
