"""Which reason is given where several rules forbid one thing: what has to be settled first comes first."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    CreateSlice,
    DropLog,
    DropLogSide,
    OfflineCache,
    Role,
)
from nasadvisor.domain.change.checks import can, can_use_disk, can_use_pool
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.statements import Answer
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory, TableKind
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import attach_to_log, cache_on, change_vdev, code_of, disk_of, log_on, slice_on, tank_of
from tests.unit.machines import (
    CACHE_GUID,
    NVME1,
    NVME2,
    TANK,
    home_server,
    leaf_on,
    partition,
    plan_for,
    with_broken_log,
    with_cache,
    with_dead_log,
    with_disk,
    with_pool,
)

MOUNTED = Hold(HoldKind.MOUNT, "/srv")
BUGGY = "2.3.7-1"


@dataclass(frozen=True)
class Case:
    """A host, and what would be done on it."""

    inventory: Inventory
    action: Action | None = None


Fault = Callable[[Case], Case]
Faults = tuple[tuple[str, Fault], ...]
"""Each behind the code of the reason that it gives."""


def on_disk(key: str = NVME1, **changes: Any) -> Fault:
    return lambda case: replace(case, inventory=with_disk(case.inventory, key, **changes))


def on_identity(**changes: Any) -> Fault:
    def change(case: Case) -> Case:
        identity = replace(disk_of(case.inventory, NVME1).identity, **changes)
        return replace(case, inventory=with_disk(case.inventory, NVME1, identity=identity))

    return change


def on_pool(**changes: Any) -> Fault:
    return lambda case: replace(case, inventory=with_pool(case.inventory, **changes))


def on_host(**changes: Any) -> Fault:
    def change(case: Case) -> Case:
        return replace(case, inventory=replace(case.inventory, host=replace(case.inventory.host, **changes)))

    return change


def on_action(**changes: Any) -> Fault:
    def change(case: Case) -> Case:
        action: Any = case.action
        return replace(case, action=replace(action, **changes))

    return change


def both(*faults: Fault) -> Fault:
    def change(case: Case) -> Case:
        for fault in faults:
            case = fault(case)
        return case

    return change


def on_vdev(guid: str, **changes: Any) -> Fault:
    return lambda case: replace(case, inventory=change_vdev(case.inventory, guid, **changes))


def held_part(case: Case) -> Case:
    parts = tuple(replace(part, holds=(MOUNTED,)) for part in disk_of(case.inventory, NVME1).partitions)
    return replace(case, inventory=with_disk(case.inventory, NVME1, partitions=parts))


def allowed(case: Case) -> Answer:
    assert case.action
    return can(case.action, case.inventory)


def check_order(sound: Case, faults: Faults, ask: Callable[[Case], Answer] = allowed) -> None:
    """With every fault from one on to the last, that one is the reason; without any there is none."""
    assert code_of(ask(sound)) == ""
    for number, (reason, _) in enumerate(faults):
        case = sound
        for _, fault in faults[number:]:
            case = fault(case)
        assert code_of(ask(case)) == reason


ILL_POOL: Faults = (
    ("pool-unreadable", on_pool(problem="odd")),
    ("pool-suspended", on_pool(suspended=True)),
    ("pool-not-online", on_pool(state="DEGRADED")),
    ("pool-read-only", on_pool(read_only=True)),
    ("pool-checkpoint", on_pool(checkpoint="1G")),
)
HOLE: Faults = (("known-bug", both(on_pool(multihost=True), on_host(zfs_kernel=BUGGY))),)
WITHOUT_FEATURE: Faults = (("feature-missing", on_pool(features=frozenset())),)
OTHER_POOL: Faults = (("pool-renamed", on_pool(name="other")), ("wrong-ashift", on_pool(ashift=13)))


def test_of_a_disk_what_uses_it_is_said_before_what_is_odd_about_it() -> None:
    sound = disk_of(home_server(), NVME1)
    changes: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
        ("disk-mount", {"holds": (MOUNTED,)}, {}),
        ("no-persistent-name", {"path": "/dev/nvme0n1"}, {}),
        ("no-identity", {}, {"serial": "", "wwn": ""}),
        ("strange-sectors", {}, {"logical_sector_bytes": 520}),
        ("foreign-table", {"table": TableKind.OTHER}, {}),
        ("broken-table", {"partitions": (partition(sound, 1, 0, MIB),)}, {}),
        ("table-area-odd", {"usable_end_bytes": 200 * GIB}, {}),
    )
    assert code_of(can_use_disk(sound)) == ""
    for number, (reason, _, _) in enumerate(changes):
        disk = sound
        for _, of_disk, of_identity in changes[number:]:
            disk = replace(disk, identity=replace(disk.identity, **of_identity), **of_disk)
        assert code_of(can_use_disk(disk)) == reason


def test_what_uses_a_whole_disk_is_said_before_what_uses_a_part_of_it() -> None:
    disk = disk_of(home_server(), NVME1)
    held = replace(partition(disk, 1, MIB, GIB), holds=(Hold(HoldKind.UNREADABLE, "part"),))
    refused = can_use_disk(replace(disk, holds=(Hold(HoldKind.MOUNT, "whole"),), partitions=(held,)))
    assert code_of(refused) == "disk-mount"
    assert "whole" in str(refused)


def test_of_a_pool_its_state_is_said_before_its_features() -> None:
    faults = (*ILL_POOL, ("ashift-unknown", on_pool(ashift=0)), *WITHOUT_FEATURE, *HOLE)

    def ask(case: Case) -> Answer:
        return can_use_pool(tank_of(case.inventory), case.inventory.host, adds_log=True)

    check_order(Case(home_server()), faults, ask)


def test_of_a_slice_its_disk_is_said_before_its_place_and_its_place_before_its_number() -> None:
    inventory, _ = log_on(NVME1)
    disk = disk_of(inventory, NVME1)
    piece, there = slice_on(disk, number=2), disk.partitions[0]

    def on_slice(**changes: Any) -> Fault:
        def change(case: Case) -> Case:
            assert isinstance(case.action, CreateSlice)
            return replace(case, action=replace(case.action, slice=replace(case.action.slice, **changes)))

        return change

    sound = Case(inventory, CreateSlice(piece, TANK))
    misplaced: Faults = (
        ("disk-mount", on_disk(holds=(MOUNTED,))),
        ("table-missing", on_disk(table=TableKind.NONE)),
        ("sectors-differ", on_slice(sector_bytes=4096)),
        ("not-aligned", on_slice(start_bytes=there.start_bytes + 512)),
    )
    check_order(sound, misplaced)
    numbered: Faults = (
        ("extent-taken", on_slice(start_bytes=there.start_bytes)),
        ("table-full", on_slice(number=200)),
        ("partuuid-taken", on_slice(partuuid=there.partuuid)),
    )
    check_order(sound, numbered)
    twice: Faults = (
        ("number-taken", on_slice(number=there.number)),
        ("partuuid-taken", on_slice(partuuid=there.partuuid)),
    )
    check_order(sound, twice)
    assert code_of(allowed(both(misplaced[3][1], numbered[1][1])(sound))) == "not-aligned"


def test_of_a_log_the_pool_is_said_before_the_plan_and_the_plan_before_the_slices() -> None:
    inventory, action = log_on(NVME1, NVME2)
    uneven = replace(action.sides[1], size_bytes=2 * GIB)
    part = uneven.as_partition()
    faults: Faults = (
        *ILL_POOL,
        *WITHOUT_FEATURE,
        *HOLE,
        *OTHER_POOL,
        ("disk-mount", on_disk(holds=(MOUNTED,))),
        ("slice-held", held_part),
        ("sizes-differ", both(on_disk(NVME2, partitions=(part,)), on_action(sides=(action.sides[0], uneven)))),
    )
    check_order(Case(inventory, action), faults)


def test_of_a_slice_that_joins_a_pool_its_part_is_said_first_and_its_disk_before_itself() -> None:
    inventory, action = log_on(NVME1)
    [side] = action.sides
    faults: Faults = (
        ("plan-foreign", on_action(sides=(replace(side, role=Role.CACHE),))),
        ("disk-mount", on_disk(holds=(MOUNTED,))),
        ("slice-held", held_part),
    )
    check_order(Case(inventory, action), faults)


def test_of_a_slice_its_own_use_is_said_before_that_of_a_pool_and_both_before_its_sectors() -> None:
    inventory, action = log_on(NVME1)
    in_pool = leaf_on(disk_of(inventory, NVME1), "77")
    coarse = both(on_identity(logical_sector_bytes=4096), on_pool(ashift=9), on_action(ashift=9))
    case = both(on_pool(caches=(in_pool,)), coarse)(Case(inventory, action))
    by_pool = allowed(case)
    assert code_of(by_pool) == "slice-held"
    assert "/srv" not in str(by_pool)
    by_mount = allowed(held_part(case))
    assert code_of(by_mount) == "slice-held"
    assert "/srv" in str(by_mount)
    assert code_of(allowed(coarse(Case(inventory, action)))) == "sector-too-large"


def test_of_a_cache_the_pool_is_said_before_the_plan_and_the_plan_before_the_slices() -> None:
    inventory, action = cache_on(NVME1)
    piece = action.slices[0]
    faults: Faults = (
        *ILL_POOL,
        *OTHER_POOL,
        ("disk-twice", on_action(slices=(piece, piece))),
        ("disk-mount", on_disk(holds=(MOUNTED,))),
    )
    check_order(Case(inventory, action), faults)


def test_of_a_new_side_the_pool_is_said_before_the_plan_the_slice_and_the_log() -> None:
    inventory, action = attach_to_log()
    faults: Faults = (
        *ILL_POOL,
        *WITHOUT_FEATURE,
        *HOLE,
        ("pool-resilvers", on_pool(scan="resilver")),
        *OTHER_POOL,
        ("disk-mount", on_disk(NVME2, holds=(MOUNTED,))),
        ("log-side-gone", on_action(existing_guid="99")),
    )
    check_order(Case(inventory, action), faults)


def test_of_a_new_side_the_others_and_the_length_are_said_before_that_it_shares_a_disk() -> None:
    inventory, action = attach_to_log()
    same = slice_on(disk_of(inventory, NVME1), number=2)
    shared = with_disk(inventory, NVME1, partitions=(*disk_of(inventory, NVME1).partitions, same.as_partition()))
    case = Case(shared, replace(action, side=same))
    assert code_of(allowed(case)) == "same-disk"
    longer = replace(same, size_bytes=5 * GIB)
    parts = (disk_of(shared, NVME1).partitions[0], longer.as_partition())
    case = Case(with_disk(shared, NVME1, partitions=parts), replace(action, side=longer))
    assert code_of(allowed(case)) == "sizes-differ"


DROP = DropLogSide("tank", TANK, "32", "/dev/disk/by-partuuid/00000000-0000-4000-8000-00000000dead")


def test_of_a_side_that_goes_what_would_be_left_is_said_before_the_pool() -> None:
    faults: Faults = (
        ("pool-renamed", on_pool(name="other")),
        ("last-good-side", on_vdev("31", state="FAULTED")),
        ("pool-checkpoint", on_pool(checkpoint="1G")),
    )
    check_order(Case(with_broken_log(), DROP), faults)


def dead(*states: str) -> Case:
    inventory = with_dead_log(*states)
    [action] = plan_for(PlanRequest(TANK, dead_log="61"), with_dead_log()).actions
    assert isinstance(action, DropLog)
    return Case(inventory, action)


def test_of_a_dead_log_that_goes_the_log_is_said_before_the_pool_and_the_pool_before_the_hole() -> None:
    faults: Faults = (
        ("pool-renamed", on_pool(name="other")),
        (
            "log-out-of-service",
            on_vdev("61", state="OFFLINE"),
        ),
        ("pool-checkpoint", on_pool(checkpoint="1G")),
        *HOLE,
    )
    check_order(dead(), faults)


def test_a_log_that_still_takes_writes_with_errors_is_said_to_have_them_and_not_only_to_work() -> None:
    refused = allowed(dead("DEGRADED"))
    assert code_of(refused) == "log-has-errors"
    assert "tank" in str(refused)


def test_what_a_dead_log_is_refused_by_is_named() -> None:
    case = dead()
    gone = on_action(vdev_guid="99")(case)
    assert str(allowed(gone)) == str(no.LogSideGone(tank_of(case.inventory), "99"))
    away = on_action(pool_guid="1")(case)
    assert str(allowed(away)) == str(no.NoPool("1"))
    renamed = on_pool(name="other")(case)
    assert str(allowed(renamed)) == str(no.PoolRenamed(tank_of(renamed.inventory), "tank"))


def test_of_a_cache_that_is_taken_out_of_service_the_pool_is_said_before_the_cache() -> None:
    [action] = plan_for(PlanRequest(TANK, offline_cache=CACHE_GUID), with_cache()).actions
    assert isinstance(action, OfflineCache)
    faults: Faults = (
        ("pool-renamed", on_pool(name="other")),
        ("pool-checkpoint", on_pool(checkpoint="1G")),
        ("cache-gone", on_action(vdev_guid="99")),
    )
    check_order(Case(with_cache(), action), faults)


@pytest.mark.parametrize("host_and_action", [log_on(NVME1), cache_on(NVME1), attach_to_log()])
def test_where_the_pool_is_away_nothing_else_is_said(
    host_and_action: tuple[Inventory, AddLog | AddCache | AttachLog],
) -> None:
    away = on_action(pool_guid="1")(Case(*host_and_action))
    assert code_of(allowed(away)) == "pool-gone"


def test_that_a_side_works_is_said_before_that_the_others_do_not() -> None:
    assert code_of(can(replace(DROP, vdev_guid="31"), with_broken_log())) == "log-side-works"


def test_that_a_name_is_not_the_disks_is_said_before_that_it_is_not_persistent() -> None:
    inventory, _ = log_on(NVME1)
    piece = slice_on(disk_of(inventory, NVME1), number=2, disk_path="/dev/nvme9n1")
    assert code_of(can(CreateSlice(piece, TANK), inventory)) == "disk-changed"
