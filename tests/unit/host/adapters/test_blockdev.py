"""Opening, reading and writing disks and slices, on files that pass for them."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from nasadvisor.domain.change.actions import Slice
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Disk, Hold, HoldKind
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters import blockdev
from nasadvisor.host.adapters.blockdev import (
    BLKFLSBUF,
    BLKRRPART,
    DeviceBusy,
    DeviceChanged,
    DeviceUnusable,
    announce_reads,
    blank_slice,
    has_partition,
    leads_to,
    open_disk,
    open_idle,
    open_slice,
    read_all,
    reread_table,
    watch_disk,
    write_all,
)
from tests.unit.domain.builders import disk_of, slice_on
from tests.unit.machines import NVME1, home_server, partition

SIZE = 16 * MIB


@pytest.fixture
def flags(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How each path was opened. Files pass for block devices."""
    opened: dict[str, int] = {}
    real = os.open

    def noted(path: str, how: int, *rest: int) -> int:
        opened[str(path)] = how
        return real(path, how, *rest)

    monkeypatch.setattr(os, "open", noted)
    monkeypatch.setattr(stat, "S_ISBLK", lambda mode: True)
    return opened


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the kernel was asked of an open device."""
    found: list[int] = []

    def ioctl(descriptor: int, request: int) -> None:
        os.fstat(descriptor)  # it has to be open
        found.append(request)

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    return found


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    (tmp_path / "disk").write_bytes(b"x" * SIZE)
    return replace(disk_of(home_server(), NVME1), path=str(tmp_path / "disk"))


@pytest.fixture
def piece(tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> Slice:
    """The third partition, at 5 MiB, in a file of its own; sysfs tells of it."""
    (tmp_path / "slice").write_bytes(b"x" * SIZE)
    monkeypatch.setattr(Slice, "partuuid_path", property(lambda self: str(tmp_path / "slice")))
    directory = tmp_path / "sys/dev/block/0:0"
    directory.mkdir(parents=True)
    for name, value in (("partition", 3), ("start", 5 * 2048), ("size", 16 * 2048)):
        (directory / name).write_text(f"{value}\n")
    return slice_on(disk, number=3, start_bytes=5 * MIB, size_bytes=SIZE)


def test_a_free_disk_is_claimed_and_what_is_buffered_of_it_forgotten(
    disk: Disk, flags: dict[str, int], asked: list[int]
) -> None:
    for how in (os.O_RDONLY, os.O_RDWR):
        with open_disk(disk.path, disk, lambda number: disk.identity, how) as descriptor:
            assert os.fstat(descriptor).st_size == SIZE
        assert flags[disk.path] == how | os.O_EXCL | os.O_CLOEXEC
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(descriptor)
    assert asked == [BLKFLSBUF, BLKFLSBUF]


def test_a_disk_of_which_a_partition_is_in_use_is_opened_without_a_claim(
    disk: Disk, flags: dict[str, int], asked: list[int]
) -> None:
    used = replace(disk, partitions=(partition(disk, 1, MIB, MIB, Hold(HoldKind.MOUNT, "/srv")),))
    with open_disk(disk.path, used, lambda number: disk.identity, os.O_RDWR):
        assert flags[disk.path] == os.O_RDWR | os.O_CLOEXEC
    free = replace(disk, partitions=(partition(disk, 1, MIB, MIB),))
    with open_disk(disk.path, free, lambda number: disk.identity, os.O_RDWR):
        assert flags[disk.path] == os.O_RDWR | os.O_EXCL | os.O_CLOEXEC


def test_what_nothing_holds_is_claimed_while_it_is_read(disk: Disk, flags: dict[str, int], asked: list[int]) -> None:
    with open_idle(disk.path) as descriptor:
        assert os.fstat(descriptor).st_size == SIZE
        assert flags[disk.path] == os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC
    assert asked == [BLKFLSBUF]


def test_a_disk_is_watched_without_a_claim(disk: Disk, flags: dict[str, int], asked: list[int]) -> None:
    with watch_disk(disk.path, disk, lambda number: disk.identity):
        assert flags[disk.path] == os.O_RDONLY | os.O_CLOEXEC


def test_the_identity_is_asked_of_the_open_device_and_every_difference_is_named(
    disk: Disk, flags: dict[str, int], asked: list[int]
) -> None:
    other = replace(disk.identity, model="Other", serial="77", size_bytes=5)
    for opening in (
        open_disk(disk.path, disk, lambda number: other, os.O_RDWR),
        watch_disk(disk.path, disk, lambda number: other),
    ):
        with pytest.raises(DeviceChanged) as error, opening:
            pass
        assert f"{disk.path} is not the planned device: it is Other 77 of 5 bytes" in str(error.value)
    numbers: list[int] = []

    def identify(number: int) -> DiskIdentity:
        numbers.append(number)
        return disk.identity

    with open_disk(disk.path, disk, identify, os.O_RDONLY):
        assert numbers == [Path(disk.path).stat().st_rdev]


def test_a_name_leads_to_what_is_open_or_not() -> None:
    descriptor = os.open("/dev/null", os.O_RDONLY)
    try:
        assert leads_to("/dev/null", descriptor)
        assert not leads_to("/dev/zero", descriptor)
        assert not leads_to("/dev/not-there", descriptor)
    finally:
        os.close(descriptor)


def test_a_slice_is_claimed_and_its_number_place_and_size_are_checked(
    tmp_path: Path, piece: Slice, flags: dict[str, int], asked: list[int]
) -> None:
    with open_slice(piece, tmp_path / "sys"):
        assert flags[piece.partuuid_path] == os.O_RDWR | os.O_EXCL | os.O_CLOEXEC
    assert asked == [BLKFLSBUF]
    for name, value in (("partition", 2), ("start", 5 * 2048 + 1), ("size", 16 * 2048 - 1)):
        path = tmp_path / "sys/dev/block/0:0" / name
        right = path.read_text()
        path.write_text(str(value))
        with pytest.raises(DeviceChanged) as error, open_slice(piece, tmp_path / "sys"):
            pass
        path.write_text(right)
        assert str(value) in str(error.value)
        assert f"{piece.partuuid_path} is not the planned device: number" in str(error.value)
        assert "instead of (3, 10240, 32768)" in str(error.value)


def test_a_slice_of_which_sysfs_does_not_tell_is_not_opened(
    tmp_path: Path, piece: Slice, flags: dict[str, int], asked: list[int]
) -> None:
    path = tmp_path / "sys/dev/block/0:0/size"
    path.write_text("many")
    with (
        pytest.raises(DeviceChanged, match=r"size could not be read from sysfs .*many"),
        open_slice(piece, tmp_path / "sys"),
    ):
        pass
    path.unlink()
    with pytest.raises(DeviceChanged) as error, open_slice(piece, tmp_path / "sys"):
        pass
    assert str(error.value).startswith(f"{piece.partuuid_path} is not the planned device")


def test_a_slice_is_blanked_where_labels_lie_and_nowhere_else(
    tmp_path: Path, piece: Slice, flags: dict[str, int], asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.pread(descriptor, SIZE, 0)))
    blank_slice(piece, tmp_path / "sys")
    expected = bytes(8 * MIB) + b"x" * (SIZE - 9 * MIB) + bytes(MIB)
    assert Path(piece.partuuid_path).read_bytes() == expected
    assert synced == [expected]


def test_a_slice_that_cannot_be_blanked_is_named(
    tmp_path: Path, piece: Slice, flags: dict[str, int], asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for broken in (0, SIZE - MIB):

        def fail(descriptor: int, data: bytes, offset: int, broken: int = broken) -> int:
            if offset == broken:
                raise OSError(errno.EIO, "Input/output error")
            return len(data)

        monkeypatch.setattr(os, "pwrite", fail)
        with pytest.raises(DeviceUnusable, match=f"^{piece.partuuid_path} "):
            blank_slice(piece, tmp_path / "sys")


def test_what_is_wrong_with_a_device_is_a_statement_of_its_own() -> None:
    problem = DeviceChanged("a-name", "it is {what}", what="odd").statement.values["problem"]
    assert problem == Statement("problem", "it is {what}", {"what": "odd"})


@contextmanager
def open_file(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def test_reads_are_announced_and_a_device_that_takes_no_advice_says_so_when_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[int, ...]] = []

    def advise(*words: int) -> None:
        told.append(words)
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "posix_fadvise", advise)
    announce_reads(7, [(0, 512), (MIB, 4096)])
    assert told == [(7, 0, 512, os.POSIX_FADV_WILLNEED), (7, MIB, 4096, os.POSIX_FADV_WILLNEED)]


def test_exactly_what_was_asked_for_is_read(disk: Disk) -> None:
    Path(disk.path).write_bytes(b"abcdef")
    with open_file(disk.path) as descriptor:
        assert read_all(descriptor, 3, 2, "a-name") == b"cde"
        with pytest.raises(DeviceChanged, match=r"a-name.*it ends after 6 bytes"):
            read_all(descriptor, 3, 4, "a-name")


def test_everything_is_written_even_if_the_kernel_takes_it_in_pieces(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(disk.path).write_bytes(b"." * 10)
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, offset: real(descriptor, data[:2], offset))
    with open_file(disk.path) as descriptor:
        write_all(descriptor, b"abcde", 3, "a-name")
    assert Path(disk.path).read_bytes() == b"...abcde.."


def test_an_error_of_the_device_is_a_sentence_with_its_name(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", broken)
    monkeypatch.setattr(os, "pwrite", broken)
    with pytest.raises(DeviceUnusable, match="a-name could not be read or written: Input/output error"):
        read_all(0, 1, 0, "a-name")
    with pytest.raises(DeviceUnusable, match="a-name could not be read or written: Input/output error"):
        write_all(0, b"x", 0, "a-name")
    assert "Broken" in str(DeviceUnusable("a-name", OSError("Broken")))


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EBUSY, DeviceBusy),
        (errno.EIO, DeviceUnusable),
        (errno.EACCES, DeviceUnusable),
        (errno.ENOENT, DeviceChanged),
    ],
)
def test_why_a_disk_cannot_be_opened_is_told_with_its_name(
    disk: Disk, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[Exception]
) -> None:
    def refuse(*_args: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(blockdev, "BUSY_S", 0.0)
    with pytest.raises(kind) as error, open_disk(disk.path, disk, lambda number: disk.identity, os.O_RDONLY):
        pass
    assert str(error.value).startswith(disk.path)


@pytest.mark.parametrize("call", ["os.fsync", "os.close", "os.fstat", "os.pwrite", "fcntl.ioctl"])
def test_whatever_the_kernel_answers_about_an_open_slice_is_told_of_it(
    piece: Slice, tmp_path: Path, flags: dict[str, int], asked: list[int], monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """close(2) and fsync(2) may be the first to tell that a write did not get there."""
    module, name = (os, call[3:]) if call.startswith("os.") else (fcntl, "ioctl")
    real, opened = getattr(module, name), len(list(Path("/proc/self/fd").iterdir()))

    def fail(*args: object) -> object:
        if call == "os.close":
            real(*args)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(module, name, fail)
        with pytest.raises(DeviceUnusable) as error:
            blockdev.blank_slice(piece, tmp_path / "sys")
    assert error.value.statement.values == {"path": piece.partuuid_path, "problem": os.strerror(errno.EIO)}
    assert len(list(Path("/proc/self/fd").iterdir())) == opened


def test_what_is_said_of_buffers_by_whoever_may_not_forget_them_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (errno.EACCES, errno.EPERM, errno.EBUSY, errno.ENOTTY, errno.EIO):

        def refuse(*_args: object, number: int = number) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(fcntl, "ioctl", refuse)
        with suppress(OSError) if number == errno.EIO else nullcontext():
            blockdev.forget_buffers(0)
            assert number != errno.EIO


def test_a_claim_of_a_moment_is_waited_for_and_one_that_lasts_is_told(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, seconds = [errno.EBUSY, errno.EBUSY, errno.EIO], iter(range(100))

    def refuse(*_args: object) -> int:
        raise OSError(tries.pop(0) if tries else errno.EBUSY, "refused")

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(time, "sleep", lambda _s: None)
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    with pytest.raises(DeviceUnusable), open_disk(disk.path, disk, lambda number: disk.identity, os.O_RDONLY):
        pass
    with pytest.raises(DeviceBusy), open_disk(disk.path, disk, lambda number: disk.identity, os.O_RDONLY):
        pass
    assert next(seconds) <= 3 + 2 * blockdev.BUSY_S


def test_what_is_no_block_device_is_not_taken_and_closed_again(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    real = os.close

    def noted(descriptor: int) -> None:
        closed.append(descriptor)
        real(descriptor)

    monkeypatch.setattr(os, "close", noted)
    with (
        pytest.raises(DeviceChanged, match="it is not a block device") as error,
        open_disk(disk.path, disk, lambda number: disk.identity, os.O_RDONLY),
    ):
        pass
    assert str(error.value).startswith(disk.path)
    assert len(closed) == 1


def test_the_kernel_is_asked_to_read_a_table_again(asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    assert reread_table(0)
    assert asked == [BLKRRPART]

    def busy(*_args: object) -> int:
        raise OSError(errno.EBUSY, "busy")

    monkeypatch.setattr(fcntl, "ioctl", busy)
    assert not reread_table(0)
    blockdev.forget_buffers(0)


def test_the_kernel_knows_a_partition_by_its_number(tmp_path: Path, disk: Disk) -> None:
    block = tmp_path / "sys/dev/block/0:0"
    for name, number in (("sda1", 1), ("sda12", 12)):
        (block / name).mkdir(parents=True)
        (block / name / "partition").write_text(f"{number}\n")
    with open_file(disk.path) as descriptor:
        known = [number for number in range(20) if has_partition(descriptor, number, tmp_path / "sys")]
    assert known == [1, 12]
