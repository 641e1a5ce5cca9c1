#!/bin/bash
# Copyright 2026 The tenure authors
# SPDX-License-Identifier: Apache-2.0
#
# unit_file_test.sh UNIT TENURE: systemd understands every line of the unit, with programs in it
# that are there. Exit status 77: there is no systemd-analyze to ask.
set -euo pipefail

unit=${1:?unit} tenure=${2:?tenure}
command -v systemd-analyze >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
copy=$folder/${unit##*/}

# verify UNIT: what is wrong with it. systemd-analyze only warns of what it does not know.
verify() { systemd-analyze verify --man=no "$1" 2>&1 | grep -F "${1##*/}" || true; }

sed -e "s|/usr/bin/tenure|$tenure|" -e 's|/usr/local/bin/billing-worker|/bin/true|' "$unit" >"$copy"
found=$(verify "$copy")
[[ -z $found ]] || { printf '%s\n' "$found"; exit 1; }

# A check that cannot fail is none.
sed -i 's|^KillMode=|KilMode=|' "$copy"
[[ -n $(verify "$copy") ]] || { echo "systemd-analyze does not mind an unknown setting"; exit 1; }

# The options in it are tenure's: a bad one would be refused before anything else.
sed -n 's|^ExecStart=/usr/bin/tenure ||p' "$unit" | grep -q -- ' -- ' || { echo "no command"; exit 1; }
read -ra words < <(sed -n 's|^ExecStart=/usr/bin/tenure \(.*\) -- .*|\1|p' "$unit")
code=0
TENURE_STORE=sqlite:$folder/tenure.db TENURE_TTL=$(sed -n 's|^Environment=TENURE_TTL=||p' "$unit") \
  "$tenure" "${words[@]}" --once --quiet -- /bin/true || code=$?
((code == 0)) || { echo "the unit's command line gives $code"; exit 1; }
