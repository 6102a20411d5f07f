"""Each system call of the product fails once, in apply, undo and finish: no run ends in a traceback, or for ever.

Whatever the answer is, the run can be taken back afterwards, and every byte comes back.
"""

import errno
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.host.adapters.blockdev import write_all
from nasadvisor.host.change.journal import RunUnknown
from nasadvisor.host.errors import HostError
from tests.devices.bench import Bench, codes, log_and_cache, told
from tests.devices.loops import LoopDisk
from tests.devices.machine import LoopMachine
from tests.devices.test_kills import blank, in_use, is_as_before
from tests.faults import Faults, faulty

Stretch = Callable[[Plan], Run]
Scene = Callable[[LoopMachine], AbstractContextManager[LoopDisk]]


def plan_on(bench: Bench, ssd: LoopDisk, number: int) -> Plan:
    return bench.plan(log_and_cache(ssd, use_free_extents=True), f"run-{number}")


def end(bench: Bench, plan: Plan, ssd: LoopDisk, before: dict[int, str], where: str) -> str:
    """Take back whatever is there by now; how the run stood before, "not begun" where there is none."""
    try:
        run = bench.show(plan)
    except RunUnknown:
        is_as_before(bench, ssd, before, where)
        return "not begun"
    assert not run.is_active, where
    assert run.state is not RunState.ATTENTION or run.refusals, (where, "nothing says what to do", told(run))
    if run.can_undo:
        undone = bench.undo(plan)
        assert undone.state is RunState.UNDONE, (where, told(run), told(undone))
    is_as_before(bench, ssd, before, where)
    return run.state


def attempt(stretch: Stretch, plan: Plan, faults: Faults) -> str:
    """One stretch with its fault: nothing but an error that is told gets out."""
    with faulty(faults):
        try:
            stretch(plan)
        except HostError as error:
            return str(error)
        except OSError as error:
            raise AssertionError(f"a traceback: {error!r} from {faults.failing}") from error
    return ""


def faults_at(point: int = 0) -> Faults:
    """Those of devices, programs and readers; tests/unit/host/change/test_faults.py has those of the journal."""
    return Faults(point, errno.EIO, beside=("/change/journal.py", "/change/lock.py"))


def points_of(faults: Faults, every: int) -> range:
    """All of them, or about ten: each takes seconds."""
    return range(1, len(faults.seen) + 1, 1 if every == 1 else max(len(faults.seen) // 10, 1))


@pytest.mark.parametrize("scene", [pytest.param(blank, id="blank"), pytest.param(in_use, id="in-use")])
def test_an_apply_in_which_any_call_fails_can_be_ended(
    machine: LoopMachine, bench: Bench, scene: Scene, every: int
) -> None:
    with scene(machine) as ssd:
        counting, plan = faults_at(), plan_on(bench, ssd, 0)
        attempt(bench.apply, plan, counting)
        assert bench.undo(plan).state is RunState.UNDONE
    ends = Counter[str]()
    for point in points_of(counting, every):
        with scene(machine) as ssd:
            before, plan, faults = ssd.digest(), plan_on(bench, ssd, point), faults_at(point)
            attempt(bench.apply, plan, faults)
            ends[end(bench, plan, ssd, before, f"point {point}: {faults.failing}")] += 1
    print(f"apply: {ends.total()} of {len(counting.seen)} points: {dict(ends)}")


@pytest.mark.parametrize("scene", [pytest.param(blank, id="blank"), pytest.param(in_use, id="in-use")])
def test_an_undo_in_which_any_call_fails_can_be_asked_for_again(
    machine: LoopMachine, bench: Bench, scene: Scene, every: int
) -> None:
    with scene(machine) as ssd:
        counting, plan = faults_at(), plan_on(bench, ssd, 0)
        assert bench.apply(plan).state is RunState.APPLIED
        attempt(bench.undo, plan, counting)
    ends = Counter[str]()
    for point in points_of(counting, every):
        with scene(machine) as ssd:
            before, plan, faults = ssd.digest(), plan_on(bench, ssd, point), faults_at(point)
            assert bench.apply(plan).state is RunState.APPLIED
            attempt(bench.undo, plan, faults)
            ends[end(bench, plan, ssd, before, f"point {point}: {faults.failing}")] += 1
    print(f"undo: {ends.total()} of {len(counting.seen)} points: {dict(ends)}")


def test_an_ssd_that_takes_no_writes_any_more_is_told_and_taken_back_once_it_does(
    machine: LoopMachine, bench: Bench
) -> None:
    """What an SSD at the end of its life does: everything can be read, and each write comes back with an error."""
    with blank(machine) as ssd:
        before, plan = ssd.digest(), plan_on(bench, ssd, 1)
        assert bench.apply(plan).state is RunState.APPLIED
        faults = Faults(1, errno.EIO, lasting=True, only=("fsync",), beside=("/change/journal.py",))
        assert attempt(bench.undo, plan, faults) == ""
        run = bench.show(plan)
        assert (run.state, codes(run)) == (RunState.ATTENTION, {"run-still-shows"}), told(run)
        assert not machine.tank.leaves
        assert bench.undo(plan).state is RunState.UNDONE
        is_as_before(bench, ssd, before, "afterwards")


def test_table_sectors_that_cannot_be_synced_leave_a_run_that_can_be_undone_again(
    machine: LoopMachine, bench: Bench
) -> None:
    with in_use(machine) as ssd:
        before, plan = ssd.digest(), plan_on(bench, ssd, 1)
        assert bench.apply(plan).state is RunState.APPLIED
        counting = Faults(only=("fsync",), beside=("/change/journal.py",))
        with pytest.MonkeyPatch.context() as patched, faulty(counting):
            patched.setattr("nasadvisor.host.change.executor.write_all", table_unsynced(counting))
            run = bench.undo(plan)
        assert "executor.py" in counting.failing
        assert (run.state, codes(run)) == (RunState.ATTENTION, {"undo-uncertain"}), told(run)
        assert [step.note.code for step in run.undo_steps if step.note] == ["device-unusable"]
        assert bench.undo(plan).state is RunState.UNDONE
        is_as_before(bench, ssd, before, "afterwards")


def table_unsynced(faults: Faults) -> Callable[[int, bytes, int, str], None]:
    """Writes of table sectors, after which the next fsync(2) fails."""

    def write(descriptor: int, data: bytes, offset: int, path: str) -> None:
        write_all(descriptor, data, offset, path)
        faults.at = len(faults.seen) + 1

    return write
