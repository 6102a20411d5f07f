"""What a measurement keeps on the host: what it made, until that is gone again, and what it measured."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from nasadvisor.domain.evidence.measuring.measurement import Measurement
from nasadvisor.domain.evidence.measuring.probing import CandidateRecord, ProbeRecord
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.change.chain import BrokenChain, chained_line, verified
from nasadvisor.host.change.journal import JournalUnwritable, sync_directory, write_whole
from nasadvisor.host.errors import HostError
from nasadvisor.stored.documents import DocumentError, from_json, to_json

T = TypeVar("T", ProbeRecord, CandidateRecord)

SUFFIXES: Final[dict[type[ProbeRecord] | type[CandidateRecord], str]] = {
    ProbeRecord: ".probe.json",
    CandidateRecord: ".candidate.json",
}


class RecordDamaged(HostError):  # noqa: N818 - named for what happened
    """A record cannot be read, so what it names has to be removed by hand."""

    def __init__(self, path: Path, problem: str) -> None:
        template = _(
            "The record {path} of an interrupted measurement cannot be read: {problem}. Look for datasets named "
            "nasadvisor-probe-… with `zfs list`, and for slices without a pool; then remove the file."
        )
        super().__init__(template, path=str(path), problem=problem)


@dataclass(frozen=True)
class Leftovers:
    """The records in one directory."""

    directory: Path

    def write(self, record: ProbeRecord | CandidateRecord) -> None:
        """Make a record durable, all of it or nothing.

        Raises:
            JournalUnwritable: it could not be written; then nothing may be made.
        """
        write_whole(self._path(record), chained_line(b"", to_json(record)).decode())

    def remove(self, record: ProbeRecord | CandidateRecord) -> None:
        """Forget a record: what it names is gone."""
        self._path(record).unlink(missing_ok=True)
        sync_directory(self.directory)

    def probes(self) -> tuple[ProbeRecord, ...]:
        """Probes that were not cleaned up, without those whose records are damaged."""
        return self._readable(ProbeRecord)

    def candidates(self) -> tuple[CandidateRecord, ...]:
        """Tests of SSDs that were not cleaned up, without those whose records are damaged."""
        return self._readable(CandidateRecord)

    def refuse_damaged(self, kind: type[T]) -> None:
        """What comes after all the others were cleaned up.

        Raises:
            RecordDamaged: one of them cannot be read.
        """
        for path in self._paths(kind):
            _read(kind, path)

    def _readable(self, kind: type[T]) -> tuple[T, ...]:
        found = []
        for path in self._paths(kind):
            with suppress(RecordDamaged):
                found.append(_read(kind, path))
        return tuple(found)

    def _path(self, record: ProbeRecord | CandidateRecord) -> Path:
        return self.directory / f"{record.id}{SUFFIXES[type(record)]}"

    def _paths(self, kind: type[ProbeRecord] | type[CandidateRecord]) -> list[Path]:
        return sorted(self.directory.glob(f"*{SUFFIXES[kind]}"))


def _read(kind: type[T], path: Path) -> T:
    try:
        data = path.read_bytes()
        lines = [payload for _, payload in verified(data if data.endswith(b"\n") else data + b"\n")]
        return from_json(kind, b"\n".join(lines).decode())
    except (OSError, BrokenChain, UnicodeDecodeError, DocumentError) as error:
        raise RecordDamaged(path, str(error)) from error


class MeasuredBefore(HostError):  # noqa: N818 - named for what happened
    """The same order came a second time."""

    def __init__(self, order_id: str) -> None:
        super().__init__(_("The request {id} has already been accepted; each request is measured once."), id=order_id)


def claim_order(directory: Path, order_id: str) -> None:
    """Take an order up: its file is made, empty, and only once.

    Raises:
        MeasuredBefore: it was taken up before.
        JournalUnwritable: the directory is read-only or full.
    """
    path = directory / f"{order_id}.json"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        raise MeasuredBefore(order_id) from None
    except OSError as error:
        raise JournalUnwritable(path, error) from error


def keep_measurement(directory: Path, found: Measurement) -> None:
    """Keep one.

    Raises:
        JournalUnwritable: the directory is read-only or full.
    """
    write_whole(directory / f"{found.order.id}.json", to_json(found))


def kept_measurements(directory: Path) -> tuple[Measurement, ...]:
    """All of them, oldest first; without those that failed and those that another release wrote in another form."""
    found = []
    for path in directory.glob("*.json"):
        try:
            found.append(from_json(Measurement, path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, DocumentError):
            continue
    return tuple(sorted(found, key=lambda each: each.probe.at))
