"""Opening disks and slices: only after their identity was checked, exclusively wherever the kernel allows it.

`O_EXCL` on a block device asks the kernel for a claim that it refuses while a mount, swap, md, device-mapper or ZFS
has one (open(2)). A claim on a whole disk is refused while anything on one of its partitions is in use.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.actions import Slice
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.domain.units import MIB
from nasadvisor.host.errors import HostError

BUSY_S: Final = 3.0
"""How long a claim of somebody else is waited for: a program that has just ended, or that udev started because of a new
table, may have one for a moment. Seen once: 24 s after the undo of a run, for the next one on the same SSD."""

_BUSY_STEP_S: Final = 0.1

BLKRRPART: Final = 0x125F
"""_IO(0x12, 95), include/uapi/linux/fs.h: read the partition table again."""

BLKFLSBUF: Final = 0x1261
"""_IO(0x12, 97): write back and forget what the kernel has buffered of a device. OpenZFS writes past those buffers, so
without this a label that it wrote is not seen."""

SYSFS_SECTOR_BYTES: Final = 512
"""Sizes and starts in sysfs are in units of 512 bytes whatever the disk's sectors are (Linux ABI, sysfs-block)."""

SLICE_HEAD_BYTES: Final = 8 * MIB
"""Covers the two front labels and boot area (VDEV_LABEL_START_SIZE, 4 MiB) and the L2ARC header behind them."""

SLICE_TAIL_BYTES: Final = MIB
"""Covers the two labels of 256 KiB at the end, wherever their alignment puts them."""

NOT_THERE: Final = _("it was not found")

Identify = Callable[[int], DiskIdentity]
"""Tells the identity of the whole disk with this device number, as the inventory does."""


class DeviceChanged(HostError):  # noqa: N818 - named for what happened
    """What answers under a persistent name is not what was planned."""

    def __init__(self, path: str, problem: str, **values: str) -> None:
        template = _(
            "{path} is not the planned device: {problem}. Nothing was written to it. Check which disk is connected, "
            "read the host again and create a new plan."
        )
        super().__init__(template, path=path, problem=Statement("problem", problem, values))


class DeviceBusy(HostError):  # noqa: N818
    """Somebody has a claim on the device."""

    def __init__(self, path: str) -> None:
        template = _(
            "{path} is already in use (the kernel refused exclusive access), so nothing was written to it. `lsblk "
            "{path}` and `fuser -v {path}` may show what uses it."
        )
        super().__init__(template, path=path)


class DeviceUnusable(HostError):  # noqa: N818
    """Opening, reading or writing failed."""

    def __init__(self, path: str, error: OSError) -> None:
        template = _("{path} could not be read or written: {problem}. Check the kernel log.")
        super().__init__(template, path=path, problem=error.strerror or str(error))


@contextmanager
def open_disk(path: str, disk: Disk, identify: Identify, flags: int) -> Iterator[int]:
    """A descriptor of what this name leads to, if that is the disk; exclusive unless a partition of it is in use.

    `path` is the very name that a command is given; `flags` is os.O_RDONLY or os.O_RDWR. What the kernel has buffered
    of the disk is forgotten, so that what is read is what is on it.

    Raises:
        DeviceChanged, DeviceBusy, DeviceUnusable
    """
    exclusive = 0 if any(part.holds for part in disk.partitions) else os.O_EXCL
    with _open_block(path, flags | exclusive) as descriptor:
        _check_identity(descriptor, path, disk, identify)
        forget_buffers(descriptor)
        yield descriptor


@contextmanager
def watch_disk(path: str, disk: Disk, identify: Identify) -> Iterator[int]:
    """A descriptor to see by that this name leads to the disk; without a claim, so that a program can have one.

    Raises:
        DeviceChanged, DeviceUnusable
    """
    with _open_block(path, os.O_RDONLY) as descriptor:
        _check_identity(descriptor, path, disk, identify)
        yield descriptor


def leads_to(path: str, descriptor: int) -> bool:
    """Whether a name leads to the open device still."""
    try:
        return Path(path).stat().st_rdev == os.fstat(descriptor).st_rdev
    except FileNotFoundError:
        return False


def _check_identity(descriptor: int, path: str, disk: Disk, identify: Identify) -> None:
    found = identify(os.fstat(descriptor).st_rdev)
    if found != disk.identity:
        raise DeviceChanged(
            path,
            _("it is {model} {serial} of {size} bytes"),
            model=found.model,
            serial=found.serial,
            size=str(found.size_bytes),
        )


@contextmanager
def open_slice(piece: Slice, sysfs: Path) -> Iterator[int]:
    """A writable, exclusive descriptor of a slice that we made, its number, place and size checked on it.

    Raises:
        DeviceChanged, DeviceBusy, DeviceUnusable
    """
    path = piece.partuuid_path
    with _open_block(path, os.O_RDWR | os.O_EXCL) as descriptor:
        device = os.fstat(descriptor).st_rdev
        directory = sysfs / "dev" / "block" / f"{os.major(device)}:{os.minor(device)}"
        found = tuple(_sysfs_number(directory / name, path) for name in ("partition", "start", "size"))
        planned = (piece.number, piece.start_bytes // SYSFS_SECTOR_BYTES, piece.size_bytes // SYSFS_SECTOR_BYTES)
        if found != planned:
            raise DeviceChanged(
                path,
                _("number, start and size in sectors are {found} instead of {planned}"),
                found=str(found),
                planned=str(planned),
            )
        forget_buffers(descriptor)
        yield descriptor


@contextmanager
def open_idle(path: str) -> Iterator[int]:
    """A descriptor to read a device that nothing holds.

    Raises:
        DeviceChanged, DeviceBusy, DeviceUnusable
    """
    with _open_block(path, os.O_RDONLY | os.O_EXCL) as descriptor:
        forget_buffers(descriptor)
        yield descriptor


def blank_slice(piece: Slice, sysfs: Path) -> None:
    """Write zeros where ZFS labels, the L2ARC header or an old filesystem's superblock could lie in our own slice.

    Raises:
        DeviceChanged, DeviceBusy, DeviceUnusable
    """
    with open_slice(piece, sysfs) as descriptor:
        write_all(descriptor, bytes(SLICE_HEAD_BYTES), 0, piece.partuuid_path)
        tail = piece.size_bytes - SLICE_TAIL_BYTES
        write_all(descriptor, bytes(SLICE_TAIL_BYTES), tail, piece.partuuid_path)
        os.fsync(descriptor)


def announce_reads(descriptor: int, places: Iterable[tuple[int, int]]) -> None:
    """Let the kernel fetch these bytes (offset, length) side by side, so that reading them need not wait for each.

    Advice only (posix_fadvise(2)): whatever is wrong with the device shows when they are read.
    """
    for offset, length in places:
        with suppress(OSError):
            os.posix_fadvise(descriptor, offset, length, os.POSIX_FADV_WILLNEED)


def read_all(descriptor: int, length: int, offset: int, path: str) -> bytes:
    """Exactly `length` bytes.

    Raises:
        DeviceUnusable: an I/O error.
        DeviceChanged: the device is shorter.
    """
    try:
        data = os.pread(descriptor, length, offset)
    except OSError as error:
        raise DeviceUnusable(path, error) from error
    if len(data) != length:
        raise DeviceChanged(path, _("it ends after {size} bytes"), size=str(offset + len(data)))
    return data


def write_all(descriptor: int, data: bytes, offset: int, path: str) -> None:
    """Write every byte.

    Raises:
        DeviceUnusable: an I/O error, or the device is shorter.
    """
    view = memoryview(data)
    try:
        while view:
            written = os.pwrite(descriptor, view, offset)
            view, offset = view[written:], offset + written
    except OSError as error:
        raise DeviceUnusable(path, error) from error


def forget_buffers(descriptor: int) -> None:
    """Have the next reads come from the device itself.

    Raises:
        OSError: what was written before did not get there.
    """
    try:
        fcntl.ioctl(descriptor, BLKFLSBUF)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY, errno.ENOTTY):
            raise
        # Who may not, reads what the kernel has; root may.


def has_partition(descriptor: int, number: int, sysfs: Path) -> bool:
    """Whether the kernel knows a partition of this number on an open disk, whatever udev made of it."""
    device = os.fstat(descriptor).st_rdev
    directory = sysfs / "dev" / "block" / f"{os.major(device)}:{os.minor(device)}"
    found = (path.read_text().strip() for path in directory.glob("*/partition"))
    return str(number) in found


def reread_table(descriptor: int) -> bool:
    """Ask the kernel to read the partition table again; False if a partition in use kept it from doing so."""
    try:
        fcntl.ioctl(descriptor, BLKRRPART)
    except OSError:
        return False
    return True


@contextmanager
def _open_block(path: str, flags: int) -> Iterator[int]:
    """A descriptor of a block device; whatever the kernel answers about it until it is closed is told of the device.

    fsync(2), ioctl(2) and close(2) may be the first to say that what was written did not get there.
    """
    try:
        descriptor = _opened(path, flags | os.O_CLOEXEC)
    except FileNotFoundError:
        raise DeviceChanged(path, NOT_THERE) from None
    except OSError as error:
        raise (DeviceBusy(path) if error.errno == errno.EBUSY else DeviceUnusable(path, error)) from error
    try:
        with ExitStack() as closing:
            closing.callback(os.close, descriptor)
            if not stat.S_ISBLK(os.fstat(descriptor).st_mode):
                raise DeviceChanged(path, _("it is not a block device"))
            yield descriptor
    except OSError as error:
        raise DeviceUnusable(path, error) from error


def _sysfs_number(path: Path, device: str) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError) as error:
        raise DeviceChanged(
            device, _("{file} could not be read from sysfs ({error})"), file=path.name, error=str(error)
        ) from error


def _opened(path: str, flags: int) -> int:
    """A descriptor, also where somebody has a claim for a moment.

    Raises:
        OSError: with EBUSY, of a claim that lasts.
    """
    until = time.monotonic() + BUSY_S
    while True:
        try:
            return os.open(path, flags)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > until:
                raise
        time.sleep(_BUSY_STEP_S)
