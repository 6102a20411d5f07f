#!/bin/bash
# All tests but the longest, to their end, whichever part fails. Apart from each other, because Playwright's event loop
# and Django's live server stay for the whole of a process. The unit tests have both processors; then one guest of the
# lab runs beside the tests that need one processor, and two guests do the rest. More at once takes longer: a guest that
# waits for its processors goes on polling, writing and watching. An interrupt ends all of it, the guests too.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTEST=.venv/bin/pytest
LOG=build/lab-tests.log
# What one guest has done in about the time of the tests without lab.
BESIDE=(tests/integration/test_console.py tests/integration/test_stories.py)
running=
lab=
failed=()

# In the background, for a signal is then answered at once, and listening to the one that ends it orderly.
run() {
    env --default-signal=INT "$@" &
    running=$!
    wait "$running"
}

part() {
    run "${@:2}" || failed+=("$1")
    running=
}

# The lab's processes let an interrupt pass until a test is over: they are ended, and then their guests.
end() {
    [ -z "$running" ] || { kill -INT -- "-$running" && wait "$running"; } || true
    [ -z "$lab" ] || { kill -TERM -- "-$lab" && wait "$lab"; } || true
    /usr/bin/python3 -m tests.lab tidy
}

set -m # each part has its processes in a group, which is ended as one
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
part "the unit tests" "$PYTEST" tests/unit -m "not lab and not browser and not long" --numprocesses 2 --dist worksteal
"$PYTEST" "${BESIDE[@]}" -m "lab and not long" --durations=30 --color=no > "$LOG" 2>&1 &
lab=$!
part "the other tests without lab and browser" "$PYTEST" --ignore=tests/unit -m "not lab and not browser and not long"
part "the browser's tests" "$PYTEST" -m "browser and not lab"
run tail --lines=+1 --follow --pid="$lab" "$LOG"
running=
wait "$lab" || failed+=("the lab's first tests")
lab=
for name in "${failed[@]}"; do
    echo "Failed, see above: $name. The rest of the lab's tests follow."
done
part "the lab's tests" "$PYTEST" "${BESIDE[@]/#/--ignore=}" -m "lab and not long" \
    --numprocesses 2 --dist loadgroup --no-loadscope-reorder --durations=30
[ "${#failed[@]}" = 0 ]
