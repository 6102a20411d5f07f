"""A run being written: its journal, the run folded from it so far, and whoever watches."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from nasadvisor.domain.change.runs import DiskImage, Ended, Intent, Record, Run, RunState, fold
from nasadvisor.domain.statements import Finding, Refused
from nasadvisor.host.change.journal import Journal, JournalUnwritable, RecordUnreadable, RunStopped

Observer = Callable[[Run], None]
"""Told of the run after each record is durable."""


@dataclass
class Logbook:
    """Writes records and keeps the run up to date. `clock` tells UTC.

    `remarks` are said with the end of the stretch, whichever end it is.
    """

    journal: Journal
    node: str
    clock: Callable[[], datetime]
    observe: Observer
    records: list[Record] = field(default_factory=list)
    remarks: tuple[Finding, ...] = ()

    @property
    def run(self) -> Run:
        """The run as far as it is written."""
        return fold(self.records, self.node)

    def now(self) -> str:
        """The time for a record."""
        return self.clock().isoformat(timespec="milliseconds")

    def write(self, record: Record) -> Run:
        """Make a record durable, then tell the observer.

        Raises:
            JournalUnwritable: it could not be.
        """
        self.journal.append(record)
        self.records.append(record)
        run = self.run
        self.observe(run)
        return run

    @contextmanager
    def kept(self) -> Iterator[None]:
        """A stretch of the run, which cannot go on once its journal cannot be kept.

        Raises:
            RunStopped: it was begun, and has no end.
        """
        try:
            yield
        except RecordUnreadable:
            raise
        except JournalUnwritable as error:
            if not self.run.is_active:
                raise
            raise RunStopped(self.journal.path, error.reason) from error

    def end(self, state: RunState, refusals: Iterable[Refused] = (), findings: Iterable[Finding] = ()) -> Run:
        """Write the end of a stretch."""
        run = self.write(Ended(self.now(), state, tuple(refusals), (*findings, *self.remarks)))
        self.journal.release_reserve()
        return run

    def image_of(self, disk_key: str) -> DiskImage | None:
        """The first image taken of a disk: what it was before the run."""
        images = (record.image for record in self.records if isinstance(record, Intent) and record.image)
        return next((image for image in images if image.disk_key == disk_key), None)
