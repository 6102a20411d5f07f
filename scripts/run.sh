#!/bin/bash
# Run the product: on this host if it has OpenZFS, else in the lab guest, installed as a user would install it.
set -euo pipefail
cd "$(dirname "$0")/.."
NAME=${NAME:-dev}
LAB=(/usr/bin/python3 -m tests.lab)
SOURCE=/root/nasadvisor
PORT=8843

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

boot_guest() {
    if "${LAB[@]}" status | grep --quiet "^${NAME}[[:space:]]"; then
        "${LAB[@]}" up --name "$NAME" --keep
    else
        "${LAB[@]}" up --name "$NAME" --forward "$PORT"
    fi
}

# The port of this machine that leads to the pages in the guest.
forwarded_port() {
    /usr/bin/python3 -c "from tests.lab.lab import Lab; print(Lab.attach('$NAME').forwarded_port($PORT))"
}

install_in_guest() {
    local address
    address=http://127.0.0.1:$(forwarded_port)
    "${LAB[@]}" ssh --name "$NAME" -- rm -rf "$SOURCE"
    "${LAB[@]}" push --name "$NAME" --exclude ./node_modules --exclude ./build --exclude ./tests --exclude ./var \
        --exclude ./staticfiles . "$SOURCE"
    "${LAB[@]}" ssh --name "$NAME" -- "NASADVISOR_ADDRESS=$address $SOURCE/packaging/install.sh"
}

if has_openzfs; then
    may_install_here
    packaging/install.sh
else
    scripts/packages.sh lab
    boot_guest
    install_in_guest
    echo "This is the lab guest: real OpenZFS on virtual disks. \`make lab-ssh CMD='zpool status'\` looks inside,"
    echo "\`make lab-down\` ends it."
fi
