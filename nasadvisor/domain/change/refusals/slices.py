"""Refusals about slices: their size, their place, what is in it."""
# ruff: noqa: N802

from nasadvisor.domain.change.actions import Role, Slice
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Hold
from nasadvisor.domain.units import zfs_size


def TooSmall(disk: Disk, role: Role, wanted_bytes: int, room_bytes: int) -> Refused:
    return Refused(
        "too-small",
        _(
            "{disk} has room for {room}, and the {role} slice needs {wanted}. OpenZFS wants at least 64M. Choose a smaller size, less reserve or another SSD."
        ),
        {"disk": disk.label, "role": str(role), "wanted": zfs_size(wanted_bytes), "room": zfs_size(room_bytes)},
    )


def LegHasNoRoom(disk: Disk, wanted_bytes: int, room_bytes: int, reserve_percent: int, fitting_percent: int) -> Refused:
    """`fitting_percent` is the largest reserve beside which the slice has room."""
    return Refused(
        "leg-beside-reserve",
        _(
            "A further side of this log must be {wanted} long, and beside a reserve of {reserve} % {disk} has room for {room}. The largest reserve that leaves enough room is {fitting} %: choose that, or a larger SSD."
        ),
        {
            "disk": disk.label,
            "wanted": zfs_size(wanted_bytes),
            "room": zfs_size(room_bytes),
            "reserve": str(reserve_percent),
            "fitting": str(fitting_percent),
        },
    )


def LegTooLarge(disk: Disk, wanted_bytes: int) -> Refused:
    return Refused(
        "leg-too-large",
        _(
            "A further side of this log must be {wanted} long, and {disk} has no such room, without any reserve either. Choose a larger SSD."
        ),
        {"disk": disk.label, "wanted": zfs_size(wanted_bytes)},
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


def SizesDiffer(pool_name: str) -> Refused:
    return Refused(
        "sizes-differ",
        _("The slices of a mirrored log for pool {pool} must have the same size. Make a new plan."),
        {"pool": pool_name},
    )


def HiddenContent(disk: Disk, piece: Slice, what: str, offset_bytes: int) -> Refused:
    return Refused(
        "hidden-content",
        _(
            "The free space on {disk} where the {role} slice would go carries data of the kind {what} at byte {offset} of the disk: probably a partition that was deleted. Nothing was written. If it is not needed, clear it with `wipefs --all --offset {offset} {path}`, or the whole of a disk that holds nothing else with `blkdiscard`."
        ),
        {
            "disk": disk.label,
            "path": disk.path,
            "role": str(piece.role),
            "what": what,
            "offset": str(offset_bytes),
        },
    )


def SliceNeeded(piece: Slice, pool_name: str) -> Refused:
    return Refused(
        "slice-needed",
        _(
            "The slice {partuuid} on {path} carries the label of pool {pool}, which is not imported and may need it: a log can hold writes that are nowhere else. It was left alone. Import {pool} and try again; if that pool is gone for good, `zpool labelclear -f {slice}` says so to everybody, and to this product."
        ),
        {"partuuid": piece.partuuid, "path": piece.disk_path, "slice": piece.partuuid_path, "pool": pool_name},
    )


def SliceTwice(piece: Slice, disks: str) -> Refused:
    return Refused(
        "slice-twice",
        _(
            "More than one partition has the PARTUUID {partuuid} of this run: on {disks}. One of the disks is a copy of the other, so nothing tells which slice is meant, and nothing was changed. Take the copy out of the machine and try again."
        ),
        {"partuuid": piece.partuuid, "disks": disks},
    )


def RunStillShows(places: str) -> Refused:
    return Refused(
        "run-still-shows",
        _(
            "The host still shows something of this run: {places}. What could be taken back is; the run is not called undone while any of it is there. Look at the steps for what stood in the way, then undo again."
        ),
        {"places": places},
    )
