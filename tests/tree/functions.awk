# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# Lengths of functions in files that clang-format has formatted, from the line where the signature
# begins to the closing brace: "FILE:LINE: LENGTH lines" for each above `most`. A function at
# namespace scope begins and ends in column 0, one in a class in column 2; lambdas and blocks
# belong to the function around them. Clang-tidy measures too (readability-function-size); this
# one also sees tests, and needs no compiler.

function begin() {
  start[0] = start[1] = 0
  open[0] = open[1] = 0
  in_class = 0
}

# One line at depth d (0: column 0, 1: column 2), without its indentation.
function look(d, text) {
  if (text ~ /^}$/) {
    if (start[d] && open[d] && FNR - start[d] + 1 > most)
      printf "%s:%d: a function of %d lines, at most %d\n", FILENAME, start[d], FNR - start[d] + 1, most
    start[d] = open[d] = 0
  } else if (text ~ /^}/) {
    start[d] = open[d] = 0
  } else if (!start[d] && text ~ /^[A-Za-z_~\[:]/ && text !~ /^(namespace|public|private|protected|extern "C")/) {
    start[d] = FNR
  }
}

# Where a signature ends: with a body, or without one.
function settle(d) {
  if (!start[d] || open[d]) return
  if ($0 ~ /[{]$/) open[d] = 1
  else if ($0 ~ /[;}]( *\/\/.*)?$/) start[d] = 0
}

FNR == 1 { begin() }
/^ *(\/\/|#|$)/ { next }
{
  if (in_class && match($0, /^  [^ ]/)) look(1, substr($0, 3))
  if ($0 ~ /^[^ ]/) {
    look(0, $0)
    if ($0 ~ /^(template.*)?(class|struct|union) .*[{]$/) in_class = 1
    if ($0 ~ /^}/) in_class = 0
  }
  settle(0)
  if (in_class) settle(1)
}
