#!/bin/bash
# Make dist/nasadvisor-truenas.tar.gz, to be unpacked in a dataset of TrueNAS: the program and its packages for every
# Python that a supported TrueNAS may have. Runs anywhere with Python 3.11 or newer and pip; needs no root.
set -euo pipefail

SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
PARTS=(nasadvisor plugins locale README.md CHANGELOG.md LICENSE)
PYTHONS=(3.11 3.13)
BUILD=$SOURCE/build/truenas
PROGRAM=$BUILD/program

main() {
    rm -rf "$BUILD"
    mkdir -p "$PROGRAM/app" "$SOURCE/dist"
    copy_program
    local version
    for version in "${PYTHONS[@]}"; do
        fetch_packages "$version"
    done
    tar --create --gzip --file "$SOURCE/dist/nasadvisor-truenas.tar.gz" --owner=0 --group=0 --numeric-owner \
        --directory "$BUILD" program
    echo "$SOURCE/dist/nasadvisor-truenas.tar.gz"
}

copy_program() {
    local part
    for part in "${PARTS[@]}"; do
        cp -r "$SOURCE/$part" "$PROGRAM/app/"
    done
    find "$PROGRAM/app" -name __pycache__ -prune -exec rm -rf {} +
    install -m 0755 "$SOURCE"/packaging/truenas/{start,nasadvisor,nasadvisor-truenas} "$PROGRAM/"
    install -m 0644 "$SOURCE/packaging/truenas/run.py" "$PROGRAM/"
    chmod -R u=rwX,go=rX "$PROGRAM"
}

# The host part needs a few packages of the lock file; all of them are taken, so that the lock file stays the only list.
fetch_packages() {
    python3 -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes --no-deps \
        --requirement "$SOURCE/requirements/run.txt" --target "$PROGRAM/python$1" --python-version "$1" \
        --implementation cp --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 \
        --platform manylinux2014_x86_64 --only-binary :all:
    chmod -R u=rwX,go=rX "$PROGRAM/python$1"
}

main "$@"
