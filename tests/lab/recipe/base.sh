#!/bin/sh
# Runs inside the new root, after all packages are in and dkms has compiled the ZFS module.
# Keeps the module, drops the compiler. Arguments: the packages that were needed only to build.
set -eu

kernel=$(ls /lib/modules)
version=$(dpkg-query -W -f '${source:Upstream-Version}' zfs-dkms)
module=$(find "/lib/modules/$kernel" -name 'zfs.ko*' | head -n 1)
if [ -z "$module" ]; then
    echo "dkms built no ZFS module for $kernel; the end of its log follows."
    tail -n 50 /var/lib/dkms/zfs/*/build/make.log || true
    exit 1
fi

# zfs-zed depends on "zfs-modules": a package of our own keeps apt content when zfs-dkms goes,
# so that `apt install` still works in the guest.
package=/tmp/zfs-modules
mkdir -p "$package/DEBIAN" "$package/lib/modules/$kernel/extra"
cat > "$package/DEBIAN/control" <<END
Package: lab-zfs-modules
Version: $version
Architecture: amd64
Maintainer: The NAS Advisor developers <lab@localhost>
Provides: zfs-modules
Description: the ZFS kernel modules of the lab guest, compiled by dkms
END
for file in "$(dirname "$module")"/*.ko*; do
    target="$package/lib/modules/$kernel/extra/$(basename "$file" .xz)"
    # Stored uncompressed: unpacking xz is slow under emulation.
    case "$file" in
        *.xz) xz -dc "$file" > "$target" ;;
        *) cp "$file" "$target" ;;
    esac
    strip --strip-debug "$target"
done
dpkg-deb --build "$package" /tmp/zfs-modules.deb
dpkg --install /tmp/zfs-modules.deb
rm -rf "$package" /tmp/zfs-modules.deb

DEBIAN_FRONTEND=noninteractive apt-get --yes purge "$@"
DEBIAN_FRONTEND=noninteractive apt-get --yes autoremove --purge
depmod "$kernel"
test -e "/lib/modules/$kernel/extra/zfs.ko"
test -x /usr/sbin/zed
