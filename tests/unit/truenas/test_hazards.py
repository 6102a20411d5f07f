"""What TrueNAS's own functions do to slices: one test for each hazard."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.change.plan import Plan, PlanRefused, PlanRequest
from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB, MIB
from plugins.truenas.hazards import findings, is_whole, vetoes
from plugins.truenas.host import TrueNASHost
from tests.unit.machines import (
    NVME1,
    NVME2,
    SHARED_SSD,
    TANK,
    home_server,
    leaf_on,
    partition,
    plan_for,
    with_disk,
    with_partitions,
)

LOG_AND_CACHE = PlanRequest(TANK, (NVME1, NVME2), 4 * GIB, (NVME1, NVME2), reserve_percent=0)


def truenas() -> Inventory:
    """The home server, with the space at the end that this platform wants."""
    inventory = home_server()
    return replace(inventory, host=replace(inventory.host, tail_bytes=TrueNASHost().tail_bytes()))


def data_partition_bytes(disk_bytes: int, start_bytes: int = 0) -> int:
    """How long TrueNAS would make a partition: DiskService.get_data_partition_size in disk_/format.py."""
    return (disk_bytes - int(min(2 * 1024**3, disk_bytes * 0.01)) - start_bytes) // MIB * MIB


def written_by_expand(disk_bytes: int, start_bytes: int) -> range:
    """What "Expand pool" overwrites for a partition: PoolService.expand_partition in pool_/expand.py."""
    end = start_bytes + data_partition_bytes(disk_bytes, start_bytes)
    return range(end - MIB, end)


@given(
    disk_bytes=st.integers(8 * GIB // 4096, 64 * 2**40 // 4096).map(lambda blocks: blocks * 4096),
    log_bytes=st.integers(64, 4096).map(lambda mebibytes: mebibytes * MIB),
    reserve=st.integers(0, 50),
)
def test_what_expand_overwrites_lies_behind_the_last_slice(disk_bytes: int, log_bytes: int, reserve: int) -> None:
    inventory = truenas()
    for key in (NVME1, NVME2):
        disk = inventory.disk(key)
        assert disk is not None
        identity = replace(disk.identity, size_bytes=disk_bytes)
        inventory = with_disk(inventory, key, identity=identity, usable_end_bytes=disk_bytes - MIB)
    wish = replace(LOG_AND_CACHE, log_size_bytes=log_bytes, reserve_percent=reserve)
    plan = plan_for(wish, inventory)
    assert not isinstance(plan, PlanRefused)
    for piece in plan.slices:
        last = max(each.start_bytes + each.size_bytes for each in plan.slices if each.disk_key == piece.disk_key)
        written = written_by_expand(disk_bytes, piece.start_bytes)
        assert last <= written.start
        assert written.stop <= disk_bytes


def test_the_log_is_first_and_the_cache_last() -> None:
    """Expand fails at the log, which has the cache behind it, before sgdisk changes the table."""
    log, cache = (piece for piece in plan_for(LOG_AND_CACHE, truenas()).slices if piece.disk_key == NVME1)
    assert (log.number, str(log.role), cache.number, str(cache.role)) == (1, "log", 2, "cache")
    assert log.start_bytes + log.size_bytes == cache.start_bytes


def test_slices_have_no_names() -> None:
    """OpenZFS looks in by-partlabel before by-partuuid when it imports (zutil_import_os.c)."""
    assert {piece.as_partition().name for piece in plan_for(LOG_AND_CACHE, truenas()).slices} == {""}


def with_slices() -> Inventory:
    plan: Plan = plan_for(LOG_AND_CACHE, truenas())
    return plan.after(truenas())


def test_a_pool_with_slices_says_undo_before_expand_and_never_remove() -> None:
    expand, remove = findings(with_slices())
    assert (expand.code, expand.place, remove.code, remove.place) == (
        "undo-before-expand",
        TANK,
        "never-remove-in-truenas",
        TANK,
    )
    assert str(expand).startswith("Do not use Expand on pool tank")
    assert "Samsung SSD 960 EVO 500GB (N1), Samsung SSD 960 EVO 500GB (N2)" in expand.why
    assert "wipes the whole SSD" in str(remove)


def test_a_single_slice_is_named_too_because_expand_would_grow_it_into_the_reserve() -> None:
    plan = plan_for(PlanRequest(TANK, (), 0, (NVME1,), reserve_percent=0), truenas())
    assert [finding.code for finding in findings(plan.after(truenas()))] == [
        "undo-before-expand",
        "never-remove-in-truenas",
    ]


def test_a_pool_without_slices_has_nothing_to_be_said() -> None:
    assert list(findings(truenas())) == []


def test_a_whole_disk_that_truenas_made_a_cache_is_no_slice() -> None:
    inventory = truenas()
    disk = inventory.disk(NVME1)
    assert disk is not None
    part = partition(disk, 1, MIB, data_partition_bytes(disk.identity.size_bytes))
    disk = with_partitions(disk, part)
    inventory = with_disk(inventory, NVME1, table=disk.table, partitions=disk.partitions)
    pools = tuple(
        replace(pool, caches=(leaf_on(disk, "900"),)) if pool.guid == TANK else pool for pool in inventory.pools
    )
    assert list(findings(replace(inventory, pools=pools))) == []


@given(disk_bytes=st.integers(4 * GIB // 512, 64 * 2**40 // 512).map(lambda blocks: blocks * 512))
def test_truenas_own_partitions_are_told_from_the_longest_slice(disk_bytes: int) -> None:
    disk = home_server().disk(NVME1)
    assert disk is not None
    disk = replace(disk, identity=replace(disk.identity, size_bytes=disk_bytes))
    own = partition(disk, 1, MIB, data_partition_bytes(disk_bytes))
    longest = (disk_bytes - MIB - TrueNASHost().tail_bytes()) // MIB * MIB
    slice_ = partition(disk, 1, MIB, longest - MIB)
    assert is_whole(with_partitions(disk, own), own)
    assert not is_whole(with_partitions(disk, slice_), slice_)
    assert not is_whole(with_partitions(disk, own, slice_), own)


def test_an_ssd_with_zfs_partitions_gets_no_slices_for_another_pool() -> None:
    """TrueNAS keeps one pool a disk (disk.zfs_guid): with two the records flap."""
    found = {veto.scope: veto for veto in vetoes(with_slices())}
    assert {NVME1, NVME2} <= found.keys()
    assert "Choose a blank SSD" in str(found[NVME1].reason)
    assert {veto.forbids for veto in found.values()} == {(Goal.APPLY,)}, "a run that was begun can be finished"


def test_a_blank_ssd_and_a_hard_disk_are_not_forbidden() -> None:
    assert {veto.scope for veto in vetoes(truenas())} & {NVME1, NVME2} == set()
    assert all(not disk.rotational for disk in map(truenas().disk, (veto.scope for veto in vetoes(truenas()))) if disk)


def test_an_ssd_with_other_partitions_is_judged_by_the_rules_that_hold_everywhere() -> None:
    disk = truenas().disk(SHARED_SSD)
    assert disk is not None
    parts = tuple(replace(part, type_uuid="0fc63daf-8483-4772-8e79-3d69d8477de4") for part in disk.partitions)
    inventory = with_disk(truenas(), SHARED_SSD, partitions=parts)
    assert SHARED_SSD not in {veto.scope for veto in vetoes(inventory)}


@pytest.mark.parametrize("reserve", [0, 1, 10])
def test_the_end_stays_free_whatever_the_reserve(reserve: int) -> None:
    inventory = truenas()
    plan = plan_for(replace(LOG_AND_CACHE, reserve_percent=reserve), inventory)
    disk = inventory.disk(NVME1)
    assert disk is not None
    last = max(piece.start_bytes + piece.size_bytes for piece in plan.slices if piece.disk_key == NVME1)
    assert disk.usable_end_bytes - last >= 2 * GIB + MIB
