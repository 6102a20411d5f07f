"""What libblkid itself says of images in files: the library is asked, not a stand-in of it."""

import ctypes
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from nasadvisor.domain.units import KIB, MIB
from nasadvisor.host.adapters import libblkid
from nasadvisor.host.adapters.libblkid import Found, LibblkidMissing, ProbeFailed, recognise
from tests.unit.domain.change.sectors import SIZE_BYTES, recording

LABEL, ID = "photos", "7d0e7c9e-1111-4000-8000-00000000a001"
PATH = "/dev/disk/by-id/ata-X"


@pytest.fixture(autouse=True)
def library_loaded_anew() -> Iterator[None]:
    library = libblkid._library
    library.cache_clear()
    yield
    library.cache_clear()


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A disk of 16 MiB on which nothing was ever written."""
    path = tmp_path / "image"
    with path.open("wb") as file:
        file.truncate(16 * MIB)
    return path


def put(image: Path, place: int, data: bytes) -> None:
    with image.open("r+b") as file:
        file.seek(place)
        file.write(data)


@contextmanager
def opened(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def seen(image: Path, offset_bytes: int = 0, size_bytes: int = 0) -> tuple[Found, ...]:
    with opened(image) as descriptor:
        return recognise(descriptor, offset_bytes, size_bytes, PATH)


def ext(label: bytes = LABEL.encode(), ro_compatible: int = 0) -> bytes:
    """The first KiB and the superblock of an ext2 (fs/ext4/ext4.h, struct ext4_super_block), its checksum zeros."""
    block = bytearray(KIB)
    struct.pack_into("<II", block, 0, 4096, 4096)  # inodes, blocks of 1 KiB
    struct.pack_into("<H", block, 0x38, 0xEF53)
    struct.pack_into("<I", block, 0x4C, 1)  # s_rev_level: dynamic
    struct.pack_into("<I", block, 0x64, ro_compatible)
    block[0x68:0x78] = UUID(ID).bytes
    block[0x78:0x88] = label.ljust(16, b"\0")
    return bytes(KIB) + bytes(block)


def dos_table() -> bytes:
    """A sector with a table of one partition of Linux, from 1 MiB on, of 8 MiB."""
    entry = struct.pack("<8BII", 0, 0, 0, 0, 0x83, 0, 0, 0, 2048, 16384)
    return bytes(440) + b"\x78\x56\x34\x12" + bytes(2) + entry + bytes(48) + b"\x55\xaa"


def test_of_zeros_nothing_is_recognised(image: Path) -> None:
    assert seen(image) == ()


def test_a_file_system_is_told_with_its_label_and_its_uuid(image: Path) -> None:
    put(image, 0, ext())
    assert seen(image) == (Found("ext2", LABEL, ID),)


def test_one_without_a_name_is_told_as_well(image: Path) -> None:
    put(image, 0, ext(b""))
    assert seen(image) == (Found("ext2", "", ID),)


def test_a_label_that_is_no_text_does_not_hide_the_file_system(image: Path) -> None:
    put(image, 0, ext(b"\xff\xfe"))
    assert seen(image) == (Found("ext2", os.fsdecode(b"\xff\xfe"), ID),)


def test_one_whose_checksum_is_wrong_is_told_all_the_same(image: Path) -> None:
    """METADATA_CSUM: the superblock has a checksum (crc32c), and zeros are not it."""
    put(image, 0, ext(ro_compatible=0x400))
    assert [(each.label, each.uuid) for each in seen(image)] == [(LABEL, ID)]


def test_it_is_looked_for_from_the_place_that_is_named(image: Path) -> None:
    put(image, 3 * MIB, ext())
    assert seen(image) == ()
    assert seen(image, 3 * MIB) == (Found("ext2", LABEL, ID),)
    assert seen(image, 3 * MIB, 2 * MIB) == (Found("ext2", LABEL, ID),)


def test_nothing_beyond_the_end_that_is_named_is_looked_at(image: Path) -> None:
    """What swap space begins with stands at the end of its first 4 KiB."""
    swap = bytes(4086) + b"SWAPSPACE2"
    put(image, MIB, swap[:1024] + struct.pack("<II", 1, 100) + swap[1032:])
    assert [each.kind for each in seen(image, MIB, 2 * MIB)] == ["swap"]
    assert seen(image, MIB, 2 * KIB) == ()


def test_a_partition_table_is_told(image: Path) -> None:
    put(image, 0, dos_table())
    assert [each.kind for each in seen(image)] == ["dos"]


def test_a_file_system_and_a_table_on_the_same_disk_are_both_told(image: Path) -> None:
    put(image, 0, ext())
    put(image, 0, dos_table())
    assert [each.kind for each in seen(image)] == ["ext2", "dos"]


def test_a_table_that_sgdisk_made_is_told(tmp_path: Path) -> None:
    area = recording().with_one
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.truncate(SIZE_BYTES)
    put(path, 0, area.head)
    put(path, SIZE_BYTES - len(area.tail), area.tail)
    assert [each.kind for each in seen(path)] == ["gpt"]


def test_far_behind_on_a_large_disk_it_is_found_as_well(tmp_path: Path) -> None:
    """Places and sizes beyond 4 GiB need 64 bits."""
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.truncate(2 * SIZE_BYTES)
    put(path, SIZE_BYTES + MIB, ext())
    assert seen(path, SIZE_BYTES + MIB, SIZE_BYTES - MIB) == (Found("ext2", LABEL, ID),)


def test_a_descriptor_that_leads_nowhere_is_a_sentence(image: Path) -> None:
    with opened(image) as descriptor:
        pass
    with pytest.raises(ProbeFailed, match=f"^{PATH} could not be examined at byte 4096,"):
        recognise(descriptor, 4096, 0, PATH)


def test_a_device_that_cannot_be_read_is_a_sentence_and_not_called_blank(image: Path) -> None:
    with (
        opened(image, os.O_WRONLY) as descriptor,
        pytest.raises(ProbeFailed, match=f"^{PATH} could not be examined at byte 8192,"),
    ):
        recognise(descriptor, 8192, 0, PATH)


def test_without_the_library_nothing_is_called_blank(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", load)
    problem = r"libblkid\.so\.1 could not be loaded \(libblkid\.so\.1: cannot open shared object file\)"
    with pytest.raises(LibblkidMissing, match=problem) as missing:
        seen(image)
    assert isinstance(missing.value.__cause__, OSError)


class Counted:
    """libblkid, and what was asked of it. `instead` answers for some of its functions."""

    def __init__(self, **instead: Callable[..., Any]) -> None:
        self.library = libblkid._library()
        self.instead = instead
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self.calls.append((name, args))
            return self.instead.get(name, getattr(self.library, name))(*args)

        return call

    def called(self, name: str) -> list[tuple[Any, ...]]:
        return [args for called, args in self.calls if called == name]


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY])
def test_a_probe_is_given_back_whatever_happens(image: Path, monkeypatch: pytest.MonkeyPatch, flags: int) -> None:
    counted = Counted()
    monkeypatch.setattr(libblkid, "_library", lambda: counted)
    with opened(image, flags) as descriptor:
        try:
            recognise(descriptor, 0, 0, PATH)
        except ProbeFailed:
            assert flags == os.O_WRONLY
    probes = {args[0] for name, args in counted.calls if name not in ("blkid_new_probe", "blkid_free_probe")}
    assert len(probes) == 1
    assert {args[0] for args in counted.called("blkid_free_probe")} == probes
    assert len(counted.called("blkid_free_probe")) == len(counted.called("blkid_new_probe")) == 1


def test_pointers_and_places_are_handed_over_whole(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a number that is not declared, ctypes hands over 32 bits; pointers have 64, and so have places on a disk."""
    put(image, 0, ext())
    counted = Counted()
    monkeypatch.setattr(libblkid, "_library", lambda: counted)
    seen(image)
    taken = {name: getattr(counted.library, name).argtypes or () for name, args in counted.calls if args}
    switches = ("enable_superblocks", "set_superblocks_flags", "enable_partitions", "set_partitions_flags")
    assert {name: [ctypes.sizeof(kind) for kind in kinds] for name, kinds in taken.items()} == {
        "blkid_probe_set_device": [8, 4, 8, 8],
        **{f"blkid_probe_{name}": [8, 4] for name in switches},
        "blkid_do_probe": [8],
        "blkid_probe_lookup_value": [8, 8, 8, 8],
        "blkid_free_probe": [8],
    }


def test_without_memory_for_a_probe_nothing_is_asked(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(blkid_new_probe=lambda: None)
    monkeypatch.setattr(libblkid, "_library", lambda: counted)
    with pytest.raises(MemoryError, match="no memory for a probe"):
        seen(image)
    assert [name for name, _ in counted.calls] == ["blkid_new_probe"]


def test_the_library_is_loaded_once(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    real = ctypes.CDLL

    def load(name: str) -> ctypes.CDLL:
        loaded.append(name)
        return real(name)

    monkeypatch.setattr(ctypes, "CDLL", load)
    seen(image)
    seen(image)
    assert loaded == ["libblkid.so.1"]
