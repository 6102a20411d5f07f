"""Sizes: bytes in, bytes out, written the way OpenZFS writes them."""

import re
from decimal import Decimal
from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB
TIB: Final = 1024 * GIB

_SUFFIXES: Final = ("B", "K", "M", "G", "T", "P", "E")
_NICENUM_WIDTH: Final = 5
_LARGEST_UNIT: Final = len(_SUFFIXES) - 1
_SIZE: Final = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?([KMGTP]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_LARGEST_SIZE: Final = 2**63


def zfs_size(size_bytes: int) -> str:
    """Write a size as `zpool list` does: three significant figures, binary suffix ("1.82T", "447G", "16G").

    Source: `zfs_nicenum_format()` in lib/libzutil/zutil_nicenum.c. Numbers that OpenZFS cannot count (2**64 and above)
    are written in whole E, so that any number that somebody typed can be quoted back.
    """
    index = next((power for power in range(_LARGEST_UNIT) if size_bytes < 1024 ** (power + 1)), _LARGEST_UNIT)
    unit, suffix = 1024**index, _SUFFIXES[index]
    if size_bytes % unit == 0 or size_bytes >= 1024 * unit:
        return f"{size_bytes // unit}{suffix}"
    texts = (f"{size_bytes / unit:.{decimals}f}{suffix}" for decimals in (2, 1, 0))
    return next((text for text in texts if len(text) <= _NICENUM_WIDTH), f"{size_bytes / unit:.0f}{suffix}")


def parse_size(text: str) -> int:
    """Read "4G", "1.5T", "100GiB" or plain bytes as a number of bytes; suffixes are binary, as in zpool(8).

    Raises:
        ValueError: with a sentence that says what is accepted.
    """
    match = _SIZE.fullmatch(text.strip())
    size_bytes = int(Decimal(match[1]) * 1024 ** _SUFFIXES.index(match[2].upper() or "B")) if match else 0
    if not 0 < size_bytes < _LARGEST_SIZE:
        raise ValueError(f"{text!r} is not a size. Write a number above zero with K, M, G or T, for example 4G.")
    return size_bytes


def align_up(offset_bytes: int, alignment_bytes: int = MIB) -> int:
    """The first multiple of the alignment at or after the offset."""
    return -(-offset_bytes // alignment_bytes) * alignment_bytes


def align_down(offset_bytes: int, alignment_bytes: int = MIB) -> int:
    """The last multiple of the alignment at or before the offset."""
    return offset_bytes // alignment_bytes * alignment_bytes
