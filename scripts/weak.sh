#!/bin/bash
# Which of the pinned packages have known weaknesses, asked of the registries as they are now: so no test does it.
# A package that could not be looked up is a failure too, for else nothing asked would look like nothing found.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
failed=0
for lock in requirements/*.txt; do
    echo "$lock:"
    .venv/bin/pip-audit --strict --require-hashes --disable-pip --progress-spinner off --requirement "$lock" || failed=1
done
echo "package-lock.json:"
npm audit --package-lock-only || failed=1
exit "$failed"
