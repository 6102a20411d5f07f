# Makes the guest see that its data disks are blank now, and creates the pool.
# Arguments: the data disks (/dev/sda …), `--`, those that were not blank before and get into no pool, `--`, and then
# what `zpool create` is to be given, if anything.
set -eu

disks=
changed=
until [ "$1" = -- ]; do
    disks="$disks $1"
    shift
done
shift
until [ "$1" = -- ]; do
    changed="$changed $1"
    shift
done
shift

tries=0
# udev may still be looking at a partition; anything else that holds one stays.
# shellcheck disable=SC2086 # device names have no spaces
until blockdev --flushbufs --rereadpt $disks; do
    tries=$((tries + 1))
    if [ "$tries" = 5 ]; then
        lsblk -o NAME,TYPE,FSTYPE,MOUNTPOINTS $disks >&2
        exit 1
    fi
    udevadm settle
done
# Each look takes half a second under emulation; at the disks of a pool udev looks when it is made.
# shellcheck disable=SC2086
[ -z "$changed" ] || udevadm trigger --action=change $changed
udevadm settle

[ $# -gt 0 ] || exit 0
zpool create "$@"
udevadm settle
