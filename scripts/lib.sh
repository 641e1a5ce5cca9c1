# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the scripts share: the list of packages, installing what is missing, configuring a preset.
# Sourced, not run. Needs bash and apt and nothing else: a bare Debian 12 has no git, cmake or sudo.

TENURE_ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

# The one list. build: the command and the libraries. test: what the tests need on top of that.
# ci: a second compiler and the checkers.
# shellcheck disable=SC2034 # used by name in need()
{
packages_build=(
  g++ cmake ninja-build pkgconf
  libexpected-dev libuv1-dev libsqlite3-dev nlohmann-json3-dev libcli11-dev
)
packages_test=(libgtest-dev libgmock-dev librapidcheck-dev patch)
packages_ci=(clang libclang-rt-dev clang-format clang-tidy spin gcc)
}

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$(basename -- "$0"): $*"
  exit 1
}

# need GROUP...: installs the packages of these groups that are missing. Without any missing, no
# network and no rights are needed.
need() {
  local group name missing=()
  for group in "$@"; do
    local -n names="packages_$group"
    for name in "${names[@]}"; do
      if [[ $(dpkg-query -W -f '${db:Status-Status} ' "$name" 2>/dev/null) != *installed\ * ]]; then
        missing+=("$name")
      fi
    done
  done
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "needs these packages; install them as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -q)
  # An update that fails matters only if the install then fails too (an offline mirror, say).
  "${apt[@]}" update >&2 || say "apt-get update failed; trying with the lists that are there"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2 ||
    die "could not install: ${missing[*]}"
}

# How many jobs a build may use: every core, or TENURE_JOBS.
jobs_wanted() { printf '%s' "${TENURE_JOBS:-$(nproc)}"; }

# configure PRESET [ARGS...]: cmake --preset. A build folder that was made for another place (the
# tree was copied or moved) is of no use to anybody: its cache is dropped.
configure() {
  local preset=$1 cache home
  shift
  cache=$TENURE_ROOT/build/$preset/CMakeCache.txt
  if [[ -f $cache ]]; then
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
    if [[ $home != "$TENURE_ROOT" ]]; then
      say "build/$preset was made for $home; starting it afresh"
      rm -rf -- "$TENURE_ROOT/build/$preset"
    fi
  fi
  (cd "$TENURE_ROOT" && cmake --preset "$preset" "$@") >&2
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  (cd "$TENURE_ROOT" && cmake --build --preset "$preset" -j "$(jobs_wanted)" ${1:+--target "$@"}) >&2
}
