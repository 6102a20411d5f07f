"""The write-ahead record of a run: one directory a run, one JSON line a record, durable before anything happens.

A line counts once it ends with a newline. A torn last line is what a crash leaves; it is dropped on reading and cut
off before the next record is written. Anything else that does not parse is damage, and said so.
"""

import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.documents import DocumentError, OtherVersion, from_json, to_json
from nasadvisor.domain.lifecycle import Record
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import MIB
from nasadvisor.host.errors import HostError

FILE_NAME: Final = "journal.jsonl"
RESERVE_NAME: Final = "reserve"
RESERVE_BYTES: Final = MIB
"""Kept allocated while a run goes on, so that a disk that fills up in the middle can still take its last records. A
journal is about 100 KiB: a plan, two table images of 45 KiB, and the answers of a dozen commands."""

DISK_FULL: Final = Statement("disk-full", _("the disk is full"))


class RunExists(HostError):  # noqa: N818 - named for what happened
    """The plan was applied before."""

    def __init__(self, run_id: str) -> None:
        template = _("The plan {run} was applied before; a plan runs once. Nothing was changed. Make a new plan.")
        super().__init__(template, run=run_id)


class RunUnknown(HostError):  # noqa: N818
    """There is no journal for this run."""

    def __init__(self, run_id: str) -> None:
        super().__init__(_("There is no run {run} on this host. `nasadvisor runs` lists them."), run=run_id)


class JournalUnwritable(HostError):  # noqa: N818
    """The journal cannot be kept, so nothing may be done."""

    def __init__(self, path: Path, error: OSError) -> None:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        template = _(
            "The journal at {path} cannot be written: {reason}. Without it a crash could not be cleaned up, so nothing "
            "more is done. Free some space or make the directory writable, then try again."
        )
        super().__init__(template, path=str(path), reason=DISK_FULL if is_full else (error.strerror or str(error)))


class JournalDamaged(HostError):  # noqa: N818
    """The journal holds something that is not a record."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        template = _(
            "The journal {path} is damaged in line {line}: {problem}. The run cannot be finished or undone by itself; "
            "`zpool status` and the plan in the journal's first line show what it made."
        )
        super().__init__(template, path=str(path), line=str(line), problem=problem)


class JournalOfOtherVersion(HostError):  # noqa: N818
    """The journal was kept by another release of NAS Advisor."""

    def __init__(self, path: Path) -> None:
        template = _(
            "The journal {path} was written by another release of NAS Advisor, and this one cannot read it. The run "
            "was left as it is. Finish or undo it with the release that began it; `zpool status` shows what is there."
        )
        super().__init__(template, path=str(path))


@dataclass(frozen=True)
class Journal:
    """The journal of one run."""

    directory: Path

    @property
    def path(self) -> Path:
        """The file of records."""
        return self.directory / FILE_NAME

    def append(self, record: Record) -> None:
        """Make a record durable.

        Raises:
            JournalUnwritable: it could not be written; it is not there then, or only in part at the end.
        """
        line = (to_json(record) + "\n").encode()
        try:
            self._write(line)
        except OSError as error:
            reserve = self.directory / RESERVE_NAME
            if error.errno != errno.ENOSPC or not reserve.exists():
                raise JournalUnwritable(self.path, error) from error
            reserve.unlink()
            self.append(record)

    def read(self) -> tuple[Record, ...]:
        """Every durable record, in order.

        Raises:
            RunUnknown: there is no such journal.
            JournalOfOtherVersion: another release kept it.
            JournalDamaged: a line in it is not a record.
        """
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            raise RunUnknown(self.directory.name) from None
        lines = text.split(b"\n")[:-1]
        return tuple(self._parse(number, line) for number, line in enumerate(lines, 1))

    def release_reserve(self) -> None:
        """Give back the space that was kept for the run."""
        (self.directory / RESERVE_NAME).unlink(missing_ok=True)

    def keep_reserve(self) -> None:
        """Allocate space for the records to come.

        Raises:
            JournalUnwritable: there is none.
        """
        path = self.directory / RESERVE_NAME
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
            finally:
                os.close(descriptor)
        except OSError as error:
            with suppress(OSError):  # a read-only file system does not even answer that it is not there
                path.unlink()
            raise JournalUnwritable(path, error) from error

    def discard(self) -> None:
        """Remove a journal that never got its first record, so that the plan can be tried again."""
        for path in self.directory.iterdir():
            path.unlink()
        self.directory.rmdir()

    def _write(self, line: bytes) -> None:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            end = _end_of_last_line(descriptor)
            os.ftruncate(descriptor, end)
            written = os.pwrite(descriptor, line, end)
            if written != len(line):
                os.ftruncate(descriptor, end)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_directory(self.directory)

    def _parse(self, number: int, line: bytes) -> Record:
        try:
            return from_json(Record, line.decode())  # type: ignore[arg-type]
        except OtherVersion as error:
            raise JournalOfOtherVersion(self.path) from error
        except (DocumentError, UnicodeDecodeError) as error:
            raise JournalDamaged(self.path, number, str(error)) from error


def create_journal(root: Path, run_id: str) -> Journal:
    """A new, empty journal; its directory is the idempotency key of the run.

    Raises:
        RunExists: there is one already.
        JournalUnwritable: the state directory is read-only or full.
    """
    journal = Journal(root / run_id)
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        journal.directory.mkdir(mode=0o700)
        sync_directory(root)
    except FileExistsError:
        raise RunExists(run_id) from None
    except OSError as error:
        raise JournalUnwritable(journal.directory, error) from error
    try:
        journal.keep_reserve()
    except JournalUnwritable:
        journal.directory.rmdir()
        raise
    return journal


def open_journal(root: Path, run_id: str) -> Journal:
    """The journal of an earlier run.

    Raises:
        RunUnknown: there is none.
    """
    journal = Journal(root / run_id)
    if "/" in run_id or run_id in ("", ".", "..") or not journal.path.is_file():
        raise RunUnknown(run_id)
    return journal


def run_ids(root: Path) -> tuple[str, ...]:
    """The ids of all runs that have a journal, in no particular order."""
    if not root.is_dir():
        return ()
    return tuple(entry.name for entry in root.iterdir() if (entry / FILE_NAME).is_file())


def write_whole(path: Path, text: str) -> None:
    """Make a small file durable, all of it or nothing.

    Raises:
        JournalUnwritable: it could not be written; what was there before still is.
    """
    draft = path.with_suffix(".draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise JournalUnwritable(path, error) from error


def sync_directory(path: Path) -> None:
    """Make the entries of a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _end_of_last_line(descriptor: int) -> int:
    """Where the next record begins: behind the last newline."""
    size = os.fstat(descriptor).st_size
    position = size
    while position > 0:
        start = max(0, position - 65536)
        newline = os.pread(descriptor, position - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        position = start
    return 0
