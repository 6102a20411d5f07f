"""The records of caches that are switched: a file for each, changed by one process at a time.

What takes a cache out of service and puts it back are runs with journals of their own. A record says when that is to be
done, and what was counted; whoever loses it loses that, and no cache: its runs are known by its id.
"""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from nasadvisor.domain.evidence.switched import CacheSwitching, Change
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage import names
from nasadvisor.host.change.checked_file import read_checked, write_checked
from nasadvisor.host.change.lock import host_lock
from nasadvisor.host.errors import HostError
from nasadvisor.stored.documents import DocumentError

log = logging.getLogger(__name__)

SUFFIX: Final = ".json"
LOCK_WAIT_S: Final = 10.0
"""A change is one small file; nobody holds this lock for longer than that takes."""


class SwitchingUnknown(HostError):  # noqa: N818 - named for what happened
    """There is no such record."""

    def __init__(self, record_id: str) -> None:
        super().__init__(_("This host has no cache test with the id {id}."), id=record_id)


class SwitchingUnreadable(HostError):  # noqa: N818
    """A record that cannot be read."""

    def __init__(self, path: Path, problem: str) -> None:
        template = _(
            "The record {path} of a cache test cannot be read: {problem}. The test takes no more caches out of "
            "service, and any that are out of service are put back. Its result is lost; delete the file."
        )
        super().__init__(template, path=str(path), problem=problem)


@dataclass(frozen=True)
class SwitchRecords:
    """The records in one directory."""

    directory: Path

    def ids(self) -> tuple[str, ...]:
        """Those of every record, readable or not."""
        if not self.directory.is_dir():
            return ()
        return tuple(path.stem for path in self.directory.glob(f"*{SUFFIX}") if re.fullmatch(names.UUID, path.stem))

    def read(self, record_id: str) -> CacheSwitching:
        """One record.

        Raises:
            SwitchingUnknown, SwitchingUnreadable
        """
        path = self._path(record_id)
        try:
            record = read_checked(path, CacheSwitching)
        except FileNotFoundError:
            raise SwitchingUnknown(record_id) from None
        except DocumentError as error:
            raise SwitchingUnreadable(path, str(error)) from error
        if record.id != record_id:
            raise SwitchingUnreadable(path, f"it is that of {record.id}")
        return record

    def all(self) -> Iterator[CacheSwitching]:
        """Those that can be read; of the others the log tells."""
        for record_id in self.ids():
            try:
                yield self.read(record_id)
            except HostError as error:
                log.warning("%s", error)

    def newest_of(self, pool_guid: str) -> CacheSwitching | None:
        """The one of a pool that began last."""
        return max(
            (each for each in self.all() if each.pool_guid == pool_guid), key=lambda each: each.plan.start, default=None
        )

    def open_of(self, pool_guid: str) -> CacheSwitching | None:
        """The one of a pool that has not ended; None where nothing of it is switched or out of service."""
        return next((each for each in self.all() if each.pool_guid == pool_guid and not each.ended_at), None)

    def create(self, record: CacheSwitching) -> None:
        """Make a new record durable.

        Raises:
            JournalUnwritable: it is not there.
        """
        write_checked(self._path(record.id), record)

    def change(self, record_id: str, change: Change) -> CacheSwitching:
        """Change a record as it is now, whoever changed it meanwhile; nothing is written where nothing changes.

        Raises:
            SwitchingUnknown, SwitchingUnreadable
            JournalUnwritable: it is as it was.
            HostBusy: somebody else has been changing one for too long.
        """
        with host_lock((self.directory / "lock",), LOCK_WAIT_S):
            before = self.read(record_id)
            after = change(before)
            if after == before:
                return before
            after = replace(after, seq=before.seq + 1)
            write_checked(self._path(record_id), after)
            return after

    def _path(self, record_id: str) -> Path:
        return self.directory / f"{record_id}{SUFFIX}"
