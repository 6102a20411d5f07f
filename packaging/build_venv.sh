#!/bin/bash
# Install the product's Python packages for this machine's Python: build_venv.sh TARGET
# Nothing in TARGET names the place it is at, so it can be moved or packed. What the lock file names is taken as it was
# published and checked against its hash; nothing is compiled from C.
set -euo pipefail
SOURCE=$(cd "$(dirname "$0")/.." && pwd)
target=$1
python=$(/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')

tools=$(mktemp --directory)
trap 'rm -rf "$tools"' EXIT
/usr/bin/python3 -m venv "$tools"
/usr/bin/python3 -m venv --without-pip "$target"
"$tools/bin/pip" --python "$target/bin/python" --quiet --disable-pip-version-check install --no-cache-dir --no-compile \
    --only-binary :all: --require-hashes --requirement "$SOURCE/requirements/run.txt"

# Its programs name the place they are at, and none is used: Python is started with `-m`.
find "$target/bin" -mindepth 1 -delete
ln -s "/usr/bin/$python" "$target/bin/python"
sed -i '/^command = /d' "$target/pyvenv.cfg"
# Translations are read in compiled form.
find "$target" \( -name '*.po' -o -name .gitignore \) -delete
/usr/bin/python3 "$SOURCE/packaging/leave_out.py" "$target/lib"
find "$target" -type f -exec chmod 0644 {} +
# The program itself, and below /usr/local what an administrator adds: a database's driver, a plugin.
printf '%s\n' /usr/lib/nasadvisor/app /usr/local/lib/nasadvisor > "$target/lib/$python/site-packages/nasadvisor.pth"
"$SOURCE/packaging/compile.sh" "$target" /usr/lib/nasadvisor/venv
