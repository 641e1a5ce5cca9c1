# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# The examples of a document that are tests: a fenced block right after <!-- test: NAME -->.
# With -v name=NAME prints that block; without, a line "NAME LANGUAGE" for each.

/^<!-- test: [a-z0-9_]+ -->$/ { pending = $3; next }
pending && /^```[a-z]/ {
  language = substr($0, 4)
  if (!name) print pending, language
  wanted = pending == name
  pending = ""
  inside = 1
  next
}
/^```/ { inside = !inside; wanted = 0; next }
pending && /[^ ]/ {
  print FILENAME ":" FNR ": no block follows the marker of " pending > "/dev/stderr"
  exit 1
}
wanted && inside { print }
END {
  if (pending) exit 1
}
