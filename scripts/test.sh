#!/bin/bash
# All tests but the longest. Apart from each other, because Playwright's event loop and Django's live server stay for the
# whole of a process; the lab's tests run beside the others, in two guests, and their output follows when those are done.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTEST=.venv/bin/pytest
LOG=build/lab-tests.log

set -m # else a process in the background would not listen to the signal that ends it orderly
"$PYTEST" -m "lab and not long" --numprocesses 2 --dist loadgroup --no-loadscope-reorder --color=no > "$LOG" 2>&1 &
lab=$!
trap 'kill -INT -- -$lab 2> /dev/null || true' EXIT
"$PYTEST" -m "not lab and not browser and not long"
"$PYTEST" -m "browser and not lab"
.venv/bin/python -m tests.postgresql
tail --lines=+1 --follow --pid=$lab "$LOG"
wait $lab
