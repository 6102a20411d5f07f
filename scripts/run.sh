#!/bin/bash
# Run the product: on this host if it has OpenZFS; else the pages on a recorded machine at once, and as soon as it is made
# the lab guest, installed as a user would install it. Ctrl-C ends both.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/begin.sh
. scripts/begin.sh
NAME=${NAME:-dev}
GUEST=${GUEST:-scripts/guest.sh} # what makes the guest; tests put another in its place
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/nasadvisor
SHOWN=${SHOWN:-$PWD/var/shown}
PATIENCE_S=10

has_openzfs() {
    [ -c /dev/zfs ] && command -v zpool > /dev/null
}

may_install_here() {
    [ "${YES:-}" != 1 ] || return 0
    if [ ! -t 0 ]; then
        echo "This host has OpenZFS. Run \`make run YES=1\` to install NAS Advisor here." >&2
        return 1
    fi
    read -r -p "This host has OpenZFS. Install NAS Advisor and start it here? No pool is changed by that. [y/N] " answer
    [[ $answer == [yY]* ]]
}

# The package for the release that this host runs, made with its own Python.
install_here() {
    local directory
    [ "$(id -u)" = 0 ] || { echo "Only root can install. Run it again with sudo." >&2 && exit 1; }
    command -v apt-get > /dev/null || { echo "NAS Advisor is for Debian, Ubuntu and Proxmox VE." >&2 && exit 1; }
    echo "Building the package …"
    directory=$(mktemp --directory)
    trap 'rm -rf "$directory"' EXIT
    packaging/deb/build.sh "$directory"
    chmod -R go=rX "$directory"
    apt-get --quiet --yes install --reinstall --allow-downgrades "$directory"/nasadvisor_*.deb
    wait_and_say_how_to_begin "https://$(hostname -I | cut -d ' ' -f 1):$PORT" bash -c
}

is_free() {
    ! (: < "/dev/tcp/127.0.0.1/$1") 2> /dev/null
}

free_port() {
    local port=$PORT
    until is_free "$port"; do port=$((port + 1)); done
    echo "$port"
}

# The guest keeps its disks: the next run is there in the time that it takes to boot.
switch_off_guest() {
    [ "$GUEST" = scripts/guest.sh ] || return 0
    timeout $PATIENCE_S /usr/bin/python3 -m tests.lab ssh --name "$NAME" -- sync > /dev/null 2>&1 || true
    /usr/bin/python3 -c "from tests.lab.lab import Lab; Lab.attach('$NAME').machine.stop()" 2> /dev/null || true
}

# Ask each group of processes to end, wait for it, and insist after a while.
end_all() {
    trap '' INT TERM HUP
    local group _
    for group in "${groups[@]}"; do kill -TERM -- "-$group" 2> /dev/null || true; done
    for _ in $(seq $((PATIENCE_S * 10))); do
        kill -0 -- "${groups[@]/#/-}" 2> /dev/null || break
        sleep 0.1
    done
    for group in "${groups[@]}"; do kill -KILL -- "-$group" 2> /dev/null || true; done
    switch_off_guest
}

show_and_build() {
    local port address
    port=$(free_port)
    address=http://127.0.0.1:$port
    echo "There is no OpenZFS here. Look at the pages on a recorded machine (simulated) within a minute at"
    echo "  $address"
    echo "A virtual machine with real OpenZFS is made meanwhile; the pages say when it is ready. Ctrl-C ends all."
    "${MAKE:-make}" --silent --jobs 3 pages-tools
    mkdir -p "$SHOWN"
    set -m # else processes in the background would not listen to the signal that ends them
    groups=()
    trap end_all EXIT
    trap 'exit 130' INT TERM HUP
    STATE=$SHOWN PORT=$port RELOAD='' NASADVISOR_PREVIEW=$SHOWN/real.json scripts/dev.sh < /dev/null &
    groups+=($!)
    /usr/bin/python3 -m tests.lab.progress --state "$SHOWN/real.json" --known "$CACHE/stages-$NAME.json" \
        --log build/guest.log -- "$GUEST" < /dev/null &
    groups+=($!)
    wait "${groups[1]}" || true
    wait "${groups[0]}"
}

if has_openzfs; then
    may_install_here
    "${MAKE:-make}" --silent --jobs 3 assets translations
    install_here
else
    show_and_build
fi
