#!/bin/bash
# What the packages are made of, as CycloneDX, and the checksums of all of it: sbom.sh DIRECTORY PACKAGE…
# The lists are made from the lock files, which hold the hash of each part.
set -euo pipefail
cd "$(dirname "$0")/.."
directory=$1
shift
.venv/bin/cyclonedx-py requirements requirements/run.txt --pyproject pyproject.toml --output-reproducible \
    --output-file "$directory/nasadvisor-python.cdx.json"
.venv/bin/python packaging/browser_sbom.py package-lock.json "$directory/nasadvisor-browser.cdx.json"
cd "$directory"
sha256sum -- "$@" nasadvisor-python.cdx.json nasadvisor-browser.cdx.json > SHA256SUMS
