"""Journals that were changed, cut, lost or mixed up: never read as another run, and hiding none of the others."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import Kept, Record, Run
from nasadvisor.domain.change.unreadable_runs import Unreadable, partuuids_of
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.chain import BrokenChain, payload_of, verified
from nasadvisor.host.change.journal import FILE_NAME, Journal, JournalDamaged, RunUnknown, create_journal
from nasadvisor.host.change.runs import RunList, apply_plan, finish_run, list_runs, show_run, undo_run
from nasadvisor.host.change.trials import TrialWatch, keep_run
from nasadvisor.host.errors import MachineUnreadable
from tests.unit.host.change.conftest import WISH, Bench, Killed, rechained
from tests.unit.machines import NVME1, TANK

AT = "2026-08-25T20:00:00.000+00:00"


@pytest.fixture
def recorded(bench: Bench) -> Path:
    """The journal of a run that was applied and undone."""
    apply_plan(bench.host, bench.plan(), "anna", bench.watch)
    undo_run(bench.host, "run-1", "anna", bench.watch)
    return bench.host.journals / "run-1" / FILE_NAME


def payloads(data: bytes) -> list[bytes]:
    return [payload for _, payload in verified(data)]


def is_prefix_or_damage(data: bytes, whole: list[bytes]) -> bool:
    """Whether changed bytes read as damaged, or as the first lines of what was written and no other ones."""
    try:
        found = payloads(data)
    except BrokenChain:
        return True
    return found == whole[: len(found)] and len(found) < len(whole)


def test_every_flipped_bit_of_a_journal_is_damage_or_a_torn_last_line(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(PlanRequest(TANK, cache_disks=(NVME1,))), "anna", bench.watch)
    data = (bench.host.journals / "run-1" / FILE_NAME).read_bytes()
    whole = payloads(data)
    for position in range(len(data)):
        for bit in range(8):
            flipped = data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]
            assert is_prefix_or_damage(flipped, whole), (position, bit)


def test_every_truncation_of_a_journal_is_a_torn_last_line_or_its_first_lines(recorded: Path) -> None:
    data = recorded.read_bytes()
    whole = payloads(data)
    for length in range(len(data)):
        assert payloads(data[:length]) == whole[: data[:length].count(b"\n")]


def test_what_reads_after_a_flipped_bit_is_the_run_as_it_was_after_an_earlier_record(
    bench: Bench, recorded: Path
) -> None:
    data = recorded.read_bytes()
    earlier = [Journal(recorded.parent).read()[:length] for length in range(1, data.count(b"\n") + 1)]
    for position in range(0, len(data), 97):
        recorded.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        for found in list_runs(bench.host).runs:
            assert Journal(recorded.parent).read() in earlier
            assert found.id == "run-1"


def test_lines_that_are_lost_doubled_or_swapped_are_damage(recorded: Path) -> None:
    lines = recorded.read_bytes().splitlines(keepends=True)
    for number in range(len(lines) - 1):
        lost = [*lines[:number], *lines[number + 1 :]]
        doubled = [*lines[: number + 1], *lines[number:]]
        swapped = [*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]
        for changed in (lost, doubled, swapped):
            with pytest.raises(BrokenChain):
                payloads(b"".join(changed))


def test_a_line_without_a_digest_is_damage(recorded: Path) -> None:
    lines = recorded.read_bytes().splitlines(keepends=True)
    for before in (0, 3):
        with pytest.raises(BrokenChain):
            payloads(b"".join([*lines[:before], payload_of(lines[before])]))


Change = Callable[[Path, list[bytes]], None]


def lose_first(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"".join(lines[1:]))


def swap_first(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))


def double_first(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"".join([lines[0], *lines]))


def empty(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"")


def all_nul(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(bytes(sum(map(len, lines))))


def nul_lines(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"\0\n" * 5)


def cut_in_first(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(lines[0][:100])


def not_utf8(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"\xff\xfe\n" + b"".join(lines[1:]))


def endless(path: Path, lines: list[bytes]) -> None:
    os.truncate(path, 2**40)  # sparse: it takes no room


def a_directory(path: Path, lines: list[bytes]) -> None:
    path.unlink()
    path.mkdir()


def a_link_to_nowhere(path: Path, lines: list[bytes]) -> None:
    path.unlink()
    path.symlink_to("/nowhere/at/all")


def of_another_run(path: Path, lines: list[bytes]) -> None:
    path.write_bytes((path.parents[1] / "run-2" / FILE_NAME).read_bytes())


@pytest.mark.parametrize(
    ("change", "plan_is_known"),
    [
        (lose_first, False),
        (swap_first, True),
        (double_first, True),
        (empty, False),
        (all_nul, False),
        (nul_lines, False),
        (cut_in_first, False),
        (not_utf8, False),
        (endless, False),
        (a_directory, False),
        (a_link_to_nowhere, False),
        (of_another_run, True),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_damaged_journal_is_listed_with_what_is_known_and_hides_no_other_run(
    bench: Bench, recorded: Path, change: Change, plan_is_known: bool
) -> None:
    apply_plan(bench.host, bench.plan(replace(WISH, cache_disks=()), "run-2"), "root", bench.watch)
    change(recorded, recorded.read_bytes().splitlines(keepends=True))
    found = list_runs(bench.host)
    assert [run.id for run in found.runs] == ["run-2"]
    [lost] = found.unreadable
    assert (lost.id, lost.node, lost.state) == ("run-1", "nas", Unreadable.DAMAGED)
    assert (lost.pool_name == "tank") is plan_is_known
    assert bool(lost.partuuids) is plan_is_known
    assert "neither finished nor undone, and nothing was changed now" in str(lost.problem)
    assert "`zpool status" in str(lost.problem)


def test_what_is_known_is_the_plan(bench: Bench, recorded: Path) -> None:
    plan = bench.plan()
    swap_first(recorded, recorded.read_bytes().splitlines(keepends=True))
    [lost] = list_runs(bench.host).unreadable
    assert (lost.pool_guid, lost.by, lost.partuuids) == (plan.request.pool_guid, "anna", partuuids_of(plan))
    assert all(partuuid in str(lost.problem) for partuuid in lost.partuuids)


def test_what_the_host_still_shows_of_it_is_said(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(), "anna", bench.watch)
    journal = bench.host.journals / "run-1" / FILE_NAME
    kept = journal.read_bytes()
    double_first(journal, kept.splitlines(keepends=True))
    [lost] = list_runs(bench.host, bench.executor.inventory).unreadable
    assert "The host still shows these traces of it: partition 1 on" in str(lost.said)
    assert "in pool tank" in str(lost.said)
    journal.write_bytes(kept)
    undo(bench)
    double_first(journal, journal.read_bytes().splitlines(keepends=True))
    [lost] = list_runs(bench.host, bench.executor.inventory).unreadable
    assert "The host now shows no trace of it" in str(lost.said)


def test_a_host_that_cannot_be_read_does_not_hide_that_a_journal_is_damaged(bench: Bench, recorded: Path) -> None:
    def blind() -> Inventory:
        raise MachineUnreadable("udev", "gone")

    swap_first(recorded, recorded.read_bytes().splitlines(keepends=True))
    [lost] = list_runs(bench.host, blind).unreadable
    assert (lost.pool_name, lost.left, lost.said) == ("tank", None, lost.problem)


def test_a_journal_that_the_disk_does_not_give_is_damaged(
    bench: Bench, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: Path) -> bytes:
        raise OSError(5, os.strerror(5))

    monkeypatch.setattr(Path, "read_bytes", broken)
    [lost] = list_runs(bench.host).unreadable
    assert "Input/output error" in str(lost.problem)


def undo(bench: Bench) -> Run:
    return undo_run(bench.host, "run-1", "root", bench.watch)


def finish(bench: Bench) -> Run:
    return finish_run(bench.host, "run-1", "root", bench.watch)


def keep(bench: Bench) -> Run:
    return keep_run(bench.host, "run-1", "root")


def show(bench: Bench) -> Run:
    return show_run(bench.host, "run-1")


@pytest.mark.parametrize("act", [show, undo, finish, keep])
@pytest.mark.parametrize("change", [lose_first, double_first, empty, all_nul, a_directory, of_another_run])
def test_a_damaged_run_is_refused_and_neither_the_host_nor_the_journal_changes(
    bench: Bench, act: Callable[[Bench], Run], change: Change
) -> None:
    apply_plan(bench.host, bench.plan(), "anna", bench.watch)
    path = bench.host.journals / "run-1" / FILE_NAME
    (bench.host.journals / "run-2").mkdir()
    other = rechained(path.read_text().replace("run-1", "run-2"))
    (bench.host.journals / "run-2" / FILE_NAME).write_bytes(other)
    change(path, path.read_bytes().splitlines(keepends=True))
    before = bench.executor.inventory(), path.read_bytes() if path.is_file() else None
    with pytest.raises(JournalDamaged):
        act(bench)
    assert (bench.executor.inventory(), path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("change", [lose_first, empty, all_nul, a_directory, a_link_to_nowhere])
def test_a_damaged_journal_ends_no_trial_and_hinders_none(bench: Bench, recorded: Path, change: Change) -> None:
    change(recorded, recorded.read_bytes().splitlines(keepends=True))
    apply_plan(bench.host, bench.plan(replace(WISH, cache_disks=()), "run-2"), "root", bench.watch, 60)
    later = replace(bench.host, clock=lambda: bench.host.clock().replace(year=2027))
    assert TrialWatch(later).due() == ("run-2",)


def test_a_run_whose_first_record_was_torn_never_began(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = create_journal(bench.host.journals, "run-1")

    def die(_: int) -> None:
        raise Killed

    monkeypatch.setattr(os, "fsync", die)
    with pytest.raises(Killed):
        journal.append(Kept(AT, "anna"))
    monkeypatch.undo()
    assert list_runs(bench.host) == RunList((), ())
    for act in (show, undo, finish):
        with pytest.raises(RunUnknown):
            act(bench)


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every place in a document where a text or a number stands."""
    keys = document.keys() if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    here = [(document, key) for key in keys if type(document[key]) in (str, int)]
    return here + [place for key in keys for place in places(document[key])]


VALUES = st.one_of(
    st.sampled_from(["", "2026-08-25", "2026-08-25T20:00:00", "9999-12-31T23:59:59+00:00", "{x}", "undo"]),
    st.sampled_from([0, -1, 1, 2**62, 60]),
)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_a_journal_says_it_is_listed_or_damaged(bench: Bench, data: st.DataObject) -> None:
    path = bench.host.journals / "run-1" / FILE_NAME
    if not path.exists():
        apply_plan(bench.host, bench.plan(), "anna", bench.watch, 60)
        path.with_name("kept").write_bytes(b"\n".join(payload_of(line) for line in path.read_bytes().splitlines()))
    records = [json.loads(line) for line in path.with_name("kept").read_text().splitlines()]
    parent, key = data.draw(st.sampled_from(places(data.draw(st.sampled_from(records)))))
    parent[key] = data.draw(VALUES)
    path.write_bytes(rechained("\n".join(map(json.dumps, records))))
    found = list_runs(bench.host)
    assert len(found.runs) + len(found.unreadable) == 1
    TrialWatch(bench.host).due()


def test_a_record_of_every_kind_is_kept(bench: Bench, recorded: Path) -> None:
    records: tuple[Record, ...] = Journal(recorded.parent).read()
    assert {record.record for record in records} == {"started", "intent", "table-left", "done", "ended", "continued"}
