"""What a run writes down while it applies or finishes a plan, and what it says when it cannot."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from nasadvisor.domain import refusals as no
from nasadvisor.domain.actions import AddLog, CreateTable
from nasadvisor.domain.commands import commands
from nasadvisor.domain.inventory import Hold, HoldKind, Inventory
from nasadvisor.domain.lifecycle import CommandRan, Done, Ended, Failed, Goal, Intent, Record, RunState, StepState
from nasadvisor.domain.looks import Look, Signature, Step
from nasadvisor.domain.plan import PlanRequest
from nasadvisor.domain.platforms import Veto
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.tables import OwnTable
from nasadvisor.domain.units import GIB
from nasadvisor.host.errors import CommandFailed
from nasadvisor.host.gate import Permit
from nasadvisor.host.journal import Journal
from nasadvisor.host.runs import apply_plan, finish_run
from nasadvisor.host.simulated import SimulatedExecutor
from tests.unit.machines import NVME1, NVME2, SHARED_SSD, TANK, home_server, with_disk, with_pool
from tests.unit.runs.conftest import Bench, Killed, killer, rechained

LOG = PlanRequest(TANK, (NVME1,), 4 * GIB)
"""Three steps: a table, a slice, a log."""

GONE = CommandFailed("zpool status", 1, "no such device", mutates=False)

Change = Callable[[Inventory], Inventory]


@dataclass
class Host(SimulatedExecutor):
    """A simulated host that keeps what it was asked, and to which things happen.

    `after` changes it once a step of a sort is done; `unreadable` ends its reading from so many readings on.
    """

    after: dict[type, Change] = field(default_factory=dict)
    unreadable: int | None = None
    readings: int = 0
    looked: list[tuple[Step, Inventory, OwnTable | None]] = field(default_factory=list)
    found: dict[type, Signature] = field(default_factory=dict)
    did: list[Step] = field(default_factory=list)

    def inventory(self) -> Inventory:
        self.readings += 1
        if self.unreadable is not None and self.readings > self.unreadable:
            raise GONE
        return super().inventory()

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> Look:
        self.looked.append((step, inventory, own))
        seen = super().look(step, inventory, own)
        found = self.found.get(type(step))
        return replace(seen, signatures=(found,)) if found else seen

    def do(self, permit: Permit) -> tuple[CommandRan, ...]:
        ran = super().do(permit)
        self.did.append(permit.step)
        if type(permit.step) in self.after:
            self.state = self.after[type(permit.step)](self.state)
        return ran


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return Bench(tmp_path, Host(home_server()))


def host_of(bench: Bench) -> Host:
    assert isinstance(bench.executor, Host)
    return bench.executor


def records(bench: Bench) -> tuple[Record, ...]:
    return Journal(bench.host.journals / "run-1").read()


def told(bench: Bench) -> list[tuple[str, Goal, int]]:
    """Sort, goal and number of each record of a step."""
    return [
        (type(record).__name__, record.goal, record.step)
        for record in records(bench)
        if isinstance(record, Intent | Done | Failed)
    ]


def cut_to(bench: Bench, count: int) -> None:
    """The journal lost all records but the first ones, as after a loss of power."""
    path = bench.host.journals / "run-1" / "journal.jsonl"
    path.write_bytes(rechained("".join(path.read_text().splitlines(keepends=True)[:count])))


def test_each_step_is_written_down_before_and_after_it_with_what_was_answered(made: Bench) -> None:
    plan = made.plan(LOG)
    run = apply_plan(made.host, plan, "root", made.watch)
    assert run.state is RunState.APPLIED
    assert told(made) == [(name, Goal.APPLY, number) for number in range(3) for name in ("Intent", "Done")]
    assert [step.ran for step in run.steps] == [
        tuple(CommandRan(argv, 0, "(simulated)", "", 0.0) for argv in commands(action)) for action in plan.actions
    ]
    assert all(step.started_at < step.ended_at for step in run.steps)


@pytest.mark.parametrize(
    ("wish", "copied"),
    [
        (PlanRequest(TANK, (NVME1, NVME2), 4 * GIB), [NVME1, "", NVME2, "", ""]),
        (PlanRequest(TANK, (SHARED_SSD,), 4 * GIB, use_free_extents=True), [SHARED_SSD, "", ""]),
    ],
)
def test_only_the_first_step_on_a_disk_is_preceded_by_a_copy_of_its_table(
    made: Bench, wish: PlanRequest, copied: list[str]
) -> None:
    apply_plan(made.host, made.plan(wish), "root", made.watch)
    images = [record.image for record in records(made) if isinstance(record, Intent)]
    assert [image.disk_key if image else "" for image in images] == copied


def test_a_step_that_a_rule_forbids_by_now_fails_with_the_reason_and_is_put_back(made: Bench) -> None:
    theirs = (Hold(HoldKind.MOUNT, "/mnt"),)
    host_of(made).after = {CreateTable: lambda now: with_disk(now, NVME1, holds=theirs)}
    run = apply_plan(made.host, made.plan(LOG), "root", made.watch)
    failed = run.steps[1]
    assert (failed.state, failed.started_at) == (StepState.FAILED, "")
    assert failed.note
    assert failed.note.code == "disk-mount"
    assert failed.ended_at
    assert told(made)[:3] == [("Intent", Goal.APPLY, 0), ("Done", Goal.APPLY, 0), ("Failed", Goal.APPLY, 1)]
    assert not isinstance(failed.note, Refused)


def test_a_step_whose_effect_does_not_show_keeps_what_its_commands_answered(made: Bench) -> None:
    host_of(made).after = {AddLog: lambda now: with_pool(now, logs=())}
    run = apply_plan(made.host, made.plan(LOG), "root", made.watch)
    assert run.state is not RunState.APPLIED
    assert run.steps[2].note
    assert run.steps[2].note.code == "not-seen"
    assert [each.stdout for each in run.steps[2].ran] == ["(simulated)"]


def test_a_step_whose_effect_is_gone_when_all_are_done_is_named(made: Bench) -> None:
    """Somebody took out the log while the cache was added: done is not said of what the host does not show."""
    plan = made.plan(PlanRequest(TANK, (NVME1,), 4 * GIB, (NVME2,), 4 * GIB))
    last = type(plan.actions[-1])
    host_of(made).after = {last: lambda now: with_pool(now, logs=())}
    run = apply_plan(made.host, plan, "root", made.watch)
    assert run.state is RunState.ATTENTION
    log = next(action for action in plan.actions if isinstance(action, AddLog))
    assert run.refusals == (no.StepNotThere(log.describe()),)
    assert {step.state for step in run.steps} == {StepState.DONE}


def test_a_host_that_cannot_be_read_refuses_a_plan_and_says_why(made: Bench) -> None:
    plan = made.plan(LOG)
    host_of(made).unreadable = host_of(made).readings
    run = apply_plan(made.host, plan, "root", made.watch)
    assert run.state is RunState.REFUSED
    assert run.refusals == (no.HostUnreadable(GONE.statement),)


@pytest.mark.parametrize("readings", [0, 1])
def test_a_host_that_cannot_be_read_leaves_a_run_interrupted_and_says_why(made: Bench, readings: int) -> None:
    with pytest.raises(Killed):
        apply_plan(made.host, made.plan(LOG), "root", killer(2))
    host_of(made).unreadable = host_of(made).readings + readings
    run = finish_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.INTERRUPTED
    assert run.refusals == (no.HostUnreadable(GONE.statement),)
    assert run.can_finish


def test_a_plan_for_a_pool_that_is_not_there_names_the_pool(made: Bench) -> None:
    plan = made.plan(LOG)
    host_of(made).state = replace(home_server(), pools=())
    run = apply_plan(made.host, plan, "root", made.watch)
    assert (run.state, run.refusals) == (RunState.REFUSED, (no.NoPool(TANK),))


def test_what_a_disk_holds_is_looked_up_before_the_first_write(made: Bench) -> None:
    host_of(made).found = {CreateTable: Signature("ext4")}
    run = apply_plan(made.host, made.plan(LOG), "root", made.watch)
    assert (run.state, [refusal.code for refusal in run.refusals]) == (RunState.REFUSED, ["disk-not-empty"])
    assert told(made) == []


def test_every_look_before_the_first_write_is_at_the_host_as_it_was_read(made: Bench) -> None:
    plan = made.plan(LOG)
    before = host_of(made).state
    apply_plan(made.host, plan, "root", made.watch)
    assert host_of(made).looked[:2] == [(plan.actions[0], before, None), (plan.actions[1], before, None)]


def vetoes(asked: list[Inventory], goal: Goal) -> Callable[[Inventory], tuple[Veto, ...]]:
    """A platform that forbids one thing."""

    def ask(inventory: Inventory) -> tuple[Veto, ...]:
        asked.append(inventory)
        return (Veto(no.NoPool("platform"), "", (goal,)),)

    return ask


def test_what_a_platform_forbids_to_begin_is_not_begun(made: Bench) -> None:
    asked: list[Inventory] = []
    host = replace(made.host, vetoes=vetoes(asked, Goal.APPLY))
    run = apply_plan(host, made.plan(LOG), "root", made.watch)
    assert (run.state, run.refusals) == (RunState.REFUSED, (no.NoPool("platform"),))
    assert asked == [host_of(made).state]


def test_what_a_platform_forbids_only_to_finish_is_begun(made: Bench) -> None:
    host = replace(made.host, vetoes=vetoes([], Goal.FINISH))
    assert apply_plan(host, made.plan(LOG), "root", made.watch).state is RunState.APPLIED


def test_what_a_platform_forbids_to_finish_stays_interrupted(made: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(made.host, made.plan(LOG), "root", killer(2))
    asked: list[Inventory] = []
    host = replace(made.host, vetoes=vetoes(asked, Goal.FINISH))
    run = finish_run(host, "run-1", "anna", made.watch)
    assert (run.state, run.refusals) == (RunState.INTERRUPTED, (no.NoPool("platform"),))
    assert asked == [host_of(made).state]
    host = replace(made.host, vetoes=vetoes([], Goal.APPLY))
    assert finish_run(host, "run-1", "anna", made.watch).state is RunState.APPLIED


def test_every_step_that_the_host_shows_is_recorded_as_found_however_many_records_were_lost(made: Bench) -> None:
    apply_plan(made.host, made.plan(LOG), "root", made.watch)
    cut_to(made, 2)
    host_of(made).did.clear()
    run = finish_run(made.host, "run-1", "anna", made.watch)
    assert run.state is RunState.APPLIED
    found = [record for record in records(made) if isinstance(record, Done)]
    assert [(record.goal, record.step, record.found) for record in found] == [
        (Goal.FINISH, number, True) for number in range(3)
    ]
    assert host_of(made).did == []


def test_a_step_that_is_finished_is_recorded_as_done_and_not_as_found(made: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(made.host, made.plan(LOG), "root", killer(1))
    assert finish_run(made.host, "run-1", "anna", made.watch).state is RunState.APPLIED
    found = [record for record in records(made) if isinstance(record, Done)]
    assert [(record.goal, record.step, record.found) for record in found] == [
        (Goal.FINISH, number, False) for number in range(3)
    ]


def test_the_last_record_of_a_run_is_its_end(made: Bench) -> None:
    apply_plan(made.host, made.plan(LOG), "root", made.watch)
    last = records(made)[-1]
    assert isinstance(last, Ended)
    assert (last.state, last.refusals, last.findings) == (RunState.APPLIED, (), ())


def test_the_steps_of_a_plan_are_done_in_its_order(made: Bench) -> None:
    plan = made.plan()
    apply_plan(made.host, plan, "root", made.watch)
    assert host_of(made).did == list(plan.actions)
