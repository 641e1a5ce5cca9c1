# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# Debian's libuv comes without CMake files. Gives libuv::uv, as upstream's own package does.
find_path(Libuv_INCLUDE_DIR uv.h)
find_library(Libuv_LIBRARY uv)
if(Libuv_INCLUDE_DIR AND EXISTS "${Libuv_INCLUDE_DIR}/uv/version.h")
  file(STRINGS "${Libuv_INCLUDE_DIR}/uv/version.h" lines REGEX "define UV_VERSION_(MAJOR|MINOR|PATCH)")
  string(REGEX REPLACE "[^0-9;]" "" lines "${lines}")
  string(REPLACE ";" "." Libuv_VERSION "${lines}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Libuv
  REQUIRED_VARS Libuv_LIBRARY Libuv_INCLUDE_DIR
  VERSION_VAR Libuv_VERSION)
mark_as_advanced(Libuv_INCLUDE_DIR Libuv_LIBRARY)

if(Libuv_FOUND AND NOT TARGET libuv::uv)
  add_library(libuv::uv UNKNOWN IMPORTED)
  set_target_properties(libuv::uv PROPERTIES IMPORTED_LOCATION "${Libuv_LIBRARY}"
                                             INTERFACE_INCLUDE_DIRECTORIES "${Libuv_INCLUDE_DIR}")
endif()
