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

# tenure_library(TARGET EXPORT NAME SOURCES file... [PUBLIC lib...] [PRIVATE lib...])
#
# A library of the project: build flags, the alias tenure::NAME, the public include folder, and its
# place in the export set. SOURCES are relative to the calling folder.
function(tenure_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPORT" "SOURCES;PUBLIC;PRIVATE")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_EXPORT OR NOT arg_SOURCES)
    message(FATAL_ERROR "tenure_library(${target}): needs EXPORT and SOURCES, got '${ARGN}'")
  endif()
  add_library(${target} ${arg_SOURCES})
  add_library(tenure::${arg_EXPORT} ALIAS ${target})
  tenure_configure_target(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(
    ${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                     "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(
    ${target}
    PUBLIC ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE})
  set_target_properties(
    ${target}
    PROPERTIES EXPORT_NAME ${arg_EXPORT}
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set_property(GLOBAL APPEND PROPERTY TENURE_LIBRARIES ${target})
endfunction()
