"""What is read off a disk or slice itself right before a write, and what speaks against the write then.

The rules of `checks` and `undo_checks` go by an inventory: what udev, sysfs and OpenZFS tell. These go by the bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    Cleaning,
    ClearSlice,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DropLog,
    OfflineCache,
    OnlineCache,
    RemoveVdev,
    RestoreTable,
    RewindTable,
    SaveTable,
    Slice,
    UndoAction,
)
from nasadvisor.domain.change.actions.inventory_queries import cache_of
from nasadvisor.domain.change.advice import WaitingDataset
from nasadvisor.domain.change.table_area import Area, ImageDamaged, check_area, entries_of
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.gpt import HeaderPlace
from nasadvisor.domain.storage.inventory import NAMELESS_POOL, Disk, Hold, HoldKind, Inventory
from nasadvisor.domain.units import KIB, MIB, align_up

Step = Action | UndoAction | Cleaning

ZFS_MEMBER: Final = "zfs_member"

CLOSE_PLACES: Final = 1024
FAR_PLACES: Final = 1024
"""[policy] In how many places of a planned slice is looked for something that begins there: in each of the first 1,024
MiB, and in as many more spread evenly over the rest. Partitioning tools put partitions at whole MiB."""

_TRACK_BYTES: Final = 63 * 512
_CYLINDER_BYTES: Final = 255 * _TRACK_BYTES

ACTIVE: Final = 0
EXPORTED: Final = 1
DESTROYED: Final = 2
L2CACHE: Final = 4
"""pool_state_t, include/sys/fs/zfs.h: what the label of a device says of its pool."""


@dataclass(frozen=True)
class Signature:
    """Something that libblkid recognised, and where on the disk or slice it begins."""

    kind: str
    offset_bytes: int = 0
    label: str = ""


@dataclass(frozen=True)
class SliceLabel:
    """The ZFS label on a slice. `pool_name` and `pool_guid` are "" on caches, whose labels do not tell them."""

    state: int
    txg: int
    pool_name: str
    pool_guid: str
    vdev_guid: str

    @property
    def may_be_needed(self) -> bool:
        """Whether a pool may miss the slice: not after `zpool destroy`, nor once the vdev was removed or detached
        (OpenZFS then writes a label with txg 0, vdev_label_init() in module/zfs/vdev_label.c); a cache never is."""
        return self.state not in (DESTROYED, L2CACHE) and self.txg > 0


@dataclass(frozen=True)
class DeviceScan:
    """What was read. `labels` go by PARTUUID; `table` is the disk's table area, None for steps that touch none.

    `headers` are those of partition tables, sound ones, on a disk that seems to have none. `waiting` are datasets with
    writes in a log that is to be removed, which OpenZFS cannot write out as they are. `autoexpand` is that property of
    the pool, read for steps on a cache that stays. `unrecognised_at` is where data begin that no tool recognises, in
    the free space of a disk that is to be given slices.
    """

    signatures: tuple[Signature, ...] = ()
    labels: tuple[tuple[str, SliceLabel], ...] = ()
    table: Area | None = None
    headers: tuple[HeaderPlace, ...] = ()
    waiting: tuple[WaitingDataset, ...] = ()
    autoexpand: bool = False
    unrecognised_at: int | None = None

    def label_of(self, piece: Slice) -> SliceLabel | None:
        """The label on a slice."""
        return dict(self.labels).get(piece.partuuid)


def places_to_look(piece: Slice) -> tuple[int, ...]:
    """Where in a planned slice something could begin, in bytes from the start of the disk, ascending."""
    count = piece.size_bytes // MIB
    close = range(min(count, CLOSE_PLACES))
    rest = count - len(close)
    far = (len(close) + rest * number // FAR_PLACES for number in range(FAR_PLACES)) if rest else ()
    return tuple(piece.start_bytes + number * MIB for number in sorted({*close, *far}))


def old_places_to_look(piece: Slice) -> tuple[int, ...]:
    """Where in the first GiB of a planned slice tools of before 2010 put partitions: at cylinders of 255 heads and 63
    sectors, or one track behind."""
    end = piece.start_bytes + min(piece.size_bytes, CLOSE_PLACES * MIB)
    cylinders = range(piece.start_bytes // _CYLINDER_BYTES * _CYLINDER_BYTES, end, _CYLINDER_BYTES)
    places = chain.from_iterable((cylinder, cylinder + _TRACK_BYTES) for cylinder in cylinders)
    return tuple(place for place in places if piece.start_bytes <= place < end)


def places_before(piece: Slice, disk: Disk) -> tuple[int, ...]:
    """Where in the last free MiB before a slice something could begin that reaches into it, ascending: at each of the
    first 64 sectors, for tools of before 2010 began there, and at each 4 KiB."""
    ends = (part.end_bytes for part in disk.partitions if part.end_bytes <= piece.start_bytes)
    start = max(disk.usable_start_bytes, piece.start_bytes - MIB, *ends)
    old = range(start, min(64 * 512, piece.start_bytes), 512)
    return tuple(sorted({*old, *range(align_up(start, 4 * KIB), piece.start_bytes, 4 * KIB)}))


def against_look(step: Step, look: DeviceScan, own: OwnTable | None, inventory: Inventory) -> Refused | None:
    """What speaks against a step now that the bytes were looked at; `own` is what the run knows of the disk's table."""
    return next(_against(step, look, own, inventory), None)


def _against(step: Step, look: DeviceScan, own: OwnTable | None, inventory: Inventory) -> Iterator[Refused]:
    match step:
        case CreateTable() | SaveTable():
            yield from _against_table(step, look, own, inventory)
        case CreateSlice(slice=piece):
            yield from _against_slice(piece, look, own, inventory)
        case AddLog() | AddCache() | AttachLog():
            yield from _against_members(step, look)
        case RemoveVdev() | DropLog():
            yield from _against_waiting(step, look, inventory)
        case ClearSlice(slice=piece):
            yield from against_content(piece, step.pool_guid, look, inventory)
        case DeleteSlice(slice=piece):
            yield from against_content(piece, step.pool_guid, look, inventory)
            yield from _against_rewriting(piece, look, own, inventory)
        case RestoreTable() | RewindTable():
            yield from _against_writing(step, look, own, inventory)
        case OfflineCache() | OnlineCache():
            yield from _against_switching(step, look, inventory)
        case _:
            return


def _against_table(
    step: CreateTable | SaveTable, look: DeviceScan, own: OwnTable | None, inventory: Inventory
) -> Iterator[Refused]:
    disk = inventory.disk(step.disk_key)
    if disk is None or look.table is None:
        yield no.DiskGone(step.disk_key)
        return
    yield from (_against_header(disk, place) for place in look.headers)
    yield from (no.DiskNotEmpty(disk, found.kind, found.offset_bytes) for found in look.signatures)
    if look.unrecognised_at not in (None, step.unrecognised_at):
        yield no.ErasureNotAgreed(disk, look.unrecognised_at)
    if own and not own.is_own(look.table):
        yield no.TableNotOurs(disk)
    if isinstance(step, SaveTable):
        try:
            check_area(look.table)
        except ImageDamaged as error:
            yield no.TableUnsound(disk, str(error))


def _against_header(disk: Disk, place: HeaderPlace) -> Refused:
    if place.end_bytes == 2 * place.sector_bytes:
        return no.TableUnprotected(disk)
    if place == HeaderPlace(disk.identity.size_bytes, disk.identity.logical_sector_bytes):
        return no.TableCopy(disk)
    return no.TableCopyElsewhere(disk, place.end_bytes, place.sector_bytes)


def _against_slice(piece: Slice, look: DeviceScan, own: OwnTable | None, inventory: Inventory) -> Iterator[Refused]:
    disk = inventory.disk(piece.disk_key)
    if disk is None or look.table is None:
        yield no.DiskGone(piece.disk_key)
        return
    if own is None or not own.is_own(look.table):
        yield no.TableNotOurs(disk)
    yield from against_room(piece, look, inventory)


def against_room(piece: Slice, look: DeviceScan, inventory: Inventory) -> Iterator[Refused]:
    """What lies where a slice is to go: perhaps a partition that was deleted by mistake."""
    disk = inventory.disk(piece.disk_key)
    if disk:
        yield from (no.HiddenContent(disk, piece, found.kind, found.offset_bytes) for found in look.signatures)


def _against_members(step: AddLog | AddCache | AttachLog, look: DeviceScan) -> Iterator[Refused]:
    """The slices were filled with zeros at both ends when they were made; what stands there now is somebody's."""
    for found in look.signatures:
        yield no.SliceHeld(step.pieces[0], Hold(HoldKind.SIGNATURE, found.kind))
    for piece in step.pieces:
        label = look.label_of(piece)
        if label:
            yield no.SliceHeld(piece, Hold(HoldKind.EXPORTED_POOL, label.pool_name or NAMELESS_POOL))


def _against_switching(step: OfflineCache | OnlineCache, look: DeviceScan, inventory: Inventory) -> Iterator[Refused]:
    """Of a cache that is out of service nothing holds the device, and OpenZFS takes it back if any of its four labels
    is still whole (vdev_validate_aux() in module/zfs/vdev.c): what somebody put there would be written over."""
    if look.autoexpand:
        yield no.CacheStaysOut(step.pool_name)
    pool, cache = inventory.pool(step.pool_guid), cache_of(step.pool_guid, step.vdev_guid, inventory)
    if pool and cache:
        foreign = (found.kind for found in look.signatures if found.kind != ZFS_MEMBER)
        yield from (no.CacheOverwritten(pool, cache, kind) for kind in foreign)


def _against_waiting(step: RemoveVdev | DropLog, look: DeviceScan, inventory: Inventory) -> Iterator[Refused]:
    """`zpool remove` of a log writes out or frees what it holds, and cannot for datasets that are not mounted since the
    import, or whose keys are not there."""
    pool = inventory.pool(step.pool_guid)
    locked = tuple(each for each in look.waiting if each.key_root)
    unmounted = tuple(each for each in look.waiting if not each.key_root)
    if pool and locked:
        yield no.LogHoldsLocked(pool, locked)
    if pool and unmounted:
        yield no.LogHoldsWrites(pool, unmounted)


def against_content(piece: Slice, pool_guid: str, look: DeviceScan, inventory: Inventory) -> Iterator[Refused]:
    """A slice of ours is cleared or deleted only if what stands in it is no more than what its pool left behind."""
    for found in look.signatures:
        if found.kind != ZFS_MEMBER:
            yield no.SliceHeld(piece, Hold(HoldKind.SIGNATURE, found.kind))
    label = look.label_of(piece)
    if label and label.may_be_needed and not _is_left_behind(label, pool_guid, inventory):
        pool = inventory.pool(label.pool_guid)
        if pool:
            yield no.SliceOfImportedPool(piece, pool.name)
        else:
            yield no.SliceNeeded(piece, label.pool_name or NAMELESS_POOL, label.pool_guid)


def _against_rewriting(piece: Slice, look: DeviceScan, own: OwnTable | None, inventory: Inventory) -> Iterator[Refused]:
    """sgdisk writes both copies of a table anew, and keeps boot code. What stands in the place of a copy that is not
    whole is somebody's, unless a step of ours was cut off there."""
    disk = inventory.disk(piece.disk_key)
    if disk is None or look.table is None:
        yield no.DiskGone(piece.disk_key)
        return
    if not inventory.partitions(piece.partuuid):
        yield from _against_phantom(piece, look.table)
        return
    try:
        check_area(look.table)
    except ImageDamaged:
        has_grown = own is not None and (own.disk_bytes or 0) < disk.identity.size_bytes
        is_ours = own is not None and (
            own.is_own_behind_mbr(look.table) or (has_grown and own.is_own_before_growth(look.table))
        )
        if not is_ours:
            yield no.TableNotOurs(disk)


def _against_phantom(piece: Slice, table: Area) -> Iterator[Refused]:
    """The kernel is told of a partition that went only if the table does not list one of that number."""
    try:
        listed = [entry.number for entry in entries_of(table)]
    except ImageDamaged:
        listed = [piece.number]
    if piece.number in listed:
        yield no.SliceGone(piece)


def _is_left_behind(label: SliceLabel, pool_guid: str, inventory: Inventory) -> bool:
    """Whether its very pool is imported, and does without it; the inventory's rules ask for the second by path."""
    pool = inventory.pool(label.pool_guid) if label.pool_guid == pool_guid else None
    return pool is not None and not pool.problem and all(vdev.guid != label.vdev_guid for vdev in pool.vdevs())


def _against_writing(
    step: RestoreTable | RewindTable, look: DeviceScan, own: OwnTable | None, inventory: Inventory
) -> Iterator[Refused]:
    disk = inventory.disk(step.disk_key)
    if disk is None or look.table is None:
        yield no.DiskGone(step.disk_key)
        return
    if own is None:
        yield no.TableImageMissing(disk)
        return
    if own.disk_bytes not in (None, disk.identity.size_bytes):
        yield no.DiskResized(disk)
    rewound = own.rewound(look.table) if isinstance(step, RewindTable) else None
    if rewound is None and not own.is_own(look.table):
        yield no.TableChanged(disk)
    try:
        check_area(own.before if isinstance(step, RestoreTable) else rewound or own.last)
    except ImageDamaged as error:
        yield no.TableImageDamaged(disk, str(error))
