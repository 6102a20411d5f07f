#!/bin/bash
# build.sh FOLDER: make nasadvisor-pve-link_<version>_all.deb in FOLDER.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../../../pyproject.toml" | head -n 1)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
install -D -m 0755 "$here/pve-link" "$tree/usr/lib/nasadvisor-pve-link/pve-link"
install -D -m 0644 "$here/nasadvisor.js" "$tree/usr/share/pve-manager/js/nasadvisor.js"
install -d "$tree/usr/share/pve-manager/templates/default"
install -m 0644 "$here"/templates/*.hbs "$tree/usr/share/pve-manager/templates/default/"
doc=$tree/usr/share/doc/nasadvisor-pve-link
install -D -m 0644 "$here/debian/copyright" "$doc/copyright"
gzip -9 --no-name < "$here/debian/changelog" > "$doc/changelog.gz"
install -d "$tree/DEBIAN"
sed "s/@VERSION@/$version/" "$here/debian/control" > "$tree/DEBIAN/control"
install -m 0644 "$here/debian/triggers" "$tree/DEBIAN/triggers"
install -m 0755 "$here/debian/postinst" "$here/debian/prerm" "$tree/DEBIAN/"
mkdir -p "$1"
dpkg-deb --root-owner-group -Zxz --build "$tree" "$1/nasadvisor-pve-link_${version}_all.deb"
