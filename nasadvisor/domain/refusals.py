"""Every refusal as a sentence: what, why, what instead.

One function a refusal, named in capitals like a class because it stands for one: `TooSmall(...)` is a `Refused` with
the code "too-small". Texts are marked for translation and hold no values of their own.
"""
# ruff: noqa: N802

from typing import Final

from nasadvisor.domain.actions import Role, Slice
from nasadvisor.domain.inventory import Disk, Hold, HoldKind, Pool, Vdev
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import zfs_size

HOLD_SENTENCES: Final[dict[HoldKind, str]] = {
    HoldKind.BOOT: _(
        "{disk} cannot be used: this machine boots from it ({what}). A reinstall would wipe the slices. Use another SSD."
    ),
    HoldKind.MOUNT: _("{disk} cannot be used: it is mounted at {what}. Unmount it first, if nothing on it is needed."),
    HoldKind.SWAP: _(
        "{disk} cannot be used: it is swap space ({what}). Turn it off with swapoff and remove its signature first."
    ),
    HoldKind.HOLDER: _("{disk} cannot be used: the device {what} is built on it. Take that apart first."),
    HoldKind.LVM: _("{disk} cannot be used: it belongs to LVM ({what}). Remove it from its volume group first."),
    HoldKind.RAID: _("{disk} cannot be used: it is a member of a RAID set ({what}). Take that apart first."),
    HoldKind.CEPH: _("{disk} cannot be used: Ceph keeps data on it ({what}). Remove the OSD first."),
    HoldKind.FILESYSTEM: _(
        "{disk} cannot be used: it holds a filesystem ({what}). If nothing on it is needed, clear it with wipefs first."
    ),
    HoldKind.POOL: _("{disk} cannot be used: it is part of the pool {what}. Choose a disk that is free."),
    HoldKind.EXPORTED_POOL: _(
        "{disk} cannot be used: it holds the exported pool {what}. Import or destroy that pool first. If it is only a label that a removed device left behind, `zpool labelclear` takes it off."
    ),
    HoldKind.SIGNATURE: _(
        "{disk} cannot be used: it carries data of the kind {what}. If nothing on it is needed, clear it with wipefs first."
    ),
    HoldKind.READ_ONLY: _(
        "{disk} cannot be used: it is read-only. Look for a write-protect switch, or for a drive that has worn out."
    ),
    HoldKind.DUPLICATE: _(
        "{disk} cannot be used: another device shows the same identity ({what}). With multipath, give the multipath device; else one of the two serials is wrong."
    ),
    HoldKind.UNREADABLE: _(
        "{disk} cannot be used: it could not be examined ({what}), so nothing about it may be assumed. Check the cable and the kernel log."
    ),
}


def NoPool(guid: str) -> Refused:
    return Refused(
        "pool-gone",
        _(
            "There is no imported pool with the guid {guid}. It may have been exported or destroyed; read the host again and make a new plan."
        ),
        {"guid": guid},
    )


def PoolRenamed(pool: Pool, planned: str) -> Refused:
    return Refused(
        "pool-renamed",
        _("The plan is for pool {planned}, but the pool with that guid is now called {name}. Make a new plan."),
        {"planned": planned, "name": pool.name},
    )


def PoolNotOnline(pool: Pool) -> Refused:
    return Refused(
        "pool-not-online",
        _(
            "Pool {pool} is {state}, not ONLINE. Repair it first; `zpool status {pool}` shows what is wrong. Nothing is changed on a pool that is already in trouble."
        ),
        {"pool": pool.name, "state": pool.state},
    )


def PoolSuspended(pool: Pool) -> Refused:
    return Refused(
        "pool-suspended",
        _("Pool {pool} is suspended: its disks do not answer. Repair it and run `zpool clear {pool}` first."),
        {"pool": pool.name},
    )


def PoolReadOnly(pool: Pool) -> Refused:
    return Refused(
        "pool-read-only",
        _("Pool {pool} is imported read-only. Export it and import it writable first."),
        {"pool": pool.name},
    )


def PoolHasCheckpoint(pool: Pool) -> Refused:
    return Refused(
        "pool-checkpoint",
        _(
            "Pool {pool} has a checkpoint ({size}). While it exists, OpenZFS can add a device but not remove it, so nothing could be undone. Discard it with `zpool checkpoint -d {pool}` first."
        ),
        {"pool": pool.name, "size": pool.checkpoint},
    )


def PoolResilvers(pool: Pool) -> Refused:
    return Refused(
        "pool-resilvers",
        _(
            "Pool {pool} is resilvering. Attaching a side to its log starts the resilver of the whole pool again, so wait until it is done; `zpool status {pool}` shows when."
        ),
        {"pool": pool.name},
    )


def FeatureMissing(pool: Pool) -> Refused:
    return Refused(
        "feature-missing",
        _(
            "Pool {pool} lacks the feature allocation_classes, which a log device needs on this OpenZFS. `zpool upgrade {pool}` enables it; older OpenZFS may not import the pool after that."
        ),
        {"pool": pool.name},
    )


def AshiftUnknown(pool: Pool) -> Refused:
    return Refused(
        "ashift-unknown",
        _(
            "The sector size (ashift) of pool {pool} could not be read, or its data vdevs differ in it. A device added with the wrong one cannot be put right, so nothing is added. `zpool get ashift {pool} all-vdevs` shows what OpenZFS knows."
        ),
        {"pool": pool.name},
    )


def WrongAshift(pool: Pool, ashift: int) -> Refused:
    return Refused(
        "wrong-ashift",
        _("The plan says ashift {planned} and pool {pool} has ashift {actual}. Make a new plan."),
        {"pool": pool.name, "planned": str(ashift), "actual": str(pool.ashift)},
    )


def KnownBug(pool: Pool, version: str, why: Statement) -> Refused:
    return Refused(
        "known-bug",
        _("OpenZFS {version} has a known bug for this operation on pool {pool}: {why}"),
        {"pool": pool.name, "version": version, "why": why},
    )


def DiskGone(key: str) -> Refused:
    return Refused(
        "disk-gone",
        _(
            "The disk {key} is not there, or two devices claim to be it. Check that it is plugged in, read the host again and make a new plan."
        ),
        {"key": key},
    )


def DiskChanged(disk: Disk, path: str) -> Refused:
    return Refused(
        "disk-changed",
        _(
            "{disk} is no longer reachable as {path}. Another disk may have taken its place. Read the host again and make a new plan."
        ),
        {"disk": disk.label, "path": path},
    )


def DiskHeld(disk: Disk, hold: Hold) -> Refused:
    return Refused(f"disk-{hold.kind}", HOLD_SENTENCES[hold.kind], {"disk": disk.label, "what": hold.what})


def NoPersistentName(disk: Disk) -> Refused:
    return Refused(
        "no-persistent-name",
        _(
            "{disk} has no persistent name under /dev/disk/by-id. Kernel names such as {kernel} can belong to another disk after a reboot, so it is not used. Choose another SSD."
        ),
        {"disk": disk.label, "kernel": disk.kernel_name},
    )


def ForeignTable(disk: Disk) -> Refused:
    return Refused(
        "foreign-table",
        _(
            "{disk} has a partition table that is not GPT. Slices need GPT. If nothing on it is needed, clear it with wipefs first."
        ),
        {"disk": disk.label},
    )


def BrokenTable(disk: Disk) -> Refused:
    return Refused(
        "broken-table",
        _(
            "{disk} has partitions that overlap or do not fit on it. Such a table is not to be trusted; repair it with sgdisk first."
        ),
        {"disk": disk.label},
    )


def StrangeSectors(disk: Disk) -> Refused:
    return Refused(
        "strange-sectors",
        _(
            "{disk} says that its sectors have {sector} bytes. Slices are counted in sectors of 512 bytes or a power of two above that, so it is not used. Choose another SSD."
        ),
        {"disk": disk.label, "sector": str(disk.identity.logical_sector_bytes)},
    )


def DiskHasPartitions(disk: Disk) -> Refused:
    return Refused(
        "disk-has-partitions",
        _("{disk} already has {count} partition(s). Only its free space could be used, and only if you ask for that."),
        {"disk": disk.label, "count": str(len(disk.partitions))},
    )


def DiskNotBlank(disk: Disk) -> Refused:
    return Refused(
        "disk-not-blank",
        _(
            "{disk} is not blank: it has a partition table or partitions, so no new table is written on it. Read the host again and make a new plan."
        ),
        {"disk": disk.label},
    )


def TableMissing(disk: Disk) -> Refused:
    return Refused(
        "table-missing",
        _("{disk} has no GPT to put a slice into. Read the host again and make a new plan."),
        {"disk": disk.label},
    )


def TooSmall(disk: Disk, role: Role, wanted_bytes: int, room_bytes: int) -> Refused:
    return Refused(
        "too-small",
        _(
            "{disk} has room for {room}, and the {role} slice needs {wanted}. OpenZFS wants at least 64M. Choose a smaller size, less reserve or another SSD."
        ),
        {"disk": disk.label, "role": str(role), "wanted": zfs_size(wanted_bytes), "room": zfs_size(room_bytes)},
    )


def CacheHasNoRoom(disk: Disk, wanted_bytes: int, room_bytes: int, reserve_percent: int) -> Refused:
    return Refused(
        "cache-too-large",
        _(
            "After the log and a reserve of {reserve} % there is room for {room} of cache on {disk}, and {wanted} were asked for. OpenZFS wants at least 64M. Choose a smaller size or less reserve."
        ),
        {
            "disk": disk.label,
            "wanted": zfs_size(wanted_bytes),
            "room": zfs_size(room_bytes),
            "reserve": str(reserve_percent),
        },
    )


def ExtentTaken(disk: Disk, piece: Slice) -> Refused:
    return Refused(
        "extent-taken",
        _(
            "The space for partition {number} on {disk} is not free. Its partitions changed since the plan was made; make a new plan."
        ),
        {"disk": disk.label, "number": str(piece.number)},
    )


def NotAligned(disk: Disk, piece: Slice) -> Refused:
    return Refused(
        "not-aligned",
        _("Partition {number} on {disk} would not begin and end at a multiple of 1 MiB. Make a new plan."),
        {"disk": disk.label, "number": str(piece.number)},
    )


def SectorsDiffer(disk: Disk, piece: Slice) -> Refused:
    return Refused(
        "sectors-differ",
        _(
            "The plan counts in sectors of {planned} bytes and {disk} has sectors of {actual}, so the slice would lie elsewhere. Make a new plan."
        ),
        {"disk": disk.label, "planned": str(piece.sector_bytes), "actual": str(disk.identity.logical_sector_bytes)},
    )


def TableFull(disk: Disk, piece: Slice) -> Refused:
    return Refused(
        "table-full",
        _(
            "The partition table of {disk} has no place for a partition number {number}; a GPT has the numbers 1 to 128. Delete partitions that are not needed, or choose another SSD."
        ),
        {"disk": disk.label, "number": str(piece.number)},
    )


def NumberTaken(disk: Disk, piece: Slice) -> Refused:
    return Refused(
        "number-taken",
        _("Partition number {number} on {disk} is in use. Make a new plan."),
        {"disk": disk.label, "number": str(piece.number)},
    )


def PartuuidTaken(piece: Slice) -> Refused:
    return Refused(
        "partuuid-taken",
        _("A partition with the PARTUUID {partuuid} exists already. Make a new plan."),
        {"partuuid": piece.partuuid},
    )


def SliceGone(piece: Slice) -> Refused:
    return Refused(
        "slice-gone",
        _("The slice {partuuid} on {path} is not there, or is not as planned. Read the host again to see what is."),
        {"partuuid": piece.partuuid, "path": piece.disk_path},
    )


def SliceHeld(piece: Slice, hold: Hold) -> Refused:
    return Refused(
        "slice-held",
        _(
            "The slice {partuuid} on {path} is in use ({kind}: {what}), so it is left alone. If it is not needed there, take it out first."
        ),
        {"partuuid": piece.partuuid, "path": piece.disk_path, "kind": str(hold.kind), "what": hold.what},
    )


def SameDisk(disk: Disk) -> Refused:
    return Refused(
        "same-disk",
        _(
            "Both sides of a mirror would be on {disk}. If it dies, both are gone. Choose two different SSDs, or a single log if you accept its risk."
        ),
        {"disk": disk.label},
    )


def SizesDiffer(pool_name: str) -> Refused:
    return Refused(
        "sizes-differ",
        _("The slices of a mirrored log for pool {pool} must have the same size. Make a new plan."),
        {"pool": pool_name},
    )


def DiskTwice(key: str, role: Role) -> Refused:
    return Refused(
        "disk-twice",
        _("The disk {key} is named more than once for the {role}. Name each SSD once."),
        {"key": key, "role": str(role)},
    )


def DiskInLog(disk: Disk, pool: Pool) -> Refused:
    return Refused(
        "disk-in-log",
        _(
            "{disk} already carries a log of pool {pool}. A second one on the same SSD protects nothing and gains nothing. Choose another SSD."
        ),
        {"disk": disk.label, "pool": pool.name},
    )


def ImpossibleReserve(percent: int, highest: int) -> Refused:
    return Refused(
        "impossible-reserve",
        _("A reserve of {percent} % is not possible. Choose 0 to {highest} %."),
        {"percent": str(percent), "highest": str(highest)},
    )


def SectorTooLarge(disk: Disk, pool: Pool) -> Refused:
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


def LogLegGone(pool: Pool, guid: str) -> Refused:
    return Refused(
        "log-leg-gone",
        _("Pool {pool} has no log device with the guid {guid} any more. Read the host again and make a new plan."),
        {"pool": pool.name, "guid": guid},
    )


def LogLegNotOnline(pool: Pool, leg: Vdev) -> Refused:
    return Refused(
        "log-leg-not-online",
        _("The log device {path} of pool {pool} is {state}. Repair it before a second side is attached."),
        {"pool": pool.name, "path": leg.path, "state": leg.state},
    )


def LogLegUnknown(pool: Pool, leg: Vdev) -> Refused:
    return Refused(
        "log-leg-unknown",
        _(
            "The disk behind the log device {path} of pool {pool} was not found, so nothing shows that the two sides would be on different SSDs. Check that it is plugged in, and read the host again."
        ),
        {"pool": pool.name, "path": leg.path},
    )


def OneLegForAttach() -> Refused:
    return Refused("one-leg-for-attach", _("To mirror an existing log, name exactly one SSD for the new side."))


def NothingToDo(pool_name: str) -> Refused:
    return Refused(
        "nothing-to-do",
        _("No SSD is named for pool {pool}. Choose at least one for the log or the cache."),
        {"pool": pool_name},
    )


def PlanOutdated(pool_name: str) -> Refused:
    return Refused(
        "plan-outdated",
        _(
            "The pool {pool} or its chosen SSDs changed since this plan was made. Nothing was changed. Look at the host again and make a new plan."
        ),
        {"pool": pool_name},
    )


def PlanForeign() -> Refused:
    return Refused(
        "plan-foreign",
        _(
            "This plan is not the one that NAS Advisor makes for its own request, so it was changed on the way. Nothing was done. Make a new plan."
        ),
    )


def VdevGone(guid: str, pool_name: str, role: Role) -> Refused:
    return Refused(
        "vdev-gone",
        _(
            "Pool {pool} has no {role} device with the guid {guid}, or it now has another class, so nothing is removed. Read the host again to see what it has."
        ),
        {"pool": pool_name, "guid": guid, "role": str(role)},
    )


def LogHasErrors(pool: Pool, leg: Vdev) -> Refused:
    return Refused(
        "log-has-errors",
        _(
            "The log device {path} of pool {pool} is {state} with {errors} I/O error(s). `zpool remove` of such a log can hang for good and block every other zpool command until a hard reboot (OpenZFS issue 18894). Leave it: the pool is safe without it. In a planned window, stop the writers, export the pool, import it with `zpool import -m {pool}` and remove the log then."
        ),
        {
            "pool": pool.name,
            "path": leg.path or leg.name,
            "state": leg.state,
            "errors": str(leg.read_errors + leg.write_errors),
        },
    )


def VdevChanged(pool: Pool, top: Vdev, leaf: Vdev, role: Role) -> Refused:
    return Refused(
        "vdev-changed",
        _(
            "The {role} {guid} of pool {pool} now also stands on {path}, which this run did not add. Undo first the run that added it, or take it out by hand; then undo this one."
        ),
        {"pool": pool.name, "guid": top.guid, "path": leaf.path, "role": str(role)},
    )


def LastGoodLeg(pool: Pool, leg: Vdev) -> Refused:
    return Refused(
        "last-good-leg",
        _(
            "The side of the log of pool {pool} that would stay, {path}, is {state}. Without the other one the log would be lost, so nothing is detached. Repair that side first."
        ),
        {"pool": pool.name, "path": leg.path or leg.name, "state": leg.state},
    )


def TableChanged(disk: Disk) -> Refused:
    return Refused(
        "table-changed",
        _(
            "The partition table of {disk} was changed by somebody else since the run, so its old sectors are not written back. Our slices are gone from it all the same."
        ),
        {"disk": disk.label},
    )


def HiddenContent(disk: Disk, piece: Slice, what: str) -> Refused:
    return Refused(
        "hidden-content",
        _(
            "The free space on {disk} where the {role} slice would go carries data of the kind {what}: probably a partition that was deleted. If it is not needed, clear it with `blkdiscard` or `wipefs --offset` first."
        ),
        {"disk": disk.label, "role": str(piece.role), "what": what},
    )


def HostUnreadable(why: Statement) -> Refused:
    return Refused("host-unreadable", _("The host could not be examined, so nothing was changed. {why}"), {"why": why})
