#!/bin/bash
# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# session.sh FILE [FOLDER...]: runs a shell session as a document shows it and compares what it
# prints. "$ " begins a command, "> " continues it, all other lines are its output, in which "..."
# stands for anything and a line of "..." for any number of lines. The commands run in one bash, in
# an empty folder that is also HOME, with the FOLDERs first in PATH. Whatever they leave running is
# ended.
set -uo pipefail

file=$(realpath -- "${1:?file}")
shift
for folder in "$@"; do PATH=$(realpath -- "$folder"):$PATH; done
export PATH

home=$(mktemp -d)
trap 'rm -rf -- "$home"' EXIT
unset XDG_STATE_HOME "${!TENURE_@}"
export HOME=$home

# The session as a script: each command writes to its own file, and says when it is done.
commands=() expected=()
while IFS= read -r line || [[ -n $line ]]; do
  if [[ $line == '$ '* ]]; then
    commands+=("${line:2}")
    expected+=("")
  elif [[ $line == '> '* && ${#commands[@]} -gt 0 ]]; then
    commands[-1]+=$'\n'${line:2}
  elif ((${#commands[@]})); then
    expected[-1]+=$line$'\n'
  else
    echo "session.sh: output before the first command: $line"
    exit 2
  fi
done <"$file"
((${#commands[@]})) || {
  echo "session.sh: no command in $file"
  exit 2
}

script=$home/.session
for i in "${!commands[@]}"; do
  # shellcheck disable=SC2016 # the session expands it
  printf '{\n%s\n} >"$HOME/.output.%d" 2>&1\n' "${commands[i]}" "$i"
done >"$script"

mkdir "$home/work"
# A group of its own, so that all of it can be ended.
set -m
(cd "$home/work" && exec bash "$script" </dev/null) &
session=$!
wait "$session"
set +m
if kill -TERM -- "-$session" 2>/dev/null; then
  for ((i = 0; i < 1000; i++)); do
    kill -0 -- "-$session" 2>/dev/null || break
    sleep 0.01
  done
  kill -KILL -- "-$session" 2>/dev/null && echo "session.sh: something did not end on TERM"
fi

# matches ACTUAL PATTERN: "..." stands for anything.
matches() {
  local wild=${2//[\\\*\?\[\]]/\\&}
  wild=${wild//.../*}
  # shellcheck disable=SC2053 # the right side is a pattern
  [[ $1 == $wild ]]
}

status=0
for i in "${!commands[@]}"; do
  actual=$(cat "$home/.output.$i" 2>/dev/null && echo .) || actual=$'(was not run)\n.'
  actual=${actual%.}
  if ! matches "$actual" "${expected[i]}"; then
    status=1
    printf '$ %s\n--- expected\n%s--- printed\n%s' "${commands[i]}" "${expected[i]}" "$actual"
  fi
done
exit "$status"
