"""Disks for tests: loop devices on sparse files, their partitions shown to the kernel as udev would have it done."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final
from zlib import crc32

from nasadvisor.domain.units import MIB

BLKRRPART: Final = 0x125F
"""_IO(0x12, 95), include/uapi/linux/fs.h."""

CHUNK_BYTES: Final = 1 << 16
PATIENCE_S: Final = 10.0

Extents = frozenset[tuple[int, int, int]]
"""Number, start and length of partitions, the latter two in units of 512 bytes as in sysfs."""


def tool(*argv: str, codes: tuple[int, ...] = (0,), answer: str = "") -> str:
    """What a program prints. These are the tests' own commands; those of the product go through its runner."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, input=answer)
    assert done.returncode in codes, f"{argv} ended with {done.returncode}: {done.stderr}"
    return done.stdout


def front_and_end(node: Path) -> int:
    """A checksum of the places where tables and signatures are, to see quickly whether they may have changed."""
    descriptor = os.open(node, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        front = crc32(os.pread(descriptor, MIB, 0), size)
        return crc32(os.pread(descriptor, MIB, max(size - MIB, 0)), front)
    finally:
        os.close(descriptor)


@lru_cache(maxsize=1024)
def _written(node: Path, checksum: int) -> Extents:
    del checksum  # only tells apart what was there at different times
    columns = ("--raw", "--noheadings", "--output", "NR,START,SECTORS")
    lines = tool("partx", *columns, str(node), codes=(0, 1)).splitlines()
    return frozenset((int(number), int(start), int(size)) for number, start, size in map(str.split, lines))


@dataclass
class LoopDisk:
    """One SSD: a sparse file and, while it is plugged in, a loop device on it.

    `name` is the kernel's name ("loop3"), "" while it is not plugged in. The device is freed as soon as nobody has it
    open, so it goes with this process however that ends.
    """

    file: Path
    serial: str
    wwn: str
    sector_bytes: int
    links: tuple[str, ...]
    name: str = ""
    _descriptor: int = -1

    @property
    def key(self) -> str:
        """The name by which plans refer to it."""
        return f"Loop_SSD_{self.serial}_{self.wwn}"

    @property
    def node(self) -> Path:
        return Path("/dev", self.name)

    @property
    def size_bytes(self) -> int:
        return self.file.stat().st_size

    def plug_in(self) -> None:
        """Make it a block device of this machine."""
        size = str(self.sector_bytes)
        node = tool("losetup", "--find", "--show", "--partscan", "--sector-size", size, str(self.file)).strip()
        self._descriptor = os.open(node, os.O_RDONLY | os.O_CLOEXEC)
        tool("losetup", "--detach", node)  # while it is open that means: once nobody has it open any more
        self.name = node.removeprefix("/dev/")
        self.show_partitions()

    def pull(self) -> None:
        """Take it out of the machine; nobody may have it open."""
        if not self.name:
            return
        self.flush()
        os.close(self._descriptor)
        backing = Path("/sys/block", self.name, "loop")
        until = time.monotonic() + PATIENCE_S
        while backing.exists():
            assert time.monotonic() < until, f"{self.name} is still in use"
            time.sleep(0.01)
        self.name, self._descriptor = "", -1

    def part_node(self, number: int) -> Path:
        """The kernel's name of a partition."""
        return Path(f"{self.node}p{number}")

    def partitions(self) -> dict[int, Path]:
        """The directories in sysfs of the partitions that the kernel shows, by number."""
        found = Path("/sys/block", self.name).glob(f"{self.name}p*")
        return {int((directory / "partition").read_text()): directory for directory in found}

    def shown(self) -> Extents:
        """The partitions as the kernel has them."""
        return frozenset(
            (number, int((directory / "start").read_text()), int((directory / "size").read_text()))
            for number, directory in self.partitions().items()
        )

    def written(self) -> Extents:
        """The partitions as the table on the disk has them, read by libblkid."""
        return _written(self.node, front_and_end(self.node))

    def show_partitions(self) -> None:
        """What udev has done after whoever wrote to a disk closes it: the kernel reads the table again.

        The kernel does not while a partition is in use, and then keeps what it has. A kernel built without GPT finds
        none; it is told of each.
        """
        wanted = self.written()
        if wanted == self.shown():
            return
        try:
            fcntl.ioctl(self._descriptor, BLKRRPART)
        except OSError:
            return
        for number, _, _ in sorted(wanted - self.shown()):
            tool("partx", "--add", "--nr", str(number), str(self.node))

    def read(self, offset: int, length: int) -> bytes:
        with self._open(os.O_RDONLY) as descriptor:
            return os.pread(descriptor, length, offset)

    def write(self, offset: int, data: bytes) -> None:
        """Write to the whole disk, as somebody else would."""
        with self._open(os.O_RDWR) as descriptor:
            assert os.pwrite(descriptor, data, offset) == len(data)
            os.fsync(descriptor)

    def flush(self) -> None:
        """Make what was written to the disk and its partitions visible in the file; each has its own page cache."""
        for name in (self.name, *(directory.name for directory in self.partitions().values())):
            descriptor = os.open(f"/dev/{name}", os.O_RDONLY | os.O_CLOEXEC)
            os.fsync(descriptor)
            os.close(descriptor)

    def digest(self) -> dict[int, str]:
        """A checksum of every piece of the whole file that is not all zeros, by its offset: equal for equal bytes."""
        return {at: hashlib.sha256(data).hexdigest() for at, data in self.content().items()}

    def content(self) -> dict[int, bytes]:
        """Every piece of the whole file that is not all zeros, by its offset."""
        if self.name:
            self.flush()
        return dict(_pieces(self.file))

    def changed(self, before: dict[int, str]) -> list[str]:
        """Where the disk differs from an earlier digest, as ranges of bytes."""
        now = self.digest()
        places = sorted(at for at in before.keys() | now.keys() if before.get(at) != now.get(at))
        return [f"{at:#x}-{at + CHUNK_BYTES:#x}" for at in places]

    @contextmanager
    def _open(self, flags: int) -> Iterator[int]:
        descriptor = os.open(self.node, flags | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _pieces(file: Path) -> Iterator[tuple[int, bytes]]:
    zeros = bytes(CHUNK_BYTES)
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        end, at = os.fstat(descriptor).st_size, 0
        while at < end:
            try:
                at = os.lseek(descriptor, at, os.SEEK_DATA) // CHUNK_BYTES * CHUNK_BYTES
            except OSError:  # ENXIO: a hole up to the end
                return
            data = os.pread(descriptor, CHUNK_BYTES, at)
            if data != zeros[: len(data)]:
                yield at, data
            at += CHUNK_BYTES
    finally:
        os.close(descriptor)


def loop_ready() -> str:
    """Why loop devices cannot be used here; "" where they can."""
    if os.geteuid() != 0:
        return "only root can make loop devices"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices here"
    missing = [
        name for name in ("losetup", "sgdisk", "partx", "blkid", "strace", "mkfs.ext4") if not shutil.which(name)
    ]
    return f"not installed: {', '.join(missing)}" if missing else ""
