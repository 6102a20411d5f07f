"""The files of a journal: who may read them, what is there when something fails, and how that is told."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from nasadvisor.domain.change.runs import Ended, Goal, Intent, Kept, Record, RunState, Started
from nasadvisor.domain.change.unreadable_runs import Unreadable, partuuids_of, what_is_known
from nasadvisor.domain.units import MIB
from nasadvisor.host.change import journal as journal_module
from nasadvisor.host.change.chain import NOT_VERIFIED
from nasadvisor.host.change.journal import (
    AS_A_WHOLE,
    DISK_FULL,
    DRAFT_NAME,
    FILE_NAME,
    HOLDS_NOTHING,
    MAX_BYTES,
    OF_ANOTHER_RUN,
    RESERVE_BYTES,
    RESERVE_NAME,
    TOO_LARGE,
    Journal,
    JournalDamaged,
    JournalOfNewerRelease,
    JournalsUnreadable,
    JournalUnwritable,
    RecordUnreadable,
    RunExists,
    RunStopped,
    RunUnknown,
    create_journal,
    in_line,
    open_journal,
    run_ids,
    sync_directory,
    write_whole,
)
from tests.unit.host.change.conftest import rechained
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for

AT = "2026-08-25T20:00:00.000+00:00"
PLAN = plan_for(MIRROR_AND_CACHES, home_server())
START = Started(AT, Goal.APPLY, PLAN, "anna")
FIRST, LAST = Intent(AT, Goal.APPLY, 0), Ended(AT, RunState.APPLIED)


@pytest.fixture(autouse=True)
def nobodys_umask() -> Iterator[None]:
    """Modes come from the program and not from who started it."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return create_journal(tmp_path / "state" / "runs", PLAN.id)


def failing(error: int, message: str | None = None) -> Callable[..., int]:
    def fail(*_: object, **__: object) -> int:
        raise OSError(error, os.strerror(error)) if message is None else OSError(message)

    return fail


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(journal: Journal) -> set[str]:
    return {path.name for path in journal.directory.iterdir()}


# Making one


def test_only_root_may_look_into_a_journal(journal: Journal) -> None:
    journal.append(START)
    assert [mode(path) for path in (journal.directory.parent, journal.directory)] == [0o700, 0o700]
    assert [mode(journal.directory / name) for name in (FILE_NAME, RESERVE_NAME)] == [0o600, 0o600]


def test_a_new_journal_has_its_reserve_and_nothing_else(journal: Journal) -> None:
    assert names(journal) == {RESERVE_NAME}
    reserve = (journal.directory / RESERVE_NAME).stat()
    assert (reserve.st_size, RESERVE_BYTES) == (MIB, MIB)
    assert reserve.st_blocks * 512 >= MIB


def test_a_new_journal_is_durable_in_the_directory_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(journal_module, "sync_directory", synced.append)
    create_journal(tmp_path, "run-1")
    assert synced == [tmp_path]


def test_where_no_space_can_be_kept_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "posix_fallocate", failing(errno.ENOSPC))
    with pytest.raises(JournalUnwritable) as caught:
        create_journal(tmp_path, "run-1")
    assert caught.value.statement.values == {"path": str(tmp_path / "run-1" / RESERVE_NAME), "reason": DISK_FULL}
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_there_already_is_named(journal: Journal) -> None:
    with pytest.raises(RunExists) as caught:
        create_journal(journal.directory.parent, PLAN.id)
    assert caught.value.statement.values == {"run": PLAN.id}


@pytest.mark.parametrize("below", ["file", "file/runs"])
def test_a_directory_that_cannot_be_made_is_named_and_not_called_a_run(tmp_path: Path, below: str) -> None:
    """A file stands in its way."""
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalUnwritable) as caught:
        create_journal(tmp_path / below, "run-1")
    assert caught.value.statement.values["path"] == str(tmp_path / below / "run-1")


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_or_quota_that_is_full_is_called_so(journal: Journal, error: int) -> None:
    values = JournalUnwritable(journal.path, OSError(error, "x")).statement.values
    assert values == {"path": str(journal.path), "reason": DISK_FULL}


def test_any_other_reason_is_told_as_the_system_tells_it(journal: Journal) -> None:
    assert JournalUnwritable(journal.path, OSError(5, "broken")).statement.values["reason"] == "broken"
    assert JournalUnwritable(journal.path, OSError("no number")).statement.values["reason"] == "no number"


# Writing records


def test_the_first_record_is_written_beside_and_then_named(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: seen.append(names(journal)))
    journal.append(START)
    journal.append(LAST)
    assert seen == [{DRAFT_NAME, RESERVE_NAME}, *[{FILE_NAME, RESERVE_NAME}] * 2]


def test_what_is_left_of_an_earlier_draft_is_written_over(journal: Journal) -> None:
    (journal.directory / DRAFT_NAME).write_bytes(b'{"x": 1}\n' * 10_000)
    journal.append(START)
    assert journal.read() == (START,)
    assert names(journal) == {FILE_NAME, RESERVE_NAME}


def test_a_record_that_no_reader_would_take_is_not_written(journal: Journal) -> None:
    with pytest.raises(RecordUnreadable) as caught:
        journal.append(Kept(AT, 7))  # type: ignore[arg-type]  # a mistake in the program
    assert caught.value.statement.values["path"] == str(journal.path)
    assert "$.by" in str(caught.value.statement.values["problem"])
    assert names(journal) == {RESERVE_NAME}


def test_a_record_that_is_written_in_part_is_taken_back(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.append(START)
    journal.release_reserve()
    before = journal.path.read_bytes()
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, offset: pwrite(descriptor, data[:-1], offset))
    with pytest.raises(JournalUnwritable) as caught:
        journal.append(LAST)
    assert caught.value.statement.values == {"path": str(journal.path), "reason": DISK_FULL}
    assert journal.path.read_bytes() == before


def test_a_disk_that_is_full_without_a_reserve_is_told(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.append(START)
    monkeypatch.setattr(os, "pwrite", failing(errno.ENOSPC))
    with pytest.raises(JournalUnwritable):
        journal.append(LAST)
    assert names(journal) == {FILE_NAME}


def test_the_reserve_is_kept_where_a_disk_fails_for_another_reason(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(START)
    monkeypatch.setattr(os, "pwrite", failing(errno.EIO))
    with pytest.raises(JournalUnwritable) as caught:
        journal.append(LAST)
    assert caught.value.statement.values == {"path": str(journal.path), "reason": os.strerror(errno.EIO)}
    assert names(journal) == {FILE_NAME, RESERVE_NAME}


def open_files() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def test_nothing_stays_open_whatever_fails(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    before = open_files()
    journal.append(START)
    journal.keep_reserve()
    for name in ("fsync", "posix_fallocate"):
        monkeypatch.setattr(os, name, failing(errno.EIO))
    with pytest.raises(JournalUnwritable):
        journal.append(LAST)
    with pytest.raises(JournalUnwritable):
        journal.keep_reserve()
    with pytest.raises(JournalUnwritable):
        write_whole(journal.path, "x")
    with pytest.raises(OSError, match="error"):
        sync_directory(journal.directory)
    assert open_files() == before


def test_a_directory_that_does_not_keep_its_entries_is_told_with_what_stands_in_it(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "sync_directory", failing(errno.EIO))
    with pytest.raises(JournalUnwritable) as caught:
        journal.append(START)
    assert caught.value.statement.values == {"path": str(journal.path), "reason": os.strerror(errno.EIO)}
    assert journal.read() == (START,), "it is written, and not once more"
    with pytest.raises(JournalUnwritable) as caught:
        create_journal(tmp_path, "run-2")
    assert caught.value.statement.values == {"path": str(tmp_path / "run-2"), "reason": os.strerror(errno.EIO)}
    assert not (tmp_path / "run-2").exists()


def test_a_record_that_is_synced_stands_whatever_closing_says(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(START)
    close = os.close

    def fail(descriptor: int) -> None:
        close(descriptor)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "close", fail)
        journal.append(LAST)
    assert journal.read() == (START, LAST)


def test_a_line_that_cannot_be_cut_off_again_does_not_hide_why_it_was_not_written(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(START)
    ftruncate, lengths = os.ftruncate, iter([True, False])

    def once(descriptor: int, length: int) -> None:
        if not next(lengths):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        ftruncate(descriptor, length)

    monkeypatch.setattr(os, "ftruncate", once)
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(JournalUnwritable) as caught:
        journal.append(LAST)
    assert caught.value.reason == os.strerror(errno.EIO)


def test_a_run_that_stops_is_named_with_its_journal_and_the_reason(journal: Journal) -> None:
    stopped = RunStopped(journal.path, DISK_FULL)
    assert stopped.statement.values == {"path": str(journal.path), "reason": DISK_FULL, "run": PLAN.id}
    assert f"undo the run with `nasadvisor undo {PLAN.id}`" in str(stopped)


# The reserve


def test_the_reserve_is_given_back_and_kept_again(journal: Journal) -> None:
    journal.release_reserve()
    assert names(journal) == set()
    journal.release_reserve()
    journal.keep_reserve()
    journal.keep_reserve()
    assert (journal.directory / RESERVE_NAME).stat().st_size == RESERVE_BYTES


def test_half_a_reserve_is_none(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "posix_fallocate", failing(errno.ENOSPC))
    with pytest.raises(JournalUnwritable) as caught:
        journal.keep_reserve()
    assert caught.value.statement.values["path"] == str(journal.directory / RESERVE_NAME)
    assert names(journal) == set()


def test_a_journal_that_never_began_is_removed_with_all_that_is_in_it(journal: Journal) -> None:
    (journal.directory / DRAFT_NAME).write_text("x")
    journal.discard()
    assert not journal.directory.exists()


# Reading


def damage(journal: Journal) -> tuple[object, object, tuple[Record, ...], object]:
    """Place, problem and readable records of the damage, and what is said to be known."""
    with pytest.raises(JournalDamaged) as caught:
        journal.read_run("nas")
    error, values = caught.value, caught.value.statement.values
    assert (error.path, values["path"]) == (journal.path, str(journal.path))
    return values["place"], values["problem"], error.readable, values["known"]


def test_a_run_is_read_with_its_records(journal: Journal) -> None:
    journal.append(START)
    journal.append(FIRST)
    records, run = journal.read_run("other-nas")
    assert records == (START, FIRST)
    assert (run.id, run.node, run.by) == (PLAN.id, "other-nas", "anna")


def test_a_line_that_is_not_what_was_written_is_named_with_what_is_known(journal: Journal) -> None:
    for record in (START, FIRST, LAST):
        journal.append(record)
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(b"".join([lines[0], lines[2]]))
    assert damage(journal) == (in_line(2), NOT_VERIFIED, (START, LAST), what_is_known((START,)))
    assert (in_line(2).code, str(in_line(2))) == ("in-line", "in line 2")


def test_a_line_that_is_no_record_is_named_with_its_problem(journal: Journal) -> None:
    journal.append(START)
    journal.path.write_bytes(journal.path.read_bytes() + rechained('{"x": 1}\n' * 2).splitlines(keepends=True)[0])
    place, problem, readable, _ = damage(journal)
    assert (place, readable) == (in_line(2), (START,))
    journal.path.write_bytes(rechained("{}"))
    place, problem, readable, known = damage(journal)
    assert (place, readable, known) == (in_line(1), (), what_is_known(()))
    assert problem
    assert problem != NOT_VERIFIED


def test_a_line_that_is_no_text_is_damage(journal: Journal) -> None:
    payload = b'{"\xff": 1}'
    link = sha256(sha256().hexdigest().encode() + payload).hexdigest().encode()
    journal.path.write_bytes(link + b" " + payload + b"\n")
    place, problem, readable, _ = damage(journal)
    assert (place, readable) == (in_line(1), ())
    assert "utf-8" in str(problem)


@pytest.mark.parametrize("data", [b"", b"torn"])
def test_a_journal_without_a_whole_record_is_damage(journal: Journal, data: bytes) -> None:
    journal.path.write_bytes(data)
    assert damage(journal)[:3] == (AS_A_WHOLE, HOLDS_NOTHING, ())


def test_records_that_tell_of_no_run_are_damage_as_a_whole(journal: Journal) -> None:
    journal.append(FIRST)
    problem = "The journal does not begin with the start of a run"
    assert damage(journal)[:3] == (AS_A_WHOLE, problem, (FIRST,))


def test_the_journal_of_another_run_is_damage(journal: Journal) -> None:
    journal.append(START)
    moved = Journal(journal.directory.rename(journal.directory.with_name("other")))
    assert damage(moved)[:3] == (AS_A_WHOLE, OF_ANOTHER_RUN, (START,))


def test_what_is_too_large_is_not_read(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.append(START)
    size = journal.path.stat().st_size
    monkeypatch.setattr(journal_module, "MAX_BYTES", size)
    assert journal.read() == (START,)
    monkeypatch.setattr(journal_module, "MAX_BYTES", size - 1)
    assert damage(journal)[:3] == (AS_A_WHOLE, TOO_LARGE, ())


@pytest.mark.parametrize(("beyond", "problem"), [(0, HOLDS_NOTHING), (1, TOO_LARGE)])
def test_a_journal_of_up_to_64_mib_is_read(journal: Journal, beyond: int, problem: object) -> None:
    assert MAX_BYTES == 64 * MIB
    with journal.path.open("wb") as file:
        file.truncate(64 * MIB + beyond)
    assert damage(journal)[1] == problem


def test_a_disk_that_does_not_give_a_journal_is_told_as_the_system_tells_it(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(START)
    monkeypatch.setattr(Path, "read_bytes", failing(errno.EIO))
    assert damage(journal)[:3] == (AS_A_WHOLE, os.strerror(errno.EIO), ())
    monkeypatch.setattr(Path, "read_bytes", failing(0, "no number"))
    assert damage(journal)[:3] == (AS_A_WHOLE, "no number", ())


def test_a_newer_release_is_told_apart_with_what_can_be_read(journal: Journal) -> None:
    for record in (START, FIRST):
        journal.append(record)
    first, second = rechained(journal.path.read_text()).decode().splitlines(keepends=True)
    newer = second.replace('"version": ', '"version": 99')
    journal.path.write_bytes(rechained(first + newer))
    with pytest.raises(JournalOfNewerRelease) as caught:
        journal.read()
    assert caught.value.readable == (START,)
    assert caught.value.statement.values == {"path": str(journal.path), "known": what_is_known((START,))}
    told = caught.value.told_of("nas", None)
    assert (told.id, told.node, told.state, told.left) == (PLAN.id, "nas", Unreadable.NEWER, None)
    assert (told.problem, told.partuuids) == (caught.value.statement, partuuids_of(PLAN))
    shown = caught.value.told_of("nas", home_server())
    assert shown.left
    assert shown.left.code == "run-left-nothing"


# Finding them


@pytest.mark.parametrize("name", ["gone", "", ".", "..", "a/b"])
def test_a_run_without_a_journal_is_named(journal: Journal, name: str) -> None:
    with pytest.raises(RunUnknown) as caught:
        open_journal(journal.directory.parent, name)
    assert caught.value.statement.values == {"run": name}


@pytest.mark.parametrize("name", ["", ".", "..", "../runs/{run}", "./{run}", "{run}/", "{root}/{run}"])
def test_a_name_that_is_a_path_is_no_run_though_a_journal_stands_there(journal: Journal, name: str) -> None:
    root = journal.directory.parent
    journal.append(START)
    for place in (root, root.parent):
        (place / FILE_NAME).write_bytes(journal.path.read_bytes())
    with pytest.raises(RunUnknown):
        open_journal(root, name.format(run=PLAN.id, root=root))


def test_a_run_whose_journal_was_never_named_is_unknown(journal: Journal) -> None:
    with pytest.raises(RunUnknown) as caught:
        journal.read()
    assert caught.value.statement.values == {"run": PLAN.id}
    with pytest.raises(RunUnknown):
        open_journal(journal.directory.parent, PLAN.id)


def test_a_journal_that_is_a_link_to_nowhere_is_one_and_is_found(journal: Journal) -> None:
    journal.path.symlink_to("/nowhere")
    assert run_ids(journal.directory.parent) == (PLAN.id,)
    assert open_journal(journal.directory.parent, PLAN.id) == journal
    assert damage(journal)[0] == AS_A_WHOLE


def test_what_cannot_be_looked_at_is_not_taken_for_absent(journal: Journal) -> None:
    """Else a run whose directory is out of reach would be called unknown, and its plan be applied once more."""
    root = journal.directory.parent
    (root / "loop").symlink_to("loop")
    assert open_journal(root, "loop") == Journal(root / "loop")
    assert run_ids(root) == ("loop",)


def test_a_folder_of_runs_that_cannot_be_read_is_named(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    root = journal.directory.parent
    for error, problem in ((failing(errno.EIO), os.strerror(errno.EIO)), (failing(0, "no number"), "no number")):
        monkeypatch.setattr(Path, "iterdir", error)
        with pytest.raises(JournalsUnreadable) as caught:
            run_ids(root)
        assert caught.value.statement.values == {"path": str(root), "problem": problem}
        assert "Nothing was changed." in str(caught.value)
    journal.discard()  # what cannot be listed cannot be removed either, and that is no error
    assert journal.directory.exists()


def test_only_directories_with_a_journal_are_runs(journal: Journal) -> None:
    root = journal.directory.parent
    (root / "empty").mkdir()
    assert run_ids(root) == ()
    journal.append(START)
    assert run_ids(root) == (PLAN.id,)
    assert run_ids(root / "gone") == ()


# Small files


def test_a_small_file_is_written_as_a_whole_and_only_for_root(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "trial.json"
    write_whole(path, "ä" * 10)
    assert path.read_bytes() == ("ä" * 10).encode()
    assert [mode(each) for each in (path.parent, path)] == [0o700, 0o600]
    write_whole(path, "b")
    assert path.read_text() == "b"
    assert [each.name for each in path.parent.iterdir()] == ["trial.json"]


def test_a_longer_draft_that_was_left_behind_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "trial.draft").write_text("x" * 100)
    write_whole(tmp_path / "trial.json", "b")
    assert (tmp_path / "trial.json").read_text() == "b"


def test_a_small_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trial.json"
    write_whole(path, "before")
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(JournalUnwritable) as caught:
        write_whole(path, "after")
    assert caught.value.statement.values == {"path": str(path), "reason": os.strerror(errno.EIO)}
    assert path.read_text() == "before"


def test_a_small_file_and_its_directory_are_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[bool, str]] = []

    def note(descriptor: int) -> None:
        is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        content = "" if is_directory else (tmp_path / "trial.draft").read_text()
        synced.append((is_directory, content))

    monkeypatch.setattr(os, "fsync", note)
    write_whole(tmp_path / "trial.json", "text")
    assert synced == [(False, "text"), (True, "")]


def test_only_a_directory_is_made_durable_as_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        sync_directory(tmp_path / "file")
