"""Figures as text: as exact as they deserve, in units that read the same in every language."""

from math import ceil
from typing import Final

MS: Final = 1_000_000
"""Nanoseconds in a millisecond."""


def rate(per_second: float) -> str:
    """A number per second, as exact as it deserves."""
    return f"{per_second:.0f}" if per_second >= 10 else f"{per_second:.1f}"


def percent(share: float) -> str:
    """A share; small ones with a decimal."""
    return f"{share * 100:.0f} %" if share >= 0.1 or share == 0 else f"{share * 100:.1f} %"


def grouped(count: int) -> str:
    """A whole number in groups of three, with a narrow space between, which no language takes for a decimal sign."""
    return f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def milliseconds(ns: float) -> str:
    """A time in ms, two significant figures."""
    ms = ns / MS
    return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms" if ms >= 1 else f"{ms:.2f} ms"


def milliseconds_range(low_ns: float, high_ns: float) -> str:
    """Both ends, one number if both read the same."""
    low, high = milliseconds(low_ns), milliseconds(high_ns)
    return high if low == high else f"{low.removesuffix(' ms')}–{high}"


def rounded_up_s(seconds: float) -> float:
    """Up to what `duration` says of it, so that whoever multiplies gets the sum that is said; for less than two
    minutes.
    """
    return ceil(seconds) if seconds >= 10 else ceil(seconds * 10) / 10


def duration(seconds: float) -> str:
    """A length of time in the unit that fits, the same in every language. What is more than nothing is not 0."""
    if seconds < 10:
        return f"{max(round(seconds, 1), 0.1) if seconds > 0 else 0:g} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 172_800 else f"{seconds / 86400:.0f} d"
