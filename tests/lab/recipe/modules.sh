#!/bin/sh
# Runs inside a root that has a compiler: compiles the ZFS modules for the kernel that the archive has now, and leaves
# them as a package in /tmp. Headers and source are only unpacked: installed, they would bring the kernel and dkms.
set -eu
cd /tmp

# What a package depends on, one name a line.
needs() {
    apt-cache show "$1" | sed -n 's/^Depends: //p' | head -n 1 | tr ',|' '[\n*]' | awk '{ print $1 }'
}

# With the answers that ZFS's `configure` found for such a kernel: asking again takes as long as compiling.
compile_with_kept_answers() {
    kept=/tmp/zfs-config/$version-linux-$(echo "$kernel" | cut -d . -f 1,2).h
    [ -e "$kept" ] || return 1
    echo "The answers of ZFS's configure are taken from $(basename "$kept")."
    cp "$kept" zfs_config.h
    sed -e "s|@abs_top_srcdir@|$source|; s|@abs_top_builddir@|$source|; s|@abs_srcdir@|$source/module|" \
        -e "s|@abs_builddir@|$source/module|; s|@KERNEL_DEBUG_CPPFLAGS@|-UDEBUG -DNDEBUG|; s|@CONFIG_QAT_TRUE@|#|" \
        -e "s|@KERNEL_DEBUG_CFLAGS@||; s|@NO_FORMAT_ZERO_LENGTH@|-Wno-format-zero-length|" \
        module/Kbuild.in > module/Kbuild
    compile
}

compile_with_configure() {
    echo "ZFS's configure asks for version $version and kernel $kernel."
    CC=$compiler ./configure --disable-dependency-tracking --prefix=/usr --with-config=kernel \
        --with-linux="$common" --with-linux-obj="$headers"
    compile
}

# Nobody debugs the modules: without what a debugger reads it takes a tenth to a sixth less time.
compile() {
    make -C "$headers" M="$source/module" CONFIG_ZFS=m CONFIG_DEBUG_INFO_BTF_MODULES= KCFLAGS=-g0 \
        -j "$(nproc)" modules
}

pack() {
    package=/tmp/lab-zfs-modules
    target=$package/lib/modules/$kernel/extra
    mkdir -p "$package/DEBIAN" "$target"
    sed "s/@VERSION@/${version%%-*}/" /tmp/modules.control > "$package/DEBIAN/control"
    cp module/spl.ko module/zfs.ko "$target"
    # Uncompressed: unpacking is slow under emulation.
    strip --strip-debug "$target"/*.ko
    dpkg-deb -Znone --build "$package"
}

kernel=$(needs linux-headers-amd64 | sed -n 's/^linux-headers-//p')
parts=$(needs "linux-headers-$kernel" | grep -E '^linux-(headers|kbuild)-')
# shellcheck disable=SC2086 # names without spaces
apt-get download "linux-headers-$kernel" $parts zfs-dkms
for file in linux-*.deb zfs-dkms_*.deb; do
    dpkg-deb --extract "$file" /
done
headers=/usr/src/linux-headers-$kernel
common=$(echo /usr/src/linux-headers-*-common)
compiler=$(cd /usr/bin && echo x86_64-linux-gnu-gcc-[0-9]*)
version=$(dpkg-deb --field zfs-dkms_*.deb Version)
source=$(echo /usr/src/zfs-*)
cd "$source"
compile_with_kept_answers || compile_with_configure
pack
