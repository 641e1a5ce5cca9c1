#!/bin/bash
# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# install.sh CMAKE BUILD PREFIX: a fresh installation of what BUILD has built, and whether its
# headers are where they belong.
set -euo pipefail
rm -rf -- "$3"
"$1" --install "$2" --prefix "$3" >/dev/null

mapfile -t strays < <(find "$3/include" -type f ! -path "$3/include/tenure/*")
((${#strays[@]} == 0)) || {
  printf 'not in include/tenure: %s\n' "${strays[@]}"
  exit 1
}
for store in sqlite etcd; do
  header=$3/include/tenure/${store}_store.h
  library=$(find "$3" -name "libtenure_$store.*" -print -quit)
  [[ -f $header && -n $library || ! -f $header && -z $library ]] || {
    echo "the header of the $store store and its library are not there together"
    exit 1
  }
done
[[ -f $3/include/tenure/time.h && -f $3/include/tenure/testkit/manual_clock.h ]]
