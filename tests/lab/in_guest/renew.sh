# Makes the guest see that its data disks are blank now, and creates the pool.
# Arguments: the data disks (/dev/sda …), then optionally `--` and what `zpool create` is to be given.
set -eu

count=0
for argument; do
    [ "$argument" = -- ] && break
    count=$((count + 1))
done
disks=$(printf '%s\n' "$@" | head -n "$count")
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
# shellcheck disable=SC2086
udevadm trigger --settle --action=change $disks

shift "$count"
[ $# -gt 0 ] || exit 0
shift
zpool create "$@"
udevadm settle
