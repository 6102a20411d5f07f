#!/bin/bash
# Install or upgrade NAS Advisor on this host (Debian, Ubuntu, Proxmox VE) from the source tree this file is in.
# It may be run again at any time. It changes no pool and no disk.
set -euo pipefail

SOURCE=$(cd "$(dirname "$0")/.." && pwd)
HOME_DIR=/usr/lib/nasadvisor
APP=$HOME_DIR/app
VENV=$HOME_DIR/venv
CONFIG=/etc/nasadvisor
UNITS=/etc/systemd/system
SERVICES=(nasadvisor-redis nasadvisor-host nasadvisor-web nasadvisor-console nasadvisor-beat)
PARTS=(nasadvisor plugins templates static locale manage.py README.md CHANGELOG.md LICENSE)
DIGEST=$HOME_DIR/digest
WAIT_S=300

main() {
    check_host
    install_packages
    install_virtualenv
    if is_current; then
        say "This version is installed already."
    else
        prepare_code
        stop_services
        install_code
        install_system_files
        prepare_console
        digest > "$DIGEST"
    fi
    local link
    link=$(start_pages_and_make_link)
    start_services
    say_how_to_begin "$link"
}

say() {
    echo "nasadvisor: $*"
}

fail() {
    echo "nasadvisor: $*" >&2
    exit 1
}

check_host() {
    [ "$(id -u)" = 0 ] || fail "Only root can install. Run it again with sudo."
    command -v apt-get > /dev/null || fail "This installer is for Debian, Ubuntu and Proxmox VE: there is no apt-get."
    [ -d /run/systemd/system ] || fail "This host does not run systemd, which starts the services."
    [ -d "$SOURCE/static/vendor" ] || fail "The parts for the browser are missing. Run \`make assets\` in $SOURCE first."
    command -v zpool > /dev/null || say "OpenZFS is not installed here; there will be no pools to see. See zfsutils-linux."
}

install_packages() {
    local missing=() package
    # Pango and a font are for reports as PDF.
    for package in python3 python3-venv gdisk redis-server smartmontools libpangoft2-1.0-0 libharfbuzz-subset0 \
        fonts-dejavu-core; do
        [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null)" = installed ] \
            || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "Installing the packages ${missing[*]} …"
    if [[ " ${missing[*]} " == *" redis-server "* ]]; then
        # We run a Redis of our own; the packaged service would open a TCP port.
        systemctl mask --runtime --quiet redis-server.service
    fi
    local apt=(apt-get -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 -qq)
    export DEBIAN_FRONTEND=noninteractive
    "${apt[@]}" update
    "${apt[@]}" install --yes --no-install-recommends "${missing[@]}" > /dev/null
    if [[ " ${missing[*]} " == *" redis-server "* ]]; then
        systemctl unmask --runtime --quiet redis-server.service
        systemctl disable --quiet redis-server.service
    fi
}

# The packages of the lock file, for this host's Python; nothing is done where they are there already.
install_virtualenv() {
    local lock=$SOURCE/requirements/run.txt marker=$VENV/nasadvisor-lock python wanted
    python=$(/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    wanted="$python $(sha256sum < "$lock" | cut -d ' ' -f 1)"
    if [ -f "$marker" ] && [ "$(cat "$marker")" = "$wanted" ]; then
        return
    fi
    say "Installing the Python packages …"
    mkdir -p "$HOME_DIR"
    [ -d "$VENV/lib/$python" ] || /usr/bin/python3 -m venv --clear "$VENV"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement "$lock"
    echo "$wanted" > "$marker"
}

# What this source tree would install.
digest() {
    cat "$VENV/nasadvisor-lock"
    (
        cd "$SOURCE"
        { find "${PARTS[@]}" packaging -type f -not -path '*/__pycache__/*' -print0 2> /dev/null || true; } \
            | LC_ALL=C sort --zero-terminated | xargs --null sha256sum
    ) | sha256sum
}

is_current() {
    [ -f "$DIGEST" ] && [ -d "$APP" ] && [ "$(digest)" = "$(cat "$DIGEST")" ]
}

# Copied and compiled beside the running version.
prepare_code() {
    say "Preparing the program …"
    rm -rf "$APP.new"
    mkdir -p "$APP.new/requirements"
    local part
    for part in "${PARTS[@]}"; do
        [ ! -e "$SOURCE/$part" ] || cp -r --no-preserve=ownership "$SOURCE/$part" "$APP.new/"
    done
    cp "$SOURCE/requirements/run.txt" "$APP.new/requirements/"
    find "$APP.new" -name __pycache__ -prune -exec rm -rf {} +
    chmod -R u=rwX,go=rX "$APP.new"
    "$VENV/bin/python" -m compileall -q -j 0 -s "$APP.new" -p "$APP" "$APP.new"
}

# Stopping the host's service waits for a run to end.
stop_services() {
    rm -f "$DIGEST"
    systemctl stop "${SERVICES[@]}" 2> /dev/null || true
}

install_code() {
    rm -rf "$APP.old"
    [ ! -d "$APP" ] || mv "$APP" "$APP.old"
    mv "$APP.new" "$APP"
    rm -rf "$APP.old"
    local site
    site=$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    echo "$APP" > "$site/nasadvisor.pth"
}

install_system_files() {
    local files=$SOURCE/packaging
    install -D -m 0644 "$files/nasadvisor.sysusers" /usr/lib/sysusers.d/nasadvisor.conf
    install -D -m 0644 "$files/nasadvisor.tmpfiles" /usr/lib/tmpfiles.d/nasadvisor.conf
    systemd-sysusers nasadvisor.conf
    systemd-tmpfiles --create nasadvisor.conf
    install -D -m 0755 "$files/nasadvisor" /usr/bin/nasadvisor
    install -D -m 0755 "$files/manage" "$HOME_DIR/manage"
    install -D -m 0644 "$files/redis.conf" "$HOME_DIR/redis.conf"
    install -d -m 0755 "$CONFIG"
    if [ ! -e "$CONFIG/environment" ]; then
        install -m 0640 -g nasadvisor "$files/environment" "$CONFIG/environment"
    fi
    install -m 0644 "$files"/systemd/nasadvisor-*.service "$UNITS/"
    systemctl daemon-reload
}

# Two things that take their time, at once.
prepare_console() {
    say "Preparing the database …"
    (cd "$APP" && "$VENV/bin/python" manage.py collectstatic --no-input --verbosity 0) &
    "$HOME_DIR/manage" prepare < /dev/null > /dev/null
    wait $!
}

# The pages first and alone, so that nothing slows them down; the link is made while they start.
start_pages_and_make_link() {
    say "Starting the services …" >&2
    systemctl start nasadvisor-web
    setup_link &
    wait_until_it_answers
    wait
}

start_services() {
    systemctl enable --quiet "${SERVICES[@]}"
    systemctl start "${SERVICES[@]}"
}

port() {
    local port
    port=$(sed -n 's/^UVICORN_PORT=//p' "$CONFIG/environment" | tail -n 1)
    echo "${port:-8843}"
}

wait_until_it_answers() {
    local waited=0 port
    port=$(port)
    until (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do
        waited=$((waited + 1))
        [ $waited -lt $WAIT_S ] || fail "The web pages do not answer. See why with: journalctl -u nasadvisor-web"
        sleep 1
    done
}

address() {
    echo "${NASADVISOR_ADDRESS:-http://$(hostname -I | cut -d ' ' -f 1):$(port)}"
}

# The address at which the first administrator is made; nothing if there is one.
setup_link() {
    "$HOME_DIR/manage" setup_link --base-url "$(address)" < /dev/null 2> /dev/null || true
}

say_how_to_begin() {
    say "NAS Advisor runs at $(address)"
    if [ -n "$1" ]; then
        say "Make the first administrator here (the link works once, for a day):"
        say "  $1"
    fi
}

main "$@"
