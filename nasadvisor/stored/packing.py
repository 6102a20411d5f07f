"""Samples as few bytes as reasonable, for the database: lists instead of objects, short keys, deflate.

The form is our own and only ever read by the release that wrote it or a later one; `FORM` tells which. The latencies
are packed apart from the rest, so that a page that needs only one of them reads only that. Names of datasets, disks
and vdevs are kept once for each pool, in a `NameTable`, and stand in samples as numbers.
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from nasadvisor.domain.histogram import Histogram
from nasadvisor.domain.samples import (
    ArcActivity,
    Busy,
    DatasetActivity,
    DiskActivity,
    Levels,
    PoolActivity,
    Sample,
    VdevActivity,
)

FORM: Final = 1
LEVEL: Final = 9

Packed = DatasetActivity | DiskActivity | PoolActivity | ArcActivity | Levels | Busy
_EXAMPLE: Final = (
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


def pack_activity(sample: Sample, table: NameTable) -> bytes:
    """Everything but the vdevs' latencies."""
    return _deflate(
        [
            FORM,
            [_named_row(each, table) for each in sample.datasets],
            [_named_row(each, table) for each in sample.disks if any(_row(each)[1:])],
            _row(sample.pool),
            _row(sample.arc),
            _row(sample.levels),
            _histogram(sample.txgs),
            _row(sample.busy),
        ]
    )


def pack_latency(sample: Sample, table: NameTable) -> bytes:
    """The vdevs' latencies; those that did nothing are left out."""
    return _deflate(
        [
            [
                table.number(each.guid),
                _histogram(each.reads),
                _histogram(each.writes),
                each.sync_reads,
                each.sync_writes,
                *([each.written_bytes] if each.written_bytes else []),
            ]
            for each in sample.vdevs
            if each.reads.counts or each.writes.counts or each.written_bytes
        ]
    )


def unpack_activity(sample: Sample, activity: bytes, names: Sequence[str]) -> Sample:
    """The sample with what was packed of it; its pool, time and length are kept beside.

    Raises:
        ValueError: it is not what was packed.
    """
    _form, datasets, disks, totals, arc, levels, txgs, busy = _inflate(activity)
    return replace(
        sample,
        datasets=tuple(DatasetActivity(names[row[0]], *row[1:]) for row in datasets),
        disks=tuple(DiskActivity(names[row[0]], *row[1:]) for row in disks),
        pool=PoolActivity(*totals),
        arc=ArcActivity(*arc),
        levels=Levels(*levels),
        txgs=_counts(txgs),
        busy=Busy(*busy),
    )


def unpack_latency(latency: bytes, names: Sequence[str]) -> tuple[VdevActivity, ...]:
    """The vdevs again.

    Raises:
        ValueError: it is not what was packed.
    """
    return tuple(
        VdevActivity(names[number], _counts(reads), _counts(writes), *numbers)
        for number, reads, writes, *numbers in _inflate(latency)
    )


def _named_row(thing: DatasetActivity | DiskActivity, table: NameTable) -> list[Any]:
    row = _row(thing)
    return [table.number(row[0]), *row[1:]]


def _row(thing: Packed) -> list[Any]:
    """The values in the order of the fields, zeros at the end left out."""
    row = [getattr(thing, each.name) for each in fields(thing)]
    row = [round(value, 2) if isinstance(value, float) else value for value in row]
    while row and row[-1] == 0:
        row.pop()
    return row


def _histogram(histogram: Histogram) -> list[int]:
    """The number of empty buckets at the front, then the counts."""
    first = next((bucket for bucket, count in enumerate(histogram.counts) if count), 0)
    return [first, *histogram.counts[first:]] if histogram.counts else []


def _counts(packed: list[int]) -> Histogram:
    return Histogram((*(0,) * packed[0], *packed[1:])) if packed else Histogram()


def _deflate(document: list[Any]) -> bytes:
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=_EXAMPLE)
    return packer.compress(json.dumps(document, separators=(",", ":")).encode()) + packer.flush()


def _inflate(data: bytes) -> Any:
    try:
        return json.loads(zlib.decompressobj(-zlib.MAX_WBITS, zdict=_EXAMPLE).decompress(data))
    except zlib.error as error:
        raise ValueError(f"This is not a packed sample: {error}") from error
