"""The write-ahead record of a run: one directory a run, one line a record, durable before anything happens.

Each line carries a digest chained to the one before (`nasadvisor.host.change.chain`). A line counts once it ends with a
newline. A torn last line is what a crash leaves; it is dropped on reading and cut off before the next record is
written. The first record is written beside and then given its name, so a journal without a whole record is no trace of
a crash either. Anything else that does not verify or parse is damage, and said so.
"""

import errno
import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.runs import Record, Run, fold
from nasadvisor.domain.change.unreadable_runs import Unreadable, UnreadableRun, unreadable_run, what_is_known
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import MIB
from nasadvisor.host.change.chain import NOT_VERIFIED, BrokenChain, chained_line, payload_of, verified, whole_lines
from nasadvisor.host.errors import HostError
from nasadvisor.stored.documents import DocumentError, NewerForm, from_json, to_json

FILE_NAME: Final = "journal.jsonl"
DRAFT_NAME: Final = "journal.draft"
"""A journal before its first record is durable."""

RESERVE_NAME: Final = "reserve"
RESERVE_BYTES: Final = MIB
"""Kept allocated while a run goes on, so that a disk that fills up in the middle can still take its last records. A
journal is about 100 KiB: a plan, two table images of 45 KiB, and the answers of a dozen commands."""

MAX_BYTES: Final = 64 * MIB
"""What is larger is no journal of ours, and is not read into memory."""

NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)
DISK_FULL: Final = Statement("disk-full", _("the disk is full"))


class RunExists(HostError):  # noqa: N818 - named for what happened
    """The plan was applied before."""

    def __init__(self, run_id: str) -> None:
        template = _(
            "The plan {run} has already been applied; a plan runs only once. Nothing was changed. Create a new plan."
        )
        super().__init__(template, run=run_id)


class RunUnknown(HostError):  # noqa: N818
    """There is no journal for this run."""

    def __init__(self, run_id: str) -> None:
        super().__init__(_("This host has no run {run}. `nasadvisor runs` lists the runs."), run=run_id)


class JournalUnwritable(HostError):  # noqa: N818
    """The journal cannot be kept, so nothing may be done."""

    reason: str | Statement

    def __init__(self, path: Path, error: OSError) -> None:
        self.reason = DISK_FULL if error.errno in NO_SPACE else (error.strerror or str(error))
        template = _(
            "The journal at {path} cannot be written: {reason}. Without it, NAS Advisor could not clean up after a "
            "crash, so nothing more is done. Free some space or make the directory writable, then try again."
        )
        super().__init__(template, path=str(path), reason=self.reason)


class RunStopped(JournalUnwritable):
    """The journal of a run that has begun cannot be kept any more."""

    def __init__(self, path: Path, reason: str | Statement) -> None:
        template = _(
            "The journal {path} can no longer be written: {reason}. The run {run} therefore stops here, and its "
            "changes stay as they are; the pool keeps working. Free some space or repair the disk, then undo the run "
            "with `nasadvisor undo {run}`."
        )
        HostError.__init__(self, template, path=str(path), reason=reason, run=path.parent.name)


class JournalsUnreadable(HostError):  # noqa: N818
    """Whether there are runs cannot be seen."""

    def __init__(self, path: Path, error: OSError) -> None:
        template = _(
            "The journals in {path} cannot be read: {problem}. It is therefore unknown which runs exist. Nothing was "
            "changed. See the kernel log (dmesg): the disk with that directory may be failing."
        )
        super().__init__(template, path=str(path), problem=error.strerror or str(error))


class RecordUnreadable(JournalUnwritable):
    """A record that no reader of the journal would take: a mistake in this program."""

    def __init__(self, path: Path, problem: str) -> None:
        template = _(
            "The record of the run would not be readable again in the journal at {path}: {problem}. It was therefore "
            "not written, and nothing more is done. Please report it."
        )
        HostError.__init__(self, template, path=str(path), problem=problem)


class JournalUnreadable(HostError):  # noqa: N818
    """A journal that cannot be read. `readable` are the records in it that parse, verified or not: for people only."""

    state: Unreadable

    def __init__(self, path: Path, template: str, readable: tuple[Record, ...], **values: str | Statement) -> None:
        self.path = path
        self.readable = readable
        super().__init__(template, path=str(path), known=what_is_known(readable), **values)

    def told_of(self, node: str, inventory: Inventory | None) -> UnreadableRun:
        """What is still known of the run; with an inventory, also what the host shows of it."""
        return unreadable_run(self.path.parent.name, node, self.state, self.statement, self.readable, inventory)


class JournalDamaged(JournalUnreadable):
    """The journal holds something that is not a record, or not what was written."""

    state = Unreadable.DAMAGED

    def __init__(self, path: Path, place: Statement, problem: str | Statement, readable: tuple[Record, ...]) -> None:
        template = _(
            "The journal {path} is damaged {place}: {problem}. It is therefore uncertain what this run did: it is "
            "neither finished nor undone, and nothing was changed now. {known} `nasadvisor runs` shows the remains of "
            "the run on the host. Restore the journal from a backup, or remove these remains by hand: `zpool remove` "
            "removes a log or a cache and keeps the pool's data. If the host failed at the very moment in which the "
            "run began, the run left nothing."
        )
        super().__init__(path, template, readable, place=place, problem=problem)


class JournalOfNewerRelease(JournalUnreadable):
    """The journal was kept by a later release of NAS Advisor."""

    state = Unreadable.NEWER

    def __init__(self, path: Path, readable: tuple[Record, ...]) -> None:
        template = _(
            "The journal {path} was written by a newer release of NAS Advisor, and this release cannot read it. The "
            "run was left unchanged. {known} Update NAS Advisor on this host; then you can finish or undo the run."
        )
        super().__init__(path, template, readable)


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
            RecordUnreadable: it could not be read again; nothing was written.
        """
        text = to_json(record)
        try:
            _record(text.encode())
        except DocumentError as error:
            raise RecordUnreadable(self.path, str(error)) from error
        try:
            self._write(text)
        except OSError as error:
            if error.errno not in NO_SPACE or not self._gave_space():
                raise JournalUnwritable(self.path, error) from error
            self.append(record)

    def read(self) -> tuple[Record, ...]:
        """Every durable record, in order; at least one.

        Raises:
            RunUnknown: there is no such journal.
            JournalOfNewerRelease: a later release kept it.
            JournalDamaged: a line in it is not what was written, or there is none.
        """
        data = self._bytes()
        records: list[Record] = []
        try:
            for number, payload in verified(data):
                records.append(self._parse(number, payload, data))
        except BrokenChain as error:
            raise self._damaged(in_line(error.line), NOT_VERIFIED, data) from error
        if not records:
            raise self._damaged(AS_A_WHOLE, HOLDS_NOTHING, data)
        return tuple(records)

    def read_run(self, node: str) -> tuple[tuple[Record, ...], Run]:
        """Every durable record, and the run that they tell of.

        Raises:
            RunUnknown, JournalOfNewerRelease
            JournalDamaged: also if its records do not tell of this one run.
        """
        records = self.read()
        try:
            run = fold(records, node)
        except ValueError as error:
            raise JournalDamaged(self.path, AS_A_WHOLE, str(error).removesuffix("."), records) from error
        if run.id != self.directory.name:
            raise JournalDamaged(self.path, AS_A_WHOLE, OF_ANOTHER_RUN, records)
        return records, run

    def release_reserve(self) -> None:
        """Give back the space that was kept for the run."""
        with suppress(OSError):  # it costs space and nothing else
            (self.directory / RESERVE_NAME).unlink()

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
        """Remove a journal that never got its first record, so that the plan can be tried again.

        Where even that fails it stays, and tells of a run that changed nothing.
        """
        with suppress(OSError):
            for path in self.directory.iterdir():
                path.unlink()
            self.directory.rmdir()

    def _write(self, text: str) -> None:
        is_first = not _may_be_there(self.path)
        path = self.directory / DRAFT_NAME if is_first else self.path
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            before = b"" if is_first else _whole_part(descriptor)
            _write_line(descriptor, chained_line(before, text), len(before))
        finally:
            with suppress(OSError):  # what was synced is there whatever close(2) says
                os.close(descriptor)
        if is_first:
            path.rename(self.path)
            # The record stands in the journal by now, so it is not written once more.
            try:
                sync_directory(self.directory)
            except OSError as error:
                raise JournalUnwritable(self.path, error) from error

    def _gave_space(self) -> bool:
        try:
            (self.directory / RESERVE_NAME).unlink()
        except OSError:
            return False
        return True

    def _bytes(self) -> bytes:
        if not _may_be_there(self.path):
            raise RunUnknown(self.directory.name)
        try:
            if self.path.stat().st_size > MAX_BYTES:
                raise JournalDamaged(self.path, AS_A_WHOLE, TOO_LARGE, ())
            return self.path.read_bytes()
        except OSError as error:
            raise JournalDamaged(self.path, AS_A_WHOLE, error.strerror or str(error), ()) from error

    def _parse(self, number: int, payload: bytes, data: bytes) -> Record:
        try:
            return _record(payload)
        except NewerForm as error:
            raise JournalOfNewerRelease(self.path, _readable(data)) from error
        except (DocumentError, UnicodeDecodeError) as error:
            raise self._damaged(in_line(number), str(error), data) from error

    def _damaged(self, place: Statement, problem: str | Statement, data: bytes) -> JournalDamaged:
        return JournalDamaged(self.path, place, problem, _readable(data))


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
    except OSError as error:
        if isinstance(error, FileExistsError) and _may_be_there(journal.directory):
            raise RunExists(run_id) from None
        raise JournalUnwritable(journal.directory, error) from error
    try:
        sync_directory(root)
        journal.keep_reserve()
    except OSError as error:
        journal.discard()
        raise JournalUnwritable(journal.directory, error) from error
    except JournalUnwritable:
        journal.discard()
        raise
    return journal


def open_journal(root: Path, run_id: str) -> Journal:
    """The journal of an earlier run.

    Raises:
        RunUnknown: there is none.
    """
    journal = Journal(root / run_id)
    if "/" in run_id or run_id in ("", ".", "..") or not _may_be_there(journal.path):
        raise RunUnknown(run_id)
    return journal


def run_ids(root: Path) -> tuple[str, ...]:
    """The ids of all runs that have a journal, whatever it is by now, in no particular order.

    Raises:
        JournalsUnreadable: the directory cannot be read, so nobody knows whether there are any.
    """
    try:
        return tuple(entry.name for entry in root.iterdir() if _may_be_there(entry / FILE_NAME))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise JournalsUnreadable(root, error) from error


def write_whole(path: Path, text: str) -> None:
    """Make a small file durable, all of it or nothing.

    Raises:
        JournalUnwritable: it could not be written; what was there before still is.
    """
    draft = path.with_suffix(".draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
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


def _may_be_there(path: Path) -> bool:
    """Whether something is there; what cannot be looked at is not taken for absent: it would be written over."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _write_line(descriptor: int, line: bytes, at: int) -> None:
    """Make a line durable at this place, or leave nothing of it.

    After an fsync(2) that failed, the kernel may call pages written that are not, and a second one succeeds. So the
    line does not stay, and the next is written anew.

    Raises:
        OSError
    """
    with ExitStack() as back:
        back.callback(_cut, descriptor, at)
        os.ftruncate(descriptor, at)
        if os.pwrite(descriptor, line, at) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
        back.pop_all()


def _cut(descriptor: int, at: int) -> None:
    with suppress(OSError):  # then it stays, and is as true as the others
        os.ftruncate(descriptor, at)


def _whole_part(descriptor: int) -> bytes:
    """What a journal holds up to its last newline."""
    data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    return data[: data.rfind(b"\n") + 1]


def _record(payload: bytes) -> Record:
    return from_json(Record, payload.decode())  # type: ignore[arg-type]


def _readable(data: bytes) -> tuple[Record, ...]:
    """The records in a damaged journal that parse, whether their lines verify or not."""
    records = []
    for line in whole_lines(data):
        with suppress(DocumentError, UnicodeDecodeError):
            records.append(_record(payload_of(line)))
    return tuple(records)


def in_line(number: int) -> Statement:
    """Where a journal is damaged."""
    return Statement("in-line", _("in line {line}"), {"line": str(number)})


AS_A_WHOLE: Final = Statement("as-a-whole", _("as a whole"))
TOO_LARGE: Final = Statement("too-large", _("it is larger than any journal that is written"))
HOLDS_NOTHING: Final = Statement("holds-nothing", _("it contains no complete record"))
OF_ANOTHER_RUN: Final = Statement("of-another-run", _("it is the journal of another run"))
