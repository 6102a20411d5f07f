#!/bin/bash
# Compile what is Python in a directory that will lie elsewhere: compile.sh DIRECTORY INSTALLED_AT [PYTHON]
# All files get one time, because the compiled files name it: the same source always makes the same bytes.
set -euo pipefail
directory=$1
installed_at=$2
python=${3:-/usr/bin/python3}
find "$directory" -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH:-1735689600}" {} +
PYTHONHASHSEED=0 "$python" -m compileall -q -f -j 0 --invalidation-mode timestamp -s "$directory" -p "$installed_at" \
    "$directory"
