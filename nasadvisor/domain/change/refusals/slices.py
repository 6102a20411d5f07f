"""Refusals about slices: their size, their place, what is in it."""
# ruff: noqa: N802

from nasadvisor.domain.change.actions import Role, Slice
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Hold
from nasadvisor.domain.units import size_text


def TooSmall(disk: Disk, role: Role, wanted_bytes: int, room_bytes: int) -> Refused:
    """Only the largest contiguous gap counts, minus the reserve, MiB alignment and any space the platform keeps at the end."""
    return Refused(
        "too-small",
        _(
            "{disk} has room for {room}, but the {role} slice needs {wanted}. OpenZFS requires at least 64 MiB. "
            "Choose a smaller size, less reserve or another SSD."
        ),
        {"disk": disk.label, "role": str(role), "wanted": size_text(wanted_bytes), "room": size_text(room_bytes)},
    )


# `fitting_percent` is the largest reserve beside which the slice has room.
def SideHasNoRoom(
    disk: Disk, wanted_bytes: int, room_bytes: int, reserve_percent: int, fitting_percent: int
) -> Refused:
    """The sides of a mirror have the same size, so the new side must be as large as the existing one, and the reserve
    gets the remaining space.
    """
    return Refused(
        "side-beside-reserve",
        _(
            "A new side of this log must be {wanted} in size, but with a reserve of {reserve} %, {disk} has room for "
            "{room}. The largest reserve that leaves enough room is {fitting} %: choose that, or a larger SSD."
        ),
        {
            "disk": disk.label,
            "wanted": size_text(wanted_bytes),
            "room": size_text(room_bytes),
            "reserve": str(reserve_percent),
            "fitting": str(fitting_percent),
        },
    )


def SideTooLarge(disk: Disk, wanted_bytes: int) -> Refused:
    """The sides of a mirror have the same size, and OpenZFS attaches no device that
    is smaller than the existing one.
    """
    return Refused(
        "side-too-large",
        _(
            "A new side of this log must be {wanted} in size, and {disk} does not have that much room, even without a "
            "reserve. Choose a larger SSD."
        ),
        {"disk": disk.label, "wanted": size_text(wanted_bytes)},
    )


def CacheHasNoRoom(disk: Disk, wanted_bytes: int, room_bytes: int, reserve_percent: int) -> Refused:
    """On each SSD, the log slice comes first, then the cache slice, and the reserve stays empty behind them."""
    return Refused(
        "cache-too-large",
        _(
            "After the log and a reserve of {reserve} %, {disk} has room for {room} of cache, but {wanted} was "
            "requested. OpenZFS requires at least 64 MiB. Choose a smaller size or less reserve."
        ),
        {
            "disk": disk.label,
            "wanted": size_text(wanted_bytes),
            "room": size_text(room_bytes),
            "reserve": str(reserve_percent),
        },
    )


def ExtentTaken(disk: Disk, piece: Slice) -> Refused:
    """A plan specifies the position of each slice to the sector, and a slice goes only where nothing else is."""
    return Refused(
        "extent-taken",
        _(
            "The space for partition {number} on {disk} is not free. Its partitions have changed since the plan was "
            "created; create a new plan."
        ),
        {"disk": disk.label, "number": str(piece.number)},
    )


def NotAligned(disk: Disk, piece: Slice) -> Refused:
    """Whole MiB fit the pages and blocks of every SSD, whatever their size. Every plan created here follows this rule,
    so this plan was edited.
    """
    return Refused(
        "not-aligned",
        _("Partition {number} on {disk} would not begin and end at a multiple of 1 MiB. Create a new plan."),
        {"disk": disk.label, "number": str(piece.number)},
    )


def SectorsDiffer(disk: Disk, piece: Slice) -> Refused:
    """The same sector number is another place on a disk with another sector size. The SSD has been reformatted since
    the plan was created, or another one has taken its place.
    """
    return Refused(
        "sectors-differ",
        _(
            "The plan uses sectors of {planned} bytes, but {disk} has sectors of {actual}, so the slice would be in "
            "another place. Create a new plan."
        ),
        {"disk": disk.label, "planned": str(piece.sector_bytes), "actual": str(disk.identity.logical_sector_bytes)},
    )


def TableFull(disk: Disk, piece: Slice) -> Refused:
    """The tables written here have 128 entries, like nearly all tables. All of them are in use, so no slice can be
    added to this disk.
    """
    return Refused(
        "table-full",
        _(
            "The partition table of {disk} has no room for partition number {number}; a GPT has the numbers 1 to 128. "
            "Delete partitions that you do not need, or choose another SSD."
        ),
        {"disk": disk.label, "number": str(piece.number)},
    )


def NumberTaken(disk: Disk, piece: Slice) -> Refused:
    """A plan specifies the number of each partition. Someone has since created a partition with that number."""
    return Refused(
        "number-taken",
        _("Partition number {number} on {disk} is in use. Create a new plan."),
        {"disk": disk.label, "number": str(piece.number)},
    )


def PartuuidTaken(piece: Slice) -> Refused:
    """Each slice gets a unique PARTUUID, by which an undo finds it again. Here the PARTUUID is in use: the plan was
    applied before, or a disk was copied.
    """
    return Refused(
        "partuuid-taken",
        _("A partition with the PARTUUID {partuuid} already exists. Create a new plan."),
        {"partuuid": piece.partuuid},
    )


def SliceGone(piece: Slice) -> Refused:
    """A slice is found by its PARTUUID and compared with the plan: its disk, number, position and size. A slice that is
    missing or differs in any of these is not treated as ours.
    """
    return Refused(
        "slice-gone",
        _("The slice {partuuid} on {path} is missing or not as planned. Read the host again to see its current state."),
        {"partuuid": piece.partuuid, "path": piece.disk_path},
    )


def SliceHeld(piece: Slice, hold: Hold) -> Refused:
    """Before a slice is given to a pool or deleted, everything that could use it is checked. It is in use, for example
    because someone added it to a pool by hand.
    """
    return Refused(
        "slice-held",
        _(
            "The slice {partuuid} on {path} is in use ({kind}: {what}), so it is left unchanged. If it is not needed "
            "there, remove it first."
        ),
        {"partuuid": piece.partuuid, "path": piece.disk_path, "kind": str(hold.kind), "what": hold.what},
    )


def SizesDiffer(pool_name: str) -> Refused:
    """A mirror is only as large as its smallest side, so the rest of the larger side would be wasted. Every plan
    created here has equal sizes, so this plan was edited.
    """
    return Refused(
        "sizes-differ",
        _("The slices of a mirrored log for pool {pool} must have the same size. Create a new plan."),
        {"pool": pool_name},
    )


def HiddenContent(disk: Disk, piece: Slice, what: str, offset_bytes: int) -> Refused:
    """Free space is free only according to the table. Before a slice is created, the places in it where a filesystem, a
    RAID or a pool label would begin are read from the disk. As long as nothing is written there, a partition deleted by
    mistake can be recovered.

    In the middle of a disk, wipefs finds nothing, and the data to be cleared may have copies of its superblock further
    on. Therefore all of the free space up to the end of the slice is overwritten, and nothing behind it.
    """
    return Refused(
        "hidden-content",
        _(
            "The free space on {disk} that the {role} slice would use holds data of type {what} at byte {offset} of "
            "the disk: probably a deleted partition. Nothing was written. If you do not need it, overwrite that free "
            "space with zeros: `loop=$(losetup --find --show --offset {offset} --sizelimit {length} {path}) && "
            "blkdiscard --zeroout $loop; losetup --detach $loop`."
        ),
        {
            "disk": disk.label,
            "path": disk.path,
            "role": str(piece.role),
            "what": what,
            "offset": str(offset_bytes),
            "length": str(piece.start_bytes + piece.size_bytes - offset_bytes),
        },
    )


def SliceNeeded(piece: Slice, pool_name: str, pool_guid: str) -> Refused:
    """A pool that is exported, or has not been imported since the boot, still depends on its devices. Without its log,
    it could be imported only with `zpool import -m`, and the writes in the log would be lost.

    When a pool is destroyed, or gets another guid by `zpool reguid`, OpenZFS writes that to the devices present. An SSD
    that was absent at that time permanently names a pool that no longer exists; only a person can distinguish it from a
    pool that is elsewhere.
    """
    return Refused(
        "slice-needed",
        _(
            "The slice {partuuid} on {path} has the label of pool {pool} (guid {guid}), which is not imported here "
            "and may need it: a log can hold writes that exist nowhere else. It was left unchanged. If `zpool import` "
            "shows that pool with its data disks, it is exported: import it with `zpool import {guid}`, with a new "
            "name after the guid if another pool now has its name; then try again. If it does not, and the pool is "
            "neither on another host nor on removed disks, the pool was destroyed or got another guid while this SSD "
            "was absent. Then, and only then, remove the label with `zpool labelclear -f {slice}` and try again. "
            "Never do that while the pool still exists anywhere: the last writes in its log would be lost."
        ),
        {
            "partuuid": piece.partuuid,
            "path": piece.disk_path,
            "slice": piece.partuuid_path,
            "pool": pool_name,
            "guid": pool_guid,
        },
    )


def SliceOfImportedPool(piece: Slice, pool_name: str) -> Refused:
    """The pool named by the label in the slice is imported, and either counts the slice among its devices or is not the
    pool of this run. Without `-f`, OpenZFS removes a label only if no pool uses the device.
    """
    return Refused(
        "slice-needed",
        _(
            "The slice {partuuid} on {path} has the label of pool {pool}, which is imported and may need it. It was "
            "left unchanged. If it is not needed there, `zpool labelclear {slice}` removes the label; OpenZFS refuses "
            "that while the pool uses the slice. Then try again."
        ),
        {"partuuid": piece.partuuid, "path": piece.disk_path, "slice": piece.partuuid_path, "pool": pool_name},
    )


def SliceTwice(piece: Slice, disks: str) -> Refused:
    """A PARTUUID is unique until a whole disk is copied to another. Then its name can lead to either disk from one
    moment to the next.
    """
    return Refused(
        "slice-twice",
        _(
            "More than one partition has the PARTUUID {partuuid} of this run: on {disks}. One of the disks is a copy "
            "of the other, so it is unknown which slice is meant, and nothing was changed. Remove the copy from the "
            "host and try again."
        ),
        {"partuuid": piece.partuuid, "disks": disks},
    )


def UndoUncertain() -> Refused:
    """No slice and no vdev of the run is left, but a step that removed one or restored an old partition table ended
    with an error of the disk or of the journal. A write error can come after the write, so the result on the disk is
    unknown. The next undo reads the disks and does the missing work. If an SSD holds other partitions, keep the host
    running until then: the kernel knows them, and reads their table only when it starts.
    """
    return Refused(
        "undo-uncertain",
        _(
            "The host no longer shows any trace of this run, but a step ended with an error, so the partition tables "
            "of its SSDs may not be as before. Do not restart the host. Undo the run again: this reads the tables and "
            "writes the missing parts."
        ),
        {},
    )


def RunStillShows(places: str) -> Refused:
    """“Undone” is reported only if the host shows no trace of the run: no slice with one of its PARTUUIDs, and no
    device with one of its guids in a pool.
    """
    return Refused(
        "run-still-shows",
        _(
            "The host still shows traces of this run: {places}. Everything that could be undone was undone; the run "
            "does not count as undone while any trace is left. Check the steps for the cause, then undo the run again."
        ),
        {"places": places},
    )
