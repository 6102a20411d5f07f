# Stops everything in the guest that uses a data disk. Arguments: the data disks (/dev/sda …).
# Order matters: what lies on top goes first. Each step asks the kernel whether there is anything to do,
# because starting programs is what costs time under emulation.
set -u

while read -r device _; do
    case "$device" in /dev/*) swapoff "$device" ;; esac
done < /proc/swaps

for unit in nfs-server; do
    [ -e /proc/fs/nfsd/versions ] && systemctl stop "$unit" 2>/dev/null
done

# Mounts of anything but the root disk and the kernel's own file systems, the deepest first.
awk '$3 == "zfs" || ($1 ~ "^/dev/" && $2 != "/") { print $2 }' /proc/mounts | sort -r |
while read -r place; do
    place=$(printf '%b' "$place")
    umount "$place" 2>/dev/null || { fuser -kms "$place"; umount -l "$place"; }
done

if [ -e /dev/zfs ]; then
    zpool list -H -o name,health 2>/dev/null | while read -r pool health; do
        [ "$health" = SUSPENDED ] && zpool clear "$pool"
        zpool destroy -f "$pool"
    done
fi

for holder in /sys/block/dm-*; do
    [ -e "$holder" ] && { vgchange -q -an >/dev/null 2>&1; dmsetup remove_all --force >/dev/null 2>&1; break; }
done
for cache in /sys/fs/bcache/*-*/stop /sys/block/bcache*/bcache/stop; do
    [ -e "$cache" ] && echo 1 > "$cache"
done
for array in /sys/block/md*; do
    [ -e "$array" ] && mdadm --quiet --stop "/dev/${array##*/}"
done
for loop in /sys/block/loop*/loop; do
    [ -e "$loop" ] && losetup --detach-all && break
done
grep -q '^scsi_debug ' /proc/modules && modprobe -r scsi_debug

# Nothing may be written back later over what is blank by then.
sync
blockdev --flushbufs "$@"
