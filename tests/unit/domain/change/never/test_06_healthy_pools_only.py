"""Rule 6: refuse while a checkpoint exists, the pool is not well, a feature is missing or OpenZFS has a known bug."""

from dataclasses import replace
from typing import Any

import pytest

from nasadvisor.domain.change.actions import (
    DetachLog,
    DropLogSide,
    RemoveVdev,
    Role,
)
from nasadvisor.domain.change.checks import can, can_use_pool
from nasadvisor.domain.change.undo_checks import can_undo
from tests.unit.domain.builders import (
    MIRROR_GUID,
    attach_to_log,
    cache_on,
    code_of,
    log_on,
    mirrored_log,
    tank_of,
)
from tests.unit.domain.change.never.wishes import CACHE, SINGLE, refused
from tests.unit.machines import (
    NVME1,
    TANK,
    home_server,
    with_broken_log,
    with_pool,
)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"checkpoint": "1.2G"}, "pool-checkpoint"),
        ({"state": "DEGRADED"}, "pool-not-online"),
        ({"state": "online"}, "pool-not-online"),
        ({"suspended": True}, "pool-suspended"),
        ({"read_only": True}, "pool-read-only"),
    ],
)
def test_nothing_is_added_to_such_a_pool(changes: dict[str, Any], code: str) -> None:
    for request in (SINGLE, CACHE):
        assert refused(request, with_pool(home_server(), **changes)) == {code}
    for inventory, action in (log_on(NVME1), cache_on(NVME1), attach_to_log()):
        assert code_of(can(action, with_pool(inventory, **changes))) == code


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"checkpoint": "1.2G"}, "pool-checkpoint"),
        ({"state": "FAULTED"}, "pool-not-online"),
        ({"state": "UNAVAIL"}, "pool-not-online"),
        ({"suspended": True}, "pool-suspended"),
        ({"read_only": True}, "pool-read-only"),
        ({"name": "renamed"}, "pool-renamed"),
        ({"guid": "99"}, "pool-away"),
        ({"state": "DEGRADED"}, ""),
    ],
)
def test_nothing_is_taken_out_of_such_a_pool_but_a_degraded_one_can_be_undone(
    changes: dict[str, Any], code: str
) -> None:
    inventory, sides = mirrored_log()
    changed = with_pool(inventory, **changes)
    assert code_of(can_undo(RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, sides), changed)) == code
    assert code_of(can_undo(DetachLog("tank", TANK, "32", sides[1]), changed)) == code


def test_a_log_needs_the_feature_and_a_cache_does_not() -> None:
    inventory = with_pool(home_server(), features=("async_destroy",))
    assert refused(SINGLE, inventory) == {"feature-missing"}
    assert refused(CACHE, inventory) == set()
    ready, action = attach_to_log()
    assert code_of(can(action, with_pool(ready, features=()))) == "feature-missing"


@pytest.mark.parametrize(
    ("version", "has_bug"),
    [
        *(("2.3.5", False), ("2.3.6-1", True), ("2.3.8-1~bpo12+1", True), ("2.3.9-1", False), ("2.4.0", False)),
        *(("zfs-kmod-2.4.1", True), ("2.4.3", True), ("2.4.4", False), ("2.2.9", False), ("", False)),
    ],
)
def test_a_hole_in_a_multihost_pool_is_not_made_where_the_import_would_then_fail(version: str, has_bug: bool) -> None:
    inventory, sides = mirrored_log()
    host = replace(inventory.host, zfs_kernel=version)
    buggy = with_pool(replace(inventory, host=host), multihost=True)
    removal = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, sides)
    code = "known-bug" if has_bug else ""
    assert code_of(can_use_pool(tank_of(buggy), host, adds_log=True)) == code
    assert code_of(can_undo(removal, buggy)) == code
    assert code_of(can_use_pool(tank_of(buggy), host, adds_log=False)) == ""
    assert code_of(can_undo(removal, with_pool(buggy, multihost=False))) == ""


def test_a_side_is_not_attached_while_the_pool_resilvers() -> None:
    inventory, action = attach_to_log()
    assert code_of(can(action, with_pool(inventory, scan="resilver"))) == "pool-resilvers"
    assert code_of(can(action, with_pool(inventory, scan="scrub"))) == ""


def test_the_pool_must_be_the_one_that_the_plan_names() -> None:
    for inventory, action in (log_on(NVME1), cache_on(NVME1), attach_to_log()):
        assert code_of(can(action, with_pool(inventory, name="renamed"))) == "pool-renamed"
        assert code_of(can(action, with_pool(inventory, guid="99"))) == "pool-gone"


def test_no_step_makes_a_log_in_a_multihost_pool_where_it_could_not_be_taken_out() -> None:
    drop = DropLogSide("tank", TANK, "32", "/dev/disk/by-id/x")
    for machine, action in (log_on(NVME1), attach_to_log(), (with_broken_log(), drop)):
        inventory = replace(machine, host=replace(machine.host, zfs_kernel="2.3.8-1"))
        assert code_of(can(action, inventory)) == ""
        assert code_of(can(action, with_pool(inventory, multihost=True))) == "known-bug"
