#!/bin/bash
# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# Shows that a session that is not as it is written fails, and that one that is does not.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
failures=0

# expect STATUS SESSION
expect() {
  local status=0 output
  printf '%s\n' "$2" >"$folder/session"
  output=$("$here/session.sh" "$folder/session") || status=$?
  if ((status != $1)); then
    printf 'FAILED: status %d, not %d, of:\n%s\n%s\n' "$status" "$1" "$2" "$output"
    failures=$((failures + 1))
  fi
}

expect 0 $'$ echo a\na\n$ echo b; echo c\nb\nc'
expect 1 $'$ echo a\nb'
expect 1 $'$ echo a'
expect 1 $'$ true\na'
expect 1 $'$ echo a\na\na'
expect 0 $'$ echo a 123 b\na ... b'
expect 1 $'$ echo a 123 c\na ... b'
expect 0 $'$ echo "[*?]"\n[*?]'
expect 1 $'$ echo "[ab]"\n[*?]'
expect 1 $'$ echo a\n[ab]'
expect 0 $'$ echo one; echo two; echo three\none\n...\nthree'
expect 0 $'$ export A=1\n$ echo "$A"; false\n1\n$ echo "$?"\n1'
expect 0 $'$ echo one \\\n> two\none two'
expect 0 $'$ echo error >&2\nerror'
expect 0 $'$ ls -A'
expect 1 $'$ exit 0\n$ echo a\na'
expect 2 'echo a'

# What a session leaves running is ended with it.
expect 0 $'$ (trap "" HUP; exec -a left-by-a-session tail -f /dev/null) &\n$ true'
for file in /proc/[0-9]*/cmdline; do
  [[ $(tr '\0' ' ' 2>/dev/null <"$file") != left-by-a-session* ]] || {
    echo "FAILED: ${file} still runs"
    failures=$((failures + 1))
  }
done

# The examples that a document marks, and a marker without an example.
printf '%s\n' '<!-- test: one -->' '```cpp' 'int a;' '```' '```cpp' 'int b;' '```' \
  '<!-- test: two -->' '' '```console' '$ true' '```' >"$folder/good.md"
[[ $(awk -f "$here/extract.awk" "$folder/good.md") == $'one cpp\ntwo console' ]] ||
  { echo "FAILED: list of examples" && failures=$((failures + 1)); }
[[ $(awk -v name=one -f "$here/extract.awk" "$folder/good.md") == 'int a;' ]] ||
  { echo "FAILED: example one" && failures=$((failures + 1)); }
printf '%s\n' '<!-- test: one -->' 'text' >"$folder/bad.md"
! awk -f "$here/extract.awk" "$folder/bad.md" 2>/dev/null ||
  { echo "FAILED: a marker without an example" && failures=$((failures + 1)); }

((failures == 0)) || exit 1
echo "sessions and examples are checked"
