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
            "{disk} has room for {room}, and the {role} slice needs {wanted}. OpenZFS wants at least 64 MiB. Choose a smaller size, less reserve or another SSD."
        ),
        {"disk": disk.label, "role": str(role), "wanted": size_text(wanted_bytes), "room": size_text(room_bytes)},
    )


# `fitting_percent` is the largest reserve beside which the slice has room.
def SideHasNoRoom(
    disk: Disk, wanted_bytes: int, room_bytes: int, reserve_percent: int, fitting_percent: int
) -> Refused:
    """The sides of a mirror have one size, so the new side must be as long as the one that is there, and the
    reserve takes what is left.
    """
    return Refused(
        "side-beside-reserve",
        _(
            "A further side of this log must be {wanted} long, and beside a reserve of {reserve} % {disk} has room for {room}. The largest reserve that leaves enough room is {fitting} %: choose that, or a larger SSD."
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
    """The sides of a mirror have one size, and OpenZFS attaches no device that is smaller than what is there."""
    return Refused(
        "side-too-large",
        _(
            "A further side of this log must be {wanted} long, and {disk} has no such room, without any reserve either. Choose a larger SSD."
        ),
        {"disk": disk.label, "wanted": size_text(wanted_bytes)},
    )


def CacheHasNoRoom(disk: Disk, wanted_bytes: int, room_bytes: int, reserve_percent: int) -> Refused:
    """On each SSD the slice for the log comes first, then that for the cache, and the reserve stays empty behind
    them.
    """
    return Refused(
        "cache-too-large",
        _(
            "After the log and a reserve of {reserve} % there is room for {room} of cache on {disk}, and {wanted} were asked for. OpenZFS wants at least 64 MiB. Choose a smaller size or less reserve."
        ),
        {
            "disk": disk.label,
            "wanted": size_text(wanted_bytes),
            "room": size_text(room_bytes),
            "reserve": str(reserve_percent),
        },
    )


def ExtentTaken(disk: Disk, piece: Slice) -> Refused:
    """A plan says to the sector where each slice lies, and a slice goes only where nothing else is."""
    return Refused(
        "extent-taken",
        _(
            "The space for partition {number} on {disk} is not free. Its partitions changed since the plan was made; make a new plan."
        ),
        {"disk": disk.label, "number": str(piece.number)},
    )


def NotAligned(disk: Disk, piece: Slice) -> Refused:
    """Whole MiB fit the pages and blocks of every SSD, whatever their size. Every plan that is made here keeps to
    that, so this one was edited.
    """
    return Refused(
        "not-aligned",
        _("Partition {number} on {disk} would not begin and end at a multiple of 1 MiB. Make a new plan."),
        {"disk": disk.label, "number": str(piece.number)},
    )


def SectorsDiffer(disk: Disk, piece: Slice) -> Refused:
    """The same number of sectors is another place on a disk with other sectors. The SSD was reformatted since
    the plan was made, or another one is in its place.
    """
    return Refused(
        "sectors-differ",
        _(
            "The plan counts in sectors of {planned} bytes and {disk} has sectors of {actual}, so the slice would lie elsewhere. Make a new plan."
        ),
        {"disk": disk.label, "planned": str(piece.sector_bytes), "actual": str(disk.identity.logical_sector_bytes)},
    )


def TableFull(disk: Disk, piece: Slice) -> Refused:
    """The tables that are written here have 128 entries, as nearly all have. All of them are taken, so no slice can
    be added to this disk.
    """
    return Refused(
        "table-full",
        _(
            "The partition table of {disk} has no place for a partition number {number}; a GPT has the numbers 1 to 128. Delete partitions that are not needed, or choose another SSD."
        ),
        {"disk": disk.label, "number": str(piece.number)},
    )


def NumberTaken(disk: Disk, piece: Slice) -> Refused:
    """A plan says which number each partition gets. Somebody has made a partition with that number since."""
    return Refused(
        "number-taken",
        _("Partition number {number} on {disk} is in use. Make a new plan."),
        {"disk": disk.label, "number": str(piece.number)},
    )


def PartuuidTaken(piece: Slice) -> Refused:
    """Each slice gets a PARTUUID that nothing else has, and by it an undo finds the slice again. Here it is in use:
    the plan was applied before, or a disk was copied.
    """
    return Refused(
        "partuuid-taken",
        _("A partition with the PARTUUID {partuuid} exists already. Make a new plan."),
        {"partuuid": piece.partuuid},
    )


def SliceGone(piece: Slice) -> Refused:
    """A slice is found by its PARTUUID and compared with the plan: its disk, its number, its place and its size.
    One that is missing or differs in any of them is not taken for ours.
    """
    return Refused(
        "slice-gone",
        _("The slice {partuuid} on {path} is not there, or is not as planned. Read the host again to see what is."),
        {"partuuid": piece.partuuid, "path": piece.disk_path},
    )


def SliceHeld(piece: Slice, hold: Hold) -> Refused:
    """Before a slice is given to a pool or deleted, everything that could use it is asked. Something does, as when
    somebody has added it to a pool by hand.
    """
    return Refused(
        "slice-held",
        _(
            "The slice {partuuid} on {path} is in use ({kind}: {what}), so it is left alone. If it is not needed there, take it out first."
        ),
        {"partuuid": piece.partuuid, "path": piece.disk_path, "kind": str(hold.kind), "what": hold.what},
    )


def SizesDiffer(pool_name: str) -> Refused:
    """A mirror is as large as its smallest side, so the rest of the larger one would be lost. Every plan that is
    made here has equal sizes, so this one was edited.
    """
    return Refused(
        "sizes-differ",
        _("The slices of a mirrored log for pool {pool} must have the same size. Make a new plan."),
        {"pool": pool_name},
    )


def HiddenContent(disk: Disk, piece: Slice, what: str, offset_bytes: int) -> Refused:
    """Free space is free by the table only. Before a slice is made, the places in it where a file system, a RAID or
    a pool's label would begin are read off the disk. As long as nothing is written there, a partition that was
    deleted by mistake can be brought back.

    In the middle of a disk wipefs finds nothing, and what is cleared may have copies of its superblock further on. So
    all of the free space up to the end of the slice is overwritten, and nothing behind that.
    """
    return Refused(
        "hidden-content",
        _(
            "The free space on {disk} where the {role} slice would go carries data of the kind {what} at byte {offset} of the disk: probably a partition that was deleted. Nothing was written. If it is not needed, overwrite that free space with zeros: `loop=$(losetup --find --show --offset {offset} --sizelimit {length} {path}) && blkdiscard --zeroout $loop; losetup --detach $loop`."
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
    """A pool that is exported or was not imported since the boot still counts on its devices. Without its log it
    could be imported with `zpool import -m` only, and the writes in the log would be lost.

    A pool that is destroyed, or gets another guid by `zpool reguid`, writes that on the devices it has. An SSD that
    was out at that time permanently names a pool that is nowhere; only people can tell it from one that is elsewhere.
    """
    return Refused(
        "slice-needed",
        _(
            "The slice {partuuid} on {path} carries the label of pool {pool} (guid {guid}), which is not imported here and may need it: a log can hold writes that are nowhere else. It was left alone. If `zpool import` shows that pool with the disks of its data, it is exported: import it with `zpool import {guid}`, and with a new name behind the guid if another pool has its name by now; then try again. If it does not, and the pool is neither on another machine nor on disks that were taken out, it was destroyed or got another guid while this SSD was out. Then, and only then, take the label off with `zpool labelclear -f {slice}` and try again. Never do that as long as the pool is anywhere: the last writes in its log would be lost."
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
    """The pool that the label in the slice names is imported, and either counts the slice among its devices or is not
    the pool of this run. OpenZFS takes a label off without `-f` only where no pool uses the device.
    """
    return Refused(
        "slice-needed",
        _(
            "The slice {partuuid} on {path} carries the label of pool {pool}, which is imported and may need it. It was left alone. If it is not needed there, `zpool labelclear {slice}` takes the label off; OpenZFS refuses that as long as the pool uses the slice. Then try again."
        ),
        {"partuuid": piece.partuuid, "path": piece.disk_path, "slice": piece.partuuid_path, "pool": pool_name},
    )


def SliceTwice(piece: Slice, disks: str) -> Refused:
    """A PARTUUID is unique until a whole disk is copied to another. Then its name can lead to either of the two
    from one moment to the next.
    """
    return Refused(
        "slice-twice",
        _(
            "More than one partition has the PARTUUID {partuuid} of this run: on {disks}. One of the disks is a copy of the other, so nothing tells which slice is meant, and nothing was changed. Take the copy out of the machine and try again."
        ),
        {"partuuid": piece.partuuid, "disks": disks},
    )


def UndoUncertain() -> Refused:
    """No slice and no vdev of the run is left, but a step that took one back or wrote an old partition table ended with
    an error of the disk or of the journal. An error of a write can come after the write: nobody knows what got there.
    The next undo reads the disks and does what is missing. If an SSD holds other partitions, let the host run until
    then: the kernel knows them, and reads their table when it starts.
    """
    return Refused(
        "undo-uncertain",
        _(
            "The host no longer shows anything of this run, but a step ended with an error, so the "
            "partition tables of its SSDs may not be as before. Do not restart the host. Undo the run "
            "again: it reads the tables and writes what is missing."
        ),
        {},
    )


def RunStillShows(places: str) -> Refused:
    """“Undone” is said only of a host that no longer shows anything of the run: no slice with one of its PARTUUIDs,
    and no device with one of its guids in a pool.
    """
    return Refused(
        "run-still-shows",
        _(
            "The host still shows something of this run: {places}. What could be taken back is; the run is not called undone while any of it is there. Look at the steps for what stood in the way, then undo again."
        ),
        {"places": places},
    )
