# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# gRPC's own CMake files ask for the development packages of everything it is made of; a program
# that links its shared libraries needs none of those. Gives Grpcpp::grpcpp.
find_path(Grpcpp_INCLUDE_DIR grpcpp/grpcpp.h)
find_library(Grpcpp_LIBRARY grpc++)
find_library(Grpcpp_CORE_LIBRARY grpc)
find_library(Grpcpp_GPR_LIBRARY gpr)
# What gRPC's headers use inline.
find_library(Grpcpp_ABSL_LIBRARY absl_synchronization)
if(Grpcpp_INCLUDE_DIR AND EXISTS "${Grpcpp_INCLUDE_DIR}/grpcpp/version_info.h")
  file(STRINGS "${Grpcpp_INCLUDE_DIR}/grpcpp/version_info.h" line REGEX "GRPC_CPP_VERSION_STRING \"")
  string(REGEX REPLACE ".*\"([0-9.]+).*" "\\1" Grpcpp_VERSION "${line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Grpcpp
  REQUIRED_VARS Grpcpp_LIBRARY Grpcpp_CORE_LIBRARY Grpcpp_GPR_LIBRARY Grpcpp_ABSL_LIBRARY
                Grpcpp_INCLUDE_DIR
  VERSION_VAR Grpcpp_VERSION)
mark_as_advanced(Grpcpp_INCLUDE_DIR Grpcpp_LIBRARY Grpcpp_CORE_LIBRARY Grpcpp_GPR_LIBRARY
                 Grpcpp_ABSL_LIBRARY)

if(Grpcpp_FOUND AND NOT TARGET Grpcpp::grpcpp)
  add_library(Grpcpp::grpcpp UNKNOWN IMPORTED)
  set_target_properties(
    Grpcpp::grpcpp
    PROPERTIES IMPORTED_LOCATION "${Grpcpp_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES "${Grpcpp_INCLUDE_DIR}"
               INTERFACE_LINK_LIBRARIES
               "${Grpcpp_CORE_LIBRARY};${Grpcpp_GPR_LIBRARY};${Grpcpp_ABSL_LIBRARY}")
endif()
