"""Refusals about whole disks, and what is on them."""
# ruff: noqa: N802

from typing import Final

from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind, Pool

HOLD_SENTENCES: Final[dict[HoldKind, str]] = {
    HoldKind.BOOT: _(
        "{disk} cannot be used: this machine boots from it ({what}). A reinstall would wipe the slices. Use another SSD."
    ),
    HoldKind.MOUNT: _(
        "{disk} cannot be used: it is mounted at {what}. If nothing on it is needed, unmount it and clear it with `wipefs --all` first."
    ),
    HoldKind.SWAP: _(
        "{disk} cannot be used: it is swap space ({what}). If it is not needed, turn it off with swapoff and clear it with `wipefs --all` first."
    ),
    HoldKind.HOLDER: _(
        "{disk} cannot be used: the device {what} is built on it. Take that apart first, or choose another SSD."
    ),
    HoldKind.LVM: _(
        "{disk} cannot be used: it belongs to LVM ({what}). Remove it from its volume group first, if it is in one; then clear it with `wipefs --all`."
    ),
    HoldKind.RAID: _(
        "{disk} cannot be used: it is a member of a RAID set ({what}). Take that apart first, if there is one; then clear it with `wipefs --all`."
    ),
    HoldKind.CEPH: _(
        "{disk} cannot be used: Ceph keeps data on it ({what}). Remove the OSD first, if there is one; then clear it with `wipefs --all`."
    ),
    HoldKind.FILESYSTEM: _(
        "{disk} cannot be used: it holds a filesystem ({what}). If nothing on it is needed, clear its partitions, if it has any, and then the disk with `wipefs --all`."
    ),
    HoldKind.POOL: _("{disk} cannot be used: it is part of the pool {what}. Choose a disk that is free."),
    HoldKind.EXPORTED_POOL: _(
        "{disk} cannot be used: it holds the exported pool {what}. If that pool is needed, choose another SSD; if not, import it, destroy it, and take off its label with `zpool labelclear`. A label that a removed device left behind goes the same way, without an import."
    ),
    HoldKind.SIGNATURE: _(
        "{disk} cannot be used: it carries data of the kind {what}. If nothing on it is needed, clear its partitions, if it has any, and then the disk with `wipefs --all`."
    ),
    HoldKind.READ_ONLY: _(
        "{disk} cannot be used: it is read-only. Look for a write-protect switch, or for a drive that has worn out."
    ),
    HoldKind.DUPLICATE: _(
        "{disk} cannot be used: another device shows the same identity ({what}). A disk that is reached by two paths (multipath) is not used. If one disk was copied onto another, take the copy out. Else choose another SSD."
    ),
    HoldKind.UNREADABLE: _("{disk} cannot be used: nothing about it may be assumed, because {what}."),
}


def DiskGone(key: str) -> Refused:
    return Refused(
        "disk-gone",
        _(
            "The disk {key} is not there, or two devices claim to be it. Check that it is plugged in, and once only, and read the host again."
        ),
        {"key": key},
    )


def DiskChanged(disk: Disk, path: str) -> Refused:
    return Refused(
        "disk-changed",
        _(
            "{disk} is no longer reachable as {path}. Another disk may have taken its place. Read the host again to see which disk is where."
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
            "{disk} has a partition table that is not GPT. Slices need GPT. If nothing on it is needed, clear its partitions, if it has any, and then the disk with `wipefs --all`."
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


def TableChanged(disk: Disk) -> Refused:
    return Refused(
        "table-changed",
        _(
            "The partition table of {disk} was changed by somebody else since the run, so its old sectors are not written back. Our slices are gone from it all the same."
        ),
        {"disk": disk.label},
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


def DiskInLog(disk: Disk, pool: Pool) -> Refused:
    return Refused(
        "disk-in-log",
        _(
            "{disk} already carries a log of pool {pool}. A second one on the same SSD protects nothing and gains nothing. Choose another SSD."
        ),
        {"disk": disk.label, "pool": pool.name},
    )


def SameDisk(disk: Disk) -> Refused:
    return Refused(
        "same-disk",
        _(
            "Both sides of a mirror would be on {disk}. If it dies, both are gone. Choose two different SSDs, or a single log if you accept its risk."
        ),
        {"disk": disk.label},
    )


def TableAreaOdd(disk: Disk) -> Refused:
    return Refused(
        "table-area-odd",
        _(
            "The partition table of {disk} leaves out much of the disk, as after a copy from a disk of another size, so no slice is made on it. Nothing was changed. `sgdisk --move-second-header {path}` makes the table fit, if the data on the disk are yours to keep; a disk that is not needed can be cleared with `wipefs --all`."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def DiskNotEmpty(disk: Disk, what: str, offset_bytes: int) -> Refused:
    return Refused(
        "disk-not-empty",
        _(
            "{disk} is not blank: it carries data of the kind {what} at byte {offset}. That was read off the disk itself; the system does not show it, probably because another machine or a guest wrote it. Nothing was written. `udevadm trigger --settle {path}` makes the system look again; if the data are not needed, clear them with `wipefs --all`."
        ),
        {"disk": disk.label, "path": disk.path, "what": what, "offset": str(offset_bytes)},
    )


def TableNotOurs(disk: Disk) -> Refused:
    return Refused(
        "table-not-ours",
        _(
            "The sectors of the partition table of {disk} are not as the last step of this run left them: somebody else wrote there. They were left alone. `sgdisk --print {path}` shows what is there now."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableUnsound(disk: Disk, problem: str) -> Refused:
    return Refused(
        "table-unsound",
        _(
            "The partition table of {disk} is not sound ({problem}), so no slice is added to it. Nothing was changed. `sgdisk --verify {path}` says more; repair it first, or choose another SSD."
        ),
        {"disk": disk.label, "path": disk.path, "problem": problem},
    )


def TableImageMissing(disk: Disk) -> Refused:
    return Refused(
        "table-image-missing",
        _(
            "The journal of this run holds no copy of the partition table of {disk} from before, so its table stays as it is. `sgdisk --print {path}` shows it."
        ),
        {"disk": disk.label, "path": disk.path},
    )


def TableImageDamaged(disk: Disk, problem: str) -> Refused:
    return Refused(
        "table-image-damaged",
        _(
            "The copy of the partition table of {disk} in the journal of this run is damaged ({problem}), so it is not written back. The table stays as it is; `sgdisk --print {path}` shows it."
        ),
        {"disk": disk.label, "path": disk.path, "problem": problem},
    )
