"""The name checked is the name written: a link that leads to another SSD by now never leads to a write there.

udev's database and the link part where a link is stale: an event was lost, or somebody made the link.
"""

from collections.abc import Callable

import pytest

from nasadvisor.domain.change.actions import CreateSlice, CreateTable
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run, RunState, StepState
from nasadvisor.host.change.logbook import Observer
from tests.devices.bench import Bench, log_and_cache, told
from tests.devices.loops import LoopDisk
from tests.devices.machine import LoopMachine


@pytest.fixture
def ssd(machine: LoopMachine) -> LoopDisk:
    """A blank SSD with one name."""
    ssd = machine.add_disk()
    ssd.links = ssd.links[:1]
    machine.udev.examine()
    return ssd


@pytest.fixture
def other(machine: LoopMachine) -> LoopDisk:
    """Somebody else's SSD of the same size, with partitions of the same numbers."""
    other = machine.add_disk()
    machine.sgdisk(other, "--new=1:2048:+40M", "--new=2:0:+40M")
    machine.mkfs(other.part_node(1))
    return other


def astray_at(machine: LoopMachine, ssd: LoopDisk, other: LoopDisk, is_step: Callable[[Run, int], bool]) -> Observer:
    """An observer that lets the SSD's name lead to the other as soon as the intent of such a step is durable.

    The SSD has got a second, better name by then, as from a newer release of udev.
    """

    def observe(run: Run) -> None:
        steps = run.undo_steps or run.steps
        if any(step.state is StepState.STARTED and is_step(run, step.number) for step in steps):
            machine.udev.astray[ssd.links[0]] = str(other.node)
            ssd.links = (ssd.links[0], f"/dev/disk/by-id/wwn-{ssd.wwn}")
            machine.udev.examine()

    return observe


@pytest.mark.parametrize("kind", [CreateTable, CreateSlice])
def test_no_other_ssd_gets_our_table_or_slice(
    machine: LoopMachine, bench: Bench, ssd: LoopDisk, other: LoopDisk, kind: type[CreateTable | CreateSlice]
) -> None:
    plan = bench.plan(log_and_cache(ssd))
    theirs = other.digest()
    run = bench.apply(plan, astray_at(machine, ssd, other, lambda _, number: isinstance(plan.actions[number], kind)))
    assert machine.udev.astray
    assert run.state is not RunState.APPLIED, told(run)
    assert other.changed(theirs) == []


@pytest.fixture
def applied(bench: Bench, ssd: LoopDisk) -> tuple[Plan, dict[int, str]]:
    """A run on the SSD, and what the SSD was before."""
    before = ssd.digest()
    plan = bench.plan(log_and_cache(ssd))
    assert bench.apply(plan).state is RunState.APPLIED
    return plan, before


@pytest.mark.parametrize("code", ["delete-slice", "restore-table"])
def test_no_other_ssd_loses_a_partition_or_its_table(
    machine: LoopMachine,
    bench: Bench,
    ssd: LoopDisk,
    other: LoopDisk,
    applied: tuple[Plan, dict[int, str]],
    code: str,
) -> None:
    plan, before = applied
    theirs = other.digest()
    watch = astray_at(machine, ssd, other, lambda run, number: run.undo_steps[number].what.code == code)
    bench.undo(plan, watch)
    assert machine.udev.astray
    assert other.changed(theirs) == []
    machine.udev.astray.clear()
    machine.udev.examine()
    if bench.show(plan).can_undo:
        run = bench.undo(plan)
        assert run.state is RunState.UNDONE, told(run)
    assert ssd.changed(before) == []
    assert other.changed(theirs) == []


def test_a_name_that_went_astray_before_the_undo_leads_nowhere(
    machine: LoopMachine, bench: Bench, ssd: LoopDisk, other: LoopDisk, applied: tuple[Plan, dict[int, str]]
) -> None:
    plan, before = applied
    theirs = other.digest()
    machine.udev.astray[ssd.links[0]] = str(other.node)
    ssd.links = (ssd.links[0], f"/dev/disk/by-id/wwn-{ssd.wwn}")
    machine.udev.examine()
    bench.undo(plan)
    assert other.changed(theirs) == []
    machine.udev.astray.clear()
    machine.udev.examine()
    run = bench.undo(plan)
    assert run.state is RunState.UNDONE, told(run)
    assert ssd.changed(before) == []
    assert other.changed(theirs) == []


def test_a_slices_name_that_leads_to_another_partition_is_not_added_to_the_pool(
    machine: LoopMachine, bench: Bench, ssd: LoopDisk, other: LoopDisk
) -> None:
    plan = bench.plan(log_and_cache(ssd))
    theirs = other.digest()

    def observe(run: Run) -> None:
        if run.steps[3].state is StepState.STARTED:
            machine.udev.astray[plan.slices[0].partuuid_path] = str(other.part_node(1))
            machine.udev.examine()

    run = bench.apply(plan, observe)
    assert machine.udev.astray
    assert run.state is not RunState.APPLIED, told(run)
    assert not machine.tank.logs
    assert other.changed(theirs) == []
