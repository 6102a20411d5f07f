"""Testing a blank SSD: a slice for the time of the test, made and taken back by the executor and its rules.

Nothing decides here what may be written to: the plan is that of a log on this SSD, without its last step, and every
step passes the gate as those of an ordinary run do.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.actions import CreateSlice, CreateTable, Outcome, RestoreTable, SaveTable, Slice
from nasadvisor.domain.change.device_scan import Step
from nasadvisor.domain.change.plan import PlanIds, PlanRefused, PlanRequest, Preparation, make_plan
from nasadvisor.domain.change.refusals import ErasureNotAgreed
from nasadvisor.domain.change.table_area import image_of
from nasadvisor.domain.change.tables import OwnTable, disk_key_of, table_of_steps
from nasadvisor.domain.evidence.log_blocks import CommitTrace, Replayed
from nasadvisor.domain.evidence.measuring.measurement import Begin, Stage
from nasadvisor.domain.evidence.measuring.probing import CandidateRecord, CandidateResult, FioFigures
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import KIB, MIB
from nasadvisor.host.adapters.fio import FioJob, run_fio
from nasadvisor.host.adapters.process import Runner, Tool
from nasadvisor.host.change.apply import against_room
from nasadvisor.host.change.gate import Gate
from nasadvisor.host.change.lock import host_lock
from nasadvisor.host.change.runs import LOCK_WAIT_S, RunHost
from nasadvisor.host.errors import HostError, RulesForbid, ToolMissing
from nasadvisor.host.evidence.measuring.probe import quietly
from nasadvisor.host.evidence.measuring.records import Leftovers
from nasadvisor.host.evidence.measuring.replay import replay_on

JOBS: Final = tuple((block * KIB, writers) for writers in (1, 16) for block in (4, 16, 64, 128))
"""What a log sees: blocks of 4 to 128 KiB, from one program or from many."""

FILL_SHARE: Final = 4
"""The fast cache is filled for as many times as long as one job measures, in two halves that are compared."""


NOT_SHOWN: Final = _("“{step}” reported success, but the host does not show the result.")
STILL_SHOWN: Final = _("“{step}” reported success, but its target is still on the host.")


class CandidateRefused(RulesForbid):
    """A rule forbids the test."""


class SliceStays(HostError):  # noqa: N818 - named for what happened
    """The test's slice could not be taken back."""

    def __init__(self, why: Statement) -> None:
        template = _(
            "The test slice could not be removed: {why} Its record is kept, so the next measurement tries again."
        )
        super().__init__(template, why=why)


@dataclass(frozen=True)
class CandidateHost:
    """Where SSDs are tested: as runs are, with the same locks and the same executor.

    `run_dir` is for what is handed over to the program that replays.
    """

    runs: RunHost
    runner: Runner
    leftovers: Leftovers
    run_dir: Path


def measure_candidate(
    host: CandidateHost,
    request: PlanRequest,
    ids: PlanIds,
    seconds: int,
    begin: Begin = quietly,
    commits: CommitTrace | None = None,
) -> CandidateResult:
    """Measure the SSD of a request for a single log, for `seconds` a job, and replay `commits` on it.

    The pool of the request is not touched.

    Raises:
        HostBusy, CandidateRefused, ToolMissing: nothing was changed.
        HostError: it could not be measured; the slice is gone, or its record stays for the next clean-up.
    """
    if commits and not host.runner.has(Tool.PYTHON):
        raise ToolMissing(Tool.PYTHON, "python3", ("/usr/bin",))
    if not host.runner.has(Tool.FIO):
        raise ToolMissing(Tool.FIO, "fio", ("/usr/bin",))
    with host_lock(host.runs.locks, LOCK_WAIT_S) as descriptors:
        gate = Gate(host.runs.executor(descriptors))
        inventory = gate.inventory()
        actions = _preparation(request, ids, inventory, gate)
        at = host.runs.clock().isoformat(timespec="seconds")
        disk = inventory.disk(request.log_disks[0])
        table = gate.look(actions[0], inventory).table
        images = (image_of(disk, table),) if disk and table else ()
        record = CandidateRecord(ids.plan_id, at, actions, images)
        host.leftovers.write(record)
        try:
            _make(record, inventory, gate)
            made = next(action.slice for action in actions if isinstance(action, CreateSlice))
            runner = host.runner.holding(descriptors)
            measured = _measure(runner, made, seconds, begin)
            again = _replay(runner, made, commits, host.run_dir, begin)
        finally:
            _take_back(record, gate, host.leftovers)
    return CandidateResult(ids.plan_id, made.disk_key, disk.label if disk else "", at, *measured, again)


def clean_up_candidates(host: CandidateHost) -> tuple[str, ...]:
    """Take back what interrupted tests left; the ids of those tests.

    Raises:
        HostBusy: a test or a run is under way, or what it started still runs.
        SliceStays: a rule forbids it, or it failed.
        RecordDamaged: a record cannot be read; the others were cleaned up.
    """
    records = host.leftovers.candidates()
    if records:
        with host_lock(host.runs.locks, LOCK_WAIT_S) as descriptors:
            gate = Gate(host.runs.executor(descriptors))
            for record in host.leftovers.candidates():
                _take_back(record, gate, host.leftovers)
    host.leftovers.refuse_damaged(CandidateRecord)
    return tuple(record.id for record in records)


def _preparation(request: PlanRequest, ids: PlanIds, inventory: Inventory, gate: Gate) -> tuple[Preparation, ...]:
    """Table and slice of a plan that would be allowed as a whole."""
    plan = make_plan(request, inventory, ids)
    if isinstance(plan, PlanRefused):
        raise CandidateRefused(plan.refusals)
    disks = ((inventory.disk(step.disk_key), step.unrecognised_at) for step in plan.erasures)
    erasures = (ErasureNotAgreed(disk, at) for disk, at in disks if disk and at is not None)
    refusals = (*erasures, *against_room(plan, inventory, gate))
    if refusals:
        raise CandidateRefused(refusals)
    return tuple(action for action in plan.actions if isinstance(action, CreateTable | SaveTable | CreateSlice))


def _make(record: CandidateRecord, inventory: Inventory, gate: Gate) -> None:
    for action in record.actions:
        permit = gate.ask(action, inventory, _own_table(record, action))
        if isinstance(permit, Refused):
            raise CandidateRefused((permit,))
        gate.do(permit)
        inventory = gate.inventory()
        if not isinstance(action, SaveTable) and action.landed(inventory) is None:
            raise SliceStays(Statement("not-shown", NOT_SHOWN, {"step": action.describe()}))


def _own_table(record: CandidateRecord, step: Step) -> OwnTable | None:
    """What the test's record knows of the SSD's table: what was there, and what its own steps can have left."""
    image = next((image for image in record.images if image.disk_key == disk_key_of(step)), None)
    return table_of_steps(image, record.actions) if image else None


def _measure(
    runner: Runner, piece: Slice, seconds: int, begin: Begin
) -> tuple[float, float, int, tuple[FioFigures, ...]]:
    """First fill the SSD's fast cache, then measure what a log does."""

    def job(block: int, writers: int, length: int, sync: str) -> FioFigures:
        share = piece.size_bytes // writers // MIB * MIB
        place = (f"--filename={piece.partuuid_path}", "--direct=1", f"--size={share}", f"--offset_increment={share}")
        return run_fio(runner, FioJob(place, block, writers, length, sync))

    halves = []
    for number in (1, 2):
        begin(Stage.FILL, number, 2)
        halves.append(job(MIB, 4, half_of_fill_s(seconds), ""))
    figures = []
    for number, (block, writers) in enumerate(JOBS, 1):
        begin(Stage.TEST, number, len(JOBS))
        figures.append(job(block, writers, seconds, "--fdatasync=1"))
    written = sum(each.operations * each.block_bytes for each in (*halves, *figures))
    return halves[0].bytes_per_s, halves[1].bytes_per_s, written, tuple(figures)


def _replay(
    runner: Runner, piece: Slice, commits: CommitTrace | None, directory: Path, begin: Begin
) -> Replayed | None:
    """What the pool's own commits take, now that the fast cache is full."""
    if commits is None:
        return None
    begin(Stage.REPLAY, 1, 1)
    return replay_on(runner, commits, piece.partuuid_path, directory)


def half_of_fill_s(seconds: int) -> int:
    """How long each half of filling the fast cache takes, for so many seconds a job."""
    return max(seconds * FILL_SHARE // 2, 1)


def _take_back(record: CandidateRecord, gate: Gate, leftovers: Leftovers) -> None:
    """Undo the recorded actions, the last first; each is looked up before and after."""
    inventory = gate.inventory()
    for undo in (undo for action in reversed(record.actions) for undo in action.undo(Outcome())):
        if undo.gone(inventory):
            continue
        permit = gate.ask(undo, inventory, _own_table(record, undo))
        if isinstance(permit, Refused) and isinstance(undo, RestoreTable):
            continue  # somebody else changed the table, or a tool wrote it another way: it stays, without our slice
        if isinstance(permit, Refused):
            raise SliceStays(permit)
        gate.do(permit)
        inventory = gate.inventory()
        if not isinstance(undo, RestoreTable) and not undo.gone(inventory):
            raise SliceStays(Statement("still-shown", STILL_SHOWN, {"step": undo.describe()}))
    leftovers.remove(record)
