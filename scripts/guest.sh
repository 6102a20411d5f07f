#!/bin/bash
# The lab guest with the product installed as a user would install it. Says each stage in a line that ends with "…".
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/begin.sh
. scripts/begin.sh
NAME=${NAME:-dev}
LAB=(/usr/bin/python3 -m tests.lab)
# Beside the guest's disks, so that it goes with them: the packages that are installed in it.
INSTALLED=${XDG_CACHE_HOME:-$HOME/.cache}/nasadvisor/lab/run/$NAME/installed

is_running() {
    "${LAB[@]}" status | grep --perl-regexp "^$NAME\t[^\t]*\trunning\t" > /dev/null
}

# A new guest has the package of this source tree from the start; one that runs already may have any, or none.
boot() {
    if [ -f "$INSTALLED" ]; then
        "${LAB[@]}" up --name "$NAME" --product --keep
    elif ! is_running; then
        "${LAB[@]}" up --name "$NAME" --product --forward "$PORT"
        "${LAB[@]}" deb > "$INSTALLED"
    fi
}

# The port of this machine that leads to the pages in the guest.
forwarded_port() {
    /usr/bin/python3 -c "from tests.lab.lab import Lab; print(Lab.attach('$NAME').forwarded_port($PORT))"
}

in_guest() {
    "${LAB[@]}" ssh --name "$NAME" -- "$@"
}

# The name of a package has a hash of what it was made from.
install() {
    [ "$(cat "$INSTALLED" 2> /dev/null)" != "$packages" ] || return 0
    echo "Installing NAS Advisor in the guest …"
    rm -f "$INSTALLED"
    in_guest "cat > /root/nasadvisor.deb" < "$(grep '/nasadvisor_' <<< "$packages")"
    in_guest "DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o Dpkg::Use-Pty=0 \
        install --reinstall --allow-downgrades /root/nasadvisor.deb"
    echo "$packages" > "$INSTALLED"
}

scripts/packages.sh lab
boot
packages=$("${LAB[@]}" deb)
install
echo "Waiting for the pages …"
wait_and_say_how_to_begin "https://127.0.0.1:$(forwarded_port)" in_guest
echo "This is the lab guest: real OpenZFS on virtual disks. \`make lab-ssh CMD='zpool status'\` looks inside."
