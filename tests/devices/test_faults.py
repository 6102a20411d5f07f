"""Each system call of the product fails once, in apply, undo and finish: no run ends in a traceback, or for ever.

Whatever the answer is, the run can be taken back afterwards, and every byte comes back.
"""

import errno
from collections import Counter
from collections.abc import Callable

import pytest

from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run, RunState
from nasadvisor.host.change.journal import RunUnknown
from nasadvisor.host.errors import HostError
from tests.devices.bench import Bench, log_and_cache, told
from tests.devices.loops import LoopDisk
from tests.devices.machine import LoopMachine
from tests.devices.test_kills import blank, in_use, is_as_before
from tests.faults import Faults, faulty

Stretch = Callable[[Plan], Run]


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


@pytest.mark.parametrize("scene", [pytest.param(blank, id="blank"), pytest.param(in_use, id="in-use")])
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_an_apply_in_which_any_call_fails_can_be_ended(
    machine: LoopMachine, bench: Bench, scene: Callable[..., object], error: int, every: int
) -> None:
    with scene(machine) as ssd:  # type: ignore[attr-defined]
        counting = Faults()
        plan = plan_on(bench, ssd, 0)
        attempt(bench.apply, plan, counting)
        assert bench.undo(plan).state is RunState.UNDONE
    ends = Counter[str]()
    for point in range(1, len(counting.seen) + 1)[:: every * 12 - 11]:
        with scene(machine) as ssd:  # type: ignore[attr-defined]
            before = ssd.digest()
            plan = plan_on(bench, ssd, point)
            faults = Faults(point, error)
            attempt(bench.apply, plan, faults)
            ends[end(bench, plan, ssd, before, f"point {point}: {faults.failing}")] += 1
    print(f"{ends.total()} of {len(counting.seen)} points: {dict(ends)}")
