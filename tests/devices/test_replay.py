"""Replaying commits on a real block device: nothing but the slice of the test is written, and afterwards it is gone."""

from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from nasadvisor.domain.change.plan import PlanIds
from nasadvisor.domain.evidence.log_blocks import CommitTrace, LogBlocks
from nasadvisor.domain.evidence.measuring.probing import CandidateResult
from nasadvisor.domain.units import KIB, MIB
from nasadvisor.host.adapters.process import Command, Tool
from nasadvisor.host.errors import CommandFailed
from nasadvisor.host.evidence.measuring.candidate import (
    CandidateHost,
    SliceStays,
    clean_up_candidates,
    measure_candidate,
)
from nasadvisor.host.evidence.measuring.records import Leftovers
from tests.devices.bench import Bench, log_alone
from tests.devices.loops import CHUNK_BYTES, LoopDisk
from tests.devices.machine import TANK, LoopMachine
from tests.devices.runner import Killed

COUNT = 200
BLOCKS = LogBlocks((1000,) * COUNT, (8 * KIB, 16 * KIB) * (COUNT // 2), (3000,) * COUNT)
TRACE = CommitTrace(str(TANK), "tank", "2026-08-25T20:00:00+00:00", 60, True, COUNT, BLOCKS.bytes, BLOCKS)
BESIDE: tuple[int, ...] = (80 * MIB, 120 * MIB)
"""Where somebody left something that no table tells of, behind the slice."""


@pytest.fixture(autouse=True)
def without_fio(machine: LoopMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fio writes is tested in the lab, and it need not be installed here."""
    monkeypatch.setattr("nasadvisor.host.evidence.measuring.candidate._measure", lambda *_: (1.0, 1.0, 0, ()))
    has = type(machine.runner).has
    monkeypatch.setattr(type(machine.runner), "has", lambda self, tool: tool is Tool.FIO or has(self, tool))


def candidate_host(bench: Bench) -> CandidateHost:
    return CandidateHost(bench.host, bench.machine.runner, Leftovers(bench.root / "probes"), bench.root / "run")


def replay_commits(bench: Bench, ssd: LoopDisk) -> CandidateResult:
    wish = log_alone(ssd)
    uuids = tuple(str(uuid4()) for _ in range(PlanIds.uuids_needed(wish)))
    ids = PlanIds("0a1b2c3d", "2026-08-25T20:00:00+00:00", uuids)
    return measure_candidate(candidate_host(bench), wish, ids, 1, commits=TRACE)


def slices(ssd: LoopDisk) -> list[range]:
    """Which bytes of the disk its partitions are."""
    return [range(512 * start, 512 * (start + length)) for _, start, length in ssd.shown()]


def end_of(piece: range) -> int:
    """Up to where the blocks reach, one behind the other."""
    return piece.start + BLOCKS.bytes


@pytest.mark.parametrize("sector_bytes", [512, 4096])
def test_only_the_slice_is_written_and_then_it_is_gone(machine: LoopMachine, bench: Bench, sector_bytes: int) -> None:
    ssd = machine.add_disk(sector_bytes)
    for at in BESIDE:
        ssd.write(at, b"somebody's own".ljust(4096, b"."))
    before, tables, played, pieces = ssd.digest(), dict[int, str](), list[str](), list[range]()

    def look_before(command: Command) -> None:
        if command.tool is Tool.PYTHON:
            pieces.extend(slices(ssd))
            tables.update(ssd.digest())

    def look_after(command: Command) -> None:
        if command.tool is Tool.PYTHON:
            played.extend(ssd.changed(tables))

    machine.runner.hooks.before, machine.runner.hooks.after = look_before, look_after
    found = replay_commits(bench, ssd).replayed
    assert found
    assert (found.blocks, found.written_bytes) == (COUNT, BLOCKS.bytes)
    assert found.p50_ns > 0
    assert found.played_s >= BLOCKS.seconds
    [piece] = pieces
    assert played == [f"{at:#x}-{at + CHUNK_BYTES:#x}" for at in range(piece.start, end_of(piece), CHUNK_BYTES)]
    assert ssd.changed(before) == []
    assert not ssd.shown()


def test_a_kill_while_it_writes_leaves_a_record_by_which_the_slice_goes(
    machine: LoopMachine, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssd = machine.add_disk()

    def kill(command: Command) -> None:
        if command.tool is Tool.PYTHON:
            raise Killed

    machine.runner.hooks.after = kill
    with monkeypatch.context() as dead:
        dead.setattr("nasadvisor.host.evidence.measuring.candidate._take_back", lambda *_: None)
        with pytest.raises(Killed):
            replay_commits(bench, ssd)
    assert ssd.shown()
    machine.runner.hooks.after = lambda _command: None
    assert clean_up_candidates(candidate_host(bench)) == ("0a1b2c3d",)
    assert not ssd.shown()


def test_a_slice_that_somebody_mounts_meanwhile_is_not_written(machine: LoopMachine, bench: Bench) -> None:
    ssd = machine.add_disk()
    with ExitStack() as mounts:

        def mount(command: Command) -> None:
            if command.tool is Tool.PYTHON:
                machine.mkfs(ssd.part_node(1))
                theirs.append(mounts.enter_context(machine.mounted(ssd.part_node(1))))
                content.update(ssd.digest())

        theirs, content = list[Path](), dict[int, str]()
        machine.runner.hooks.before = mount
        with pytest.raises(SliceStays, match="is in use") as raised:
            replay_commits(bench, ssd)
        assert isinstance(raised.value.__context__, CommandFailed)
        assert "busy" in str(raised.value.__context__)
        assert ssd.changed(content) == []
    unmounted = ssd.digest()  # by which ext4 itself wrote, such as the time of it
    with pytest.raises(SliceStays, match="ext4"):
        clean_up_candidates(candidate_host(bench))
    assert ssd.changed(unmounted) == []
