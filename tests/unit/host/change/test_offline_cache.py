"""A run that takes a cache out of service, and its undo."""

from dataclasses import dataclass, replace

import pytest

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.device_scan import DeviceScan, Step
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import RunState, StepState
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.runs import apply_plan, undo_run
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.unit.domain.builders import tank_of
from tests.unit.host.change.conftest import Bench, Killed, killer, shape
from tests.unit.machines import CACHE_GUID, TANK, with_cache

WISH = PlanRequest(TANK, offline_cache=CACHE_GUID)


@pytest.fixture
def cached(bench: Bench) -> Bench:
    """A host whose pool has a cache."""
    bench.executor.state = with_cache()
    return bench


def test_an_undo_puts_it_back_as_it_was(cached: Bench) -> None:
    run = apply_plan(cached.host, cached.plan(WISH), "root", cached.watch)
    assert run.state is RunState.APPLIED
    assert tank_of(cached.executor.inventory()).caches[0].state == "OFFLINE"
    undone = undo_run(cached.host, "run-1", "root", cached.watch)
    assert undone.state is RunState.UNDONE
    assert shape(cached.executor.inventory()) == shape(with_cache())
    assert undone.findings == ()


def test_one_that_somebody_put_back_meanwhile_needs_no_command(cached: Bench) -> None:
    apply_plan(cached.host, cached.plan(WISH), "root", cached.watch)
    cached.executor.state = with_cache()
    undone = undo_run(cached.host, "run-1", "root", cached.watch)
    assert undone.state is RunState.UNDONE
    assert [step.state for step in undone.undo_steps] == [StepState.DONE]


@dataclass
class Expanding(SimulatedExecutor):
    """A host whose pool has autoexpand=on."""

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        return replace(super().look(step, inventory, own), autoexpand=True)


def test_where_it_could_not_be_put_back_nothing_is_begun(cached: Bench) -> None:
    plan = cached.plan(WISH)
    cached.executor = Expanding(with_cache())
    run = apply_plan(cached.host, plan, "root", cached.watch)
    assert run.state is RunState.REFUSED
    assert [refusal.code for refusal in run.refusals] == ["cache-stays-out"]
    assert cached.executor.inventory() == with_cache()


def test_an_undo_that_openzfs_would_not_do_leaves_the_run_as_it_is_and_says_what_to_set(cached: Bench) -> None:
    apply_plan(cached.host, cached.plan(WISH), "root", cached.watch)
    cached.executor = Expanding(cached.executor.inventory())
    run = undo_run(cached.host, "run-1", "root", cached.watch)
    assert run.state is RunState.APPLIED
    assert [refusal.code for refusal in run.refusals] == ["cache-stays-out"]
    assert "zpool set autoexpand=off tank" in str(run.refusals[0])


def test_a_run_that_was_cut_off_is_finished_or_taken_back(cached: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(cached.host, cached.plan(WISH), "root", killer(2))
    run = undo_run(cached.host, "run-1", "root", cached.watch)
    assert run.state is RunState.UNDONE
    assert cached.executor.inventory() == with_cache()


def test_one_that_is_gone_with_its_pool_and_its_ssd_keeps_no_run_open_and_is_told_of(cached: Bench) -> None:
    """Nobody can put it back; should it come back, it is still out of service, and who has it reads what to type."""
    apply_plan(cached.host, cached.plan(WISH), "root", cached.watch)
    cached.executor.state = replace(cached.executor.inventory(), pools=(), disks=())
    undone = undo_run(cached.host, "run-1", "root", cached.watch)
    assert undone.state is RunState.UNDONE
    assert [(step.state, step.note.code if step.note else "") for step in undone.undo_steps] == [
        (StepState.SKIPPED, "gone-with-cache")
    ]
    assert [finding.code for finding in undone.findings] == ["cache-away"]


def test_one_of_a_pool_that_is_away_stays_out_and_the_undo_says_which_pool_to_import(cached: Bench) -> None:
    apply_plan(cached.host, cached.plan(WISH), "root", cached.watch)
    cached.executor.state = replace(cached.executor.inventory(), pools=())
    run = undo_run(cached.host, "run-1", "root", cached.watch)
    assert run.state is RunState.APPLIED
    assert run.refusals == (no.PoolAway("tank", TANK),)
    assert run.undo_steps == ()
