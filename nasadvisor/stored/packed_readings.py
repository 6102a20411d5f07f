"""What one disk said in the course of a month, as few bytes as reasonable: a column for each value, deflated.

What repeats itself from reading to reading, such as the role and what indicators are called, is kept once, and stands
in its column as a number.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from nasadvisor.stored.packing import deflate, inflate

FORM: Final = 1
PLAIN: Final = (
    *("at", "power_on_hours", "percent_used", "bytes_written", "temperature_c", "spare_percent", "media_errors"),
)
"""The columns that hold the values themselves."""

COUNT: Final = "bytes_written"
"""What differs in each document of a `ByteCounter`."""


class DiskReading(NamedTuple):
    """What one disk said at one moment, decoded; None is unknown. `at` is in seconds since 1970 (UTC).

    `indicators` and `counters` are documents of all that it said about wear and writes (`smart.wear`, `smart.written`),
    since it shows only later which of them can be followed. `role` is what the disk did then. A tuple, for a forecast
    looks through thousands.
    """

    at: int
    power_on_hours: int | None = None
    percent_used: float | None = None
    bytes_written: int | None = None
    temperature_c: int | None = None
    spare_percent: int | None = None
    media_errors: int | None = None
    role: str = ""
    indicators: Any = ()
    counters: Any = ()

    @property
    def taken_at(self) -> datetime:
        """The moment."""
        return datetime.fromtimestamp(self.at, UTC)


class NewerReadings(ValueError):  # noqa: N818 - named for what it is
    """Readings that a later release packed."""


def pack_readings(readings: Iterable[DiskReading]) -> bytes:
    """Readings of one disk."""
    kept = list(readings)
    shared: list[Any] = []
    return deflate(
        {
            "form": FORM,
            **{column: [getattr(each, column) for each in kept] for column in PLAIN},
            "role": [_number(each.role, shared) for each in kept],
            "indicators": [_number(list(each.indicators), shared) for each in kept],
            "counters": [_number([_without_count(one) for one in each.counters], shared) for each in kept],
            "counts": [[_count(one) for one in each.counters] for each in kept],
            "shared": shared,
        }
    )


def unpack_readings(packed: bytes) -> list[DiskReading]:
    """The readings again.

    Raises:
        NewerReadings: a later release packed them.
        ValueError: it is not what was packed.
    """
    found = inflate(packed)
    try:
        if found["form"] > FORM:
            raise NewerReadings("A newer release of NAS Advisor packed these readings. Update NAS Advisor here.")
        shared = found["shared"]
        rest = zip(found["role"], found["indicators"], found["counters"], found["counts"], strict=True)
        said = [
            (shared[role], shared[indicators], _counters(shared[counters], counts))
            for role, indicators, counters, counts in rest
        ]
        plain = zip(*(found[column] for column in PLAIN), strict=True)
        return [DiskReading._make((*values, *more)) for values, more in zip(plain, said, strict=True)]
    except (TypeError, LookupError, AttributeError) as error:
        raise ValueError(f"These are not packed readings: {error}") from error


def _number(value: Any, shared: list[Any]) -> int:
    if value not in shared:
        shared.append(value)
    return shared.index(value)


def _without_count(counter: Any) -> Any:
    return {name: value for name, value in counter.items() if name != COUNT} if _has_count(counter) else counter


def _count(counter: Any) -> int | None:
    return counter[COUNT] if _has_count(counter) else None


def _has_count(counter: Any) -> bool:
    return isinstance(counter, dict) and type(counter.get(COUNT)) is int


def _counters(names: list[Any], counts: list[int | None]) -> list[Any]:
    return [name if count is None else {**name, COUNT: count} for name, count in zip(names, counts, strict=True)]
