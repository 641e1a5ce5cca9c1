#!/bin/bash
# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# Shows that every rule of check.sh can fail: each is run on a small tree that keeps it, then on
# the same tree with one fault.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf -- "$tree"' EXIT
failures=0

head_of() { printf '%s Copyright 2026 The tenure authors\n%s SPDX-License-Identifier: Apache-2.0\n' "$1" "$1"; }

# put FILE TEXT: a source file with its licence header.
put() {
  mkdir -p "$tree/$(dirname -- "$1")"
  { head_of // && printf '%s\n' "$2"; } >"$tree/$1"
}

check() { "$here/check.sh" "$1" "$tree" 2>&1; }

keeps() {
  local output
  if ! output=$(check "$1"); then
    echo "FAILED: $1 complains about a good tree ($2): $output"
    failures=$((failures + 1))
  fi
}

# breaks RULE PATTERN FILE TEXT: with this file the rule fails, and says where.
breaks() {
  local rule=$1 pattern=$2 file=$3 output
  put "$file" "$4"
  if output=$(check "$rule"); then
    echo "FAILED: $rule does not see: $4"
    failures=$((failures + 1))
  elif [[ $output != *$pattern* ]]; then
    echo "FAILED: $rule says '$output', not '$pattern'"
    failures=$((failures + 1))
  fi
  rm -- "$tree/$file"
  keeps "$rule" "after $file is gone"
}

# lines N [TEXT]: N lines.
lines() { yes "${2-}" | head -n "$1"; }

put include/tenure/good.h $'#pragma once\n#include <cstdint>\n#include <tl/expected.hpp>'
put src/core/good.cc $'#include "core/good.h"\n#include <tenure/good.h>\nint good() { return 1; }'
put src/core/good.h $'#pragma once\n#include <vector>'
put tests/core/good_test.cc $'// Comments may say sleep(1).\nconst char* good = "sleep(1)";'
mkdir "$tree/scripts"
{ echo '#!/bin/bash' && head_of '#' && echo true; } >"$tree/scripts/good"

keeps spdx "first"
printf '#!/bin/bash\ntrue\n' >"$tree/scripts/bad"
[[ $(check spdx) == scripts/bad:1:* ]] || { echo "FAILED: spdx: a script"; failures=$((failures + 1)); }
rm "$tree/scripts/bad"
echo 'int bad;' >"$tree/src/core/bad.cc"
[[ $(check spdx) == src/core/bad.cc:1:* ]] || { echo "FAILED: spdx: a source"; failures=$((failures + 1)); }
rm "$tree/src/core/bad.cc"

keeps lengths "first"
breaks lengths "400: 401 lines" src/core/bad.cc "$(lines 399 ';')"
breaks lengths "250: 251 lines" include/tenure/bad.h "$(lines 249 ';')"
breaks lengths "bad.cc:4: a function of 71 lines" src/core/bad.cc $'\nvoid f(int a,\n       int b) {\n'"$(lines 68 '  ;')"$'\n}'
breaks lengths "bad.cc:4: a function of 71 lines" src/core/bad.cc $'class A {\n  void f() {\n'"$(lines 69 '    ;')"$'\n  }\n};'
breaks lengths "bad_test.cc:4: a function of 71 lines" tests/core/bad_test.cc $'namespace {\nTEST(A, B) {\n'"$(lines 69 '  ;')"$'\n}\n}  // namespace'
put src/core/good2.cc $'namespace a {\nvoid f() {\n'"$(lines 68 '  ;')"$'\n}\nint g();\nvoid h() {\n'"$(lines 68 '  ;')"$'\n}\n}  // namespace a'
keeps lengths "two functions of 70 lines"
rm "$tree/src/core/good2.cc"

keeps growth "first"
breaks growth "bad.cc:300: 301 lines" src/runtime/bad.cc "$(lines 299 ';')"

# The good files are too short to need a check.
keeps checks "first"
breaks checks "0 checks in" src/core/bad.cc "$(lines 40 ';')"
put src/core/good2.cc "$(lines 40 ';')"$'\nTENURE_CHECK(a);\nTENURE_CHECK(b);'
keeps checks "two checks in some fifty lines"
rm "$tree/src/core/good2.cc"

keeps twins "first"
breaks twins "src/core/deep/bad.cc:1: has no test tests/core/deep/bad_test.cc" src/core/deep/bad.cc x

export REGISTERED=$tree/registered SWITCHED_OFF=tests/stores/off
echo "$tree/tests/core/good_test.cc" >"$REGISTERED"
put tests/stores/off/off_test.cc x
keeps registered "first"
breaks registered "tests/core/bad_test.cc:1" tests/core/bad_test.cc x

keeps includes "first"
breaks includes "sim/bad.cc:3: the simulator may see the core only" sim/bad.cc '#include "runtime/loop.h"'
breaks includes "may not include <uv.h>" include/tenure/bad.h '#include <uv.h>'
breaks includes 'may not include "core/good.h"' include/tenure/bad.h '#include "core/good.h"'
breaks includes "may not include <sqlite3.h>" src/core/bad.cc '#include <sqlite3.h>'
breaks includes "may not include <sys/socket.h>" src/core/bad.cc '#include <sys/socket.h>'
breaks includes 'may not include "runtime/loop.h"' src/core/bad.cc '#include "runtime/loop.h"'
breaks includes "the core may not include #include <thread>" src/core/bad.cc '#include <thread>'
breaks includes "the testkit may see the core only" testkit/src/bad.cc '#include "runtime/loop.h"'
breaks includes "the layers above" src/runtime/bad.cc '#include "cli/main.h"'
breaks includes "what is shipped" src/runtime/bad.cc '#include <tenure/testkit/manual_clock.h>'

keeps no_sleep "first"
breaks no_sleep "bad.cc:3: sleeps" src/core/bad.cc 'std::this_thread::sleep_for(1s);'
breaks no_sleep "bad.cc:3: sleeps" tests/core/bad.cc '  ::usleep(3);'
breaks no_sleep "bad.cc:3: sleeps" tests/core/bad.cc 'sleep (3);'
breaks no_sleep "bad.cc:3: sleeps" tests/core/bad.cc '  poll(nullptr, 0, 10);'
breaks no_sleep "bad.cc:3: sleeps" tests/core/bad.cc '(void)eventually([] { return false; }, milliseconds(5));'

keeps words "first"
breaks words "put off" src/core/bad.cc "// TO""DO: later"
breaks words "switched off" tests/core/bad.cc "TEST(A, DISABLE""D_B) {}"
breaks words "switched off" tests/core/bad.cc "#if 0"
breaks words "needs its name" src/core/bad.cc "int a; // NOLIN""T"
breaks words "needs a reason" src/core/bad.cc "int a; // NOLIN""T(some-check)"
put src/core/good2.cc "int a; // NOLIN""T(some-check): because"
keeps words "a check with its reason"
rm "$tree/src/core/good2.cc"

if [[ -n ${CXX:-} ]]; then
  export CORE_ARCHIVE=$tree/core.a
  # archive HEADER TEXT: the archive holds this, in namespace tenure.
  archive() {
    printf '#include <%s>\nnamespace tenure {\n%s\n}\n' "$1" "$2" |
      "$CXX" -std=c++20 -c -x c++ - -o "$tree/core.o"
    rm -f "$CORE_ARCHIVE"
    ar rc "$CORE_ARCHIVE" "$tree/core.o"
  }
  # uses NAME HEADER TEXT: an archive that needs NAME breaks the rule.
  uses() {
    local output
    archive "$2" "$3"
    if output=$(check core_symbols) || [[ $output != *"$1"* ]]; then
      echo "FAILED: core_symbols does not see $1: ${output:-nothing}"
      failures=$((failures + 1))
    fi
  }
  archive string 'std::string f(int a) { return std::to_string(a) + std::string(a, 1); }'
  keeps core_symbols "strings"
  archive vector 'int f(std::vector<int> v) { v.push_back(1); return v.at(0); }'
  keeps core_symbols "vectors"
  uses clock_gettime ctime 'void f(timespec* t) { ::clock_gettime(CLOCK_BOOTTIME, t); }'
  uses steady_clock::now chrono 'auto f() { return std::chrono::steady_clock::now(); } auto g = f();'
  uses pthread_mutex_lock pthread.h 'void f(pthread_mutex_t* m) { ::pthread_mutex_lock(m); }'
  uses pthread_create pthread.h 'auto f(void* (*g)(void*)) { return ::pthread_create(0, 0, g, 0); }'
  uses std::thread thread 'void f() { std::thread([] {}).join(); }'
  uses socket sys/socket.h 'int f() { return ::socket(1, 1, 1); }'
  uses open fcntl.h 'int f() { return ::open("/", 0); }'
  uses write unistd.h 'auto f() { return ::write(1, "", 0); }'
  uses printf cstdio 'void f(int a) { std::printf("%d", a); }'
  uses snprintf cstdio 'char b[9]; void f(int a) { std::snprintf(b, 9, "%d", a); }'
  uses fopen cstdio 'auto f() { return std::fopen("", ""); }'
  uses std::cout iostream 'void f(int a) { std::cout << a; }'
  uses rand cstdlib 'int f() { return std::rand(); }'
  uses random_device random 'auto f() { return std::random_device()(); }'
  uses getenv cstdlib 'auto f() { return std::getenv("A"); }'

  export CORE_ARCHIVE=$tree/none.a
  if check core_symbols >/dev/null; then
    echo "FAILED: core_symbols does not mind that there is no archive"
    failures=$((failures + 1))
  fi

  sed -i '/expected/d' "$tree/include/tenure/good.h"
  keeps headers_alone "first"
  breaks headers_alone "bad.h:1: does not compile alone" include/tenure/bad.h $'#pragma once\nstd::string f();'
  breaks headers_alone "bad.h:1: no #pragma once" include/tenure/bad.h $'inline int f() { return 1; }'
fi

if check nonsense >/dev/null; then
  echo "FAILED: an unknown rule is not refused"
  failures=$((failures + 1))
fi
((failures == 0)) || exit 1
echo "every rule was seen to fail"
