"""What people keep on disks, written as their programs write it, or byte by byte where that is short."""

import struct
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from nasadvisor.domain.units import KIB, MIB
from tests.devices.labels import LABEL_BYTES, Label, PoolState, label_offsets
from tests.devices.loops import tool

Maker = Callable[[int], dict[int, bytes]]
"""Gives, for a device of so many bytes, what is to be written where."""


def made_by(*command: str) -> Maker:
    """What a program writes into an empty file of that size."""

    def make(size_bytes: int) -> dict[int, bytes]:
        with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as directory:
            file = Path(directory, "image")
            with file.open("wb") as opened:
                opened.truncate(size_bytes)
            tool(*command, str(file))
            with file.open("rb") as opened:
                pieces = {at: opened.read(MIB) for at in range(0, size_bytes, MIB)}
        return {at: piece for at, piece in pieces.items() if piece.strip(b"\0")}

    return make


def luks(_size_bytes: int) -> dict[int, bytes]:
    """`struct luks_phdr`: LUKS On-Disk Format Specification 1.2.3."""
    head = struct.pack(">6sH32s32s32sII", b"LUKS\xba\xbe", 1, b"aes", b"xts-plain64", b"sha256", 4096, 64)
    return {0: head.ljust(168, b"\0") + b"5bf0f5c5-0000-4000-8000-000000000001\0\0\0\0"}


def physical_volume(_size_bytes: int) -> dict[int, bytes]:
    """`struct label_header` and `struct pv_header` in sector 1 (lib/label/label.h of LVM2)."""
    body = struct.pack("<I8s", 32, b"LVM2 001") + b"abcdefghijklmnopqrstuvwxyz012345" + struct.pack("<Q", 512 * MIB)
    body = body.ljust(512 - 20, b"\0")
    return {512: struct.pack("<8sQI", b"LABELONE", 1, _lvm_crc(body)) + body}


def raid_member(size_bytes: int) -> dict[int, bytes]:
    """`struct mdp_superblock_1` of version 1.2, at 4 KiB (include/uapi/linux/raid/md_p.h)."""
    head = struct.pack("<IIII16s32sQIIQ", 0xA92B4EFC, 1, 0, 0, b"u" * 16, b"nas:0", 0, 1, 0, size_bytes // 512)
    head = (head + struct.pack("<II", 0, 2)).ljust(128, b"\0")
    data = struct.pack("<QQQQI", 2048, size_bytes // 512 - 2048, 8, 0, 0)
    block = bytearray((head + data).ljust(256, b"\0") + struct.pack("<HH", 0, 1))
    struct.pack_into("<I", block, 216, 0)
    words = struct.unpack(f"<{len(block) // 4}I", bytes(block))
    total = sum(words)
    struct.pack_into("<I", block, 216, (total & 0xFFFFFFFF) + (total >> 32))
    return {4 * KIB: bytes(block)}


def exported_pool(size_bytes: int) -> dict[int, bytes]:
    """The four labels of a device of a pool that is not imported."""
    return dict.fromkeys(label_offsets(size_bytes), Label("backup", 42, 43, PoolState.EXPORTED).packed())


def last_label_only(size_bytes: int) -> dict[int, bytes]:
    """What is left of a pool's device after its front was overwritten; a pool can be imported from it."""
    return {size_bytes // LABEL_BYTES * LABEL_BYTES - LABEL_BYTES: Label("backup", 42, 43, PoolState.EXPORTED).packed()}


def jfs(_size_bytes: int) -> dict[int, bytes]:
    """`struct jfs_superblock` at 32 KiB (fs/jfs/jfs_superblock.h)."""
    return {32 * KIB: struct.pack("<4sIQIHHIH", b"JFS1", 1, 1 << 16, 4096, 12, 3, 512, 9)}


def iso9660(_size_bytes: int) -> dict[int, bytes]:
    """The first volume descriptor and the one that ends them (ECMA-119, 8.4)."""
    return {32 * KIB: b"\1CD001\1".ljust(80, b" "), 34 * KIB: b"\xffCD001\1"}


def vmfs_volume(_size_bytes: int) -> dict[int, bytes]:
    """A device of a VMware data store: its magic is at 1 MiB (superblocks/vmfs.c of util-linux)."""
    return {MIB: struct.pack("<II", 0xC001D00D, 5)}


def vmfs(_size_bytes: int) -> dict[int, bytes]:
    """VMware's file system itself, at 2 MiB."""
    return {2 * MIB: struct.pack("<II", 0x2FABF15E, 5)}


MAKERS: Final[dict[str, Maker]] = {
    "ext4": made_by("mkfs.ext4", "-q", "-F"),
    "xfs": made_by("mkfs.xfs", "-q", "-f"),
    "btrfs": made_by("mkfs.btrfs", "-q", "-f"),
    "swap": made_by("mkswap"),
    "jfs": jfs,
    "iso9660": iso9660,
    "vmfs-volume": vmfs_volume,
    "vmfs": vmfs,
    "luks": luks,
    "lvm": physical_volume,
    "raid": raid_member,
    "zfs": exported_pool,
    "zfs-end": last_label_only,
}


def _lvm_crc(data: bytes) -> int:
    """calc_crc() in lib/misc/crc.c of LVM2: the usual polynomial, another start, no final inversion."""
    crc = 0xF597A6CF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc
