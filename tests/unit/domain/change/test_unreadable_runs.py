"""Runs whose journal cannot be read: what its readable records and the host still tell."""

from nasadvisor.domain.change.actions import Outcome
from nasadvisor.domain.change.plan import Plan, PlanRequest
from nasadvisor.domain.change.runs import Done, Goal, Record, Started
from nasadvisor.domain.change.unreadable_runs import (
    Unreadable,
    UnreadableRun,
    partuuids_of,
    start_in,
    unreadable_run,
    what_is_known,
)
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from tests.unit.machines import CACHE_GUID, MIRROR_AND_CACHES, TANK, home_server, plan_for, with_cache

AT = "2026-08-25T20:00:00+00:00"
MACHINE = home_server()
PLAN = plan_for(MIRROR_AND_CACHES, MACHINE)
SLICES = tuple(piece.partuuid for piece in PLAN.slices)
PROBLEM = Statement("journal-damaged", "It is damaged.")


def started(plan: Plan = PLAN) -> Started:
    return Started(AT, Goal.APPLY, plan, "anna")


def made(*guids: str) -> Done:
    return Done(AT, Goal.APPLY, 1, Outcome(vdev_guids=guids))


def run_of(*records: Started | Done, inventory: Inventory | None = None) -> UnreadableRun:
    return unreadable_run("run-1", "nas", Unreadable.DAMAGED, PROBLEM, records, inventory)


def test_without_a_plan_only_the_run_and_its_problem_are_known() -> None:
    assert run_of(made("31"), inventory=MACHINE) == UnreadableRun("run-1", "nas", Unreadable.DAMAGED, PROBLEM)


def test_the_plan_tells_pool_person_time_and_slices() -> None:
    assert run_of(made("31"), started()) == UnreadableRun(
        "run-1", "nas", Unreadable.DAMAGED, PROBLEM, TANK, "tank", "anna", AT, SLICES
    )


def test_a_host_without_a_trace_of_it_is_said_to_show_none() -> None:
    left = run_of(started(), inventory=MACHINE).left
    assert left
    assert left.code == "run-left-nothing"


def test_slices_on_the_host_and_the_vdevs_that_the_run_recorded_are_named() -> None:
    left = run_of(started(), inventory=PLAN.after(MACHINE)).left
    assert left
    assert (left.code, str(left)) == ("run-left", f"The host still shows these traces of it: {left.values['traces']}.")
    assert "partition 1 on " in str(left)
    recorded = run_of(started(), made("5", CACHE_GUID), inventory=with_cache()).left
    assert recorded
    assert str(recorded).endswith("in pool tank.")


def test_what_the_host_shows_is_said_behind_the_problem() -> None:
    assert run_of(started()).said == PROBLEM
    said = run_of(started(), inventory=MACHINE).said
    assert (said.code, said.values["problem"]) == (PROBLEM.code, PROBLEM)
    assert str(said).startswith("It is damaged. The host now shows no trace of it:")


def test_the_record_with_the_plan_is_found_wherever_it_stands() -> None:
    assert start_in([made(), started()]) == started()
    assert start_in([made()]) is None


def test_a_damaged_journal_says_by_what_to_look_for_its_devices() -> None:
    assert partuuids_of(PLAN) == SLICES
    without_slices = plan_for(PlanRequest(TANK, offline_cache=CACHE_GUID), with_cache())
    readable: list[tuple[Record, ...]] = [(made(), started()), (started(without_slices),), (made(),)]
    slices, pool, nothing = map(what_is_known, readable)
    assert (slices.code, slices.values) == ("slices-known", {"pool": "tank", "partuuids": ", ".join(SLICES)})
    assert f"for pool tank, with slices of the PARTUUIDs {', '.join(SLICES)}." in str(slices)
    assert (pool.code, "for pool tank and creates no slices" in str(pool)) == ("pool-known", True)
    assert nothing.code == "nothing-known"
