"""Applying, finishing and undoing on a simulated host, cut off at every point."""

import shutil
from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import Action, AddLog, CreateSlice
from nasadvisor.domain.change.device_scan import DeviceScan, Signature, Step
from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRequest, make_plan
from nasadvisor.domain.change.runs import CommandRan, Run, RunState
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.change.undo import cannot_be_undone
from nasadvisor.domain.change.unreadable_runs import Unreadable
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.adapters.zpool import unreadable_pool
from nasadvisor.host.change.gate import Permit
from nasadvisor.host.change.journal import RunExists, RunUnknown
from nasadvisor.host.change.lock import HostBusy, host_lock, is_held
from nasadvisor.host.change.runs import WrongMoment, apply_plan, finish_run, list_runs, show_run, undo_run
from nasadvisor.host.errors import CommandFailed
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.stored.documents import from_document, to_document
from tests.unit.host.change.conftest import WISH, Bench, Killed, killer, rechained, shape
from tests.unit.machines import NVME1, NVME2, SATA_SSD, SHARED_SSD, TANK, with_broken_log, with_pool

RECORDS_OF_AN_APPLY = 24  # started, eight steps with intent and result, six tables as steps left them, ended


def test_it_applies_every_step_and_tells_after_each_record(bench: Bench) -> None:
    run = apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert run.state is RunState.APPLIED
    assert [seen.seq for seen in bench.seen] == list(range(1, RECORDS_OF_AN_APPLY + 1))
    pool = bench.executor.inventory().pool(TANK)
    assert pool is not None
    assert [top.kind for top in pool.logs] == ["mirror"]
    assert len(pool.caches) == 2


def test_undo_leaves_the_host_as_it_was(bench: Bench) -> None:
    before = shape(bench.executor.inventory())
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    run = undo_run(bench.host, "run-1", "root", bench.watch)
    assert run.state is RunState.UNDONE
    assert shape(bench.executor.inventory()) == before
    assert {finding.code for finding in run.findings} == {"ssds-as-before", "hole-stays"}


def test_a_simulated_host_that_starts_again_gives_no_guid_twice(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(PlanRequest(TANK, (NVME1,), 4 * GIB)), "root", bench.watch)
    bench.executor = SimulatedExecutor(bench.executor.inventory())
    uuids = tuple(f"20000000-0000-4000-8000-{number:012d}" for number in range(4))
    ids = PlanIds("run-2", "2026-08-25T20:00:00+00:00", uuids)
    plan = make_plan(PlanRequest(TANK, cache_disks=(NVME2,)), bench.executor.inventory(), ids)
    assert isinstance(plan, Plan)
    apply_plan(bench.host, plan, "root", bench.watch)
    pool = bench.executor.inventory().pool(TANK)
    assert pool is not None
    guids = [vdev.guid for vdev in pool.vdevs()]
    assert len(guids) == len(set(guids))


def with_unread_pool(inventory: Inventory) -> Inventory:
    """The host once OpenZFS's answer about tank is not understood, so that none of its vdevs is shown."""
    shown = inventory.pool(TANK)
    assert shown is not None
    unread = unreadable_pool(shown.name, shown.guid, "it said nothing")
    return replace(inventory, pools=tuple(unread if pool.guid == TANK else pool for pool in inventory.pools))


def test_nothing_is_applied_to_a_pool_that_could_not_be_read(bench: Bench) -> None:
    plan = bench.plan()
    bench.executor.state = with_unread_pool(bench.executor.inventory())
    run = apply_plan(bench.host, plan, "root", bench.watch)
    assert run.state is RunState.REFUSED
    assert "it said nothing" in str(run.refusals[0])


def test_a_log_that_is_not_shown_because_its_pool_was_not_read_is_not_taken_for_removed(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    before = bench.executor.inventory()
    bench.executor.state = with_unread_pool(before)
    run = undo_run(bench.host, "run-1", "root", bench.watch)
    assert (run.state, [step.state for step in run.undo_steps]) == (RunState.APPLIED, [])
    assert bench.executor.inventory().disks == before.disks
    bench.executor.state = before
    assert undo_run(bench.host, "run-1", "root", bench.watch).state is RunState.UNDONE


def test_an_undo_of_a_run_that_never_added_its_log_speaks_of_no_hole(bench: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(bench.host, bench.plan(), "root", killer(4))
    begun = show_run(bench.host, "run-1").begun
    assert not [action for action in begun.actions if isinstance(action, AddLog)]
    assert "log-leaves-hole" not in {finding.code for finding in cannot_be_undone(begun)}
    run = undo_run(bench.host, "run-1", "root", bench.watch)
    assert run.state is RunState.UNDONE
    assert {finding.code for finding in run.findings} == {"ssds-as-before"}


def test_a_log_that_was_a_mirror_for_a_time_is_found_again_although_its_guid_changed(bench: Bench) -> None:
    before = shape(bench.executor.inventory())
    single = PlanRequest(TANK, (NVME1,), 4 * GIB, (NVME1,), 100 * GIB)
    apply_plan(bench.host, bench.plan(single), "root", bench.watch)
    pool = bench.executor.inventory().pool(TANK)
    assert pool is not None
    mirror = PlanRequest(TANK, (NVME2,), attach_to=pool.logs[0].guid)
    fresh = tuple(f"20000000-0000-4000-8000-{number:012d}" for number in range(20))
    plan = make_plan(mirror, bench.executor.inventory(), PlanIds("run-2", "2026-08-25T20:00:00+00:00", fresh))
    assert isinstance(plan, Plan), plan
    apply_plan(bench.host, plan, "root", bench.watch)
    early = undo_run(bench.host, "run-1", "root", bench.watch)
    assert early.state is RunState.APPLIED
    assert [refusal.code for refusal in early.refusals] == ["vdev-changed"]
    assert undo_run(bench.host, "run-2", "root", bench.watch).state is RunState.UNDONE
    assert undo_run(bench.host, "run-1", "root", bench.watch).state is RunState.UNDONE
    assert shape(bench.executor.inventory()) == before


def test_a_broken_side_is_replaced_and_the_new_one_can_be_taken_back(bench: Bench) -> None:
    bench.executor.state = with_broken_log()
    run = apply_plan(
        bench.host, bench.plan(PlanRequest(TANK, (NVME2,), attach_to="31", replaces="32")), "root", bench.watch
    )
    assert run.state is RunState.APPLIED, [step.note for step in run.steps]
    pool = bench.executor.inventory().pool(TANK)
    assert pool is not None
    assert (pool.state, [len(top.children) for top in pool.logs]) == ("ONLINE", [2])
    undone = undo_run(bench.host, run.id, "root", bench.watch)
    assert undone.state is RunState.UNDONE
    assert "broken-side-stays-out" in {finding.code for finding in undone.findings}
    pool = bench.executor.inventory().pool(TANK)
    assert pool is not None
    assert [top.kind for top in pool.logs] == ["disk"]


def test_a_log_of_which_a_side_was_replaced_is_taken_back_once_the_new_side_is(bench: Bench) -> None:
    before = shape(bench.executor.inventory())
    log = PlanRequest(TANK, (NVME1, NVME2), 4 * GIB)
    apply_plan(bench.host, bench.plan(log), "root", bench.watch)
    pool = bench.executor.inventory().pool(TANK)
    assert pool is not None
    works, broken = pool.logs[0].children
    sick = replace(pool.logs[0], state="DEGRADED", children=(works, replace(broken, state="FAULTED")))
    bench.executor.state = with_pool(bench.executor.state, logs=(sick,), state="DEGRADED")
    wish = PlanRequest(TANK, (SHARED_SSD,), use_free_extents=True, attach_to=works.guid, replaces=broken.guid)
    fresh = tuple(f"20000000-0000-4000-8000-{number:012d}" for number in range(20))
    plan = make_plan(wish, bench.executor.inventory(), PlanIds("run-2", "2026-08-25T20:00:00+00:00", fresh))
    assert isinstance(plan, Plan), plan
    assert apply_plan(bench.host, plan, "root", bench.watch).state is RunState.APPLIED
    early = undo_run(bench.host, "run-1", "root", bench.watch)
    assert [refusal.code for refusal in early.refusals] == ["vdev-changed"]
    assert undo_run(bench.host, "run-2", "root", bench.watch).state is RunState.UNDONE
    assert undo_run(bench.host, "run-1", "root", bench.watch).state is RunState.UNDONE
    assert shape(bench.executor.inventory()) == before


def test_a_run_survives_the_codec(bench: Bench) -> None:
    run = apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert from_document(Run, to_document(run)) == run


def test_a_plan_runs_once(bench: Bench) -> None:
    plan = bench.plan()
    apply_plan(bench.host, plan, "root", bench.watch)
    with pytest.raises(RunExists):
        apply_plan(bench.host, plan, "root", bench.watch)


@pytest.mark.parametrize("records", range(1, RECORDS_OF_AN_APPLY))
@pytest.mark.parametrize("way", ["finish", "undo"])
def test_a_run_killed_after_any_record_can_be_finished_and_undone(bench: Bench, records: int, way: str) -> None:
    before = shape(bench.executor.inventory())
    with pytest.raises(Killed):
        apply_plan(bench.host, bench.plan(), "root", killer(records))
    assert show_run(bench.host, "run-1").state is RunState.INTERRUPTED
    if way == "finish":
        assert finish_run(bench.host, "run-1", "root", bench.watch).state is RunState.APPLIED
        assert bench.executor.inventory().fingerprint != before
    assert undo_run(bench.host, "run-1", "root", bench.watch).state is RunState.UNDONE
    assert shape(bench.executor.inventory()) == before


class KilledAfterActing(SimulatedExecutor):
    """Dies when the host has changed but nothing says so yet."""

    countdown = 0

    def do(self, permit: Permit) -> tuple[CommandRan, ...]:
        ran = super().do(permit)
        self.countdown -= 1
        if self.countdown == 0:
            raise Killed
        return ran


@pytest.mark.parametrize("step", range(1, 9))
@pytest.mark.parametrize("way", ["finish", "undo"])
def test_a_step_that_ran_without_a_record_is_recognised(bench: Bench, step: int, way: str) -> None:
    before = shape(bench.executor.inventory())
    executor = KilledAfterActing(bench.executor.inventory())
    executor.countdown = step
    bench.executor = executor
    with pytest.raises(Killed):
        apply_plan(bench.host, bench.plan(), "root", bench.watch)
    if way == "finish":
        run = finish_run(bench.host, "run-1", "root", bench.watch)
        assert run.state is RunState.APPLIED
    assert undo_run(bench.host, "run-1", "root", bench.watch).state is RunState.UNDONE
    assert shape(executor.inventory()) == before


@pytest.mark.parametrize("records", range(RECORDS_OF_AN_APPLY + 1, RECORDS_OF_AN_APPLY + 23))
def test_an_undo_killed_after_any_record_can_be_undone_further(bench: Bench, records: int) -> None:
    before = shape(bench.executor.inventory())
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    with pytest.raises(Killed):
        undo_run(bench.host, "run-1", "root", killer(records))
    run = show_run(bench.host, "run-1")
    assert run.state is RunState.INTERRUPTED
    assert not run.can_finish
    assert undo_run(bench.host, "run-1", "root", bench.watch).state is RunState.UNDONE
    assert shape(bench.executor.inventory()) == before


class FailsAt(SimulatedExecutor):
    """Fails one step."""

    countdown = 0

    def do(self, permit: Permit) -> tuple[CommandRan, ...]:
        if isinstance(permit.step, Action):
            self.countdown -= 1
            if self.countdown == 0:
                raise CommandFailed("zpool add …", 1, "no", mutates=True)
        return super().do(permit)


@pytest.mark.parametrize("step", range(1, 9))
def test_a_step_that_fails_is_put_back_at_once(bench: Bench, step: int) -> None:
    before = shape(bench.executor.inventory())
    executor = FailsAt(bench.executor.inventory())
    executor.countdown = step
    bench.executor = executor
    run = apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert run.state is RunState.PUT_BACK
    assert shape(executor.inventory()) == before


class Silent(SimulatedExecutor):
    """Says it did, and did not."""

    def do(self, permit: Permit) -> tuple[CommandRan, ...]:
        del permit
        return ()


def test_success_is_read_off_the_host_and_not_off_an_exit_code(bench: Bench) -> None:
    bench.executor = Silent(bench.executor.inventory())
    run = apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert run.state is RunState.PUT_BACK
    assert "does not show" in str(run.steps[0].note)


def test_an_outdated_plan_is_refused_and_changes_nothing(bench: Bench) -> None:
    plan = bench.plan()
    changed = with_pool(bench.executor.inventory(), checkpoint="1.2M")
    bench.executor.state = changed
    run = apply_plan(bench.host, plan, "root", bench.watch)
    assert run.state is RunState.REFUSED
    assert [refusal.code for refusal in run.refusals] == ["pool-checkpoint"]
    assert bench.executor.state == changed


def test_a_pool_that_grew_a_vdev_makes_the_plan_outdated(bench: Bench) -> None:
    plan = bench.plan()
    pool = bench.executor.inventory().pool(TANK)
    assert pool is not None
    bench.executor.state = with_pool(bench.executor.inventory(), caches=(replace(pool.data[0], guid="77"),))
    run = apply_plan(bench.host, plan, "root", bench.watch)
    assert [refusal.code for refusal in run.refusals] == ["plan-outdated"]


def test_a_renamed_pool_is_refused(bench: Bench) -> None:
    plan = bench.plan()
    bench.executor.state = with_pool(bench.executor.inventory(), name="other")
    run = apply_plan(bench.host, plan, "root", bench.watch)
    assert [refusal.code for refusal in run.refusals] == ["pool-renamed"]


def tampered(plan: Plan) -> list[Plan]:
    """Plans that the planner would not make for their own request."""
    return [
        replace(plan, actions=plan.actions[:-1]),
        replace(plan, actions=tuple(reversed(plan.actions))),
        replace(plan, request=replace(plan.request, log_size_bytes=8 * GIB)),
        replace(plan, ids=replace(plan.ids, uuids=plan.ids.uuids[1:])),
    ]


@pytest.mark.parametrize("which", range(4))
def test_a_plan_that_was_changed_on_the_way_is_refused(bench: Bench, which: int) -> None:
    before = bench.executor.state
    run = apply_plan(bench.host, tampered(bench.plan())[which], "root", bench.watch)
    assert [refusal.code for refusal in run.refusals] == ["plan-foreign"]
    assert bench.executor.state == before


def test_a_plan_for_a_taken_disk_is_refused_whatever_it_claims(bench: Bench) -> None:
    plan = bench.plan()
    aimed = PlanRequest(TANK, (NVME1, SATA_SSD), 4 * GIB)
    run = apply_plan(bench.host, replace(plan, request=aimed), "root", bench.watch)
    assert run.state is RunState.REFUSED
    assert "disk-exported-pool" in [refusal.code for refusal in run.refusals]


class Buried(SimulatedExecutor):
    """Free space in which a deleted partition still lies."""

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        seen = super().look(step, inventory, own)
        return replace(seen, signatures=(Signature("ext4", MIB),)) if isinstance(step, CreateSlice) else seen


def test_free_space_that_is_not_empty_is_refused(bench: Bench) -> None:
    bench.executor = Buried(bench.executor.inventory())
    run = apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert run.state is RunState.REFUSED
    assert {refusal.code for refusal in run.refusals} == {"hidden-content"}


def test_an_undo_that_a_checkpoint_forbids_changes_nothing_and_can_be_asked_again(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    applied = bench.executor.state
    bench.executor.state = with_pool(applied, checkpoint="1.2M")
    run = undo_run(bench.host, "run-1", "root", bench.watch)
    assert run.state is RunState.APPLIED
    assert "pool-checkpoint" in [refusal.code for refusal in run.refusals]
    bench.executor.state = applied
    assert undo_run(bench.host, "run-1", "root", bench.watch).state is RunState.UNDONE


def test_nothing_happens_while_somebody_else_holds_the_lock(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nasadvisor.host.change.runs.LOCK_WAIT_S", 0.05)
    before = bench.executor.state
    with host_lock(bench.host.locks, 0), pytest.raises(HostBusy):
        apply_plan(bench.host, bench.plan(), "root", bench.watch)
    assert bench.executor.state == before
    assert apply_plan(bench.host, bench.plan(), "root", bench.watch).state is RunState.APPLIED


def test_a_run_that_is_at_work_is_not_called_interrupted(bench: Bench) -> None:
    states = []

    def look(run: Run) -> None:
        states.append(show_run(bench.host, run.id).state)

    apply_plan(bench.host, bench.plan(), "root", look)
    assert set(states[:-1]) == {RunState.APPLYING}


def test_never_12_the_lock_is_held_from_the_first_record_to_the_last(bench: Bench) -> None:
    held = []

    def look(run: Run) -> None:
        del run
        held.append(is_held(bench.host.locks[0]))

    apply_plan(bench.host, bench.plan(), "root", look)
    undo_run(bench.host, "run-1", "root", look)
    assert held
    assert all(held)
    assert not is_held(bench.host.locks[0])


def test_an_undone_run_cannot_be_undone_again(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    undo_run(bench.host, "run-1", "root", bench.watch)
    with pytest.raises(WrongMoment):
        undo_run(bench.host, "run-1", "root", bench.watch)
    with pytest.raises(WrongMoment):
        finish_run(bench.host, "run-1", "root", bench.watch)


@pytest.mark.parametrize("run_id", ["nope", "../runs", "", ".", "a/b"])
def test_an_unknown_run_is_a_sentence(bench: Bench, run_id: str) -> None:
    with pytest.raises(RunUnknown):
        show_run(bench.host, run_id)


@pytest.mark.parametrize(
    "run_id", ["../elsewhere/run-1", "{root}/elsewhere/run-1", "../runs/run-1", "./run-1", "run-1/"]
)
def test_a_run_id_never_leads_out_of_the_journals(bench: Bench, run_id: str) -> None:
    """There is a sound journal of a run at each of these places."""
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    shutil.copytree(bench.host.journals, bench.root / "elsewhere")
    before = bench.executor.state
    name = run_id.format(root=bench.root)
    for act in (undo_run, finish_run):
        with pytest.raises(RunUnknown):
            act(bench.host, name, "root", bench.watch)
    with pytest.raises(RunUnknown):
        show_run(bench.host, name)
    assert bench.executor.state == before
    assert show_run(bench.host, "run-1").state is RunState.APPLIED


def test_runs_are_listed_newest_first(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    undo_run(bench.host, "run-1", "root", bench.watch)
    second = replace(WISH, cache_disks=())
    apply_plan(bench.host, bench.plan(second, "run-2"), "root", bench.watch)
    assert {run.id for run in list_runs(bench.host).runs} == {"run-1", "run-2"}


def test_a_run_that_cannot_be_read_hides_none_of_the_others(bench: Bench) -> None:
    apply_plan(bench.host, bench.plan(), "root", bench.watch)
    undo_run(bench.host, "run-1", "root", bench.watch)
    apply_plan(bench.host, bench.plan(replace(WISH, cache_disks=()), "run-2"), "root", bench.watch)
    journal = bench.host.journals / "run-1" / "journal.jsonl"
    journal.write_bytes(rechained(journal.read_text().replace('"version": ', '"version": 99')))
    found = list_runs(bench.host)
    assert [run.id for run in found.runs] == ["run-2"]
    assert [(run.id, run.state) for run in found.unreadable] == [("run-1", Unreadable.NEWER)]
    assert "newer release of NAS Advisor" in str(found.unreadable[0].problem)
