# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
include(GoogleTest)

# tenure_test(NAME folder/x_test SOURCES x_test.cc [LINK lib...] [LABELS unit|store|cli|long...]
#             [TIMEOUT seconds] [SERIAL])
#
# A GoogleTest program. NAME is the path of the test below tests/; the program is built as the
# target folder_x_test, and each of its tests is a ctest test named folder/Suite.Name.
# Without LABELS it is a unit test. SERIAL: no other test runs beside it, because real processes are
# held to real deadlines. GoogleMock's main is linked.
function(tenure_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "SERIAL" "NAME;TIMEOUT" "SOURCES;LINK;LABELS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "tenure_test: needs NAME and SOURCES, got '${ARGN}'")
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  string(REGEX REPLACE "^tests/" "" arg_NAME "${arg_NAME}")
  string(REPLACE "/" "_" target "${arg_NAME}")
  get_filename_component(folder "${arg_NAME}" DIRECTORY)

  add_executable(${target} ${arg_SOURCES})
  tenure_configure_target(${target})
  # GoogleTest's macros trip over this one.
  target_compile_options(${target} PRIVATE -Wno-null-dereference)
  target_link_libraries(${target} PRIVATE ${arg_LINK} tenure_test_support GTest::gmock_main)
  target_precompile_headers(${target} REUSE_FROM tenure_test_headers)
  gtest_discover_tests(
    ${target}
    TEST_PREFIX "${folder}/"
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} RUN_SERIAL ${arg_SERIAL})

  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    set_property(GLOBAL APPEND PROPERTY TENURE_TEST_SOURCES "${source}")
  endforeach()
endfunction()
