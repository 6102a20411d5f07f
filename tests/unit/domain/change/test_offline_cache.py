"""Taking a cache out of service and putting it back."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import OfflineCache, OnlineCache, Outcome
from nasadvisor.domain.change.checks import can
from nasadvisor.domain.change.device_scan import DeviceScan, Signature, against_look
from nasadvisor.domain.change.plan import PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.change.undo import cannot_be_undone, stays_after_undo, undo_preview
from nasadvisor.domain.change.undo_checks import can_undo, why_skipped
from nasadvisor.domain.change.warnings import warnings_for
from nasadvisor.domain.statements import Allowed, Answer, Level, Refused
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from tests.unit.domain.builders import tank_of
from tests.unit.machines import CACHE_GUID, NVME2, TANK, home_server, plan_for, plan_ids, with_cache, with_pool

OUT = OfflineCache("tank", TANK, CACHE_GUID, "/dev/disk/by-id/x-part1")
BACK = OnlineCache("tank", TANK, CACHE_GUID, "/dev/disk/by-id/x-part1")
WISH = PlanRequest(TANK, offline_cache=CACHE_GUID)


def why_not(answer: object) -> str:
    return answer.code if isinstance(answer, Refused) else ""


def test_it_goes_by_the_guid_and_stays_out_over_an_import() -> None:
    assert OUT.commands() == (("zpool", "offline", "tank", CACHE_GUID),)
    assert BACK.commands() == (("zpool", "online", "tank", CACHE_GUID),)


def test_a_plan_takes_out_that_cache_and_nothing_else() -> None:
    plan = plan_for(WISH, with_cache())
    (action,) = plan.actions
    assert isinstance(action, OfflineCache)
    assert (action.vdev_guid, action.pool_guid) == (CACHE_GUID, TANK)
    (cache,) = tank_of(plan.after(with_cache())).caches
    assert cache == replace(tank_of(with_cache()).caches[0], state="OFFLINE")
    assert undo_preview(plan) == BACK.commands()
    assert warnings_for(plan, with_cache()) == ()


def test_of_several_caches_the_plan_names_the_device_of_the_one_that_is_meant() -> None:
    (cache,) = tank_of(with_cache()).caches
    other = replace(cache, guid="42", path="/dev/disk/by-id/other")
    inventory = with_pool(with_cache(), caches=(other, cache))
    (action,) = plan_for(WISH, inventory).actions
    assert isinstance(action, OfflineCache)
    assert (action.vdev_guid, action.vdev_path) == (CACHE_GUID, cache.path)


def test_each_is_the_inverse_of_the_other() -> None:
    assert OUT.undo(Outcome()) == (BACK,)
    assert OUT.landed(OUT.forwards(with_cache())) == Outcome()
    assert not BACK.gone(OUT.forwards(with_cache()))
    assert BACK.gone(with_cache())


@pytest.mark.parametrize("state", ["ONLINE", "UNAVAIL", "REMOVED"])
def test_only_a_cache_that_is_offline_is_out_of_service(state: str) -> None:
    assert OUT.landed(with_cache(state)) is None
    assert BACK.gone(with_cache(state))


def test_a_cache_that_was_removed_need_not_be_put_back_but_that_of_a_pool_that_is_away_must() -> None:
    assert BACK.gone(home_server())
    assert not BACK.gone(replace(home_server(), pools=()))


def cache_in(inventory: Inventory) -> Vdev:
    return tank_of(inventory).caches[0]


@pytest.mark.parametrize(
    ("inventory", "why"),
    [
        (with_cache("OFFLINE"), lambda pool: no.CacheNotOnline(pool, pool.caches[0])),
        (with_cache("UNAVAIL"), lambda pool: no.CacheNotOnline(pool, pool.caches[0])),
        (home_server(), lambda pool: no.CacheGone(pool, CACHE_GUID)),
        (with_pool(with_cache(), suspended=True), no.PoolSuspended),
        (with_pool(with_cache(), read_only=True), no.PoolReadOnly),
        (with_pool(with_cache(), state="DEGRADED"), no.PoolNotOnline),
        (with_pool(with_cache(), checkpoint="2026-08-25"), no.PoolHasCheckpoint),
        (with_pool(with_cache(), name="other"), lambda pool: no.PoolRenamed(pool, "tank")),
        (with_cache(), lambda _: Allowed()),
    ],
)
def test_only_a_cache_that_works_in_a_pool_that_works_is_taken_out(
    inventory: Inventory, why: Callable[[Pool], Answer]
) -> None:
    """And who is refused reads which cache of which pool stands in the way, and how it is."""
    assert can(OUT, inventory) == why(tank_of(inventory))


def test_a_cache_of_a_pool_that_is_not_there_is_not_taken_out() -> None:
    assert can(OUT, replace(with_cache(), pools=())) == no.NoPool(TANK)


@pytest.mark.parametrize("guid", ["1", "31", TANK])
def test_nothing_but_a_cache_is_taken_out(guid: str) -> None:
    (leaf, *_others) = tank_of(with_cache()).data[0].leaves()
    for each in (guid, leaf.guid):
        assert why_not(can(replace(OUT, vdev_guid=each), with_cache())) == "cache-gone"
        made = make_plan(replace(WISH, offline_cache=each), with_cache(), plan_ids(WISH))
        assert isinstance(made, PlanRefused)
        assert "cache-gone" in {refusal.code for refusal in made.refusals}


@pytest.mark.parametrize(
    ("inventory", "why"),
    [
        (with_pool(with_cache("OFFLINE"), suspended=True), no.PoolSuspended),
        (with_pool(with_cache("OFFLINE"), read_only=True), no.PoolReadOnly),
        (with_pool(with_cache("OFFLINE"), state="FAULTED"), no.PoolNotOnline),
        (with_pool(with_cache("OFFLINE"), name="other"), lambda pool: no.PoolRenamed(pool, "tank")),
        (home_server(), lambda pool: no.CacheGone(pool, CACHE_GUID)),
        (with_cache("OFFLINE"), lambda _: Allowed()),
        (with_pool(with_cache("OFFLINE"), state="DEGRADED"), lambda _: Allowed()),
        (with_pool(with_cache("OFFLINE"), checkpoint="2026-08-25"), lambda _: Allowed()),
    ],
)
def test_it_is_put_back_only_into_its_pool(inventory: Inventory, why: Callable[[Pool], Answer]) -> None:
    assert can_undo(BACK, inventory) == why(tank_of(inventory))


def test_it_is_not_put_back_while_its_pool_is_away() -> None:
    """Who plugs the pool in again has to be told which one it is."""
    assert can_undo(BACK, replace(with_cache("OFFLINE"), pools=())) == no.PoolAway("tank", TANK)


@pytest.mark.parametrize("step", [OUT, BACK])
def test_where_openzfs_would_not_put_it_back_it_is_not_taken_out(step: OfflineCache | OnlineCache) -> None:
    assert against_look(step, DeviceScan(autoexpand=True), None, with_cache()) == no.CacheStaysOut("tank")
    assert against_look(step, DeviceScan(), None, with_cache()) is None


def test_what_somebody_put_on_it_meanwhile_is_not_written_over() -> None:
    out = with_cache("OFFLINE")
    look = DeviceScan((Signature("zfs_member"), Signature("ext4", label="photos")))
    assert against_look(BACK, look, None, out) == no.CacheOverwritten(tank_of(out), cache_in(out), "ext4")
    assert against_look(BACK, DeviceScan((Signature("zfs_member"),)), None, out) is None


def test_what_stands_on_a_device_that_is_no_cache_of_the_pool_any_more_is_not_called_the_caches() -> None:
    """The rules refuse the step with what is so: the pool is away, or has no such cache."""
    look = DeviceScan((Signature("ext4", label="photos"),))
    for inventory in (home_server(), GONE, with_pool(with_cache("OFFLINE"), guid="99")):
        assert against_look(BACK, look, None, inventory) is None


GONE = replace(home_server(), pools=())


def told(inventory: Inventory) -> list[tuple[str, Level]]:
    return [(finding.code, finding.level) for finding in BACK.left_with(inventory)]


def test_of_a_cache_that_does_not_work_it_is_not_kept_quiet_when_the_undo_ends() -> None:
    assert told(with_cache()) == []
    assert told(with_cache("UNAVAIL")) == [("cache-back-broken", Level.WARNING)]
    assert told(home_server()) == [("cache-not-in-pool", Level.INFO)]
    assert told(GONE) == [("cache-away", Level.WARNING)]


def test_what_is_gone_with_its_pool_and_its_disk_keeps_no_undo_from_its_end() -> None:
    assert why_skipped(BACK, replace(with_cache("OFFLINE"), pools=(), disks=()), DeviceScan())
    assert why_skipped(BACK, GONE, DeviceScan())
    here = replace(BACK, vdev_path=tank_of(with_cache()).caches[0].path)
    for inventory in (with_cache("OFFLINE"), replace(with_cache("OFFLINE"), pools=())):
        assert why_skipped(here, inventory, DeviceScan()) is None
    assert why_skipped(replace(BACK, vdev_path=""), GONE, DeviceScan()) is None


def test_it_goes_with_no_other_change() -> None:
    wish = replace(WISH, cache_disks=(NVME2,))
    made = make_plan(wish, with_cache(), plan_ids(wish))
    assert isinstance(made, PlanRefused)
    assert "offline-alone" in {refusal.code for refusal in made.refusals}


def test_what_is_said_of_its_undo_speaks_of_no_ssd_that_was_not_touched() -> None:
    plan = plan_for(WISH, with_cache())
    assert [finding.code for finding in cannot_be_undone(plan)] == ["cache-comes-back-colder", "history-stays"]
    assert stays_after_undo(plan, (BACK,)) == ()


def test_it_follows_its_pool_to_another_name() -> None:
    renamed = replace(tank_of(with_cache()), name="renamed")
    assert OUT.at_pool(renamed) == replace(OUT, pool_name="renamed")
    assert can(OUT, with_cache()) == Allowed()


def test_a_cache_on_a_whole_disk_is_away_only_with_pool_and_disk() -> None:
    unplugged = replace(with_cache("OFFLINE"), pools=())
    disk = unplugged.disks[0]
    on_disk = replace(BACK, vdev_path=disk.links[0])
    assert not on_disk.is_away(unplugged)
    assert on_disk.is_away(replace(unplugged, disks=unplugged.disks[1:]))
