#!/bin/bash
# Every file of the package, put in place below a directory: stage.sh TREE
set -euo pipefail
SOURCE=$(cd "$(dirname "$0")/../../.." && pwd)
tree=$1
packaging=$SOURCE/packaging
home=$tree/usr/lib/nasadvisor

mkdir -p "$home"
if [ -n "${NASADVISOR_VENV:-}" ]; then
    cp --archive "$NASADVISOR_VENV" "$home/venv"
else
    "$packaging/build_venv.sh" "$home/venv"
fi
"$packaging/build_app.sh" "$home/app" "$home/venv/bin/python"
# It has packed the style sheets and scripts for browsers by now, and no font of a report is packed that way.
find "$home/venv/lib" \( -name '_brotli.*' -o -name 'brotli.*' \) -delete

install -D -m 0755 "$packaging/nasadvisor" "$tree/usr/bin/nasadvisor"
install -D -m 0644 --target-directory="$tree/usr/share/man/man1" "$packaging"/manual/*.1
gzip -9 --no-name "$tree"/usr/share/man/man1/*.1
install -D -m 0644 "$packaging/manual/nasadvisor.bash" "$tree/usr/share/bash-completion/completions/nasadvisor"
install -D -m 0644 "$packaging/manual/nasadvisor.zsh" "$tree/usr/share/zsh/vendor-completions/_nasadvisor"
# What `make docs` made. The console shows it where it is installed; a package that is only tried has none.
if [ -d "$SOURCE/build/docs" ]; then
    mkdir -p "$tree/usr/share/doc/nasadvisor"
    cp --recursive "$SOURCE/build/docs" "$tree/usr/share/doc/nasadvisor/html"
    chmod -R u=rwX,go=rX "$tree/usr/share/doc/nasadvisor/html"
fi
install -m 0755 "$packaging/manage" "$home/manage"
install -m 0755 "$packaging/redis-watch" "$home/redis-watch"
install -m 0644 "$packaging/redis.conf" "$home/redis.conf"
install -m 0644 "$SOURCE/requirements/postgresql.txt" "$home/postgresql.txt"
# Debian's redis-server is this program under another name, in a package that starts a Redis of its own on a TCP port.
ln -s ../../bin/redis-check-rdb "$home/redis-server"
install -D -m 0644 --target-directory="$tree/usr/lib/systemd/system" "$packaging"/systemd/nasadvisor-*
# Where Proxmox VE looks for the templates of messages; on other hosts nobody reads them.
install -D -m 0644 --target-directory="$tree/usr/share/pve-manager/templates/default" \
    "$packaging"/deb/nasadvisor/templates/*.hbs
install -D -m 0644 "$packaging/nasadvisor.sysusers" "$tree/usr/lib/sysusers.d/nasadvisor.conf"
install -D -m 0644 "$packaging/nasadvisor.tmpfiles" "$tree/usr/lib/tmpfiles.d/nasadvisor.conf"
install -D -m 0640 "$packaging/environment" "$tree/etc/nasadvisor/environment"
