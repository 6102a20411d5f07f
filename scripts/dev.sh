#!/bin/bash
# The pages on a recorded machine, for work on their looks: everything simulated, nothing on this host is touched.
set -euo pipefail
cd "$(dirname "$0")/.."
MACHINE=${MACHINE:-} # an inventory document; without one, the machine of tests/story with its past
PORT=${PORT:-8843}
STATE=${STATE:-$PWD/var/dev}
BIN=$PWD/.venv/bin
RELOAD=${RELOAD---reload --reload-dir nasadvisor} # empty: the source is not watched

export NASADVISOR_CONSOLE_STATE=$STATE NASADVISOR_HOST_STATE=$STATE/host NASADVISOR_RUN_DIR=$STATE NASADVISOR_HOST_RUN_DIR=$STATE/locks NASADVISOR_DEBUG=yes
export NASADVISOR_SIMULATED_MACHINE=${MACHINE:-$STATE/machine.json} DJANGO_SETTINGS_MODULE=nasadvisor.settings
export NASADVISOR_REDIS=redis+socket://$STATE/redis.sock
export NASADVISOR_PREVIEW=${NASADVISOR_PREVIEW:-$STATE/real.json}

mkdir -p "$STATE" "$STATE/locks"
trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT

redis-server --port 0 --unixsocket "$STATE/redis.sock" --save "" --dir "$STATE" > "$STATE/redis.log" &
"$BIN/python" manage.py prepare
if [ -z "$MACHINE" ] && [ ! -f "$STATE/machine.json" ]; then
    "$BIN/python" -m tests.story "$STATE/machine.json"
else
    "$BIN/python" manage.py load_machine "$NASADVISOR_SIMULATED_MACHINE"
fi
"$BIN/python" manage.py setup_link --base-url "http://127.0.0.1:$PORT" 2> /dev/null || true
for service in host.simulated.worker console.worker; do
    "$BIN/python" -m "nasadvisor.$service" &
done
echo "The pages of a simulated machine are at http://127.0.0.1:$PORT. Ctrl-C ends them."
# shellcheck disable=SC2086 # several words, or none
"$BIN/uvicorn" nasadvisor.asgi:application --host 127.0.0.1 --port "$PORT" --lifespan off --log-level warning $RELOAD
