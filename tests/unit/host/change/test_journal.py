"""The journal: durable, torn, damaged, full, read-only."""

import errno
import os
from pathlib import Path

import pytest

from nasadvisor.domain.change.runs import Ended, Goal, Intent, Record, RunState
from nasadvisor.host.change.journal import (
    RESERVE_NAME,
    Journal,
    JournalDamaged,
    JournalOfNewerRelease,
    JournalUnwritable,
    RunExists,
    RunUnknown,
    create_journal,
    open_journal,
    run_ids,
)
from nasadvisor.host.change.runs import apply_plan
from tests.unit.host.change.conftest import WISH, Bench, rechained

FIRST = Intent("2026-08-25T20:00:00.000+00:00", Goal.APPLY, 0)
LAST = Ended("2026-08-25T20:00:01.000+00:00", RunState.APPLIED)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return create_journal(tmp_path, "run-1")


def test_what_was_appended_is_read_again(journal: Journal) -> None:
    journal.append(FIRST)
    journal.append(LAST)
    assert journal.read() == (FIRST, LAST)


@pytest.mark.parametrize("kept", [1, 5, -1])
def test_a_torn_last_line_is_dropped_and_cut_off(journal: Journal, kept: int) -> None:
    journal.append(FIRST)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + whole[:kept])
    assert journal.read() == (FIRST,)
    journal.append(LAST)
    assert journal.read() == (FIRST, LAST)


def test_a_journal_has_its_name_only_with_its_first_record(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(JournalUnwritable):
        journal.append(FIRST)
    monkeypatch.undo()
    with pytest.raises(RunUnknown):
        journal.read()
    assert run_ids(journal.directory.parent) == ()


@pytest.mark.parametrize("line", [b"{}\n", b"\xff\xfe\n", b"null\n", b'{"record": "dance"}\n', b"[" * 5000 + b"\n"])
def test_damage_is_said_with_its_line(journal: Journal, line: bytes) -> None:
    journal.append(FIRST)
    with journal.path.open("ab") as file:
        file.write(line)
    with pytest.raises(JournalDamaged, match="line 2"):
        journal.read()


def test_the_directory_is_the_key(tmp_path: Path, journal: Journal) -> None:
    journal.append(FIRST)
    with pytest.raises(RunExists):
        create_journal(tmp_path, "run-1")
    assert run_ids(tmp_path) == ("run-1",)
    assert open_journal(tmp_path, "run-1") == journal


def test_the_reserve_takes_the_last_records_of_a_full_disk(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwrite
    reserve = journal.directory / RESERVE_NAME
    assert reserve.exists()

    def full_while_reserved(descriptor: int, data: bytes, offset: int) -> int:
        if reserve.exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data, offset)

    monkeypatch.setattr(os, "pwrite", full_while_reserved)
    journal.append(FIRST)
    assert journal.read() == (FIRST,)


def no_space(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_refused_before_anything_is_done(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = bench.executor.state
    monkeypatch.setattr(os, "posix_fallocate", no_space)
    with pytest.raises(JournalUnwritable, match="disk is full"):
        apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert bench.executor.state == before
    monkeypatch.undo()
    assert apply_plan(bench.host, bench.plan(), "root", bench.watch).state is RunState.APPLIED


def test_a_first_record_that_does_not_fit_leaves_the_plan_usable(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwrite", no_space)
    with pytest.raises(JournalUnwritable):
        apply_plan(bench.host, bench.plan(), "root", bench.watch)
    monkeypatch.undo()
    assert apply_plan(bench.host, bench.plan(), "root", bench.watch).state is RunState.APPLIED


def test_a_state_directory_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalUnwritable, match="cannot be written"):
        create_journal(tmp_path / "file" / "runs", "run-1")


def test_a_read_only_state_directory_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*_: object, **__: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    journal = create_journal(tmp_path, "run-1")
    monkeypatch.setattr(os, "open", read_only)
    monkeypatch.setattr(os, "unlink", read_only)
    with pytest.raises(JournalUnwritable, match="Read-only"):
        journal.keep_reserve()


def test_every_record_is_synced_before_append_returns(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_mode))
    journal.append(FIRST)
    assert len(synced) == 2  # the file, then its directory


def test_the_intent_of_every_step_is_durable_before_the_host_changes(bench: Bench) -> None:
    """Never 9: journal before act."""
    order: list[str] = []
    act = bench.executor.do

    def noting(*args: object) -> object:
        records: tuple[Record, ...] = Journal(bench.root / "runs" / "run-1").read()
        order.append(type(records[-1]).__name__)
        return act(*args)  # type: ignore[arg-type]

    bench.executor.do = noting  # type: ignore[method-assign,assignment]
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert order == ["Intent"] * 8


def test_the_first_step_on_a_disk_records_what_its_table_was(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    records = Journal(bench.root / "runs" / "run-1").read()
    images = [record.image.disk_key for record in records if isinstance(record, Intent) and record.image]
    assert images == list(WISH.disks)


def test_a_journal_of_a_newer_release_is_not_called_damaged(journal: Journal) -> None:
    journal.append(FIRST)
    journal.path.write_bytes(rechained(journal.path.read_text().replace('"version": ', '"version": 99')))
    with pytest.raises(JournalOfNewerRelease, match="newer release of NAS Advisor"):
        journal.read()
