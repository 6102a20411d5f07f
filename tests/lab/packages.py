"""Which Debian packages the lab needs: on the machine that runs it, and inside the guest."""

# Installed on the machine that runs the lab (`python3 -m tests.lab packages` prints them).
HOST_PACKAGES: tuple[str, ...] = (
    "qemu-system-x86",
    "qemu-utils",
    "nbdkit",
    "mmdebstrap",
    "debian-archive-keyring",
    "e2fsprogs",
    "dosfstools",
    "fdisk",
    "openssh-client",
    "python3",
)

GUEST_SUITE = "trixie"

# What a NAS has: OpenZFS, its disk tools, and enough else that a test can put a disk to any other use.
GUEST_PACKAGES: tuple[str, ...] = (
    "attr",
    "bcache-tools",
    "bpftrace",
    "ca-certificates",
    "cryptsetup-bin",
    "curl",
    "dbus",
    "dosfstools",
    "e2fsprogs",
    "fdisk",
    "fio",
    "fonts-dejavu-core",
    "gdisk",
    "initramfs-tools",
    "iproute2",
    "kmod",
    "less",
    "libharfbuzz-subset0",
    "libpangoft2-1.0-0",
    "linux-image-amd64",
    "lvm2",
    "mdadm",
    "nfs-common",
    "nfs-kernel-server",
    "nvme-cli",
    "openssh-server",
    "parted",
    "procps",
    "psmisc",
    "python3",
    "python3-venv",
    "redis-server",
    "sg3-utils",
    "smartmontools",
    "sudo",
    "systemd-sysv",
    "tzdata",
    "udev",
    "util-linux-extra",
    "xfsprogs",
    "xz-utils",
    "zfs-zed",
    "zfsutils-linux",
    "zstd",
)

# Needed only while the ZFS modules are compiled, in a root of their own; the kernel's headers come without the kernel.
GUEST_BUILD_PACKAGES: tuple[str, ...] = ("gcc-14", "libc6-dev", "libelf1t64", "libssl3t64", "make")
