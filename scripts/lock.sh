#!/bin/bash
# Resolve the Python and npm packages anew. Lock files hold hashes, but no address of any registry.
set -euo pipefail
cd "$(dirname "$0")/.."
resolve() {
    .venv/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 --upgrade "$@"
}
resolve pyproject.toml --output-file requirements/run.txt
resolve pyproject.toml --group dev --extra postgresql --output-file requirements/dev.txt
# What makes pages of the documentation, at the versions that the tests have.
resolve --group docs --constraint requirements/dev.txt --output-file requirements/docs.txt
# The driver that is added where the database is PostgreSQL, at the version that the tests have.
grep -o 'psycopg\[binary\][^"]*' pyproject.toml | resolve --constraint requirements/dev.txt - --output-file requirements/postgresql.txt
npm install --package-lock-only --omit-lockfile-registry-resolved
