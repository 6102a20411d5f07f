"""What takes each step back: the same disk, the same table, the same slices, the guids that the step made."""

from dataclasses import replace

from nasadvisor.domain.change.actions import (
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    DropLogSide,
    Outcome,
    RemoveVdev,
    RestoreTable,
    Role,
    SaveTable,
)
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.undo import GONE_WITH_DISK, Left, cannot_be_undone, stays_after_undo
from nasadvisor.domain.statements import Level
from tests.unit.domain.builders import attach_to_log, cache_on, disk_of, log_on, tank_of
from tests.unit.domain.change.never.wishes import REPLACE
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    NVME2,
    TANK,
    home_server,
    partition,
    plan_for,
    with_broken_log,
)

DISK = "/dev/disk/by-id/nvme-x"


def test_a_new_table_is_taken_back_with_no_partition_on_it() -> None:
    action = CreateTable(NVME1, DISK, "a-table", 0, 0)
    assert action.undo(Outcome()) == (RestoreTable(NVME1, DISK, "a-table", ()),)


def test_a_table_that_was_there_is_taken_back_with_the_partitions_that_were_there() -> None:
    places = (partition(disk_of(home_server(), NVME1), 1, 2**20, 2**30).place,)
    action = SaveTable(NVME1, DISK, "a-table", places)
    assert action.undo(Outcome()) == (RestoreTable(NVME1, DISK, "a-table", places),)


def test_a_slice_is_deleted_for_the_pool_that_it_was_made_for() -> None:
    piece = log_on(NVME1)[1].sides[0]
    assert CreateSlice(piece, TANK).undo(Outcome()) == (DeleteSlice(piece, TANK),)


def test_each_vdev_is_removed_from_its_pool_by_the_guid_it_got_with_all_slices_of_its_step() -> None:
    log = log_on(NVME1, NVME2)[1]
    assert log.undo(Outcome(("30",))) == (RemoveVdev("tank", TANK, Role.LOG, "30", log.sides),)
    cache = cache_on(NVME1, NVME2)[1]
    assert cache.undo(Outcome(("41", "42"))) == tuple(
        RemoveVdev("tank", TANK, Role.CACHE, guid, cache.slices) for guid in ("41", "42")
    )
    side = attach_to_log()[1]
    assert side.undo(Outcome(("32",))) == (DetachLog("tank", TANK, "32", side.side),)


def test_a_broken_side_does_not_come_back() -> None:
    assert DropLogSide("tank", TANK, "32", DISK).undo(Outcome()) == ()


def test_what_cannot_be_undone_is_told_and_warns_of_nothing() -> None:
    for request, inventory in ((MIRROR_AND_CACHES, home_server()), (REPLACE, with_broken_log())):
        findings = cannot_be_undone(plan_for(request, inventory))
        assert {finding.level for finding in findings} == {Level.INFO}


def test_a_broken_side_is_named_by_its_path_and_by_its_guid_where_it_has_none() -> None:
    plan = plan_for(PlanRequest(TANK, (NVME2,), attach_to=REPLACE.attach_to, replaces="32"), with_broken_log())
    drop = next(action for action in plan.actions if isinstance(action, DropLogSide))
    for path, shown in ((DISK, DISK), ("", "32")):
        actions = tuple(replace(drop, vdev_path=path) if action == drop else action for action in plan.actions)
        said = {finding.code: finding for finding in cannot_be_undone(replace(plan, actions=actions))}
        assert said["broken-side-stays-out"].values["path"] == shown


def test_a_step_is_taken_back_from_its_pool_as_that_is_called_now() -> None:
    now = replace(tank_of(home_server()), name="renamed", guid="99")
    side = log_on(NVME1)[1].sides[0]
    for action in (log_on(NVME1)[1], cache_on(NVME1)[1], attach_to_log()[1], DropLogSide("tank", TANK, "32", DISK)):
        assert action.at_pool(now) == replace(action, pool_name="renamed", pool_guid="99")
        assert action.at_pool(None) == action
    assert CreateSlice(side, TANK).at_pool(now) == CreateSlice(side, "99")
    for table in (CreateTable(NVME1, DISK, "a-table", 0, 0), SaveTable(NVME1, DISK, "a-table", ())):
        assert table.at_pool(now) == table


def test_what_an_undo_left_is_told_of_every_disk() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    findings = stays_after_undo(plan, (), Left(away=("/dev/disk/by-id/a",), tables=("/dev/disk/by-id/b",)))
    assert [(finding.code, finding.level, finding.values) for finding in findings] == [
        (GONE_WITH_DISK, Level.WARNING, {"disk": "/dev/disk/by-id/a"}),
        ("no-slice-left", Level.INFO, {"disk": "/dev/disk/by-id/b"}),
    ]
    assert "/dev/disk/by-id/a, which is not connected to this host" in str(findings[0])


def test_whatever_is_said_of_an_undo_before_or_after_it_explains_itself() -> None:
    """Who reads at night that something stays has to read why, and whether it matters."""
    left = Left(away=("/dev/disk/by-id/a",), tables=("/dev/disk/by-id/b",))
    for request, inventory in ((MIRROR_AND_CACHES, home_server()), (REPLACE, with_broken_log())):
        plan = plan_for(request, inventory)
        undone = tuple(step for action in plan.actions for step in action.undo(action.planned_outcome()))
        before, after = cannot_be_undone(plan), stays_after_undo(plan, undone, left)
        assert all(finding.explanation for finding in (*before, *after, *stays_after_undo(plan, undone)))
