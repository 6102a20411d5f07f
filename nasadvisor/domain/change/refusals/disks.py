"""Refusals about whole disks, and what is on them."""
# ruff: noqa: N802

from typing import Final

from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Pool, ZfsLabel

HOLD_SENTENCES: Final[dict[HoldKind, str]] = {
    HoldKind.BOOT: _(
        "{disk} cannot be used: this machine boots from it ({what}). A reinstall would wipe the slices. Use another SSD."
    ),
    HoldKind.MOUNT: _(
        "{disk} cannot be used: it is mounted at {what}. If nothing on it is needed, unmount it and clear it with `wipefs --all {path}` first."
    ),
    HoldKind.SWAP: _(
        "{disk} cannot be used: it is swap space ({what}). If it is not needed, turn it off with swapoff and clear it with `wipefs --all {path}` first."
    ),
    HoldKind.HOLDER: _(
        "{disk} cannot be used: the device {what} is built on it. Take that apart first, or choose another SSD."
    ),
    HoldKind.LVM: _(
        "{disk} cannot be used: it belongs to LVM ({what}). Remove it from its volume group first, if it is in one; then clear it with `wipefs --all {path}`."
    ),
    HoldKind.RAID: _(
        "{disk} cannot be used: it is a member of a RAID set ({what}). Take that apart first, if there is one; then clear it with `wipefs --all {path}`."
    ),
    HoldKind.CEPH: _(
        "{disk} cannot be used: Ceph keeps data on it ({what}). Remove the OSD first, if there is one; then clear it with `wipefs --all {path}`."
    ),
    HoldKind.FILESYSTEM: _(
        "{disk} cannot be used: it holds a filesystem ({what}). If nothing on it is needed, clear its partitions, if it has any, and then the disk with `wipefs --all`."
    ),
    HoldKind.POOL: _("{disk} cannot be used: it is part of the pool {what}. Choose a disk that is free."),
    HoldKind.EXPORTED_POOL: _(
        "{disk} cannot be used: it carries the label of pool {what}, which is not imported. If that pool is needed, choose another SSD; if not, have the disk wiped first."
    ),
    HoldKind.LEFTOVER_LABEL: _(
        "{disk} cannot be used: it carries a label that pool {what} left behind, which no longer uses that device."
    ),
    HoldKind.SIGNATURE: _(
        "{disk} cannot be used: it carries data of the kind {what}. If nothing on it is needed, clear its partitions, if it has any, and then the disk with `wipefs --all`."
    ),
    HoldKind.READ_ONLY: _(
        "{disk} cannot be used: it is read-only. Look for a write-protect switch, or for a drive that has worn out."
    ),
    HoldKind.ZONED: _(
        "{disk} cannot be used: it is a zoned disk ({what}). Most of it can be written only zone by zone, so it takes no partition table. Choose another SSD."
    ),
    HoldKind.NO_SIZE: _(
        "{disk} cannot be used: Linux gives it no size. `smartctl -i {what}` shows its sectors. With 520 or 528 bytes, as in storage arrays, it must be formatted to 512 first, which erases it; else it may be broken."
    ),
    HoldKind.PATH: _(
        "{disk} cannot be used: it and {what} are paths to the same disk (multipath), which serves neither log nor cache here. Choose another SSD."
    ),
    HoldKind.DUPLICATE: _(
        "{disk} cannot be used: nothing tells it from {what}. If a dock or USB case hides its serial, "
        "attach it directly. If both are one disk on two cables, unplug one. Else choose another SSD. It "
        "is still watched."
    ),
    HoldKind.COPY: _(
        "{disk} cannot be used: a partition on it and one on another disk have the same PARTUUID ({what}), as after a copy. Take the copy out, or choose another SSD."
    ),
    HoldKind.UNREADABLE: _("{disk} cannot be used: nothing about it may be assumed, because {what}."),
}


LABELS: Final = frozenset({HoldKind.EXPORTED_POOL, HoldKind.LEFTOVER_LABEL})
"""Holds by what a device once was for a pool."""

LABEL_LEFT_BEHIND: Final = _(
    "{disk} cannot be used: {path} carries a label that pool {what} left behind; the pool no longer uses that device. Nothing of the pool is lost without it: `zpool labelclear {path}` takes the label off."
)

LABEL_OF_AWAY_POOL: Final = _(
    "{disk} cannot be used: {path} carries the label of pool {what} (guid {guid}), which is not imported. If that pool is needed, choose another SSD. If it is not, and `zpool import` shows it: `zpool import -N {guid} old-{guid}`, then `zpool destroy old-{guid}`, then `zpool labelclear {path}`. If it does not, and the pool is neither on another machine nor on disks that were taken out: `zpool labelclear -f {path}`."
)
"""Under a name of its own, so that no command can meet another pool that has the same one: an import by a name that is
taken fails, and `zpool destroy` would then take the pool that is there."""

LABEL_OF_NO_POOL: Final = _(
    "{disk} cannot be used: {path} carries the label of a cache or spare that no imported pool uses. A cache holds copies only, a spare nothing. If no other pool needs it, `zpool labelclear {path}` takes the label off."
)

LABEL_UNDER_OLD_NAME: Final = _(
    "{disk} cannot be used: {path} carries a label that pool {what} left behind under its earlier name {old}; the pool no longer uses that device. Nothing of the pool is lost without it: `zpool labelclear -f {path}` takes the label off."
)
"""Without -f zpool asks for the name, finds no such pool, and takes the label for that of one on another machine:
zpool_in_use() in lib/libzfs/libzfs_import.c, which compares the guid only of a pool of that name."""


def DiskGone(key: str) -> Refused:
    """Disks are known by what is printed on them (model, serial, WWN, size), not by a slot or a name such as sda.
    Each step looks its disk up again right before it writes. One that is missing, or that two devices claim to be,
    is never guessed.
    """
    return Refused(
        "disk-gone",
        _(
            "The disk {key} is not there, or two devices claim to be it. Check that it is plugged in, and once only, and read the host again."
        ),
        {"key": key},
    )


def DiskChanged(disk: Disk, path: str) -> Refused:
    """A command is given the persistent name of a disk, and right before it runs that name is opened and compared
    with the disk that was planned. Here it leads elsewhere or nowhere: a cable was moved, a disk was replaced, or
    its name changed. Nothing was written by that name.
    """
    return Refused(
        "disk-changed",
        _(
            "{disk} is no longer reachable as {path}. Another disk may have taken its place. Read the host again to see which disk is where."
        ),
        {"disk": disk.label, "path": path},
    )


def DiskHeld(disk: Disk, hold: Hold) -> Refused:
    """Only a disk that nothing uses can carry a log or a cache. The kernel, udev and OpenZFS are asked what uses
    it, and the disk itself is read; each of them alone can forbid it. What is on a disk is never cleared here: that
    is left to you, so that nobody loses data by a click.
    """
    where = next((part for part in disk.partitions if hold in part.holds), disk)
    path = where.path or f"/dev/{where.kernel_name}"
    if hold.kind in LABELS and where.zfs_label:
        return _labelled(disk, hold, path, where.zfs_label)
    template = HOLD_SENTENCES[hold.kind]
    values = {"disk": disk.label, "what": hold.what} | ({"path": path} if "{path}" in template else {})
    return Refused(f"disk-{hold.kind}", template, values)


def _labelled(disk: Disk, hold: Hold, path: str, label: ZfsLabel) -> Refused:
    """What takes a label off depends on what zpool makes of it: zpool_in_use() in lib/libzfs/libzfs_import.c."""
    values = {"disk": disk.label, "path": path}
    if hold.kind is HoldKind.LEFTOVER_LABEL:
        values["what"] = hold.what
        if label.pool_name == hold.what:
            return Refused(f"disk-{hold.kind}", LABEL_LEFT_BEHIND, values)
        return Refused(f"disk-{hold.kind}", LABEL_UNDER_OLD_NAME, {**values, "old": label.pool_name})
    if not label.pool_guid:
        return Refused(f"disk-{hold.kind}", LABEL_OF_NO_POOL, values)
    return Refused(f"disk-{hold.kind}", LABEL_OF_AWAY_POOL, {**values, "what": hold.what, "guid": label.pool_guid})


def NoPersistentName(disk: Disk) -> Refused:
    """Kernel names are handed out in the order in which disks are found. Names in /dev/disk/by-id come from the
    serial or the WWN of the disk. Some adapters and virtual disks report neither; a virtual disk gets one when a
    serial is set for it in its hypervisor.
    """
    return Refused(
        "no-persistent-name",
        _(
            "{disk} has no persistent name under /dev/disk/by-id. Kernel names such as {kernel} can belong to another disk after a reboot, so it is not used. Choose another SSD."
        ),
        {"disk": disk.label, "kernel": disk.kernel_name},
    )


def NoIdentity(disk: Disk) -> Refused:
    """A disk is known again by its model, serial and WWN. This one has only a model: if another of that model took its
    place, between a plan and its steps or before an undo, nobody would notice. Some USB sticks and bridges tell no
    more; in a virtual machine a serial can be set for the disk in the hypervisor.
    """
    return Refused(
        "no-identity",
        _(
            "{disk} tells neither a serial nor a WWN, so another disk could take its place unnoticed. It "
            "is not used, but still watched. Choose another SSD."
        ),
        {"disk": disk.label},
    )


def ForeignTable(disk: Disk) -> Refused:
    """Slices are told apart by the PARTUUID that a GPT gives each partition, which older kinds of tables do not
    have in that form. A table is never replaced by another here, because whatever it describes would be lost.
    """
    return Refused(
        "foreign-table",
        _(
            "{disk} has a partition table that is not GPT. Slices need GPT. If nothing on it is needed, clear its partitions, if it has any, and then the disk with `wipefs --all`."
        ),
        {"disk": disk.label},
    )


def BrokenTable(disk: Disk) -> Refused:
    """The entries of the table contradict each other or the size of the disk, as after a copy to a smaller disk.
    Used space cannot be told from free space then, so neither is touched.
    """
    return Refused(
        "broken-table",
        _(
            "{disk} has partitions that overlap or do not fit on it. Such a table is not to be trusted; repair it with sgdisk first."
        ),
        {"disk": disk.label},
    )


def StrangeSectors(disk: Disk) -> Refused:
    """The size of its sectors decides at which byte of a disk a slice begins. Disks answer 512 or 4096; another
    answer comes from a faulty adapter or firmware, and a table written by it would mean other places elsewhere.
    """
    return Refused(
        "strange-sectors",
        _(
            "{disk} says that its sectors have {sector} bytes. Slices are counted in sectors of 512 bytes or a power of two above that, so it is not used. Choose another SSD."
        ),
        {"disk": disk.label, "sector": str(disk.identity.logical_sector_bytes)},
    )


def DiskHasPartitions(disk: Disk) -> Refused:
    """A disk with partitions belongs to somebody. Slices can go into the gaps between them without touching any,
    but that is a choice of its own: whoever made the partitions may not expect others beside them.
    """
    return Refused(
        "disk-has-partitions",
        _(
            "{disk} has partitions already ({count}). Only the free space beside them could be used, and only if you ask for that."
        ),
        {"disk": disk.label, "count": str(len(disk.partitions))},
    )


def DiskNotBlank(disk: Disk) -> Refused:
    """The plan begins with a new partition table, and that is written only on a disk that has neither a table nor
    partitions. Somebody has partitioned it since the plan was made, or another disk is in its place.
    """
    return Refused(
        "disk-not-blank",
        _(
            "{disk} is not blank: it has a partition table or partitions, so no new table is written on it. Read the host again and make a new plan."
        ),
        {"disk": disk.label},
    )


def TableMissing(disk: Disk) -> Refused:
    """The plan adds a slice to the partition table of this disk, and there is none any more. Somebody cleared the
    disk since the plan was made, or another disk is in its place.
    """
    return Refused(
        "table-missing",
        _("{disk} has no GPT to put a slice into. Read the host again and make a new plan."),
        {"disk": disk.label},
    )


def TableChanged(disk: Disk) -> Refused:
    """The old sectors of a table are written back only where the table is still just as the run left it. Here
    somebody else has changed it, and writing the old ones back would take that away. This does no harm: the run
    counts as undone once its slices are gone.
    """
    return Refused(
        "table-changed",
        _(
            "The partition table of {disk} was changed by somebody else since the run, so its old sectors "
            "are not written back. Our slices are gone from it anyway."
        ),
        {"disk": disk.label},
    )


def SectorTooLarge(disk: Disk, pool: Pool) -> Refused:
    """The ashift of a pool is the smallest unit that it writes, as a power of two, and no device of it can have
    larger sectors. It was settled when the pool was made and cannot be changed. Some NVMe SSDs can be set to
    sectors of 512 bytes with `nvme format`, which erases them.
    """
    return Refused(
        "sector-too-large",
        _(
            "{disk} has sectors of {sector} bytes, and pool {pool} writes units of {unit} bytes (ashift {ashift}). OpenZFS cannot use it there. Choose another SSD."
        ),
        {
            "disk": disk.label,
            "sector": str(disk.identity.logical_sector_bytes),
            "pool": pool.name,
            "unit": str(1 << pool.ashift),
            "ashift": str(pool.ashift),
        },
    )


def DiskInLog(disk: Disk, pool: Pool) -> Refused:
    """Two logs help each other only if they are on different SSDs. On one, they share its time while it works and
    are gone together when it dies.
    """
    return Refused(
        "disk-in-log",
        _(
            "{disk} already carries a log of pool {pool}. A second one on the same SSD protects nothing and gains nothing. Choose another SSD."
        ),
        {"disk": disk.label, "pool": pool.name},
    )


def SameDisk(disk: Disk) -> Refused:
    """A mirror protects only if its sides fail apart. Disks are told apart by their serial, so two namespaces or
    two partitions of one SSD are one disk.
    """
    return Refused(
        "same-disk",
        _(
            "Both sides of a mirror would be on {disk}. If it dies, both are gone. Choose two different SSDs, or a single log if you accept its risk."
        ),
        {"disk": disk.label},
    )


def TableAreaOdd(disk: Disk) -> Refused:
    """A GPT says itself which part of the disk it covers, and its copy lies at the end of that part. Where it
    covers much less than there is, an image of a smaller disk was written to a larger one, and nobody can say what
    lies in the rest.
    """
    return Refused(
        "table-area-odd",
        _(
            "The partition table of {disk} leaves out much of the disk, as after a copy from a disk of another size, so no slice is made on it. Nothing was changed. `sgdisk --move-second-header {path}` makes the table fit, if the data on the disk are yours to keep; a disk that is not needed can be cleared with `wipefs --all`."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def DiskNotEmpty(disk: Disk, what: str, offset_bytes: int) -> Refused:
    """Right before the first write the disk itself is searched with libblkid, whatever the system has noted about
    it. It found the beginning of a file system, a RAID, a pool or the like there. The kind is named as `wipefs`
    names it.
    """
    return Refused(
        "disk-not-empty",
        _(
            "{disk} is not blank: it carries data of the kind {what} at byte {offset}. That was read off the disk itself; the system does not show it, probably because another machine or a guest wrote it. Nothing was written. `udevadm trigger {path} && udevadm settle` makes the system look again; if the data are not needed, clear them with `wipefs --all {path}`."
        ),
        {"disk": disk.label, "path": disk.path, "what": what, "offset": str(offset_bytes)},
    )


def ErasureNotAgreed(disk: Disk, offset_bytes: int) -> Refused:
    """A disk that shows no signature, label or table can still hold data: an encrypted volume, a raw database, or what
    a pool left whose labels were cleared. Its first and last MiB and 64 places between are read, and all that is not
    one byte over and over counts as data. They are erased only with a plan that says so. A hard disk may be asleep and
    is read only right before it is written to, so no plan can say so of one.
    """
    return Refused(
        "erasure-not-agreed",
        _(
            "{disk} holds data that no tool here recognises, first at byte {offset}, and nobody agreed to erase them. Nothing was written. Choose another disk; if the data are not needed, `blkdiscard --zeroout {path}` overwrites this one, in up to some hours."
        ),
        {"disk": disk.label, "path": disk.path, "offset": str(offset_bytes)},
    )


def DiskResized(disk: Disk) -> Refused:
    """The copy of a GPT stands where the disk ends. A virtual disk, a LUN or a namespace that was made longer ends
    elsewhere than during the run, so the old sectors would leave a copy of the run's table in its middle. An empty table
    does no harm.
    """
    return Refused(
        "disk-resized",
        _(
            "{disk} has another size than during the run, so the old sectors of its partition table are not written back. Its slices are gone, and the table stays. If nothing on the disk is needed, `sgdisk --zap-all {path}` clears the table."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableUnprotected(disk: Disk) -> Refused:
    """The first sector of a disk with a GPT says to old programs that the disk is in use. Where only that sector was
    overwritten, neither the kernel nor `lsblk` shows a table, and yet it is whole.
    """
    return Refused(
        "table-unprotected",
        _(
            "{disk} is not blank: it has a sound partition table, and only the protective first sector is missing. Nothing was written. To get the partitions back, start `gdisk {path}` and answer w and y. If nothing on the disk is needed, clear the table with `sgdisk --zap-all {path}`."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableCopy(disk: Disk) -> Refused:
    """A GPT is kept twice. If the first sectors of a disk are overwritten by mistake, the copy at its end still tells
    where each partition lies. A new table would be written over it.
    """
    return Refused(
        "table-copy",
        _(
            "{disk} is not blank: a sound copy of a partition table stands at its end. Nothing was written. To get the partitions back, start `gdisk {path}` and answer 1, w and y. If nothing on the disk is needed, clear the table with `sgdisk --zap-all {path}`."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableCopyElsewhere(disk: Disk, end_bytes: int, sector_bytes: int) -> Refused:
    """A GPT is kept twice, and its copy stands where the disk ends. Where a smaller disk was copied to a larger one, or
    the disk has grown, that is before the end; where an adapter showed sectors of another size, it counts in those.
    """
    return Refused(
        "table-copy-elsewhere",
        _(
            "{disk} is not blank: a sound copy of a partition table ends at byte {end} and counts in sectors of {sector} bytes. Nothing was written. To get the partitions back, make a device that fits with `losetup --find --show --sector-size {sector} --sizelimit {end} {path}`, start `gdisk` on it and answer 1, w and y. If nothing on the disk is needed, overwrite all of it with `blkdiscard --zeroout {path}`."
        ),
        {"disk": disk.label, "path": disk.path, "end": str(end_bytes), "sector": str(sector_bytes)},
    )


def TableNotOurs(disk: Disk) -> Refused:
    """Sectors of a partition table are put back only where those that are there are, byte for byte, what this run
    wrote last. They are not, and putting the old ones back would destroy what somebody else made since.
    """
    return Refused(
        "table-not-ours",
        _(
            "The sectors of the partition table of {disk} are not as the last step of this run left them: somebody else wrote there. They were left alone. `sgdisk --print {path}` shows what is there now."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableUnsound(disk: Disk, problem: str) -> Refused:
    """A GPT is kept twice, at the beginning and at the end of the disk, with checksums. Where the two disagree
    nobody can say which is right, and adding an entry would settle it by chance.
    """
    return Refused(
        "table-unsound",
        _(
            "The partition table of {disk} is not sound ({problem}), so no slice is added to it. Nothing was changed. `sgdisk --verify {path}` says more; repair it first, or choose another SSD."
        ),
        {"disk": disk.label, "path": disk.path, "problem": problem},
    )


def TableImageMissing(disk: Disk) -> Refused:
    """Before a run changes a partition table it keeps the sectors of the table in its journal. There are none of
    this disk, so the slices of the run can be deleted but the table not be put back byte for byte.
    """
    return Refused(
        "table-image-missing",
        _(
            "The journal of this run holds no copy of the partition table of {disk} from before, so its table stays as it is. `sgdisk --print {path}` shows it."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableImageDamaged(disk: Disk, problem: str) -> Refused:
    """The kept sectors of a table are checked before they are written back: that they are whole, and a table for
    this very disk. These are not. The slices of the run can still be deleted.
    """
    return Refused(
        "table-image-damaged",
        _(
            "The copy of the partition table of {disk} in the journal of this run is damaged ({problem}), so it is not written back. The table stays as it is; `sgdisk --print {path}` shows it."
        ),
        {"disk": disk.label, "path": disk.path, "problem": problem},
    )
