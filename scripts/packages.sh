#!/bin/bash
# Install the Debian packages that are missing: packages.sh run|test
set -euo pipefail
cd "$(dirname "$0")/.."

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

wanted() {
    case "$1" in
        run)
            /usr/bin/python3 -m tests.lab packages
            printf '%s\n' ca-certificates gettext openssh-client python3-venv
            # Node.js is often here from elsewhere, with npm inside; Debian's npm would not fit beside it.
            command -v npm > /dev/null || printf '%s\n' nodejs npm
            ;;
        test) printf '%s\n' chromium shellcheck redis-server ;;
        *) echo "packages.sh: say run or test, not '$1'." >&2; exit 2 ;;
    esac
}


missing=()
while read -r package; do
    installed "$package" || missing+=("$package")
done < <(wanted "${1:-}")
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" != 0 ]; then
    echo "These packages are missing, and only root can install them: ${missing[*]}" >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt() {
    apt-get -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 -q "$@" >> build/apt.log 2>&1
}
install_missing() {
    apt update && apt install --yes --no-install-recommends "${missing[@]}"
}
mkdir -p build
echo "Installing ${#missing[@]} Debian packages (log: build/apt.log) …"
install_missing || { echo "That did not work; trying once more …"; sleep 10; install_missing; } || {
    tail -n 5 build/apt.log >&2
    exit 1
}
