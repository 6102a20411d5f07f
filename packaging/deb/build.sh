#!/bin/bash
# Build the Debian packages, one for each directory here, with this machine's Python and for this machine's release:
#   build.sh OUTPUT [VERSION]
# Needs python3-venv. NASADVISOR_VENV can name a directory that build_venv.sh has made here, and NASADVISOR_XZ how hard to
# pack: 6 takes half a minute and makes a sixth less than 1, which is for packages that are only tried.
set -euo pipefail
SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1735689600}
MAINTAINER='The NAS Advisor developers <developers@nasadvisor.invalid>'
# shellcheck source=/dev/null
. /etc/os-release
ARCHITECTURE=$(dpkg --print-architecture)
PYTHON=$(/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')

main() {
    local output version package
    output=$(realpath "$1")
    version=${2:-$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$SOURCE/nasadvisor/__init__.py")}
    # A package for an older release gives way to that for Debian 13 when the host is upgraded.
    [ "$VERSION_CODENAME" = trixie ] || version+="~$VERSION_CODENAME"
    work=$(mktemp --directory)
    trap 'rm -rf "$work"' EXIT
    umask 022
    for package in "$SOURCE"/packaging/deb/*/; do
        build_package "$(basename "$package")" "$version" "$output"
    done
}

build_package() {
    local package=$1 version=$2 output=$3
    local recipe=$SOURCE/packaging/deb/$package tree=$work/$package
    mkdir -p "$tree/DEBIAN"
    "$recipe/stage.sh" "$tree"
    add_documents
    add_maintainer_scripts
    add_control
    find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz "-z${NASADVISOR_XZ:-6}" --build "$tree" "$output" > /dev/null
}

add_documents() {
    local documents=$tree/usr/share/doc/$package
    install -D -m 0644 "$recipe/copyright" "$documents/copyright"
    entry_of '  * What is new: /usr/lib/nasadvisor/app/CHANGELOG.md' > "$documents/changelog.gz"
    if [ -e "$recipe/lintian-overrides" ]; then
        install -D -m 0644 "$recipe/lintian-overrides" "$tree/usr/share/lintian/overrides/$package"
    fi
}

# An entry of Debian's changelog with this text.
entry_of() {
    {
        printf '%s (%s) %s; urgency=medium\n\n%s\n\n' "$package" "$version" "$VERSION_CODENAME" "$1"
        printf ' -- %s  %s\n' "$MAINTAINER" "$(LC_ALL=C date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")"
    } | gzip -9 --no-name
}

# In them, @UNITS@ are the services of the package that start at boot, and @VERSION@ is its own.
add_maintainer_scripts() {
    local script units=
    if [ -d "$tree/usr/lib/systemd/system" ]; then
        units=$(cd "$tree/usr/lib/systemd/system" && grep --files-with-matches '^\[Install\]' -- * | paste -s -d ' ')
    fi
    for script in preinst postinst prerm postrm; do
        [ -e "$recipe/$script" ] || continue
        sed -e "s/@UNITS@/$units/" -e "s/@VERSION@/$version/" "$recipe/$script" > "$tree/DEBIAN/$script"
        chmod 0755 "$tree/DEBIAN/$script"
    done
    [ ! -e "$recipe/triggers" ] || install -m 0644 "$recipe/triggers" "$tree/DEBIAN/triggers"
}

add_control() {
    (
        cd "$tree"
        [ ! -d etc ] || find etc -type f -printf '/%p\n' | LC_ALL=C sort > DEBIAN/conffiles
        find . -path ./DEBIAN -prune -o -path ./etc -prune -o -type f -printf '%P\0' | LC_ALL=C sort --zero-terminated \
            | xargs --null md5sum > DEBIAN/md5sums
        sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$ARCHITECTURE/" -e "s/@PYTHON@/$PYTHON/" \
            -e "s/@MAINTAINER@/$MAINTAINER/" \
            -e "s/@SIZE@/$(du --summarize --apparent-size --block-size=1K --exclude=DEBIAN . | cut -f 1)/" \
            "$recipe/control" > DEBIAN/control
    )
}

main "$@"
