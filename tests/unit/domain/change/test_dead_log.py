"""Taking a dead log out, and replacing it: out first, then the new one."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import DropLog, Outcome
from nasadvisor.domain.change.checks import can
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.undo import cannot_be_undone, stays_after_undo, undo_preview, undo_steps
from nasadvisor.domain.change.warnings import warnings_for
from nasadvisor.domain.statements import Level
from nasadvisor.domain.storage.inventory import Inventory, Vdev
from nasadvisor.domain.units import GIB
from tests.unit.domain.builders import change_vdev, code_of, tank_of
from tests.unit.domain.change.never.wishes import CACHE, INSTEAD, SINGLE, TAKE_OUT, refused
from tests.unit.machines import NVME1, NVME2, TANK, home_server, plan_for, with_dead_log, with_pool

DROP = DropLog("tank", TANK, "61", ("/dev/disk/by-partuuid/00000000-0000-4000-8000-00000000dead",))
MIRROR_DROP = replace(DROP, vdev_guid="60")


def with_more(inventory: Inventory, *more: Vdev) -> Inventory:
    return with_pool(inventory, logs=(*tank_of(inventory).logs, *more))


def broken_data(inventory: Inventory) -> Inventory:
    data = tank_of(inventory).data
    sick = replace(data[0], state="DEGRADED", children=(replace(data[0].children[0], state="UNAVAIL"),))
    return with_pool(inventory, data=(sick, *data[1:]))


def test_to_take_it_out_is_one_command_and_the_pool_is_well_again() -> None:
    inventory = with_dead_log()
    plan = plan_for(TAKE_OUT, inventory)
    assert plan.actions == (DROP,)
    assert DROP.commands() == (("zpool", "remove", "tank", "61"),)
    pool = tank_of(plan.after(inventory))
    assert (pool.state, pool.logs) == ("ONLINE", ())
    assert undo_steps(plan) == ()


def test_to_replace_it_the_slices_are_made_first_and_the_new_log_comes_last() -> None:
    inventory = with_dead_log()
    plan = plan_for(INSTEAD, inventory)
    steps = [action.action for action in plan.actions]
    assert steps == ["create-table", "create-slice", "create-table", "create-slice", "drop-log", "add-log"]
    pool = tank_of(plan.after(inventory))
    assert (pool.state, [len(top.children) for top in pool.logs]) == ("ONLINE", [2])
    assert undo_preview(plan)[0] == ("zpool", "remove", "tank", "<guid of the new log>")
    assert sum("61" in argv for argv in undo_preview(plan)) == 0


@pytest.mark.parametrize("request_", [TAKE_OUT, INSTEAD])
def test_that_the_dead_log_stays_out_is_said_before_and_after(request_: PlanRequest) -> None:
    plan = plan_for(request_, with_dead_log())
    before = {finding.code: finding for finding in cannot_be_undone(plan)}
    assert before["dead-log-stays-out"].level is Level.INFO
    assert "dead-log-stays-out" in {finding.code for finding in stays_after_undo(plan, ())}


def test_a_mirrored_log_goes_as_a_whole() -> None:
    plan = plan_for(replace(TAKE_OUT, dead_log="60"), with_dead_log("UNAVAIL", "FAULTED"))
    (drop,) = plan.actions
    assert isinstance(drop, DropLog)
    assert (drop.vdev_guid, len(drop.devices)) == ("60", 2)
    assert "log-side-gone" in refused(TAKE_OUT, with_dead_log("UNAVAIL", "FAULTED"))


def test_a_cache_may_come_along_and_the_new_log_may_be_single() -> None:
    plan = plan_for(PlanRequest(TANK, (NVME1,), 4 * GIB, (NVME2,), dead_log="61"), with_dead_log())
    assert [action.action for action in plan.actions][-3:] == ["drop-log", "add-log", "add-cache"]
    only_cache = plan_for(PlanRequest(TANK, cache_disks=(NVME2,), dead_log="61"), with_dead_log())
    assert [action.action for action in only_cache.actions][-2:] == ["drop-log", "add-cache"]


@pytest.mark.parametrize(
    ("inventory", "drop", "code"),
    [
        *((with_dead_log(state), DROP, "") for state in ("FAULTED", "UNAVAIL", "REMOVED")),
        (with_dead_log("ONLINE"), DROP, "log-works"),
        (with_dead_log("DEGRADED"), DROP, "log-has-errors"),
        (change_vdev(with_dead_log("ONLINE"), "61", write_errors=1), DROP, "log-has-errors"),
        (change_vdev(with_dead_log("FAULTED"), "61", write_errors=7), DROP, ""),
        (with_dead_log("OFFLINE"), DROP, "log-out-of-service"),
        (with_dead_log("FAULTED", "UNAVAIL"), MIRROR_DROP, ""),
        (with_dead_log("FAULTED", "ONLINE"), MIRROR_DROP, "log-works"),
        (with_dead_log("FAULTED", "DEGRADED"), MIRROR_DROP, "log-has-errors"),
        (with_dead_log("FAULTED", "OFFLINE"), MIRROR_DROP, "log-out-of-service"),
        (with_dead_log("FAULTED", "UNAVAIL"), DROP, "log-side-gone"),
        (home_server(), DROP, "log-side-gone"),
        (broken_data(with_dead_log()), DROP, "pool-not-online"),
        (with_pool(with_dead_log(), state="FAULTED"), DROP, "pool-not-online"),
        (with_pool(with_dead_log(), suspended=True), DROP, "pool-suspended"),
        (with_pool(with_dead_log(), read_only=True), DROP, "pool-read-only"),
        (with_pool(with_dead_log(), checkpoint="1G"), DROP, "pool-checkpoint"),
        (with_pool(with_dead_log(), name="renamed"), DROP, "pool-renamed"),
        (with_pool(with_dead_log(), guid="99"), DROP, "pool-gone"),
    ],
)
def test_a_log_is_taken_out_only_if_it_is_dead_and_nothing_else_ails_the_pool(
    inventory: Inventory, drop: DropLog, code: str
) -> None:
    assert code_of(can(drop, inventory)) == code
    assert refused(replace(TAKE_OUT, dead_log=drop.vdev_guid), inventory) >= (
        {code} if code not in ("pool-renamed", "") else set()
    )


def test_one_that_still_takes_writes_is_led_to_its_end_before() -> None:
    assert "`zpool offline -f tank 61`" in str(can(DROP, with_dead_log("DEGRADED")))
    assert "`zpool online tank 61`" in str(can(DROP, with_dead_log("OFFLINE")))


def test_of_two_dead_logs_each_can_be_taken_out_and_nothing_is_added_before_both_are() -> None:
    inventory = with_more(with_dead_log(), Vdev("71", "disk", "b", "REMOVED", path="/dev/b", ashift=12))
    assert refused(TAKE_OUT, inventory) == set()
    assert refused(replace(TAKE_OUT, dead_log="71"), inventory) == set()
    assert refused(INSTEAD, inventory) == {"pool-not-online"}
    failing = with_more(with_dead_log(), Vdev("71", "disk", "b", "DEGRADED", path="/dev/b", ashift=12))
    assert refused(TAKE_OUT, failing) == {"pool-not-online"}


def test_beside_a_log_that_works_the_dead_one_goes_and_the_other_stays() -> None:
    inventory = with_more(with_dead_log(), Vdev("71", "disk", "b", "ONLINE", path="/dev/b", ashift=12))
    pool = tank_of(plan_for(TAKE_OUT, inventory).after(inventory))
    assert (pool.state, [top.guid for top in pool.logs]) == ("ONLINE", ["71"])


def test_in_a_pool_with_a_dead_log_nothing_is_added_beside_it() -> None:
    for request in (SINGLE, CACHE):
        assert refused(request, with_dead_log()) == {"pool-not-online"}


def test_nothing_else_goes_with_a_cache_out_of_service() -> None:
    assert "offline-alone" in refused(replace(TAKE_OUT, offline_cache="41"), with_dead_log())


def test_a_hole_is_not_made_where_the_pool_could_then_not_be_imported() -> None:
    inventory = with_dead_log()
    buggy = replace(inventory, host=replace(inventory.host, zfs_kernel="2.3.8"))
    assert refused(TAKE_OUT, with_pool(buggy, multihost=True)) == {"known-bug"}
    assert refused(TAKE_OUT, buggy) == set()


def test_no_new_log_is_said_to_stand_beside_the_one_that_goes() -> None:
    inventory = with_dead_log()
    assert "log-striped" not in {found.code for found in warnings_for(plan_for(INSTEAD, inventory), inventory)}
    beside = with_more(inventory, Vdev("71", "disk", "b", "ONLINE", path="/dev/b", ashift=12))
    assert "log-striped" in {found.code for found in warnings_for(plan_for(INSTEAD, beside), beside)}


@pytest.mark.parametrize(
    ("state", "release", "is_told"),
    [
        ("UNAVAIL", "2.3.7-1", True),
        ("UNAVAIL", "2.3.8-1", False),
        ("REMOVED", "2.3.7-1", False),
        ("UNAVAIL", "", False),
    ],
)
def test_where_a_release_may_refuse_it_that_is_said_before(state: str, release: str, is_told: bool) -> None:
    machine = with_dead_log(state)
    inventory = replace(machine, host=replace(machine.host, zfs_kernel=release, zfs_userland=release))
    told = {found.code for found in warnings_for(plan_for(TAKE_OUT, inventory), inventory)}
    assert ("dead-log-may-stay" in told) is is_told


def test_it_is_out_once_the_pool_has_no_such_guid_and_not_where_the_pool_is_away() -> None:
    inventory = with_dead_log()
    assert DROP.landed(inventory) is None
    assert DROP.landed(DROP.forwards(inventory)) == Outcome()
    assert DROP.landed(replace(inventory, pools=())) is None
    assert DROP.cleaning() == ()
