"""Sizes: bytes in, bytes out, as exact as OpenZFS writes them, the unit written out. Lengths of time in seconds."""

import re
from decimal import Decimal
from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB
TIB: Final = 1024 * GIB

GIGABYTE: Final = 10**9
TERABYTE: Final = 10**12
"""Data sheets count in these what is written to an SSD."""

MINUTE_S: Final = 60
HOUR_S: Final = 60 * MINUTE_S
DAY_S: Final = 24 * HOUR_S
DAYS_PER_YEAR: Final = 365.25
YEAR_S: Final = DAYS_PER_YEAR * DAY_S
"""On the average, the days of leap years included."""

_SUFFIXES: Final = ("B", "K", "M", "G", "T", "P", "E")
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_NICENUM_WIDTH: Final = 4
_LARGEST_UNIT: Final = len(_SUFFIXES) - 1
_SIZE: Final = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?([KMGTP]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_LARGEST_SIZE: Final = 2**63


def size_text(size_bytes: int) -> str:
    """Write a size with the figures of `zpool list`, three of them, and its binary unit: "1.82 TiB", "447 GiB".

    The unit is written out because data sheets, and we with them, count in decimal ones what is written to an SSD.
    Source of the figures: `zfs_nicenum_format()` in lib/libzutil/zutil_nicenum.c. Numbers that OpenZFS cannot count
    (2**64 and above) are written in whole EiB, so that any number that somebody typed can be quoted back.
    """
    index = next((power for power in range(_LARGEST_UNIT) if size_bytes < 1024 ** (power + 1)), _LARGEST_UNIT)
    unit = 1024**index
    if size_bytes % unit == 0 or size_bytes >= 1024 * unit:
        return f"{size_bytes // unit} {_UNITS[index]}"
    numbers = (f"{size_bytes / unit:.{decimals}f}" for decimals in (2, 1, 0))
    number = next((text for text in numbers if len(text) <= _NICENUM_WIDTH), f"{size_bytes / unit:.0f}")
    return f"{number} {_UNITS[index]}"


def terabytes_text(count_bytes: float) -> str:
    """Write what is written to an SSD as data sheets have it: "1.2 TB"."""
    return f"{count_bytes / TERABYTE:.1f} TB"


def gigabytes_text(count_bytes: float) -> str:
    """Write what is written to an SSD in a day as data sheets have it: "1.2 GB"."""
    return f"{count_bytes / GIGABYTE:.1f} GB"


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
