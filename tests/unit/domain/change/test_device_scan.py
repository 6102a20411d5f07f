"""What the bytes of a disk or slice speak against, step by step, on machines that all other rules allow."""

from dataclasses import replace
from itertools import pairwise

import pytest

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import (
    AddCache,
    AttachLog,
    ClearSlice,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    DropLogSide,
    Naming,
    RemoveVdev,
    RestoreTable,
    RewindTable,
    Role,
    SaveTable,
    Slice,
)
from nasadvisor.domain.change.advice import WaitingDataset
from nasadvisor.domain.change.device_scan import (
    ACTIVE,
    CLOSE_PLACES,
    DESTROYED,
    EXPORTED,
    FAR_PLACES,
    L2CACHE,
    DeviceScan,
    Signature,
    SliceLabel,
    Step,
    against_look,
    against_room,
    old_places_to_look,
    places_before,
    places_to_look,
)
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.gpt import HeaderPlace
from nasadvisor.domain.storage.inventory import NAMELESS_POOL, Hold, HoldKind, Inventory
from nasadvisor.domain.units import MIB
from tests.unit.domain.builders import (
    attach_to_log,
    cache_on,
    disk_of,
    log_on,
    made,
    mirrored_log,
    slice_on,
    tank_of,
)
from tests.unit.domain.change.sectors import SIZE_BYTES, put, recording
from tests.unit.machines import NVME1, NVME2, SHARED_SSD, TANK, home_server, with_disk, with_pool

SGDISK = recording()
_IDENTITY = replace(disk_of(home_server(), NVME1).identity, size_bytes=SIZE_BYTES)
MACHINE = with_disk(home_server(), NVME1, identity=_IDENTITY)
DISK = disk_of(MACHINE, NVME1)
PIECE = slice_on(DISK)
OWN = OwnTable(SGDISK.blank, SGDISK.cleared, (SGDISK.blank, SGDISK.cleared))
SPOILT = replace(SGDISK.cleared, head=put(SGDISK.cleared.head, 1024, b"\xff"))
"""Its entries are not those that its header was written for."""

EXT4 = Signature("ext4", 5 * MIB, "photos")
ZFS = Signature("zfs_member")
NEEDED = SliceLabel(ACTIVE, 15, "backup", "99", "777")


def asked(step: Step, look: DeviceScan, own: OwnTable | None = OWN, inventory: Inventory = MACHINE) -> Refused | None:
    return against_look(step, look, own, inventory)


def gone(inventory: Inventory = MACHINE) -> Inventory:
    """The same machine without any disk."""
    return replace(inventory, disks=())


# Where a slice is searched


def piece_of(count: int) -> Slice:
    """A slice of so many MiB that begins at 3 MiB."""
    return Slice("k", "/dev/x", 1, 3 * MIB, count * MIB, 512, "", Role.LOG, Naming.PARTUUID)


@pytest.mark.parametrize("count", [1, 2, 1023, 1024])
def test_a_small_slice_is_looked_at_in_each_of_its_mib(count: int) -> None:
    assert places_to_look(piece_of(count)) == tuple((3 + number) * MIB for number in range(count))


def test_a_larger_one_is_looked_at_in_each_mib_of_its_first_gib_and_evenly_behind_it() -> None:
    count = CLOSE_PLACES + 3 * FAR_PLACES
    close = [3 + number for number in range(CLOSE_PLACES)]
    far = [3 + CLOSE_PLACES + 3 * number for number in range(FAR_PLACES)]
    assert places_to_look(piece_of(count)) == tuple(number * MIB for number in (*close, *far))


def test_a_slice_is_looked_at_in_a_thousand_places_from_its_start_and_a_thousand_behind() -> None:
    """What begins there is found: at 700 MiB, at 1,023, and in 10 GiB of the rest at each tenth MiB or oftener."""
    places = set(places_to_look(piece_of(11 * 1024)))
    assert {(3 + number) * MIB for number in (0, 64, 700, 1023)} <= places
    assert len([place for place in places if place >= (3 + 1024) * MIB]) == 1024
    behind = sorted(place for place in places if place >= (3 + 1024) * MIB)
    assert max(later - earlier for earlier, later in pairwise(behind)) <= 10 * MIB
    assert behind[-1] >= (3 + 11 * 1024 - 11) * MIB


def test_cylinders_of_old_tools_are_looked_at_in_the_first_gib() -> None:
    cylinder, track = 16065 * 512, 63 * 512
    places = old_places_to_look(piece_of(16))
    assert places == (cylinder, cylinder + track, 2 * cylinder, 2 * cylinder + track)
    assert old_places_to_look(piece_of(4)) == ()
    assert len(old_places_to_look(piece_of(4096))) == len(old_places_to_look(piece_of(1024))) == 260


def test_the_free_mib_before_a_slice_is_looked_at_where_partitions_began() -> None:
    piece = replace(PIECE, start_bytes=MIB)
    disk = replace(DISK, partitions=(), usable_start_bytes=34 * 512)
    places = places_before(piece, disk)
    assert places[:3] == (34 * 512, 35 * 512, 36 * 512)
    assert {40 * 512, 63 * 512, 64 * 512, 128 * 512, MIB - 4096} <= set(places)
    assert max(places) < MIB
    part = replace(PIECE.as_partition(), start_bytes=MIB, size_bytes=3 * MIB + 512)
    behind = places_before(replace(PIECE, start_bytes=5 * MIB), replace(disk, partitions=(part,)))
    assert behind[0] == 4 * MIB + 4096
    assert places_before(replace(PIECE, start_bytes=9 * MIB), replace(disk, partitions=(part,)))[0] == 8 * MIB
    full = replace(part, size_bytes=4 * MIB)
    assert places_before(replace(PIECE, start_bytes=5 * MIB), replace(disk, partitions=(full,))) == ()


def test_one_that_is_a_little_larger_is_looked_at_in_each_mib_once() -> None:
    assert places_to_look(piece_of(CLOSE_PLACES + 2)) == tuple((3 + at) * MIB for at in range(CLOSE_PLACES + 2))


# Labels


@pytest.mark.parametrize(
    ("label", "needed"),
    [
        (NEEDED, True),
        (replace(NEEDED, txg=1), True),
        (replace(NEEDED, txg=0), False),
        (replace(NEEDED, state=EXPORTED), True),
        (replace(NEEDED, state=DESTROYED), False),
        (replace(NEEDED, state=L2CACHE), False),
    ],
)
def test_a_label_tells_whether_a_pool_may_miss_the_slice(label: SliceLabel, needed: bool) -> None:
    assert label.may_be_needed is needed


def test_a_look_knows_labels_by_partuuid() -> None:
    look = DeviceScan(labels=(("other", replace(NEEDED, txg=1)), (PIECE.partuuid, NEEDED)))
    assert look.label_of(PIECE) == NEEDED
    assert DeviceScan().label_of(PIECE) is None


# New tables and copies of tables

CREATE = CreateTable(NVME1, DISK.path, "t", MIB, 2 * MIB)
SAVE = SaveTable(NVME1, DISK.path, "t", ())


@pytest.mark.parametrize("step", [CREATE, SAVE])
def test_a_table_needs_its_disk(step: Step) -> None:
    assert asked(step, DeviceScan(table=SGDISK.blank), inventory=gone()) == no.DiskGone(NVME1)
    assert asked(step, DeviceScan()) == no.DiskGone(NVME1)
    assert asked(step, DeviceScan(table=SGDISK.blank)) is None
    assert asked(step, DeviceScan(table=SGDISK.blank), None) is None


def test_a_disk_on_which_something_begins_gets_no_table() -> None:
    look = DeviceScan((EXT4, ZFS), table=SGDISK.blank)
    assert asked(CREATE, look) == no.DiskNotEmpty(DISK, "ext4", 5 * MIB)


@pytest.mark.parametrize(
    ("place", "refused"),
    [
        (HeaderPlace(1024, 512), no.TableUnprotected(DISK)),
        (HeaderPlace(8192, 4096), no.TableUnprotected(DISK)),
        (HeaderPlace(DISK.identity.size_bytes, 512), no.TableCopy(DISK)),
        (HeaderPlace(DISK.identity.size_bytes, 4096), no.TableCopyElsewhere(DISK, DISK.identity.size_bytes, 4096)),
        (HeaderPlace(5 * MIB, 512), no.TableCopyElsewhere(DISK, 5 * MIB, 512)),
    ],
)
def test_a_disk_on_which_a_sound_header_stands_gets_no_table(place: HeaderPlace, refused: Refused) -> None:
    look = DeviceScan((EXT4,), table=SGDISK.blank, headers=(place,))
    assert asked(CREATE, look) == refused


def test_a_table_on_a_disk_that_is_something_else_as_well_is_not_copied() -> None:
    raid = Signature("ddf_raid_member")
    assert asked(SAVE, DeviceScan((raid,), table=SGDISK.cleared)) == no.DiskNotEmpty(DISK, "ddf_raid_member", 0)


@pytest.mark.parametrize("step", [CREATE, SAVE])
def test_data_that_nobody_recognises_are_erased_only_where_the_plan_says_so(step: CreateTable | SaveTable) -> None:
    area = SGDISK.blank if step is CREATE else SGDISK.cleared
    found = DeviceScan(table=area, unrecognised_at=5 * MIB)
    assert asked(step, found, None) == no.ErasureNotAgreed(DISK, 5 * MIB)
    assert asked(replace(step, unrecognised_at=6 * MIB), found, None) == no.ErasureNotAgreed(DISK, 5 * MIB)
    assert asked(replace(step, unrecognised_at=5 * MIB), found, None) is None
    assert asked(replace(step, unrecognised_at=5 * MIB), DeviceScan(table=area), None) is None, "gone by now"
    assert asked(step, DeviceScan(table=area, unrecognised_at=0), None) == no.ErasureNotAgreed(DISK, 0)


def test_beside_partitions_no_command_is_named_that_writes_on_the_whole_disk() -> None:
    shared = replace(DISK, partitions=disk_of(home_server(), SHARED_SSD).partitions)
    alone, beside = no.ErasureNotAgreed(DISK, 0), no.ErasureNotAgreed(shared, 0)
    assert alone.code == beside.code
    assert "`" in str(alone)
    assert "`" not in str(beside)


@pytest.mark.parametrize("step", [CREATE, SAVE])
def test_what_is_recognised_is_said_before_what_is_not_and_that_before_a_strange_table(step: Step) -> None:
    found = DeviceScan((EXT4,), table=SGDISK.with_one, unrecognised_at=5 * MIB)
    assert asked(step, found) == no.DiskNotEmpty(DISK, "ext4", 5 * MIB)
    assert asked(step, replace(found, signatures=())) == no.ErasureNotAgreed(DISK, 5 * MIB)
    assert asked(step, replace(found, signatures=(), unrecognised_at=None)) == no.TableNotOurs(DISK)


def test_a_table_that_is_somebodys_by_now_is_neither_written_over_nor_copied() -> None:
    for step in (CREATE, SAVE):
        assert asked(step, DeviceScan(table=SGDISK.with_one)) == no.TableNotOurs(DISK)
        assert asked(step, DeviceScan(table=SGDISK.with_one), None) is None


def test_a_table_that_is_unsound_is_not_copied() -> None:
    refused = asked(SAVE, DeviceScan(table=SPOILT), None)
    assert refused == no.TableUnsound(DISK, "the checksum of its partition entries is wrong")
    assert asked(CREATE, DeviceScan(table=SPOILT), None) is None


# New slices

SLICE = CreateSlice(PIECE, TANK)


def test_a_slice_needs_its_disk_and_a_table_that_the_run_knows() -> None:
    assert asked(SLICE, DeviceScan(table=SGDISK.cleared), inventory=gone()) == no.DiskGone(NVME1)
    assert asked(SLICE, DeviceScan()) == no.DiskGone(NVME1)
    assert asked(SLICE, DeviceScan(table=SGDISK.cleared)) is None
    assert asked(SLICE, DeviceScan(table=SGDISK.with_one)) == no.TableNotOurs(DISK)
    assert asked(SLICE, DeviceScan(table=SGDISK.cleared), None) == no.TableNotOurs(DISK)


def test_what_lies_where_a_slice_is_to_go_is_named_with_its_place() -> None:
    look = DeviceScan((EXT4, ZFS), table=SGDISK.cleared)
    assert asked(SLICE, look) == no.HiddenContent(DISK, PIECE, "ext4", 5 * MIB)
    assert list(against_room(PIECE, look, MACHINE)) == [
        no.HiddenContent(DISK, PIECE, "ext4", 5 * MIB),
        no.HiddenContent(DISK, PIECE, "zfs_member", 0),
    ]
    assert list(against_room(PIECE, DeviceScan(), MACHINE)) == []
    assert list(against_room(PIECE, look, gone())) == []


# Adding slices to a pool


def test_what_stands_in_a_slice_that_is_to_join_a_pool_is_somebodys() -> None:
    inventory, add = log_on(NVME1, NVME2)
    _, cache = cache_on(NVME1, NVME2)
    attached, attach = attach_to_log()
    held = Hold(HoldKind.SIGNATURE, "ext4")
    assert asked(add, DeviceScan((EXT4, ZFS)), None, inventory) == no.SliceHeld(add.sides[0], held)
    assert asked(cache, DeviceScan((EXT4,)), None, inventory) == no.SliceHeld(cache.slices[0], held)
    assert asked(attach, DeviceScan((EXT4,)), None, attached) == no.SliceHeld(attach.side, held)
    for step in (add, cache, attach):
        assert asked(step, DeviceScan(), None, inventory) is None


@pytest.mark.parametrize(("name", "said"), [("backup", "backup"), ("", NAMELESS_POOL)])
def test_a_label_in_any_slice_that_is_to_join_a_pool_is_somebodys(name: str, said: str) -> None:
    inventory, add = log_on(NVME1, NVME2)
    label = replace(NEEDED, pool_name=name)
    hold = Hold(HoldKind.EXPORTED_POOL, said)
    cache = AddCache("tank", TANK, 12, add.sides)
    attach = AttachLog("tank", TANK, 12, "31", "", add.sides[1])
    for step in (add, cache, attach):
        look = DeviceScan(labels=((add.sides[1].partuuid, label),))
        assert asked(step, look, None, inventory) == no.SliceHeld(add.sides[1], hold)


# Taking out a log


def test_a_log_with_writes_that_openzfs_cannot_write_out_stays() -> None:
    inventory, sides = mirrored_log()
    step = RemoveVdev("tank", TANK, Role.LOG, "30", sides)
    locked, unmounted = WaitingDataset("tank/a", key_root="tank/a"), WaitingDataset("tank/b")
    pool = tank_of(inventory)
    assert asked(step, DeviceScan(waiting=(unmounted, locked)), None, inventory) == no.LogHoldsLocked(pool, (locked,))
    assert asked(step, DeviceScan(waiting=(unmounted,)), None, inventory) == no.LogHoldsWrites(pool, (unmounted,))
    assert asked(step, DeviceScan(), None, inventory) is None
    assert asked(step, DeviceScan(waiting=(unmounted,)), None, with_pool(inventory, guid="other")) is None


# Clearing and deleting slices

READY = made(MACHINE, PIECE)
CLEAR, DELETE = ClearSlice(PIECE, "tank", TANK), DeleteSlice(PIECE, TANK)
WITH_SLICE = OwnTable(SGDISK.blank, SGDISK.with_one, (SGDISK.blank, SGDISK.cleared, SGDISK.with_one))


def content(*signatures: Signature, label: SliceLabel | None = None, table: Area = SGDISK.with_one) -> DeviceScan:
    return DeviceScan(signatures, ((PIECE.partuuid, label),) if label else (), table)


@pytest.mark.parametrize("step", [CLEAR, DELETE])
def test_only_what_a_pool_left_behind_is_wiped(step: Step) -> None:
    held = no.SliceHeld(PIECE, Hold(HoldKind.SIGNATURE, "ext4"))
    assert asked(step, content(ZFS), WITH_SLICE, READY) is None
    assert asked(step, content(EXT4), WITH_SLICE, READY) == held
    assert asked(step, content(ZFS, EXT4), WITH_SLICE, READY) == held


@pytest.mark.parametrize("step", [CLEAR, DELETE])
def test_a_slice_that_a_pool_may_need_is_left_and_the_pool_is_named(step: Step) -> None:
    assert asked(step, content(ZFS, label=NEEDED), WITH_SLICE, READY) == no.SliceNeeded(PIECE, "backup", "99")
    nameless = replace(NEEDED, pool_name="")
    assert asked(step, content(ZFS, label=nameless), WITH_SLICE, READY) == no.SliceNeeded(PIECE, NAMELESS_POOL, "99")
    assert asked(step, content(ZFS, label=replace(NEEDED, txg=0)), WITH_SLICE, READY) is None


@pytest.mark.parametrize("step", [CLEAR, DELETE])
def test_a_slice_that_its_own_imported_pool_does_without_was_left_behind(step: Step) -> None:
    label = replace(NEEDED, pool_name="tank", pool_guid=TANK)
    used = no.SliceOfImportedPool(PIECE, "tank")
    assert asked(step, content(label=label), WITH_SLICE, READY) is None
    leaf = next(tank_of(READY).data[0].leaves())
    assert asked(step, content(label=replace(label, vdev_guid=leaf.guid)), WITH_SLICE, READY) == used
    away = replace(READY, pools=())
    assert asked(step, content(label=label), WITH_SLICE, away) == no.SliceNeeded(PIECE, "tank", TANK)
    archive = READY.pools[1]
    other = replace(label, pool_guid=archive.guid)
    assert asked(step, content(label=other), WITH_SLICE, READY) == no.SliceOfImportedPool(PIECE, archive.name)


def test_who_takes_off_a_label_by_hand_is_told_how_and_when_it_is_right() -> None:
    """A pool that is imported under this guid is protected by OpenZFS itself; one that is not, by nothing."""
    unknown = str(asked(DELETE, content(label=NEEDED), WITH_SLICE, READY))
    assert f"`zpool labelclear -f {PIECE.partuuid_path}`" in unknown
    assert "`zpool import 99`" in unknown
    assert "Never do that while the pool still exists anywhere" in unknown
    imported = str(asked(DELETE, content(label=replace(NEEDED, pool_guid=READY.pools[1].guid)), WITH_SLICE, READY))
    assert f"`zpool labelclear {PIECE.partuuid_path}`" in imported
    assert " -f " not in imported


def test_a_slice_is_deleted_off_a_disk_that_is_there() -> None:
    assert asked(DELETE, content(), WITH_SLICE, gone(READY)) == no.DiskGone(NVME1)
    assert asked(DELETE, replace(content(), table=None), WITH_SLICE, READY) == no.DiskGone(NVME1)
    assert asked(CLEAR, replace(content(), table=None), None, gone(READY)) is None


def test_a_table_that_is_unsound_is_rewritten_only_if_a_step_of_ours_was_cut_off_there() -> None:
    torn = replace(SGDISK.with_one, head=SGDISK.cleared.head)
    boot = replace(torn, head=put(torn.head, 0, b"\xeb"))
    half = replace(SGDISK.with_one, tail=SGDISK.blank.tail)
    for table in (half, replace(half, head=put(half.head, 0, b"\xeb"))):
        assert asked(DELETE, content(table=table), WITH_SLICE, READY) is None
        assert asked(DELETE, content(table=table), None, READY) == no.TableNotOurs(DISK)
    assert asked(DELETE, content(table=boot), None, READY) is None
    spoilt = replace(SGDISK.with_one, head=put(SGDISK.with_one.head, 1024, b"\xff"))
    assert asked(DELETE, content(table=spoilt), WITH_SLICE, READY) == no.TableNotOurs(DISK)


def test_the_kernel_is_told_of_a_partition_only_if_the_table_lists_none_of_that_number() -> None:
    """Only the kernel still shows the slice: it has no PARTUUID any more."""
    piece = SGDISK.piece(partuuid="gone")
    step = DeleteSlice(replace(piece, disk_key=NVME1), TANK)
    look = DeviceScan(table=SGDISK.cleared)
    assert asked(step, look) is None
    assert asked(step, DeviceScan(table=SGDISK.with_one)) == no.SliceGone(step.slice)
    assert asked(step, DeviceScan(table=SGDISK.without_first)) is None
    unreadable = replace(SGDISK.cleared, head=put(SGDISK.cleared.head, 512 + 60, b"\xff"))
    assert asked(step, DeviceScan(table=unreadable)) == no.SliceGone(step.slice)


# Writing tables back

RESTORE, REWIND = RestoreTable(NVME1, DISK.path, "t", ()), RewindTable(NVME1, DISK.path)


@pytest.mark.parametrize("step", [RESTORE, REWIND])
def test_a_table_is_written_back_over_our_own_sectors_alone(step: Step) -> None:
    assert asked(step, DeviceScan(table=SGDISK.cleared), inventory=gone()) == no.DiskGone(NVME1)
    assert asked(step, DeviceScan()) == no.DiskGone(NVME1)
    assert asked(step, DeviceScan(table=SGDISK.cleared), None) == no.TableImageMissing(DISK)
    assert asked(step, DeviceScan(table=SGDISK.cleared)) is None
    assert asked(step, DeviceScan(table=SGDISK.with_one)) == no.TableChanged(DISK)


def test_a_table_is_written_back_only_if_the_copy_is_sound() -> None:
    why = "the checksum of its partition entries is wrong"
    before = OwnTable(SPOILT, SGDISK.cleared, (SPOILT, SGDISK.cleared))
    last = OwnTable(SGDISK.blank, SPOILT, (SGDISK.blank, SPOILT))
    look = DeviceScan(table=SPOILT)
    assert asked(RESTORE, look, before) == no.TableImageDamaged(DISK, why)
    assert asked(REWIND, look, before) is None
    assert asked(REWIND, look, last) == no.TableImageDamaged(DISK, why)
    assert asked(RESTORE, look, last) is None


def test_a_torn_deletion_in_a_changed_table_is_rewound_to_theirs_and_never_restored_over_it() -> None:
    met = replace(OWN, met=(SGDISK.with_two, SGDISK.without_first))
    torn = DeviceScan(table=replace(SGDISK.with_two, tail=SGDISK.without_first.tail))
    assert asked(REWIND, torn, met) is None
    assert asked(RESTORE, torn, met) == no.TableChanged(DISK)
    assert asked(REWIND, torn, OWN) == no.TableChanged(DISK)
    spoilt = replace(OWN, met=(SPOILT, SGDISK.without_first))
    assert asked(REWIND, DeviceScan(table=SPOILT), spoilt) == no.TableImageDamaged(
        DISK, "the checksum of its partition entries is wrong"
    )


def test_steps_that_change_a_pool_alone_are_not_judged_by_bytes() -> None:
    inventory, sides = mirrored_log()
    look = DeviceScan((EXT4,), ((sides[1].partuuid, NEEDED),))
    for step in (DetachLog("tank", TANK, "32", sides[1]), DropLogSide("tank", TANK, "32", "x")):
        assert asked(step, look, None, inventory) is None


def test_a_table_is_not_written_back_on_an_ssd_of_another_size() -> None:
    grown = with_disk(MACHINE, NVME1, identity=replace(_IDENTITY, size_bytes=SIZE_BYTES + MIB))
    look = DeviceScan(table=SGDISK.cleared)
    restore = RestoreTable(NVME1, DISK.path, "t", ())
    assert asked(restore, look) is None
    assert asked(restore, look, inventory=grown) == no.DiskResized(disk_of(grown, NVME1))


def test_a_slice_is_deleted_from_the_runs_table_on_an_ssd_that_has_grown() -> None:
    """Only where nobody wrote at the new end: sgdisk puts the copy there."""
    blank_end = replace(SGDISK.cleared, tail=bytes(len(SGDISK.cleared.tail)))
    own = OwnTable(SGDISK.cleared, SGDISK.cleared, (SGDISK.cleared,))
    assert own.is_own_before_growth(blank_end)
    assert not own.is_own_before_growth(replace(blank_end, tail=put(blank_end.tail, 9, b"\1")))
    assert not own.is_own_before_growth(replace(blank_end, head=SGDISK.with_one.head))
