"""What was asked of TrueNAS, one durable file each: written before it is asked, and again when the end is known."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from nasadvisor.documents import DocumentError, from_json, to_json
from nasadvisor.domain.actions import Role
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.errors import HostError
from nasadvisor.host.journal import write_whole
from nasadvisor.stored.kinds import Kind, register

SUFFIX: Final = ".whole-disks.json"


class RecordState(StrEnum):
    """How far a record is. ASKED also stays where nobody saw the end."""

    ASKED = "asked"
    ADDED = "added"
    TAKEN_BACK = "taken-back"


@dataclass(frozen=True)
class AddedVdev:
    """A top-level vdev that came of it."""

    role: Role
    guid: str


@dataclass(frozen=True)
class Record:
    """Whole disks added to a pool by TrueNAS. `before` are the guids of its logs and caches until then.

    Disks are named by TrueNAS's identifiers. `at` is UTC in ISO 8601.
    """

    id: str
    at: str
    by: str
    pool_guid: str
    pool_name: str
    log_disks: tuple[str, ...]
    cache_disks: tuple[str, ...]
    before: tuple[str, ...]
    state: RecordState = RecordState.ASKED
    added: tuple[AddedVdev, ...] = ()

    @property
    def disks(self) -> tuple[str, ...]:
        """Every disk of it."""
        return (*self.log_disks, *self.cache_disks)


register(Kind("truenas-record", Record))


class RecordUnknown(HostError):  # noqa: N818 - named for what happened
    """There is no such record, or it cannot be read."""

    def __init__(self, record: str, problem: str) -> None:
        template = _("There is no usable record {record} of disks that TrueNAS added ({problem}). Nothing was changed.")
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
        write_whole(self.directory / f"{record.id}{SUFFIX}", to_json(record))
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
        """All of them, oldest first.

        Raises:
            RecordUnknown: one of them is damaged.
        """
        return tuple(sorted(map(_read, self._paths()), key=lambda record: record.at))

    def _paths(self) -> list[Path]:
        return sorted(self.directory.glob(f"*{SUFFIX}"))


def taken_back(record: Record) -> Record:
    """The same, when nothing of it is left in the pool."""
    return replace(record, state=RecordState.TAKEN_BACK)


def _read(path: Path) -> Record:
    try:
        return from_json(Record, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, DocumentError) as error:
        raise RecordUnknown(path.name.removesuffix(SUFFIX), str(error)) from error
