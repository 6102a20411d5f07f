"""What was asked of TrueNAS, one durable file each: written before it is asked, and again when the end is known."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.change.journal import write_whole
from nasadvisor.host.errors import HostError
from nasadvisor.stored.documents import DocumentError, from_document, to_document
from nasadvisor.stored.kinds import Kind, register
from nasadvisor.stored.upgrades import Document

SUFFIX: Final = ".whole-disks.json"


class RecordState(StrEnum):
    """How far a record is. ASKED also stays where nobody saw the end."""

    ASKED = "asked"
    ADDED = "added"
    TAKEN_BACK = "taken-back"


@dataclass(frozen=True)
class AddedVdev:
    """A top-level vdev that came of it. `leaves` are the guids of its disks, one of them its own where it is one disk.

    A mirror loses its own guid when all but one of its sides are detached; theirs stay.
    """

    role: Role
    guid: str
    leaves: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """Whole disks added to a pool by TrueNAS. `before` are the guids of its logs and caches until then, and
    those that other records name.

    Disks are named by TrueNAS's identifiers. `at` is UTC in ISO 8601. `pool_vdevs` are the guids of the pool's data
    vdevs: TrueNAS tells a pool's own guid from its database and the rest by the pool's name (middleware,
    pool_/pool.py).
    """

    id: str
    at: str
    by: str
    pool_guid: str
    pool_name: str
    log_disks: tuple[str, ...]
    cache_disks: tuple[str, ...]
    before: tuple[str, ...]
    pool_vdevs: tuple[str, ...]
    state: RecordState = RecordState.ASKED
    added: tuple[AddedVdev, ...] = ()

    @property
    def disks(self) -> tuple[str, ...]:
        """Every disk of it."""
        return (*self.log_disks, *self.cache_disks)

    @property
    def guids(self) -> frozenset[str]:
        """Every guid that is known to have come of it."""
        return frozenset(guid for vdev in self.added for guid in (vdev.guid, *vdev.leaves))

    @property
    def knows_all_guids(self) -> bool:
        """Whether nothing can have come of it but what `guids` names."""
        return sum(len(vdev.leaves) for vdev in self.added) >= len(self.disks)


class RecordUnknown(HostError):  # noqa: N818 - named for what happened
    """There is no such record, or it cannot be read."""

    def __init__(self, record: str, problem: str) -> None:
        template = _("There is no usable record {record} of disks added by TrueNAS ({problem}). Nothing was changed.")
        super().__init__(template, record=record, problem=problem)


@dataclass(frozen=True)
class Records:
    """The records in one directory."""

    directory: Path

    def write(self, record: Record) -> Record:
        """Make it durable; returns it.

        Raises:
            JournalUnwritable: then nothing may be asked.
        """
        document = to_document(record)
        text = json.dumps({"record": document, "sha256": _digest(document)}, sort_keys=True)
        write_whole(self.directory / f"{record.id}{SUFFIX}", text)
        return record

    def read(self, record: str) -> Record:
        """One record.

        Raises:
            RecordUnknown: it is not there, or damaged.
        """
        path = next((path for path in self._paths() if path.name == f"{record}{SUFFIX}"), None)
        if path is None:
            raise RecordUnknown(record, "no such file")
        return _read(path)

    def all(self) -> tuple[Record, ...]:
        """All that can be read, oldest first."""
        return tuple(sorted((each for each in self._each() if isinstance(each, Record)), key=lambda record: record.at))

    def damaged(self) -> tuple[RecordUnknown, ...]:
        """What is wrong with those that cannot be read."""
        return tuple(each for each in self._each() if isinstance(each, RecordUnknown))

    def _each(self) -> Iterator[Record | RecordUnknown]:
        for path in self._paths():
            try:
                yield _read(path)
            except RecordUnknown as error:
                yield error

    def _paths(self) -> list[Path]:
        return sorted(self.directory.glob(f"*{SUFFIX}"))


def _read(path: Path) -> Record:
    name = path.name.removesuffix(SUFFIX)
    try:
        record = from_document(Record, _unwrapped(json.loads(path.read_text(encoding="utf-8"))))
    except (OSError, UnicodeDecodeError, DocumentError) as error:
        raise RecordUnknown(name, str(error)) from error
    except (ValueError, RecursionError) as error:
        raise RecordUnknown(name, f"it is not JSON: {error}") from error
    if record.id != name:
        raise RecordUnknown(name, f"the file holds the record {record.id}")
    return record


def _unwrapped(document: object) -> object:
    """The document of a record, after a look at its digest.

    Raises:
        DocumentError: it was damaged.
    """
    match document:
        case {"record": dict(record), "sha256": digest} if digest == _digest(record):
            return record
    raise DocumentError("it was damaged: its digest does not fit")


register(Kind("truenas-record", Record))


def _digest(document: Document) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode("ascii")).hexdigest()
