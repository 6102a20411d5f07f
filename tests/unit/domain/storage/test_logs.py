"""Logs and their sides: which one is meant, in what state it is, how long a new side is, the pool once one is out."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from nasadvisor.domain.storage.logs import (
    BrokenSide,
    all_that_ails,
    broken_log_sides,
    dead_log,
    find_log_side,
    is_dead,
    is_failing,
    is_out_of_service,
    log_mirror_of,
    new_side_bytes,
    side_bounds,
    was_missing_at_import,
    without_dead_logs,
    without_log_side,
    without_logs,
)
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import LOG_GUID, MIRROR_GUID, change_vdev, mirrored_log, tank_of
from tests.unit.machines import NVME1, NVME2, with_broken_log, with_disk, with_single_log

MIRRORED = mirrored_log()[0]
MIRROR = tank_of(MIRRORED).logs[0]
ONE, OTHER = MIRROR.children
SPARE = Vdev("50", "spare", "spare-0", "DEGRADED", children=(replace(ONE, guid="51"),))


def pool_with(*logs: Vdev, state: str = "ONLINE") -> Pool:
    return replace(tank_of(MIRRORED), logs=logs, state=state)


def mirror_of(*sides: Vdev, state: str = "ONLINE", guid: str = MIRROR_GUID) -> Vdev:
    return replace(MIRROR, guid=guid, state=state, children=sides)


def with_sizes(first: int, second: int) -> Inventory:
    """The slices of the mirror are of these sizes."""
    inventory = MIRRORED
    for key, size in ((NVME1, first), (NVME2, second)):
        disk = inventory.disk(key)
        assert disk
        inventory = with_disk(inventory, key, partitions=(replace(disk.partitions[0], size_bytes=size),))
    return inventory


def test_a_side_is_found_by_its_guid_in_any_log_and_nothing_else_is() -> None:
    pool = pool_with(replace(ONE, guid="77"), MIRROR)
    assert find_log_side(pool, "77") == replace(ONE, guid="77")
    assert find_log_side(pool, OTHER.guid) == OTHER
    for guid in (MIRROR_GUID, "99", pool.data[0].children[0].guid):
        assert find_log_side(pool, guid) is None


def test_only_a_broken_side_beside_one_that_works_can_be_replaced() -> None:
    broken = replace(OTHER, state="FAULTED")
    assert broken_log_sides(pool_with(MIRROR)) == ()
    assert broken_log_sides(pool_with(mirror_of(broken, ONE))) == (BrokenSide(broken, ONE),)
    assert broken_log_sides(pool_with(mirror_of(broken, replace(ONE, state="DEGRADED")))) == ()
    assert broken_log_sides(pool_with(broken)) == ()


def test_of_every_mirror_each_broken_side_is_named_with_the_first_that_works() -> None:
    broken, dead = replace(OTHER, state="FAULTED"), replace(OTHER, guid="34", state="REMOVED")
    third = replace(ONE, guid="33")
    second = mirror_of(replace(ONE, guid="61"), replace(broken, guid="62"), guid="60")
    assert broken_log_sides(pool_with(mirror_of(broken, ONE, third, dead), second)) == (
        BrokenSide(broken, ONE),
        BrokenSide(dead, ONE),
        BrokenSide(*reversed(second.children)),
    )


def test_a_side_in_whose_place_a_spare_works_is_neither_broken_nor_a_partner() -> None:
    broken = replace(OTHER, state="FAULTED")
    assert broken_log_sides(pool_with(mirror_of(SPARE, ONE))) == ()
    assert broken_log_sides(pool_with(mirror_of(replace(SPARE, state="ONLINE"), broken))) == ()


def test_the_mirror_of_a_side_is_the_one_that_has_it() -> None:
    second = mirror_of(replace(ONE, guid="61"), replace(OTHER, guid="62"), guid="60")
    assert log_mirror_of(pool_with(MIRROR, second), "62") == second
    assert log_mirror_of(pool_with(MIRROR, second), LOG_GUID) == MIRROR
    assert log_mirror_of(pool_with(MIRROR, ONE), MIRROR_GUID) is None
    assert log_mirror_of(pool_with(replace(ONE, guid="77")), "77") is None


def test_a_new_side_is_as_long_as_the_shortest_and_at_most_as_the_longest_that_is_there() -> None:
    """A shorter one OpenZFS refuses; of a longer one it wastes the rest."""
    assert side_bounds(MIRROR, with_sizes(5 * GIB, 4 * GIB)) == (4 * GIB, 5 * GIB)
    assert side_bounds(MIRROR, with_sizes(4 * GIB + 512, 4 * GIB)) == (4 * GIB, 4 * GIB + MIB)
    assert side_bounds(MIRROR, with_disk(with_sizes(5 * GIB, 4 * GIB), NVME1, partitions=())) == (4 * GIB, 4 * GIB)
    assert side_bounds(MIRROR, replace(MIRRORED, disks=())) == (0, 0)


def test_the_length_of_a_new_side_goes_by_the_sides_that_stay() -> None:
    inventory = with_sizes(5 * GIB, 4 * GIB)
    assert new_side_bytes(pool_with(MIRROR), LOG_GUID, "", inventory) == 4 * GIB
    assert new_side_bytes(pool_with(MIRROR), LOG_GUID, OTHER.guid, inventory) == 5 * GIB
    assert new_side_bytes(pool_with(MIRROR), OTHER.guid, LOG_GUID, inventory) == 4 * GIB
    assert new_side_bytes(pool_with(MIRROR), "99", "", inventory) == 0
    assert new_side_bytes(pool_with(MIRROR), LOG_GUID, LOG_GUID, inventory) == 5 * GIB, "as long as the one that goes"
    alone = pool_with(replace(OTHER, guid="77"), ONE)
    assert new_side_bytes(alone, ONE.guid, "", inventory) == 5 * GIB


def test_a_side_that_stays_alone_takes_the_guid_of_its_mirror() -> None:
    left = without_log_side(pool_with(MIRROR, replace(ONE, guid="77")), OTHER.guid)
    assert left.logs == (replace(ONE, guid=MIRROR_GUID), replace(ONE, guid="77"))


def test_of_three_sides_two_stay_a_mirror_that_is_well_only_if_both_are() -> None:
    third = replace(ONE, guid="33")
    sick = replace(third, state="FAULTED")
    for sides, state in (((ONE, third), "ONLINE"), ((ONE, sick), "DEGRADED"), ((sick, ONE), "DEGRADED")):
        mirror = mirror_of(*sides, replace(OTHER, state="REMOVED"), state="DEGRADED")
        assert without_log_side(pool_with(mirror), OTHER.guid).logs == (mirror_of(*sides, state=state),)


def test_without_a_side_that_is_not_there_the_pool_is_the_same() -> None:
    pool = tank_of(with_broken_log())
    for guid in ("99", MIRROR_GUID, pool.data[0].children[0].guid):
        assert without_log_side(pool, guid) == pool
    single = tank_of(with_single_log())
    assert without_log_side(single, single.logs[0].guid) == single


SICK = replace(tank_of(MIRRORED).data[0], children=(replace(ONE, guid="70", state="UNAVAIL"),))


@pytest.mark.parametrize(
    "ailing",
    [
        lambda pool: replace(pool, data=(*pool.data, SICK)),
        lambda pool: replace(pool, specials=(SICK,)),
        lambda pool: replace(pool, dedups=(SICK,)),
        lambda pool: replace(pool, logs=(*pool.logs, SICK)),
    ],
    ids=["data", "special", "dedup", "log"],
)
def test_a_pool_is_well_again_only_if_nothing_else_ails_it(ailing: Callable[[Pool], Pool]) -> None:
    """Else a pool that lost a disk of its data would be written to as if it were whole."""
    pool = tank_of(with_broken_log())
    assert without_log_side(pool, "32").state == "ONLINE"
    assert without_log_side(ailing(pool), "32").state == "DEGRADED"
    assert without_log_side(replace(pool, state="FAULTED"), "32").state == "FAULTED"
    assert without_log_side(replace(pool, caches=(SICK,)), "32").state == "ONLINE"


def test_a_broken_side_that_is_put_in_order_is_none() -> None:
    assert broken_log_sides(tank_of(change_vdev(with_broken_log(), "32", state="ONLINE"))) == ()


def mirror_in(*states: str) -> Vdev:
    return mirror_of(*(replace(ONE, guid=str(60 + number), state=state) for number, state in enumerate(states)))


@pytest.mark.parametrize(
    ("states", "judges"),
    [
        (("ONLINE",), []),
        (("ONLINE", "FAULTED"), []),
        (("ONLINE", "DEGRADED"), []),
        (("DEGRADED",), [is_failing]),
        (("DEGRADED", "FAULTED"), [is_failing]),
        (("UNAVAIL",), [is_dead]),
        (("FAULTED", "REMOVED"), [is_dead]),
        (("OFFLINE",), [is_out_of_service]),
        (("OFFLINE", "FAULTED"), [is_out_of_service]),
        (("FAULTED", "OFFLINE"), [is_out_of_service]),
        (("OFFLINE", "DEGRADED"), [is_failing]),
    ],
)
def test_a_log_works_fails_is_dead_or_out_of_service(states: tuple[str, ...], judges: list[object]) -> None:
    """Dead is only what nobody took offline: what was taken offline is brought back, and not taken out of the pool."""
    log = mirror_in(*states)
    assert [judge for judge in (is_dead, is_out_of_service, is_failing) if judge(log)] == judges


@pytest.mark.parametrize(
    ("sides", "was_missing"),
    [
        ([{"state": "UNAVAIL"}], True),
        ([{"state": "FAULTED"}, {"state": "UNAVAIL"}], True),
        ([{"state": "REMOVED"}], False),
        ([{"state": "REMOVED"}, {"state": "UNAVAIL"}], True),
        ([{"state": "FAULTED", "write_errors": 1}], False),
        ([{"state": "UNAVAIL"}, {"state": "FAULTED", "read_errors": 2}], False),
        ([{"state": "FAULTED", "is_forced": True}], False),
        ([{"state": "UNAVAIL"}, {"state": "ONLINE"}], False),
    ],
)
def test_a_dead_log_without_errors_was_missing_when_its_pool_was_imported(
    sides: list[dict[str, object]], was_missing: bool
) -> None:
    log = mirror_of(*(replace(ONE, **changes) for changes in sides))  # type: ignore[arg-type]
    assert was_missing_at_import(log) is was_missing
    assert not was_missing_at_import(replace(log, checksum_errors=1))


def test_a_dead_log_is_found_by_its_guid_and_no_other_is() -> None:
    dead, working = replace(ONE, guid="77", state="FAULTED"), replace(OTHER, guid="78")
    pool = pool_with(working, dead)
    assert dead_log(pool, "77") == dead
    assert dead_log(pool, "78") is None
    assert dead_log(pool, "99") is None


def test_without_its_dead_logs_a_pool_is_well_if_nothing_else_ails_it() -> None:
    dead, other, working = (replace(ONE, guid=guid, state="FAULTED") for guid in ("77", "78", "79"))
    working = replace(working, state="ONLINE")
    pool = pool_with(dead, working, other, state="DEGRADED")
    assert without_dead_logs(pool) == pool_with(working)
    assert without_logs(pool, "77", "78") == pool_with(working)
    assert without_logs(pool, "77") == pool_with(working, other, state="DEGRADED")
    assert without_dead_logs(pool_with(working)) == pool_with(working)


def test_only_a_log_ails_a_pool_whose_other_devices_are_all_well() -> None:
    ill = mirror_in("ONLINE", "FAULTED")
    pool = pool_with(replace(ONE, guid="77"), ill, state="DEGRADED")
    assert all_that_ails(pool) == ill
    assert all_that_ails(replace(pool, caches=(SICK,))) == ill
    assert all_that_ails(pool_with(MIRROR, state="DEGRADED")) is None
    assert all_that_ails(replace(pool, state="ONLINE")) is None
    assert all_that_ails(replace(pool, data=(*pool.data, SICK))) is None
    assert all_that_ails(replace(pool, specials=(SICK,))) is None
    assert all_that_ails(replace(pool, dedups=(SICK,))) is None
