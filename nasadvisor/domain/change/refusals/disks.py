"""Refusals about whole disks, and what is on them."""
# ruff: noqa: N802

from typing import Final

from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Pool, ZfsLabel

HOLD_SENTENCES: Final[dict[HoldKind, str]] = {
    HoldKind.BOOT: _(
        "{disk} cannot be used: this host boots from it ({what}). A reinstall would wipe the slices. Choose another "
        "SSD."
    ),
    HoldKind.MOUNT: _(
        "{disk} cannot be used: it is mounted at {what}. If you need nothing on it, first unmount it and clear it "
        "with `wipefs --all {path}`."
    ),
    HoldKind.SWAP: _(
        "{disk} cannot be used: it is swap space ({what}). If you do not need it, first turn it off with swapoff and "
        "clear it with `wipefs --all {path}`."
    ),
    HoldKind.HOLDER: _(
        "{disk} cannot be used: the device {what} is built on it. Dismantle that device first, or choose another SSD."
    ),
    HoldKind.LVM: _(
        "{disk} cannot be used: it belongs to LVM ({what}). Remove it from its volume group first, if it is in one; "
        "then clear the disk with `wipefs --all {path}`."
    ),
    HoldKind.RAID: _(
        "{disk} cannot be used: it is a member of a RAID set ({what}). Dismantle the set first, if it still exists; "
        "then clear the disk with `wipefs --all {path}`."
    ),
    HoldKind.CEPH: _(
        "{disk} cannot be used: Ceph stores data on it ({what}). Remove the OSD first, if there is one; then clear "
        "the disk with `wipefs --all {path}`."
    ),
    HoldKind.FILESYSTEM: _(
        "{disk} cannot be used: it contains a filesystem ({what}). If you need nothing on it, clear its partitions, "
        "if any, and then the disk with `wipefs --all`."
    ),
    HoldKind.POOL: _("{disk} cannot be used: it is part of pool {what}. Choose a free disk."),
    HoldKind.EXPORTED_POOL: _(
        "{disk} cannot be used: it has the label of pool {what}, which is not imported. If you need that pool, choose "
        "another SSD; if not, have the disk wiped first."
    ),
    HoldKind.LEFTOVER_LABEL: _(
        "{disk} cannot be used: it has a label left by pool {what}, which no longer uses that device."
    ),
    HoldKind.SIGNATURE: _(
        "{disk} cannot be used: it contains data of type {what}. If you need nothing on it, clear its partitions, if "
        "any, and then the disk with `wipefs --all`."
    ),
    HoldKind.READ_ONLY: _(
        "{disk} cannot be used: it is read-only. Check for a write-protect switch or a worn-out disk."
    ),
    HoldKind.ZONED: _(
        "{disk} cannot be used: it is a zoned disk ({what}). Most of it can be written only zone by zone, so it "
        "cannot take a partition table. Choose another SSD."
    ),
    HoldKind.NO_SIZE: _(
        "{disk} cannot be used: Linux reports no size for it. `smartctl -i {what}` shows its sector size. If that is "
        "520 or 528 bytes, as in storage arrays, first format it to 512, which erases it; otherwise it may be faulty."
    ),
    HoldKind.PATH: _(
        "{disk} cannot be used: it and {what} are paths to the same disk (multipath), which is not supported as log "
        "or cache here. Choose another SSD."
    ),
    HoldKind.DUPLICATE: _(
        "{disk} cannot be used: it cannot be distinguished from {what}. If a dock or USB enclosure hides its serial, "
        "connect it directly. If both are one disk on two cables, unplug one. Otherwise choose another SSD. The disk "
        "is still monitored."
    ),
    HoldKind.COPY: _(
        "{disk} cannot be used: a partition on it and one on another disk have the same PARTUUID ({what}), as after "
        "copying a disk. Remove the copy, or choose another SSD."
    ),
    HoldKind.UNREADABLE: _("{disk} cannot be used: its state is uncertain, because {what}."),
}


LABELS: Final = frozenset({HoldKind.EXPORTED_POOL, HoldKind.LEFTOVER_LABEL})
"""Holds by what a device once was for a pool."""

LABEL_LEFT_BEHIND: Final = _(
    "{disk} cannot be used: {path} has a label that pool {what} left; the pool no longer uses that device. The pool "
    "loses nothing without the label: `zpool labelclear {path}` removes it."
)

LABEL_OF_AWAY_POOL: Final = _(
    "{disk} cannot be used: {path} has the label of pool {what} (guid {guid}), which is not imported. If you need "
    "that pool, choose another SSD. If not, and `zpool import` shows it: `zpool import -N {guid} old-{guid}`, then "
    "`zpool destroy old-{guid}`, then `zpool labelclear {path}`. If that command does not show it, and the pool is "
    "neither on another host nor on removed disks: `zpool labelclear -f {path}`."
)
"""Under a name of its own, so that no command can meet another pool that has the same one: an import by a name that is
taken fails, and `zpool destroy` would then take the pool that is there."""

LABEL_OF_NO_POOL: Final = _(
    "{disk} cannot be used: {path} has the label of a cache or spare that no imported pool uses. A cache contains "
    "only copies, a spare nothing. If no other pool needs it, `zpool labelclear {path}` removes the label."
)

LABEL_UNDER_OLD_NAME: Final = _(
    "{disk} cannot be used: {path} has a label that pool {what} left under its earlier name {old}; the pool no longer "
    "uses that device. The pool loses nothing without the label: `zpool labelclear -f {path}` removes it."
)
"""Without -f zpool asks for the name, finds no such pool, and takes the label for that of one on another machine:
zpool_in_use() in lib/libzfs/libzfs_import.c, which compares the guid only of a pool of that name."""


def DiskGone(key: str) -> Refused:
    """Disks are identified by what is printed on them (model, serial, WWN, size), not by a slot or a name such as sda.
    Each step looks up its disk again immediately before it writes. It never guesses at a disk that is missing or that
    two devices claim to be.
    """
    return Refused(
        "disk-gone",
        _(
            "The disk {key} is missing, or two devices claim to be it. Check that it is plugged in, and only once, "
            "then read the host again."
        ),
        {"key": key},
    )


def DiskChanged(disk: Disk, path: str) -> Refused:
    """A command gets the persistent name of a disk. Immediately before it runs, that name is opened and compared with
    the planned disk. Here the name leads to something else or to nothing: a cable was moved, a disk was replaced, or
    its name changed. Nothing was written under that name.
    """
    return Refused(
        "disk-changed",
        _(
            "{disk} is no longer accessible as {path}. Another disk may have taken its place. Read the host again to "
            "see which disk is where."
        ),
        {"disk": disk.label, "path": path},
    )


def DiskHeld(disk: Disk, hold: Hold) -> Refused:
    """Only an unused disk can hold a log or a cache. The kernel, udev and OpenZFS are queried for its users, and the
    disk itself is read; each of them alone can forbid its use. Recognised contents of a disk are never cleared here:
    that is left to you, so that no click loses data.
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
    """Kernel names are assigned in the order in which disks are found. Names in /dev/disk/by-id come from the serial or
    the WWN of the disk. Some adapters and virtual disks report neither; a virtual disk gets such a name when you set a
    serial for it in its hypervisor.
    """
    return Refused(
        "no-persistent-name",
        _(
            "{disk} has no persistent name under /dev/disk/by-id. A kernel name such as {kernel} can belong to "
            "another disk after a reboot, so the disk is not used. Choose another SSD."
        ),
        {"disk": disk.label, "kernel": disk.kernel_name},
    )


def NoIdentity(disk: Disk) -> Refused:
    """A disk is recognised by its model, serial and WWN. This one reports only a model: another disk of that model
    could take its place unnoticed, between a plan and its steps or before an undo. Some USB sticks and bridges report
    no more; in a virtual machine, you can set a serial for the disk in the hypervisor.
    """
    return Refused(
        "no-identity",
        _(
            "{disk} reports neither a serial nor a WWN, so another disk could take its place unnoticed. It is not "
            "used, but it is still monitored. Choose another SSD."
        ),
        {"disk": disk.label},
    )


def ForeignTable(disk: Disk) -> Refused:
    """Slices are distinguished by the PARTUUID that a GPT gives each partition; older types of tables do not have it in
    that form. A table is never replaced by another here, because everything it describes would be lost.
    """
    return Refused(
        "foreign-table",
        _(
            "{disk} has a partition table that is not GPT. Slices need GPT. If you need nothing on it, clear its "
            "partitions, if any, and then the disk with `wipefs --all`."
        ),
        {"disk": disk.label},
    )


def BrokenTable(disk: Disk) -> Refused:
    """The entries of the table contradict each other or the size of the disk, as after a copy to a smaller disk. Used
    space then cannot be distinguished from free space, so neither is touched.
    """
    return Refused(
        "broken-table",
        _(
            "{disk} has partitions that overlap or do not fit on it. Such a table cannot be trusted; repair it with "
            "sgdisk first."
        ),
        {"disk": disk.label},
    )


def StrangeSectors(disk: Disk) -> Refused:
    """The sector size determines at which byte of a disk a slice begins. Disks report 512 or 4096; any other value
    comes from a faulty adapter or firmware, and a table written with it would point to other positions elsewhere.
    """
    return Refused(
        "strange-sectors",
        _(
            "{disk} reports sectors of {sector} bytes. Slices need sectors of 512 bytes or a larger power of two, so "
            "the disk is not used. Choose another SSD."
        ),
        {"disk": disk.label, "sector": str(disk.identity.logical_sector_bytes)},
    )


def DiskHasPartitions(disk: Disk) -> Refused:
    """A disk with partitions belongs to someone. Slices fit into the gaps between them without touching any, but that
    is a separate decision: the person who created the partitions may not expect others beside them.
    """
    return Refused(
        "disk-has-partitions",
        _(
            "{disk} already has partitions ({count}). Only the free space beside them can be used, and only if you "
            "request it."
        ),
        {"disk": disk.label, "count": str(len(disk.partitions))},
    )


def DiskNotBlank(disk: Disk) -> Refused:
    """The plan begins with a new partition table, which is written only to a disk without a table or partitions. Since
    the plan was created, someone has partitioned the disk, or another disk has taken its place.
    """
    return Refused(
        "disk-not-blank",
        _(
            "{disk} is not blank: it has a partition table or partitions, so no new table is written to it. Read the "
            "host again and create a new plan."
        ),
        {"disk": disk.label},
    )


def TableMissing(disk: Disk) -> Refused:
    """The plan adds a slice to the partition table of this disk, which no longer has one. Since the plan was created,
    someone has cleared the disk, or another disk has taken its place.
    """
    return Refused(
        "table-missing",
        _("{disk} has no GPT to add a slice to. Read the host again and create a new plan."),
        {"disk": disk.label},
    )


def TableChanged(disk: Disk) -> Refused:
    """The old sectors of a table are restored only if the table is still exactly as the run left it. Here someone else
    has changed it, and restoring the old sectors would discard that change. This does no harm: the run counts as undone
    once its slices are gone.
    """
    return Refused(
        "table-changed",
        _(
            "Someone else has changed the partition table of {disk} since the run, so its old sectors are not "
            "restored. The slices of the run are gone from it in any case."
        ),
        {"disk": disk.label},
    )


def SectorTooLarge(disk: Disk, pool: Pool) -> Refused:
    """The ashift of a device is the smallest unit that OpenZFS writes to it, as a power of two, and its sectors cannot
    be larger. NAS Advisor gives a new device the ashift of the existing vdevs, and it cannot be changed afterwards.
    Some NVMe SSDs can be set to sectors of 512 bytes with `nvme format`, which erases them.
    """
    return Refused(
        "sector-too-large",
        _(
            "{disk} has sectors of {sector} bytes, but pool {pool} writes units of {unit} bytes (ashift {ashift}). "
            "OpenZFS cannot use it there. Choose another SSD."
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
    """Two logs help each other only if they are on different SSDs. On one SSD, they share its time while it works and
    are lost together when it fails.
    """
    return Refused(
        "disk-in-log",
        _(
            "{disk} already has a log of pool {pool}. A second one on the same SSD brings no protection and no gain. "
            "Choose another SSD."
        ),
        {"disk": disk.label, "pool": pool.name},
    )


def SameDisk(disk: Disk) -> Refused:
    """A mirror protects only if its sides fail independently. Disks are distinguished by their serial, so two
    namespaces or two partitions of one SSD are one disk.
    """
    return Refused(
        "same-disk",
        _(
            "Both sides of a mirror would be on {disk}. If it fails, both are lost. Choose two different SSDs, or a "
            "single log if you accept its risk."
        ),
        {"disk": disk.label},
    )


def TableAreaOdd(disk: Disk) -> Refused:
    """A GPT records which part of the disk it covers, and its copy is at the end of that part. If it covers much less
    than the whole disk, an image of a smaller disk was written to a larger one, and the contents of the rest are
    unknown.
    """
    return Refused(
        "table-area-odd",
        _(
            "The partition table of {disk} does not cover a large part of the disk, as after a copy from a disk of "
            "another size, so no slice is created on it. Nothing was changed. If you want to keep the data on the "
            "disk, `sgdisk --move-second-header {path}` makes the table fit; if you do not need the disk, you can "
            "clear it with `wipefs --all`."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def DiskNotEmpty(disk: Disk, what: str, offset_bytes: int) -> Refused:
    """Immediately before the first write, libblkid searches the disk itself, whatever the system has recorded about it.
    It found the beginning of a filesystem, a RAID, a pool or similar there. The type is named as in `wipefs`.
    """
    return Refused(
        "disk-not-empty",
        _(
            "{disk} is not blank: it holds data of type {what} at byte {offset}. This was read from the disk itself; "
            "the system does not show it, probably because another host or a guest wrote it. Nothing was written. "
            "`udevadm trigger {path} && udevadm settle` makes the system check again; if you do not need the data, "
            "clear it with `wipefs --all {path}`."
        ),
        {"disk": disk.label, "path": disk.path, "what": what, "offset": str(offset_bytes)},
    )


def ErasureNotAgreed(disk: Disk, offset_bytes: int) -> Refused:
    """A disk without a signature, label or table can still hold data: an encrypted volume, a raw database, or the
    remains of a pool whose labels were cleared. Its first and last MiB and 64 places in between are read; anything but
    one repeated byte counts as data. Only a plan that says so erases this data. A hard disk may be asleep and is read
    only right before the first write to it, so no plan can say so of a hard disk.
    """
    if disk.partitions:
        return FreeSpaceErasureNotAgreed(disk, offset_bytes)
    return Refused(
        "erasure-not-agreed",
        _(
            "{disk} holds data that no tool here recognises, first at byte {offset}, and erasing it was not "
            "authorised. Nothing was written. Choose another disk; if the data is not needed, `blkdiscard --zeroout "
            "{path}` overwrites this one, which can take several hours."
        ),
        {"disk": disk.label, "path": disk.path, "offset": str(offset_bytes)},
    )


def FreeSpaceErasureNotAgreed(disk: Disk, offset_bytes: int) -> Refused:
    """The free space beside partitions can hold the files of a deleted partition. No command is named: one that clears
    the disk would erase its partitions too.
    """
    return Refused(
        "erasure-not-agreed",
        _(
            "{disk} holds data in its free space that no tool here recognises, first at byte {offset}, and erasing it "
            "was not authorised. Nothing was written. Choose another disk; on an SSD, a new plan names the data and "
            "asks before it is erased."
        ),
        {"disk": disk.label, "offset": str(offset_bytes)},
    )


def DiskResized(disk: Disk) -> Refused:
    """The copy of a GPT is at the end of the disk. An enlarged virtual disk, LUN or namespace ends elsewhere than
    during the run, so the old sectors would leave a copy of the run's table in its middle. An empty table does no harm.
    """
    return Refused(
        "disk-resized",
        _(
            "The size of {disk} has changed since the run, so the old sectors of its partition table are not "
            "restored. Its slices are gone, and the table stays. If you need nothing on the disk, `sgdisk --zap-all "
            "{path}` clears the table."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableUnprotected(disk: Disk) -> Refused:
    """On a disk with a GPT, the first sector marks the disk as in use for old programs. If only that sector was
    overwritten, neither the kernel nor `lsblk` shows a table, although it is complete.
    """
    return Refused(
        "table-unprotected",
        _(
            "{disk} is not blank: it has an intact partition table, and only the protective first sector is missing. "
            "Nothing was written. To recover the partitions, start `gdisk {path}` and answer w and y. If you need "
            "nothing on the disk, clear the table with `sgdisk --zap-all {path}`."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableCopy(disk: Disk) -> Refused:
    """A GPT is stored twice. If the first sectors of a disk are overwritten by mistake, the copy at its end still shows
    where each partition is. A new table would overwrite that copy.
    """
    return Refused(
        "table-copy",
        _(
            "{disk} is not blank: it has an intact copy of a partition table at its end. Nothing was written. To "
            "recover the partitions, start `gdisk {path}` and answer 1, w and y. If you need nothing on the disk, "
            "clear the table with `sgdisk --zap-all {path}`."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableCopyElsewhere(disk: Disk, end_bytes: int, sector_bytes: int) -> Refused:
    """A GPT is stored twice, with its copy at the end of the disk. If a smaller disk was copied to a larger one, or the
    disk has grown, the copy is before the end; if an adapter presented sectors of another size, the copy uses that
    size.
    """
    return Refused(
        "table-copy-elsewhere",
        _(
            "{disk} is not blank: it has an intact copy of a partition table, which ends at byte {end} and uses "
            "sectors of {sector} bytes. Nothing was written. To recover the partitions, create a matching device with "
            "`losetup --find --show --sector-size {sector} --sizelimit {end} {path}`, start `gdisk` on it and answer "
            "1, w and y. If you need nothing on the disk, overwrite all of it with `blkdiscard --zeroout {path}`."
        ),
        {"disk": disk.label, "path": disk.path, "end": str(end_bytes), "sector": str(sector_bytes)},
    )


def TableNotOurs(disk: Disk) -> Refused:
    """Partition table sectors are restored only if the current ones match, byte for byte, the last write of this run.
    They do not, and restoring the old ones would destroy changes that someone else has made since.
    """
    return Refused(
        "table-not-ours",
        _(
            "The partition table sectors of {disk} are not as the last step of this run left them: someone else wrote "
            "there. They were left unchanged. `sgdisk --print {path}` shows the current table."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableUnsound(disk: Disk, problem: str) -> Refused:
    """A GPT is stored twice, at the beginning and at the end of the disk, with checksums. If the two disagree, it is
    impossible to know which is right, and adding an entry would leave that to chance.
    """
    return Refused(
        "table-unsound",
        _(
            "The partition table of {disk} has errors ({problem}), so no slice is added to it. Nothing was changed. "
            "`sgdisk --verify {path}` shows details; repair the table first, or choose another SSD."
        ),
        {"disk": disk.label, "path": disk.path, "problem": problem},
    )


def TableImageMissing(disk: Disk) -> Refused:
    """Before a run changes a partition table, it saves the sectors of the table in its journal. The journal has none
    for this disk, so the slices of the run can be deleted, but the table cannot be restored byte for byte.
    """
    return Refused(
        "table-image-missing",
        _(
            "The journal of this run has no earlier copy of the partition table of {disk}, so the table stays as it "
            "is. `sgdisk --print {path}` shows it."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableImageDamaged(disk: Disk, problem: str) -> Refused:
    """The saved sectors of a table are checked before they are restored: they must be complete, and a table for this
    very disk. These are not. The slices of the run can still be deleted.
    """
    return Refused(
        "table-image-damaged",
        _(
            "The copy of the partition table of {disk} in the journal of this run is damaged ({problem}), so it is "
            "not restored. The table stays as it is; `sgdisk --print {path}` shows it."
        ),
        {"disk": disk.label, "path": disk.path, "problem": problem},
    )
