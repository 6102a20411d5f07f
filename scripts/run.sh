#!/bin/bash
# Run the product: on this host if it has OpenZFS, else in the lab guest, installed as a user would install it.
set -euo pipefail
cd "$(dirname "$0")/.."
NAME=${NAME:-dev}
LAB=(/usr/bin/python3 -m tests.lab)
PORT=8843
WAIT_S=300

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
    on_the_nas=(bash -c)
    wait_and_say_how_to_begin "http://$(hostname -I | cut -d ' ' -f 1):$PORT"
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
    local packages
    packages=$("${LAB[@]}" deb)
    on_the_nas=("${LAB[@]}" ssh --name "$NAME" --)
    "${on_the_nas[@]}" "cat > /root/nasadvisor.deb" < "$(grep '/nasadvisor_' <<< "$packages")"
    "${on_the_nas[@]}" "DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o Dpkg::Use-Pty=0 \
        install --reinstall --allow-downgrades /root/nasadvisor.deb"
    wait_and_say_how_to_begin "http://127.0.0.1:$(forwarded_port)"
}

wait_and_say_how_to_begin() {
    local address=$1 link
    "${on_the_nas[@]}" "for second in {1..$WAIT_S}; do (: < /dev/tcp/127.0.0.1/$PORT) && exit; sleep 1; done 2> /dev/null; \
        exit 1" || { echo "The web pages do not answer. See why with: journalctl -u 'nasadvisor-*'" >&2 && exit 1; }
    echo "NAS Advisor runs at $address"
    link=$("${on_the_nas[@]}" "/usr/lib/nasadvisor/manage setup_link --base-url $address < /dev/null 2> /dev/null" || true)
    [ -z "$link" ] || printf '%s\n  %s\n' "Make the first administrator here (the link works once, for a day):" "$link"
}

if has_openzfs; then
    may_install_here
    install_here
else
    scripts/packages.sh lab
    boot_guest
    install_in_guest
    echo "This is the lab guest: real OpenZFS on virtual disks. \`make lab-ssh CMD='zpool status'\` looks inside,"
    echo "\`make lab-down\` ends it."
fi
