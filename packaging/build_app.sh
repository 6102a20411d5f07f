#!/bin/bash
# Put the program where it can run from, compiled and with its style sheets and scripts collected:
# build_app.sh TARGET PYTHON, PYTHON being that of the virtual environment.
set -euo pipefail
SOURCE=$(cd "$(dirname "$0")/.." && pwd)
target=$1
python=$2
[ -d "$SOURCE/static/vendor" ] || { echo "The parts for the browser are missing: make assets" >&2 && exit 1; }

mkdir -p "$target"
cd "$SOURCE"
# shellcheck disable=SC2046 # names without spaces
tar -cf - --exclude='__pycache__' --exclude='*.po' --exclude='.*' $(cat packaging/app-files) \
    | tar -xf - --no-same-owner -C "$target"
chmod -R u=rwX,go=rX "$target"
cd "$target"
PYTHONDONTWRITEBYTECODE=1 "$python" manage.py collectstatic --no-input --verbosity 0
"$SOURCE/packaging/compile.sh" "$target" /usr/lib/nasadvisor/app "$python"
