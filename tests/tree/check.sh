#!/bin/bash
# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# check.sh RULE ROOT: the rules of the tree that no compiler holds. Prints what breaks the rule as
# FILE:LINE: WHY; the exit status is 0 only if nothing does. Needs bash, awk and grep; what else a
# rule needs comes by environment (tests/tree/CMakeLists.txt).
# shellcheck disable=SC2317 # the rules are called by name
set -uo pipefail
export LC_ALL=C

rule=${1:?rule} root=${2:?root}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
cd -- "$root" || exit 2

# files NAME-PATTERN... -- FOLDER...: regular files, sorted, of the folders that are there.
files() {
  local names=() folder
  while [[ $1 != -- ]]; do
    names+=(-o -name "$1")
    shift
  done
  shift
  for folder in "$@"; do
    [[ -e $folder ]] || continue
    find "$folder" \( -path ./build -o -path ./.git -o -path ./.cache \) -prune -o \
      -type f \( "${names[@]:1}" \) -print
  done | sed 's|^\./||' | sort
}

cpp_files() { files '*.cc' '*.h' -- "$@"; }
code_folders=(include src testkit tests bench examples sim fuzz tools)

# Each rule prints what breaks it.

# Two lines at the head of each source file, after "#!" if there is one.
rule_spdx() {
  local list
  mapfile -t list < <(files '*.cc' '*.h' '*.cmake' '*.cmake.in' 'CMakeLists.txt' '*.sh' '*.awk' \
    '.clang-*' -- . | cat - <(files '*' -- scripts .ci) | sort -u)
  awk '
    FNR == 1 { wanted = 1 }
    FNR == 1 && /^#!/ { next }
    wanted == 1 && !/^(\/\/|#) Copyright [0-9]+ The tenure authors$/ { bad() }
    wanted == 2 && !/^(\/\/|#) SPDX-License-Identifier: Apache-2.0$/ { bad() }
    wanted { wanted = wanted == 1 ? 2 : 0 }
    function bad() { print FILENAME ":1: no licence header"; wanted = 0 }' "${list[@]}"
}

rule_lengths() {
  local list
  mapfile -t list < <(cpp_files "${code_folders[@]}")
  awk -v most_file=400 -v most_header=250 '
    function check() {
      most = file ~ /^(include|testkit\/include)\// ? most_header : most_file
      if (lines > most) printf "%s:%d: %d lines, at most %d\n", file, most, lines, most
    }
    FNR == 1 { check(); file = FILENAME }
    { lines = FNR }
    END { check() }' "${list[@]}"
  awk -v most=70 -f "$here/functions.awk" "${list[@]}"
}

# Files may grow to 300 lines; those that are longer already are listed with their length, and may
# only become shorter.
rule_growth() {
  local list
  mapfile -t list < <(cpp_files "${code_folders[@]}")
  awk -v most=300 -v listed="$here/long_files.txt" '
    BEGIN {
      while ((getline line < listed) > 0) {
        if (line ~ /^#/) continue
        split(line, word, " ")
        allowed[word[1]] = word[2]
      }
    }
    function check() {
      if (file == "") return
      limit = file in allowed ? allowed[file] : most
      if (lines > limit) printf "%s:%d: %d lines, at most %d; split it\n", file, limit, lines, limit
      if (file in allowed && lines <= most) printf "%s:1: short by now: take it out of %s\n", file, listed
    }
    FNR == 1 { check(); file = FILENAME }
    { lines = FNR }
    END { check() }' "${list[@]}"
}

# The core checks itself: 30 checks for 1,000 lines.
rule_checks() {
  local list
  [[ -d src/core ]] || return 0
  mapfile -t list < <(cpp_files src/core)
  awk '
    !/^#define/ && FILENAME !~ /\/check\.h$/ { checks += gsub(/TENURE_CHECK\(/, "") }
    END {
      if (checks < int(30 * NR / 1000))
        printf "src/core:1: %d checks in %d lines, at least 30 for 1,000\n", checks, NR
    }' "${list[@]}"
}

# Every machine of the core has a test of its own.
rule_twins() {
  files '*.cc' -- src/core | while IFS= read -r file; do
    local twin=tests/${file#src/}
    twin=${twin%.cc}_test.cc
    [[ -f $twin ]] || echo "$file:1: has no test $twin"
  done
}

# Every test file is built. REGISTERED lists what CMake builds; folders of features that are
# switched off are in SWITCHED_OFF.
rule_registered() {
  local file folder
  files '*_test.cc' -- "${code_folders[@]}" | while IFS= read -r file; do
    for folder in ${SWITCHED_OFF:-}; do
      [[ $file == "$folder"/* ]] && continue 2
    done
    grep -qxF -- "$PWD/$file" "${REGISTERED:?}" ||
      echo "$file:1: is in no CMakeLists.txt: nothing runs it"
  done
}

# includes ALLOWED-REGEX FILE...: the includes that do not match.
bad_includes() {
  local allowed=$1
  shift
  (($#)) || return 0
  awk -v allowed="$allowed" '
    /^ *# *include/ {
      name = $0
      sub(/^ *# *include */, "", name)
      sub(/ *\/\/.*/, "", name)
      if (name !~ allowed) printf "%s:%d: may not include %s\n", FILENAME, FNR, name
    }' "$@"
}

# Who may know whom (docs and HACKING: layers). Standard headers have no dot and no slash.
rule_includes() {
  local std='<[a-z_0-9]+>' own='<tenure\/[a-z_0-9]+[.]h>' expected='<tl\/expected[.]hpp>' list
  mapfile -t list < <(cpp_files include)
  bad_includes "^($std|$own|$expected)\$" "${list[@]}"
  mapfile -t list < <(cpp_files testkit/include)
  bad_includes "^($std|$own|$expected|<tenure\/testkit\/[a-z_0-9\/]+[.]h>|<g(test|mock)\/.*>)\$" "${list[@]}"
  mapfile -t list < <(cpp_files src/core)
  bad_includes "^($std|$own|$expected|\"core\/.*\")\$" "${list[@]}"
  awk '/^ *# *include *<(thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token|iostream|fstream|sstream|ostream|istream|cstdio|filesystem|random|ctime|csignal)>/ {
    printf "%s:%d: the core may not include %s\n", FILENAME, FNR, $0 }' "${list[@]}" /dev/null
  mapfile -t list < <(cpp_files testkit)
  awk '/^ *# *include *"(runtime|stores|http|cli)\// {
    printf "%s:%d: the testkit may see the core only: %s\n", FILENAME, FNR, $0 }' "${list[@]}" /dev/null
  mapfile -t list < <(cpp_files sim)
  awk '/^ *# *include *"(runtime|stores|http|cli)\// {
    printf "%s:%d: the simulator may see the core only: %s\n", FILENAME, FNR, $0 }' "${list[@]}" /dev/null
  mapfile -t list < <(cpp_files src/runtime src/stores)
  awk '/^ *# *include *"(http|cli)\// {
    printf "%s:%d: may not know the layers above: %s\n", FILENAME, FNR, $0 }' "${list[@]}" /dev/null
  mapfile -t list < <(cpp_files src)
  awk '/^ *# *include *["<](tests|sim|testkit|tenure\/testkit)\// {
    printf "%s:%d: what is shipped may not use what tests it: %s\n", FILENAME, FNR, $0 }' "${list[@]}" /dev/null
}

# Nothing waits by sleeping: time comes from a Clock, waiting ends by what is waited for.
# (A benchmark may sleep: it measures what happens meanwhile.)
rule_no_sleep() {
  local list
  mapfile -t list < <(cpp_files include src testkit tests examples sim)
  awk '
    { code = $0; sub(/\/\/.*/, "", code); gsub(/"([^"\\]|\\.)*"/, "", code) }
    code ~ /(^|[^A-Za-z0-9_])(sleep_for|sleep_until|u?sleep|nanosleep|clock_nanosleep) *\(/ {
      printf "%s:%d: sleeps\n", FILENAME, FNR
    }
    # Waiting for nothing: no descriptor, or a condition that never holds.
    code ~ /(^|[^A-Za-z0-9_])p?poll *\( *(nullptr|NULL|0) *,/ ||
    FILENAME !~ /^tests\/support\// &&  # what it does with such a condition is tested there
        code ~ /(^|[^A-Za-z0-9_])eventually *\( *\[[^]]*\] *(\( *\))? *\{ *return false; *\}/ {
      printf "%s:%d: sleeps\n", FILENAME, FNR
    }' "${list[@]}"
}

# No work put off, no test switched off, no silenced check without its name and reason.
rule_words() {
  local list
  mapfile -t list < <(files '*' -- . | grep -vE '^(LICENSE|tests/tree/)')
  awk '
    /TO[D]O|FIX[M]E|[^A-Za-z]XX[X][^A-Za-z]/ { print FILENAME ":" FNR ": work put off" }
    /DISABLE[D]_|^ *# *if 0/ { print FILENAME ":" FNR ": switched off" }
    /NOLIN[T]/ && !/NOLIN[T](NEXTLINE|BEGIN|END)?\([a-z][a-z0-9.,-]+\)(: .+)?$/ {
      print FILENAME ":" FNR ": a silenced check needs its name and a reason: (name): reason"
    }
    /NOLIN[T](NEXTLINE|BEGIN)?\([^)]*\)$/ && !/NOLIN[T]END/ {
      print FILENAME ":" FNR ": a silenced check needs a reason: (name): reason"
    }' "${list[@]}"
}

# The archive CORE_ARCHIVE asks the system for nothing.
rule_core_symbols() {
  local forbidden='
    clock_.* gettimeofday time times clock (local|gm)time.* strftime timer(fd)?_.* .*sleep
    p?poll p?select epoll_.* eventfd.* pipe2?
    pthread_.* thrd_.* mtx_.* cnd_.* sem_.* syscall sched_.*
    std::(thread|this_thread|condition_variable|mutex|recursive_mutex|timed_mutex|future|promise).*
    std::(__future_base|_V2|__atomic_futex|chrono).* std::__throw_system_error.*
    socket.* connect bind listen accept4? send.* recv.* (get|set)sockopt getaddrinfo gethost.*
    open(64|at|at64|dir)? creat p?(read|write)v?(64|dir.*)? close fcntl(64)? ioctl [fl]?stat(64|at|x|fs|vfs)?
    unlink(at)? rename(at2?)? mkdir.* mmap(64)? fsync fdatasync flock ftruncate
    _*v?(f|s|sn|d|as)?n?printf(_chk)? _*v?s?scanf(_chk)? f(d|re)?open(64)? fclose fread fwrite f?puts
    f?putc(har)? putchar fflush f?getc fgets perror std(in|out|err) syslog
    std::(basic_[io]?f?stream|basic_ostream|basic_istream|basic_filebuf|ios_base|cout|cerr|clog|cin|ostream|istream|locale).*
    std::__cxx11::basic_[io]?stringstream.* std::filesystem.* std::__ostream_insert.*
    s?rand(om)?(_r)? [deljmn]rand48 getrandom getentropy arc4random.* std::random_device.*
    (secure_)?getenv setenv putenv environ getp?pid fork vfork exec.* posix_spawn.* kill signal sigaction system dl.*'
  local pattern
  # shellcheck disable=SC2086 # words, not one string
  pattern=$(printf '%s\n' $forbidden | paste -sd '|')
  local symbols
  symbols=$("${NM:-nm}" -uC "${CORE_ARCHIVE:?}") || {
    echo "$CORE_ARCHIVE:1: cannot be read"
    return
  }
  [[ $("${NM:-nm}" "$CORE_ARCHIVE") == *tenure* ]] ||
    echo "$CORE_ARCHIVE:1: holds nothing of ours"
  awk -v pattern="^($pattern)(@.*)?\$" '
    /^[^ ].*:$/ { member = $0; next }
    NF >= 2 {
      name = $0
      sub(/^ *[UwWvV] /, "", name)
      if (name ~ pattern) print member " the core may not use " name
    }' <<<"$symbols"
}

# Every public header compiles on its own, without a warning, and may be included twice.
compile_alone() {
  local header=$1 output
  # shellcheck disable=SC2086 # flags are words
  output=$(printf '#include "%s"\n' "$PWD/$header" |
    "${CXX:?}" ${CXX_FLAGS:-} -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
      -Iinclude -Itestkit/include -x c++ - 2>&1) ||
    printf '%s\n' "$header:1: does not compile alone" "$output"
}

rule_headers_alone() {
  local headers sources header own
  mapfile -t headers < <(files '*.h' -- include testkit/include)
  grep -L -x '#pragma once' "${headers[@]}" | sed 's/$/:1: no #pragma once/'
  # What a source of ours includes first, the build has compiled alone already.
  mapfile -t sources < <(files '*.cc' -- src testkit)
  own=$(awk 'FNR == 1 { seen = 0 } !seen && /^#include/ { seen = 1; print $2 }' "${sources[@]}")
  export -f compile_alone
  for header in "${headers[@]}"; do
    [[ $own == *"<${header#*include/}>"* ]] || printf '%s\n' "$header"
  done | xargs -r -d '\n' -P 2 -I '{}' bash -c 'compile_alone "{}"'
}

declare -F "rule_$rule" >/dev/null || {
  echo "check.sh: there is no rule $rule"
  exit 2
}
set -f
found=$("rule_$rule")
[[ -z $found ]] && exit 0
printf '%s\n' "$found"
exit 1
