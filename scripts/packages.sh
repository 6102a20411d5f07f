#!/bin/bash
# Install the Debian packages that are missing: packages.sh run|test
set -euo pipefail
cd "$(dirname "$0")/.."
log=build/apt.log

case "${1:-}" in
    run)
        wanted=$(/usr/bin/python3 -m tests.lab packages)
        wanted+=" ca-certificates gettext openssh-client python3-venv"
        # Node.js is often here from elsewhere, with npm inside; Debian's npm would not fit beside that.
        command -v npm > /dev/null || wanted+=" nodejs npm"
        ;;
    test) wanted="chromium redis-server shellcheck" ;;
    *)
        echo "packages.sh: say run or test." >&2
        exit 2
        ;;
esac

missing=()
for package in $wanted; do
    state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" != 0 ]; then
    echo "These packages are missing, and only root can install them: ${missing[*]}" >&2
    exit 1
fi

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 -q "$@" >> "$log" 2>&1
}
install_missing() {
    apt update && apt install --yes --no-install-recommends "${missing[@]}"
}
mkdir -p build
echo "Installing ${#missing[@]} Debian packages (log: $log) …"
if ! install_missing; then
    echo "That did not work; trying once more …"
    sleep 10
    install_missing || { tail -n 5 "$log" >&2 && exit 1; }
fi
