# Makes the guest see that its data disks are blank now, and creates the pool.
# Arguments: the data disks (/dev/sda …), then optionally `--` and what `zpool create` is to be given.
set -eu

disks=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    blockdev --flushbufs "$1"
    blockdev --rereadpt "$1"
    disks="$disks $1"
    shift
done
# shellcheck disable=SC2086 # device names have no spaces
udevadm trigger --settle --action=change $disks

[ $# -gt 0 ] || exit 0
shift
modprobe zfs
zpool create "$@"
