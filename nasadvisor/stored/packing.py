"""Samples and readings of disks as few bytes as reasonable, for the database: lists instead of objects, deflate.

What stands where in a list is said by name, for each number that the form ever had (`COLUMNS`), and never follows from
the order of a dataclass's fields: samples are kept for years. What was packed says its number. The latencies are packed
apart from the rest, so that a page that needs only one of them reads only that.
Names of datasets, disks and vdevs are kept once for each pool, in a `NameTable`, and stand in samples as numbers.

What one disk said in the course of a month is a column for each value. What repeats itself from reading to reading,
such as the role and what indicators are called, is kept once, and stands in its column as a number.
"""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from nasadvisor.domain.evidence.histogram import BUCKETS, Histogram
from nasadvisor.domain.evidence.samples import (
    ArcActivity,
    Busy,
    DatasetActivity,
    DiskActivity,
    Levels,
    PoolActivity,
    Sample,
    VdevActivity,
)
from nasadvisor.stored.documents import MAX_PACKED_BYTES
from nasadvisor.stored.kinds import FIRST
from nasadvisor.stored.upgrades import Document, Upgrade

LEVEL: Final = 9


def deflate(document: Any, example: bytes = b"") -> bytes:
    """JSON without blanks, deflated; `example` is what most documents of this kind have in common."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=example)
    return packer.compress(json.dumps(document, separators=(",", ":")).encode()) + packer.flush()


def inflate(data: bytes, example: bytes = b"") -> Any:
    """The document again.

    Raises:
        ValueError: it is damaged, or more than anything that was packed.
    """
    try:
        stream = zlib.decompressobj(-zlib.MAX_WBITS, zdict=example)
        return json.loads(stream.decompress(data, MAX_PACKED_BYTES).decode("ascii"))  # what was cut off is no JSON
    except (zlib.error, RecursionError) as error:
        raise ValueError(f"This is not what was packed: {error}") from error


Columns = dict[str, tuple[str, ...]]

COLUMNS: Final[tuple[Columns, ...]] = (
    {
        "datasets": (
            *("name", "commits", "commit_writers", "records", "indirect_bytes", "copied_bytes", "needcopy_bytes"),
            *("log_blocks", "log_bytes", "pool_blocks", "pool_bytes", "writes", "written_bytes", "reads", "read_bytes"),
        ),
        "disks": (
            *("key", "flushes", "flush_ms", "reads", "read_bytes", "writes", "written_bytes", "write_ms"),
            *("quiet_flushes", "quiet_flush_ms"),
        ),
        "pool": ("arc_reads", "arc_read_bytes", "direct_written_bytes", "nfs_commits", "nfs_writes"),
        "arc": (
            *("demand_hits", "demand_misses", "prefetch_hits", "prefetch_misses", "ghost_hits"),
            *("evicted_eligible_bytes", "l2_hits", "l2_misses", "l2_read_bytes", "l2_written_bytes"),
            *("metadata_misses", "evicted_ineligible_bytes"),
        ),
        "levels": ("arc_bytes", "arc_target_bytes", "arc_most_bytes", "l2_bytes", "l2_header_bytes"),
        "busy": (
            *("seconds", "commits", "sync_bytes", "peak_commits_per_s", "peak_bytes_per_s", "peak_log_bytes"),
            *("commit_s_at", "commits_at", "miss_s_at", "misses_at"),
        ),
        "vdevs": (
            *("guid", "reads", "writes", "sync_reads", "sync_writes", "written_bytes"),
            *("quiet_sync_writes", "quiet_writes"),
        ),
    },
)
"""What stands where in the rows of each number; those of a new number are added, and none are ever changed."""

UPGRADES: Final[tuple[Upgrade, ...]] = ()
"""From the parts of one number, by the names of their columns, to those of the next: an object for `pool`, `arc`,
`levels` and `busy`, a list of objects for `datasets`, `disks` and `vdevs`. Zeros at the end of a row are left out."""

HISTOGRAMS: Final = frozenset({"reads", "writes", "quiet_writes"})
PACES: Final = frozenset({"commit_s_at", "commits_at", "miss_s_at", "misses_at"})
"""Which columns of vdevs and of `busy` are histograms."""

NAMED: Final = {"datasets": "name", "disks": "key", "vdevs": "guid"}
"""Where a row has the number of a name, and in which column."""

EXAMPLE: Final = (
    b"]],[0,[],[19,1,2],0,0],[1,[18,1,3,12,40,9],[20,1,4,16,64,32,8,2,1],0,0,0,0,0,0,0,0,0,0],[1,[[0,100,90,100,0,0,"
)
"""A preset dictionary for deflate: what most samples have in common."""


@dataclass
class NameTable:
    """The names that one pool's samples use; it only ever grows."""

    names: list[str]

    def number(self, name: str) -> int:
        """The number of a name; a new one is put at the end."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)


class NewerSample(ValueError):  # noqa: N818 - named for what it is
    """A sample that a later release packed."""


def form() -> int:
    """The number of today's form."""
    return FIRST + len(UPGRADES)


def pack_activity(sample: Sample, table: NameTable) -> bytes:
    """Everything but the vdevs' latencies."""
    return deflate(
        [
            form(),
            [_named_row("datasets", each, table) for each in sample.datasets],
            [_named_row("disks", each, table) for each in sample.disks if any(_row("disks", each)[1:])],
            _row("pool", sample.pool),
            _row("arc", sample.arc),
            _row("levels", sample.levels),
            _histogram(sample.txgs),
            _row("busy", sample.busy),
        ],
        EXAMPLE,
    )


def pack_latency(sample: Sample, table: NameTable) -> bytes:
    """The vdevs' latencies; those that did nothing are left out."""
    rows = [
        _named_row("vdevs", each, table)
        for each in sample.vdevs
        if each.reads.counts or each.writes.counts or each.written_bytes
    ]
    return deflate([form(), rows], EXAMPLE)


def unpack_activity(empty: Sample, activity: bytes, names: Sequence[str]) -> Sample:
    """The sample with what was packed of it; its pool, time and length are kept beside.

    Raises:
        NewerSample: a later release packed it.
        ValueError: it is not what was packed.
    """
    try:
        number, datasets, disks, pool, arc, levels, txgs, busy = inflate(activity, EXAMPLE)
        columns = _columns(number)
        document: Document = {
            "datasets": _named_rows("datasets", columns, datasets, names),
            "disks": _named_rows("disks", columns, disks, names),
            "pool": _by_name(columns["pool"], pool),
            "arc": _by_name(columns["arc"], arc),
            "levels": _by_name(columns["levels"], levels),
            "txgs": txgs,
            "busy": _by_name(columns["busy"], busy),
        }
        document = _upgraded(number, document)
        return replace(
            empty,
            datasets=tuple(DatasetActivity(**row) for row in document["datasets"]),
            disks=tuple(DiskActivity(**row) for row in document["disks"]),
            pool=PoolActivity(**document["pool"]),
            arc=ArcActivity(**document["arc"]),
            levels=Levels(**document["levels"]),
            txgs=_counts(document["txgs"]),
            busy=Busy(**_with_counts(document["busy"], PACES)),
        )
    except _FAULTS as error:
        raise ValueError(f"This is not a packed sample: {error}") from error


def unpack_latency(latency: bytes, names: Sequence[str]) -> tuple[VdevActivity, ...]:
    """The vdevs again.

    Raises:
        NewerSample: a later release packed them.
        ValueError: it is not what was packed.
    """
    try:
        number, rows = inflate(latency, EXAMPLE)
        document = _upgraded(number, {"vdevs": _named_rows("vdevs", _columns(number), rows, names)})
        return tuple(VdevActivity(**_with_counts(row, HISTOGRAMS)) for row in document["vdevs"])
    except _FAULTS as error:
        raise ValueError(f"This is not a packed sample: {error}") from error


_FAULTS: Final = (TypeError, LookupError, AttributeError)
"""What taking apart something else than what was packed raises, apart from ValueError."""


def _columns(number: object) -> Columns:
    """What stood where in the form of a number."""
    if type(number) is not int or number < FIRST:
        raise ValueError("This is not a packed sample: it does not say its number.")
    if number > form():
        raise NewerSample("A newer release of NAS Advisor packed this sample. Update NAS Advisor here to read it.")
    return COLUMNS[number - FIRST]


def _upgraded(number: int, document: Document) -> Document:
    for upgrade in UPGRADES[number - FIRST :]:
        document = upgrade(document)
    return document


def _named_rows(part: str, columns: Columns, rows: list[Any], names: Sequence[str]) -> list[Document]:
    """Rows by the names of their columns, the numbers of names replaced by them."""
    found = [_by_name(columns[part], row) for row in rows]
    for row in found:
        row[NAMED[part]] = names[row[NAMED[part]]]
    return found


def _by_name(columns: tuple[str, ...], row: list[Any]) -> Document:
    """A row by the names of its columns; zeros at its end were left out."""
    if len(row) > len(columns):
        raise ValueError("This is not a packed sample: a row is too long.")
    return dict(zip(columns, row, strict=False))


def _named_row(part: str, thing: DatasetActivity | DiskActivity | VdevActivity, table: NameTable) -> list[Any]:
    row = _row(part, thing)
    return [table.number(row[0]), *row[1:]]


def _row(part: str, thing: object) -> list[Any]:
    """The values in the order of the columns, zeros at the end left out."""
    row = [_packed(getattr(thing, column)) for column in COLUMNS[-1][part]]
    while row and row[-1] in (0, []):
        row.pop()
    return row


def _packed(value: Any) -> Any:
    if isinstance(value, Histogram):
        return _histogram(value)
    return round(value, 2) if isinstance(value, float) else value


def _histogram(histogram: Histogram) -> list[int]:
    """The number of empty buckets at the front, then the counts."""
    first = next((bucket for bucket, count in enumerate(histogram.counts) if count), 0)
    return [first, *histogram.counts[first:]] if histogram.counts else []


def _with_counts(row: Document, names: frozenset[str]) -> Document:
    """The row with its histograms."""
    return {name: _counts(value) if name in names else value for name, value in row.items()}


def _counts(packed: list[int]) -> Histogram:
    if not packed:
        return Histogram()
    if not 0 <= packed[0] < BUCKETS:
        raise ValueError("This is not a packed sample: a histogram begins where none does.")
    return Histogram((*(0,) * packed[0], *packed[1:]))


READINGS_FORM: Final = 1
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
            "form": READINGS_FORM,
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
        if found["form"] > READINGS_FORM:
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
