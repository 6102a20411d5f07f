#!/bin/bash
# Install the Debian packages that are missing: packages.sh build|pages|lab|test
set -euo pipefail
cd "$(dirname "$0")/.."
log=build/apt.log

# What of the packages named is not installed.
missing_of() {
    local package state
    for package; do
        state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null || true)
        [ "$state" = installed ] || echo "$package"
    done
}

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 -q "$@" >> "$log" 2>&1
}

install_once() {
    apt update && apt install --yes --no-install-recommends "$@"
}

install_missing() {
    local missing
    mapfile -t missing < <(missing_of "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        echo "These packages are missing, and only root can install them: ${missing[*]}" >&2
        exit 1
    fi
    mkdir -p build
    echo "Installing ${#missing[@]} Debian packages (log: $log) …"
    if ! install_once "${missing[@]}"; then
        echo "That did not work; trying once more …"
        sleep 10
        install_once "${missing[@]}" || { tail -n 5 "$log" >&2 && exit 1; }
    fi
}

case "${1:-}" in
    build)
        wanted=(ca-certificates gettext python3 python3-venv)
        # Node.js is often here from elsewhere, with npm inside; Debian's npm would not fit beside that.
        command -v npm > /dev/null || wanted+=(nodejs npm)
        ;;
    pages)
        wanted=(redis-server)
        ;;
    lab)
        listed=$(/usr/bin/python3 -m tests.lab packages)
        mapfile -t wanted <<< "$listed"
        ;;
    test)
        wanted=(chromium fonts-dejavu-core libharfbuzz-subset0 libpangoft2-1.0-0 mosquitto postgresql redis-server shellcheck)
        wanted+=(btrfs-progs e2fsprogs gdisk strace util-linux xfsprogs) # tests/devices
        wanted+=(aardvark-dns iptables netavark podman runc) # tests/integration/test_containers.py
        ;;
    *)
        echo "packages.sh: say build, pages, lab or test." >&2
        exit 2
        ;;
esac
install_missing "${wanted[@]}"
