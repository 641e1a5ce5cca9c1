#!/bin/bash
# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER VERSION: builds the programs in FOLDER with what pkg-config says, and runs them.
# PKG_CONFIG_PATH and LD_LIBRARY_PATH say where tenure is installed, CXX and CXXFLAGS are used.
set -euo pipefail
folder=${1:?folder} version=${2:?version}
sources=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

[[ $(pkg-config --modversion tenure) == "$version" ]]
mkdir -p "$folder"
cd "$folder"

# shellcheck disable=SC2046,SC2086 # flags are words
"${CXX:?}" -std=c++20 ${CXXFLAGS:-} "-DEXPECTED_VERSION=\"$version\"" "$sources/uses_library.cc" \
  -o uses_library $(pkg-config --cflags --libs tenure)
./uses_library memory:pkg

# shellcheck disable=SC2046,SC2086 # flags are words
"$CXX" -std=c++20 ${CXXFLAGS:-} "$sources/uses_testkit.cc" \
  -o uses_testkit $(pkg-config --cflags --libs tenure-testkit)
./uses_testkit
