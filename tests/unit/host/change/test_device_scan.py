"""Looking at what a step would write on: at which bytes of which device, and what is asked of them."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import pytest

from nasadvisor.domain.change.actions import (
    AddCache,
    AddLog,
    AttachLog,
    ClearSlice,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    DropLog,
    DropLogSide,
    OfflineCache,
    OnlineCache,
    RemoveVdev,
    RestoreTable,
    RewindTable,
    Role,
    SaveTable,
    Slice,
)
from nasadvisor.domain.change.advice import WaitingDataset
from nasadvisor.domain.change.device_scan import ACTIVE, DeviceScan, Signature, SliceLabel, Step
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.storage.gpt import HeaderPlace
from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.domain.units import GIB, KIB, MIB
from nasadvisor.host.adapters.blockdev import DeviceUnusable
from nasadvisor.host.adapters.libblkid import Found
from nasadvisor.host.change import device_scan as look_module
from nasadvisor.host.change.device_scan import scan_devices
from nasadvisor.host.storage.machine import Machine, Roots
from tests.unit.domain.builders import disk_of, made, mirrored_log, slice_on, tank_of
from tests.unit.domain.change.sectors import recording, with_first_header
from tests.unit.fakes import FakeRunner
from tests.unit.machines import CACHE_GUID, NVME1, NVME2, TANK, home_server, with_cache, with_disk, with_pool

SIZE = 64 * MIB
HEAD, TAIL = 17 * KIB, 33 * 512
EXT4, ZFS = Found("ext4", "photos", "1-2"), Found("zfs_member", "", "99")
LABEL = SliceLabel(ACTIVE, 15, "tank", TANK, "777")
LIST = "zpool list -vHPpg tank"
WAITING = "zdb -iv tank"
CACHE_FILE = "zpool get -H -o value cachefile tank"
DATASETS = "zfs list -H -r -t filesystem,volume -o name,encryptionroot,keystatus,canmount,mountpoint tank"


class Nothing:
    """Nothing else of the machine is read."""

    def read(self, *_args: object) -> NoReturn:
        raise AssertionError


@dataclass
class Stage:
    """A disk and its slices in files; what libblkid and zdb are asked, and what they answer.

    `found` goes by the path and the offset that libblkid is asked about, `labels` by path.
    """

    root: Path
    runner: FakeRunner = field(default_factory=FakeRunner)
    found: dict[tuple[str, int], tuple[Found, ...]] = field(default_factory=dict)
    labels: dict[str, SliceLabel] = field(default_factory=dict)
    asked: list[tuple[str, int, int]] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)

    def identify(self, device_number: int) -> DiskIdentity:
        raise AssertionError(device_number)

    def read(self, *_args: object) -> NoReturn:
        raise AssertionError

    def file(self, path: str, size_bytes: int) -> Path:
        file = self.root / path.replace("/", "_")
        if not file.exists():
            with file.open("wb") as made:
                made.truncate(size_bytes)
        return file

    def write(self, path: str, place: int, data: bytes, size_bytes: int = SIZE) -> None:
        """Put something on a disk or into a slice."""
        with self.file(path, size_bytes).open("r+b") as file:
            file.seek(place)
            file.write(data)

    @contextmanager
    def _descriptor(self, path: str, size_bytes: int) -> Iterator[int]:
        self.opened.append(path)
        descriptor = os.open(self.file(path, size_bytes), os.O_RDONLY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def open_disk(self, path: str, disk: Disk, identify: object, flags: int) -> Iterator[int]:
        assert disk.is_at(path)
        assert identify == self.identify
        assert flags == os.O_RDONLY
        with self._descriptor(path, disk.identity.size_bytes) as descriptor:
            yield descriptor

    @contextmanager
    def open_slice(self, piece: Slice, sysfs: Path) -> Iterator[int]:
        assert sysfs == Path("/sys")
        with self._descriptor(piece.partuuid_path, piece.size_bytes) as descriptor:
            yield descriptor

    @contextmanager
    def open_idle(self, path: str) -> Iterator[int]:
        with self._descriptor(path, SIZE) as descriptor:
            yield descriptor

    def recognise(self, descriptor: int, offset_bytes: int, size_bytes: int, path: str) -> tuple[Found, ...]:
        assert os.fstat(descriptor).st_size
        self.asked.append((path, offset_bytes, size_bytes))
        return self.found.get((path, offset_bytes), ())

    def read_label(self, runner: object, path: str) -> SliceLabel | None:
        assert runner is self.runner
        self.asked.append((path, -1, -1))
        return self.labels.get(path)

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None = None) -> DeviceScan:
        machine = Machine(self.runner, Nothing(), Nothing(), self, lambda: datetime.now(UTC), Roots())
        return scan_devices(machine, step, inventory, own)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage(tmp_path)
    for name in ("open_disk", "open_idle", "open_slice", "recognise", "read_label"):
        monkeypatch.setattr(look_module, name, getattr(stage, name))
    return stage


def machine() -> Inventory:
    """Both NVMe SSDs are of 64 MiB, with the table areas that sgdisk makes."""
    inventory = home_server()
    for key in (NVME1, NVME2):
        identity = replace(disk_of(inventory, key).identity, size_bytes=SIZE)
        changes = {"identity": identity, "usable_start_bytes": HEAD, "usable_end_bytes": SIZE - TAIL}
        inventory = with_disk(inventory, key, **changes)
    return inventory


def piece_on(key: str, number: int = 1) -> Slice:
    return slice_on(disk_of(machine(), key), number=number, size_bytes=8 * MIB)


PATH = disk_of(machine(), NVME1).path
PIECE, OTHER = piece_on(NVME1), piece_on(NVME2)
READY = made(machine(), PIECE, OTHER)
PIECE_END = PIECE.start_bytes + PIECE.size_bytes
OWN = OwnTable(Area(bytes(1024), bytes(512)), Area(b"", b""), ())
CREATE = CreateTable(NVME1, PATH, "t", HEAD, SIZE - TAIL)
TABLE_STEPS: tuple[Step, ...] = (
    CREATE,
    SaveTable(NVME1, PATH, "t", ()),
    RestoreTable(NVME1, PATH, "t", ()),
    RewindTable(NVME1, PATH),
)


@pytest.mark.parametrize("step", TABLE_STEPS)
def test_the_table_area_is_read_to_its_last_byte(stage: Stage, step: Step) -> None:
    stage.write(PATH, 0, b"h" * HEAD)
    stage.write(PATH, SIZE - TAIL, b"t" * TAIL)
    assert stage.look(step, machine()).table == Area(b"h" * HEAD, b"t" * TAIL)


@pytest.mark.parametrize("step", [*TABLE_STEPS, CreateSlice(PIECE, TANK), DeleteSlice(PIECE, TANK)])
def test_the_table_area_is_as_long_as_it_was_when_the_run_began(stage: Stage, step: Step) -> None:
    stage.write(PATH, 0, b"h" * HEAD)
    stage.write(PATH, SIZE - TAIL, b"t" * TAIL)
    assert stage.look(step, machine(), OWN).table == Area(b"h" * 1024, b"t" * 512)


def test_a_disk_that_gets_a_table_or_slices_is_recognised_as_a_whole(stage: Stage) -> None:
    gpt = Found("gpt")
    stage.found = {(PATH, 0): (EXT4, gpt, ZFS)}
    ext4, zfs = Signature("ext4", 0, "photos"), Signature("zfs_member")
    expected = {"create-table": (ext4, Signature("gpt"), zfs), "save-table": (ext4, zfs)}
    for step in TABLE_STEPS:
        assert stage.look(step, machine()).signatures == expected.get(step.action, ())
    assert stage.asked == [(PATH, 0, 0)] * 2


@pytest.mark.parametrize("kind", ["gpt", "PMBR", "dos"])
def test_a_table_is_nothing_to_tell_of_on_a_disk_whose_table_is_kept(stage: Stage, kind: str) -> None:
    """With any of the three a disk is used; one that is to get a table must not have one."""
    stage.found = {(PATH, 0): (Found(kind),)}
    expected = {"create-table": (Signature(kind),)}
    for step in TABLE_STEPS:
        assert stage.look(step, machine()).signatures == expected.get(step.action, ())


def header_ending_at(end: int) -> bytes:
    return with_first_header(recording().cleared, 512, this=end // 512 - 1).head[512:1024]


@pytest.mark.parametrize("end", [1024, MIB, SIZE - 16 * MIB + 512, SIZE - TAIL, SIZE])
def test_headers_of_tables_are_found_at_both_ends_of_a_disk_that_gets_a_table(stage: Stage, end: int) -> None:
    stage.write(PATH, end - 512, header_ending_at(end))
    for step in TABLE_STEPS:
        expected = (HeaderPlace(end, 512),) if step is CREATE else ()
        assert stage.look(step, machine()).headers == expected


def test_the_header_at_the_front_is_told_before_the_one_at_the_end(stage: Stage) -> None:
    """As of a table that lost only the MBR in front of it, which is said then, and not that there is a copy."""
    stage.write(PATH, 512, header_ending_at(1024))
    stage.write(PATH, SIZE - 512, header_ending_at(SIZE))
    assert stage.look(CREATE, machine()).headers == (HeaderPlace(1024, 512), HeaderPlace(SIZE, 512))


@pytest.mark.parametrize("end", [MIB + 512, SIZE - 16 * MIB])
def test_headers_are_searched_for_in_the_first_mib_and_the_last_16_alone(stage: Stage, end: int) -> None:
    stage.write(PATH, end - 512, header_ending_at(end))
    assert stage.look(CREATE, machine()).headers == ()


@pytest.mark.parametrize("at", [HEAD, HEAD + MIB - 1, SIZE - TAIL - MIB, SIZE - TAIL - 1])
def test_data_that_nobody_recognises_are_found_on_a_disk_that_gets_its_first_slices(stage: Stage, at: int) -> None:
    stage.write(PATH, at, b"x")
    block = at - (at - (HEAD if at < SIZE // 2 else SIZE - TAIL - MIB)) % (4 * KIB)
    expected = {"create-table": block, "save-table": block}
    for step in TABLE_STEPS:
        assert stage.look(step, machine()).unrecognised_at == expected.get(step.action)


def test_where_partition_tables_are_nothing_counts_as_data(stage: Stage) -> None:
    stage.write(PATH, 0, bytes(range(256)) * (HEAD // 256))
    stage.write(PATH, SIZE - TAIL, bytes(range(256)) * (TAIL // 256))
    assert stage.look(CREATE, machine()).unrecognised_at is None


@pytest.mark.parametrize(("at", "seen"), [(PIECE_END - 1, False), (PIECE_END, True)])
def test_beside_partitions_the_free_space_is_asked(stage: Stage, at: int, seen: bool) -> None:
    identity = replace(disk_of(machine(), NVME1).identity, size_bytes=GIB)
    large = with_disk(made(machine(), PIECE), NVME1, identity=identity, usable_end_bytes=GIB - TAIL)
    stage.write(PATH, GIB - 1, b"\0")
    stage.write(PATH, at, b"x")
    assert stage.look(TABLE_STEPS[1], large).unrecognised_at == (PIECE_END if seen else None)


def test_a_disk_that_is_shorter_than_what_is_searched_is_searched_as_a_whole(stage: Stage) -> None:
    inventory = machine()
    identity = replace(disk_of(inventory, NVME1).identity, size_bytes=MIB)
    small = with_disk(inventory, NVME1, identity=identity, usable_end_bytes=MIB - TAIL)
    stage.write(PATH, 0, b"h", MIB)
    assert stage.look(CREATE, small).headers == ()


@pytest.mark.parametrize("step", [*TABLE_STEPS, CreateSlice(PIECE, TANK)])
def test_a_disk_that_is_not_there_is_not_opened(stage: Stage, step: Step) -> None:
    assert stage.look(step, replace(machine(), disks=())) == DeviceScan()
    assert stage.opened == []


@pytest.mark.parametrize(
    ("step", "path", "place"),
    [
        (CREATE, PATH, 0),
        (CREATE, PATH, SIZE - TAIL),
        (CREATE, PATH, SIZE - 16 * MIB),
        (CREATE, PATH, HEAD),
        (CreateSlice(PIECE, TANK), PATH, HEAD),
        (CreateSlice(PIECE, TANK), PATH, PIECE.start_bytes),
        (CreateSlice(PIECE, TANK), PATH, 0),
        (CreateSlice(PIECE, TANK), PATH, SIZE - TAIL),
        (ClearSlice(PIECE, "tank", TANK), PIECE.partuuid_path, 0),
        (ClearSlice(PIECE, "tank", TANK), PIECE.partuuid_path, 7 * MIB),
    ],
)
def test_a_device_that_cannot_be_read_is_named(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, step: Step, path: str, place: int
) -> None:
    """Whichever of the reads it is that fails."""
    fail_reads(monkeypatch, lambda offset, _size: offset == place)
    with pytest.raises(DeviceUnusable, match=f"^{path} "):
        stage.look(step, machine() if step is CREATE else READY)


def test_a_disk_on_which_a_copy_of_a_superblock_cannot_be_read_again_is_named(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.write(PATH, PIECE.start_bytes, b"\1")
    fail_reads(monkeypatch, lambda offset, size: (offset, size) == (PIECE.start_bytes, KIB))
    with pytest.raises(DeviceUnusable, match=f"^{PATH} "):
        stage.look(CreateSlice(PIECE, TANK), machine())


def fail_reads(monkeypatch: pytest.MonkeyPatch, fails: Callable[[int, int], bool]) -> None:
    """Have the reads fail of whose offset and size this is true."""
    pread = os.pread

    def read(descriptor: int, size: int, offset: int) -> bytes:
        if fails(offset, size):
            raise OSError(5, "Input/output error")
        return pread(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", read)


# Where a slice is to go


def test_a_room_of_zeros_is_asked_of_nobody(stage: Stage) -> None:
    stage.write(PATH, 0, b"h")
    look = stage.look(CreateSlice(PIECE, TANK), machine())
    assert (look.signatures, stage.asked) == ((), [])
    assert look.table
    assert (look.table.head[:1], len(look.table.head), len(look.table.tail)) == (b"h", HEAD, TAIL)


BEGINS = (
    *(0, 8 * KIB - 1, 16 * KIB, 20 * KIB - 1, 32 * KIB, 32 * KIB + 1, 64 * KIB, 68 * KIB - 1, 128 * KIB, 132 * KIB - 1),
    *(256 * KIB, 276 * KIB - 1, 512 * KIB, 516 * KIB - 1, MIB, 2 * MIB, 4 * MIB),
)
"""Where superblocks and labels show: JFS and ISO 9660 at 32 KiB, btrfs at 64, VMFS at 1 and 2 MiB."""


@pytest.mark.parametrize("at", BEGINS, ids=lambda at: f"byte {at}")
@pytest.mark.parametrize("first", [0, 3])
def test_whatever_shows_at_a_place_is_recognised_from_there_to_the_end_of_the_disk(
    stage: Stage, at: int, first: int
) -> None:
    place = PIECE.start_bytes + first * MIB
    stage.write(PATH, place + at, b"\1")
    stage.found = {(PATH, place): (EXT4,)}
    look = stage.look(CreateSlice(PIECE, TANK), machine())
    assert look.signatures == (Signature("ext4", place, "photos"),)
    assert stage.asked[-1] == (PATH, place, SIZE - place)


def test_what_begins_at_the_end_of_a_disk_is_looked_for_no_further_than_it_goes(stage: Stage) -> None:
    piece = slice_on(disk_of(machine(), NVME1), start_bytes=SIZE - 2 * MIB, size_bytes=2 * MIB)
    stage.write(PATH, SIZE - MIB, b"\1")
    stage.found = {(PATH, SIZE - MIB): (EXT4,)}
    look = stage.look(CreateSlice(piece, TANK), machine())
    assert look.signatures == (Signature("ext4", SIZE - MIB, "photos"),)


FAR = {MIB: 4 * KIB, 2 * MIB: 8 * KIB, 4 * MIB: 4 * KIB}
"""How far behind a place something may still show, and how much is read there."""

LARGE = with_disk(
    machine(),
    NVME1,
    identity=replace(disk_of(machine(), NVME1).identity, size_bytes=5 * GIB),
    usable_end_bytes=5 * GIB - TAIL,
)
LONG = slice_on(disk_of(LARGE, NVME1), size_bytes=4 * GIB)
SPARSE = LONG.start_bytes + 1024 * MIB + 3 * MIB
"""A place with no other in less than 3 MiB, for behind the first GiB of this slice each third MiB is looked at."""


@pytest.mark.parametrize("far", FAR, ids=lambda far: f"{far // MIB} MiB behind")
def test_what_shows_only_mib_behind_its_beginning_is_found_where_places_are_sparse(stage: Stage, far: int) -> None:
    """As a LUKS2 volume whose first header is gone, or a VMFS."""
    stage.write(PATH, SPARSE + far, b"\1", 5 * GIB)
    stage.found = {(PATH, SPARSE): (EXT4,)}
    assert stage.look(CreateSlice(LONG, TANK), LARGE).signatures == (Signature("ext4", SPARSE, "photos"),)


LAST = PIECE.start_bytes + 7 * MIB
"""The last place of a slice: no place is behind it that would show the same."""


@pytest.mark.parametrize("at", [*FAR, *(far + length - 1 for far, length in FAR.items())], ids=lambda at: f"byte {at}")
def test_what_shows_behind_a_slice_is_recognised_at_its_last_place(stage: Stage, at: int) -> None:
    stage.write(PATH, LAST + at, b"\1")
    stage.found = {(PATH, LAST): (EXT4,)}
    assert stage.look(CreateSlice(PIECE, TANK), machine()).signatures == (Signature("ext4", LAST, "photos"),)


@pytest.mark.parametrize("at", [far + length for far, length in FAR.items()], ids=lambda at: f"byte {at}")
def test_what_shows_behind_a_slice_where_no_superblock_stands_is_asked_of_nobody(stage: Stage, at: int) -> None:
    only = slice_on(disk_of(machine(), NVME1), size_bytes=MIB)
    stage.write(PATH, only.start_bytes + at, b"\1")
    assert stage.look(CreateSlice(only, TANK), machine()).signatures == ()
    assert stage.asked == []


CYLINDER = 255 * 63 * 512


@pytest.mark.parametrize("rest", [84, 257, 513, 1025], ids=lambda rest: f"{rest} sectors")
def test_a_disk_that_ends_shortly_behind_a_place_is_read_to_its_last_sector(stage: Stage, rest: int) -> None:
    """Cylinder 13 begins 51 sectors before a whole MiB, where a slice may end, and the disk not long after it."""
    place = 13 * CYLINDER
    size, end = place + rest * 512, place + 51 * 512
    identity = replace(disk_of(machine(), NVME1).identity, size_bytes=size)
    inventory = with_disk(machine(), NVME1, identity=identity, usable_end_bytes=size - TAIL)
    piece = slice_on(disk_of(inventory, NVME1), size_bytes=end - MIB)
    stage.write(PATH, size - 1, b"\1", size)
    stage.found = {(PATH, place): (EXT4,)}
    assert end % MIB == 0
    assert stage.look(CreateSlice(piece, TANK), inventory).signatures == (Signature("ext4", place, "photos"),)


@pytest.mark.parametrize("start", [34 * 512, 40 * 512, 63 * 512, 64 * 512, 128 * KIB, MIB - 4 * KIB])
def test_what_begins_shortly_before_a_slice_is_recognised(stage: Stage, start: int) -> None:
    """As partitions of tools of before 2010: they reach into the slice."""
    stage.write(PATH, start + 1080, b"\1")
    stage.found = {(PATH, start): (EXT4,)}
    look = stage.look(CreateSlice(PIECE, TANK), machine())
    assert look.signatures == (Signature("ext4", start, "photos"),)


@pytest.mark.parametrize("at", [16 * KIB, 32 * KIB, 64 * KIB, 68 * KIB - 1])
def test_what_begins_right_before_a_slice_and_shows_only_in_it_is_recognised(stage: Stage, at: int) -> None:
    """As JFS and ISO 9660, which show at 32 KiB, and btrfs at 64."""
    start = PIECE.start_bytes - 4 * KIB
    stage.write(PATH, start + at, b"\1")
    stage.found = {(PATH, start): (EXT4,)}
    assert stage.look(CreateSlice(PIECE, TANK), machine()).signatures == (Signature("ext4", start, "photos"),)


@pytest.mark.parametrize("start", [CYLINDER, CYLINDER + 63 * 512])
def test_what_begins_at_a_cylinder_or_one_track_behind_is_recognised(stage: Stage, start: int) -> None:
    stage.write(PATH, start + 1080, b"\1")
    stage.found = {(PATH, start): (EXT4,)}
    look = stage.look(CreateSlice(PIECE, TANK), machine())
    assert look.signatures == (Signature("ext4", start, "photos"),)


@pytest.mark.parametrize(
    ("at", "magic", "behind"), [(0x40, b"_BHRfS_M", 64 * KIB), (0x38, b"\x53\xef", KIB)], ids=["btrfs", "ext4"]
)
def test_a_copy_of_a_superblock_is_recognised_by_where_the_first_one_would_be(
    stage: Stage, at: int, magic: bytes, behind: int
) -> None:
    place = PIECE.start_bytes + 3 * MIB
    stage.write(PATH, place + at, magic)
    stage.found = {(PATH, place - behind): (EXT4,)}
    look = stage.look(CreateSlice(PIECE, TANK), machine())
    assert look.signatures == (Signature("ext4", place, "photos"),)
    assert stage.asked[-1] == (PATH, place - behind, SIZE - place + behind)
    stage.write(PATH, place + at, magic[:-1] + b"\0")
    assert stage.look(CreateSlice(PIECE, TANK), machine()).signatures == ()


def test_what_begins_at_a_place_is_told_before_what_has_a_copy_there(stage: Stage) -> None:
    """The copy is older: who made something anew at the place wrote over what stood before it."""
    place = PIECE.start_bytes + 3 * MIB
    stage.write(PATH, place + 0x38, b"\x53\xef")
    stage.found = {(PATH, place): (ZFS,), (PATH, place - KIB): (EXT4,)}
    assert stage.look(CreateSlice(PIECE, TANK), machine()).signatures == (Signature("zfs_member", place),)


def test_whatever_is_read_of_a_room_was_announced_before(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    pread = os.pread
    announced: list[tuple[int, int]] = []
    read: list[tuple[int, int]] = []

    def announce(_descriptor: int, offset: int, length: int, _advice: int) -> None:
        assert not read
        announced.append((offset, length))

    def note(descriptor: int, size: int, offset: int) -> bytes:
        read.append((offset, size))
        return pread(descriptor, size, offset)

    monkeypatch.setattr(os, "posix_fadvise", announce)
    monkeypatch.setattr(os, "pread", note)
    stage.look(CreateSlice(PIECE, TANK), machine())
    assert announced == read[: len(announced)]
    start = PIECE.start_bytes
    assert announced[:3] == [(HEAD, start - HEAD), (start, 68 * KIB), (start + 128 * KIB, 4 * KIB)]


@pytest.mark.parametrize("at", [68 * KIB, 128 * KIB - 1, 132 * KIB, 256 * KIB - 1, 276 * KIB, 512 * KIB - 1, 516 * KIB])
def test_what_shows_where_no_superblock_begins_is_asked_of_nobody(stage: Stage, at: int) -> None:
    stage.write(PATH, PIECE.start_bytes + at, b"\1")
    assert stage.look(CreateSlice(PIECE, TANK), machine()).signatures == ()
    assert stage.asked == []


def test_only_the_first_thing_in_a_room_is_told_and_what_nobody_recognises_is_passed_over(stage: Stage) -> None:
    first, second, third = (PIECE.start_bytes + number * MIB for number in (0, 2, 5))
    for place in (first, second, third):
        stage.write(PATH, place, b"\1")
    stage.found = {(PATH, second): (ZFS, EXT4), (PATH, third): (EXT4,)}
    look = stage.look(CreateSlice(PIECE, TANK), machine())
    assert look.signatures == (Signature("zfs_member", second),)
    assert [offset for _, offset, _ in stage.asked] == [first, first + MIB, second]


# Slices

ON_SLICES: tuple[Step, ...] = (
    AddLog("tank", TANK, 12, (PIECE,)),
    AddCache("tank", TANK, 12, (PIECE,)),
    AttachLog("tank", TANK, 12, "31", "", PIECE),
    ClearSlice(PIECE, "tank", TANK),
    DeleteSlice(PIECE, TANK),
)
DEAD = DropLog("tank", TANK, "30", ("sda1",))
AWAY: tuple[Step, ...] = (
    RemoveVdev("tank", TANK, Role.LOG, "30", (PIECE,)),
    RemoveVdev("tank", TANK, Role.CACHE, "30", (PIECE,)),
    DetachLog("tank", TANK, "30", PIECE),
)
"""Steps that look at slices once their pool is away."""


@pytest.mark.parametrize("step", [*ON_SLICES, *AWAY])
def test_what_stands_in_a_slice_is_recognised_and_its_label_read(stage: Stage, step: Step) -> None:
    path = PIECE.partuuid_path
    stage.write(path, 0, b"\1", PIECE.size_bytes)
    stage.found = {(path, 0): (EXT4, ZFS)}
    stage.labels = {path: LABEL}
    look = stage.look(step, replace(READY, pools=()) if step in AWAY else READY)
    assert look.signatures == (Signature("ext4", 0, "photos"), Signature("zfs_member"))
    assert look.labels == ((PIECE.partuuid, LABEL),)
    assert stage.asked == [(path, 0, 0), (path, -1, -1)]


@pytest.mark.parametrize("step", [*ON_SLICES, *AWAY])
def test_a_slice_that_is_not_there_is_not_opened(stage: Stage, step: Step) -> None:
    look = stage.look(step, replace(machine(), pools=()))
    assert (look.signatures, look.labels, stage.asked) == ((), (), [])
    assert PIECE.partuuid_path not in stage.opened


@pytest.mark.parametrize("at", [0, MIB - 1, 7 * MIB, 8 * MIB - 1])
def test_whatever_shows_where_labels_and_superblocks_stand_is_recognised(stage: Stage, at: int) -> None:
    stage.write(PIECE.partuuid_path, at, b"\1", PIECE.size_bytes)
    stage.look(ClearSlice(PIECE, "tank", TANK), READY)
    assert stage.asked == [(PIECE.partuuid_path, 0, 0), (PIECE.partuuid_path, -1, -1)]


@pytest.mark.parametrize("at", [MIB, 7 * MIB - 1])
def test_what_shows_elsewhere_in_a_slice_is_asked_of_nobody(stage: Stage, at: int) -> None:
    stage.write(PIECE.partuuid_path, at, b"\1", PIECE.size_bytes)
    assert stage.look(ClearSlice(PIECE, "tank", TANK), READY) == DeviceScan()
    assert stage.asked == []


def test_each_slice_of_a_vdev_is_looked_at_though_others_are_empty_or_gone(stage: Stage) -> None:
    gone = replace(PIECE, partuuid="gone")
    stage.write(OTHER.partuuid_path, 0, b"\1", OTHER.size_bytes)
    stage.found = {(OTHER.partuuid_path, 0): (ZFS,)}
    stage.labels = {OTHER.partuuid_path: LABEL}
    look = stage.look(AddLog("tank", TANK, 12, (gone, PIECE, OTHER)), READY)
    assert look == DeviceScan((Signature("zfs_member"),), ((OTHER.partuuid, LABEL),))
    stage.write(PIECE.partuuid_path, 0, b"\1", PIECE.size_bytes)
    stage.found[PIECE.partuuid_path, 0] = (EXT4,)
    look = stage.look(AddCache("tank", TANK, 12, (PIECE, OTHER)), READY)
    assert look == DeviceScan((Signature("ext4", 0, "photos"), Signature("zfs_member")), ((OTHER.partuuid, LABEL),))


def test_a_slice_that_is_deleted_is_looked_at_together_with_its_table(stage: Stage) -> None:
    stage.write(PATH, 0, b"h")
    look = stage.look(DeleteSlice(PIECE, TANK), READY)
    assert look.table
    assert (look.table.head[:2], len(look.table.tail)) == (b"h\0", TAIL)
    assert stage.look(DeleteSlice(PIECE, TANK), replace(READY, disks=())) == DeviceScan()


def test_of_a_dead_log_whose_pool_is_away_nothing_is_looked_at(stage: Stage) -> None:
    """It has no slice of ours."""
    assert stage.look(DEAD, replace(READY, pools=())) == DeviceScan()
    assert (stage.opened, stage.runner.ran) == ([], [])


# Vdevs of a pool that is there


def removal(role: Role = Role.LOG) -> RemoveVdev:
    return RemoveVdev("tank", TANK, role, "30", mirrored_log()[1])


def chain(name: str, flags: str = "0x3", kind: str = "ZPL") -> str:
    return f"Dataset {name} [{kind}], ID 1, cr_txg 1, 1G, 7 objects\n\n    ZIL header: claim_txg 0, flags {flags}\n"


def of_log(chains: str, *rows: str) -> FakeRunner:
    datasets = "".join(f"{row}\n" for row in rows)
    return FakeRunner({LIST: "30\t1G\t4096\t1G\n", CACHE_FILE: "-\n", WAITING: chains, DATASETS: datasets})


@pytest.mark.parametrize("step", [removal(), DEAD], ids=lambda step: step.action)
def test_of_a_log_the_datasets_are_told_that_wait_since_the_import(stage: Stage, step: Step) -> None:
    """None of them is encrypted; one that is mounted has blocks in the log as well."""
    chains = chain("tank/b") + chain("tank/mounted", "0x0") + chain("tank/vm", kind="ZVOL") + chain("tank/b@now")
    rows = ("tank/b\t-\t-\tnoauto\t/b", "tank/mounted\t-\t-\ton\t/m", "tank/vm\t-\t-\t-\t-")
    stage.runner = of_log(chains, *rows)
    waiting = (
        WaitingDataset("tank/b", mountpoint="/b", canmount="noauto"),
        WaitingDataset("tank/vm", True, "", "-", "-"),
    )
    assert stage.look(step, mirrored_log()[0]) == DeviceScan(waiting=waiting)


def test_of_a_log_the_datasets_without_key_are_told_below_their_encryption_root(stage: Stage) -> None:
    chains = chain("tank/a/b", "0x0") + chain("tank/open", "0x2")
    rows = ("tank/a/b\ttank/a\tunavailable\ton\t/b", "tank/open\ttank/open\tavailable\ton\t/o")
    stage.runner = of_log(chains, *rows)
    waiting = WaitingDataset("tank/a/b", key_root="tank/a", mountpoint="/b")
    assert stage.look(removal(), mirrored_log()[0]) == DeviceScan(waiting=(waiting,))


def test_an_empty_log_keeps_nobody_waiting(stage: Stage) -> None:
    stage.runner = FakeRunner({LIST: "30\t1G\t0\t1G\n"})
    assert stage.look(removal(), mirrored_log()[0]) == DeviceScan()
    assert [str(command) for command in stage.runner.ran] == [LIST]
    stage.runner.ran.clear()
    assert stage.look(removal(Role.CACHE), mirrored_log()[0]) == DeviceScan()
    assert stage.runner.ran == []


CACHE_PATH = tank_of(with_cache()).caches[0].path


@pytest.mark.parametrize("kind", [OfflineCache, OnlineCache])
@pytest.mark.parametrize(("answer", "expected"), [("on\n", True), ("off\n", False), ("", True)])
def test_of_the_pool_of_a_cache_is_asked_whether_it_expands(
    stage: Stage, kind: type[OfflineCache | OnlineCache], answer: str, expected: bool
) -> None:
    """What is not said counts as on, for then nothing is done."""
    stage.runner = FakeRunner({"zpool get -H -o value autoexpand tank": answer})
    assert stage.look(kind("tank", TANK, CACHE_GUID, "x"), with_cache()) == DeviceScan(autoexpand=expected)
    assert stage.opened == ([CACHE_PATH] if kind is OnlineCache else [])


def test_a_cache_is_looked_at_before_it_is_put_back_for_nothing_held_it_meanwhile(stage: Stage) -> None:
    stage.runner = FakeRunner({"zpool get -H -o value autoexpand tank": "off\n"})
    stage.write(CACHE_PATH, 0, b"\1")
    stage.found = {(CACHE_PATH, 0): (EXT4, ZFS)}
    look = stage.look(OnlineCache("tank", TANK, CACHE_GUID, "x"), with_cache("OFFLINE"))
    assert look == DeviceScan((Signature("ext4", 0, "photos"), Signature("zfs_member")))
    assert stage.opened == [CACHE_PATH]
    assert stage.asked == [(CACHE_PATH, 0, 0)]


def test_a_cache_that_is_a_whole_disk_is_looked_at_as_well(stage: Stage) -> None:
    """Not by us, but others give a pool whole disks, and take them for something else while the cache is out."""
    stage.runner = FakeRunner({"zpool get -H -o value autoexpand tank": "off\n"})
    disk = disk_of(with_cache(), NVME2)
    whole = replace(tank_of(with_cache("OFFLINE")).caches[0], path=disk.path)
    stage.found = {(disk.path, 0): (EXT4,)}
    look = stage.look(OnlineCache("tank", TANK, CACHE_GUID, "x"), with_pool(with_cache(), caches=(whole,)))
    assert look == DeviceScan((Signature("ext4", 0, "photos"),))


@pytest.mark.parametrize("inventory", [home_server(), replace(with_cache("OFFLINE"), disks=())])
def test_of_a_cache_that_is_not_there_nothing_is_opened(stage: Stage, inventory: Inventory) -> None:
    for answer, expands in (("off\n", False), ("on\n", True)):
        stage.runner = FakeRunner({"zpool get -H -o value autoexpand tank": answer})
        look = stage.look(OnlineCache("tank", TANK, CACHE_GUID, "x"), inventory)
        assert look == DeviceScan(autoexpand=expands)
    assert stage.opened == []


def test_nothing_is_looked_at_for_steps_that_change_a_pool_alone(stage: Stage) -> None:
    inventory, sides = mirrored_log()
    for step in (DetachLog("tank", TANK, "32", sides[1]), DropLogSide("tank", TANK, "32", "x")):
        assert stage.look(step, inventory) == DeviceScan()
    assert stage.opened == []
