"""Watching disks closely while something else runs: how long their writes and flushes take between two bursts.

OpenZFS's histograms have buckets a factor of two wide and mix the ZIL's writes with those of transaction groups, which
come in bursts. The kernel's own counters, read a few times a second, show the quiet moments in between: their median is
what a single synchronous write waits for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Final

from nasadvisor.domain.samples import DiskActivity
from nasadvisor.host.adapters.blockstat import read_disk

EVERY_S: Final = 0.25
FEWEST_INTERVALS: Final = 5
NS_IN_MS: Final = 1_000_000


@dataclass
class DiskWatch:
    """What was seen so far: for each interval the mean time of a write with its flush, in ns."""

    intervals: list[float] = field(default_factory=list)

    @property
    def commit_ns(self) -> float:
        """The median interval; 0 where too little was seen."""
        return median(self.intervals) if len(self.intervals) >= FEWEST_INTERVALS else 0.0

    def add(self, before: tuple[DiskActivity, ...], after: tuple[DiskActivity, ...]) -> None:
        """One more interval. Disks are told apart by name; an interval without writes says nothing."""
        old = {disk.key: disk for disk in before}
        pairs = [(old[disk.key], disk) for disk in after if disk.key in old]
        writes = sum(new.writes - past.writes for past, new in pairs)
        flushes = sum(new.flushes - past.flushes for past, new in pairs)
        write_ms = sum(new.write_ms - past.write_ms for past, new in pairs)
        flush_ms = sum(new.flush_ms - past.flush_ms for past, new in pairs)
        if writes > 0:
            self.intervals.append((write_ms / writes + (flush_ms / flushes if flushes else 0.0)) * NS_IN_MS)


@contextmanager
def watching(sys: Path, disks: tuple[str, ...]) -> Iterator[DiskWatch]:
    """Watch disks as long as the block runs, in a thread that only reads a few small files."""
    watch, done = DiskWatch(), Event()
    thread = Thread(target=_watch, args=(sys, disks, watch, done), daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        done.set()
        thread.join()


def _watch(sys: Path, disks: tuple[str, ...], watch: DiskWatch, done: Event) -> None:
    before = _read(sys, disks)
    while not done.wait(EVERY_S):
        after = _read(sys, disks)
        watch.add(before, after)
        before = after


def _read(sys: Path, disks: tuple[str, ...]) -> tuple[DiskActivity, ...]:
    return tuple(found for name in disks if (found := read_disk(sys, name)))
