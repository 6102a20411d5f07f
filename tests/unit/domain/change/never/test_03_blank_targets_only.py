"""Rule 3: only blank targets; of a disk with partitions only the free space, and only if the user asks."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import (
    CreateSlice,
    CreateTable,
)
from nasadvisor.domain.change.checks import can, can_use_disk
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.warnings import warnings_for
from nasadvisor.domain.storage.inventory import Hold, HoldKind, TableKind
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import (
    TABLE_UUID,
    code_of,
    disk_of,
    log_on,
    slice_on,
)
from tests.unit.domain.change.never.wishes import CACHE, SINGLE, refused
from tests.unit.machines import (
    ARCHIVE,
    NVME1,
    SHARED_SSD,
    TANK,
    home_server,
    leaf_on,
    partition,
    plan_for,
    with_disk,
    with_partitions,
)


@pytest.mark.parametrize("kind", HoldKind)
def test_whatever_holds_a_disk_keeps_it_from_being_a_target(kind: HoldKind) -> None:
    inventory = with_disk(home_server(), NVME1, holds=(Hold(kind, "x"),))
    for request in (SINGLE, CACHE, replace(SINGLE, use_free_extents=True)):
        assert refused(request, inventory) == {f"disk-{kind}"}


def test_a_disk_with_partitions_is_only_used_if_the_user_asks() -> None:
    wish = PlanRequest(TANK, cache_disks=(SHARED_SSD,))
    assert refused(wish, home_server()) == {"disk-filesystem", "disk-has-partitions"}
    assert refused(replace(wish, use_free_extents=True), home_server()) == set()


@pytest.mark.parametrize("table", [TableKind.NONE, TableKind.GPT])
def test_data_that_nobody_recognises_stand_in_the_plan_that_erases_them(table: TableKind) -> None:
    inventory = with_disk(home_server(), NVME1, table=table, unrecognised_at=7 * MIB)
    plan = plan_for(SINGLE, inventory)
    assert [(step.disk_key, step.unrecognised_at) for step in plan.erasures] == [(NVME1, 7 * MIB)]
    assert "unrecognised-data" in {finding.code for finding in warnings_for(plan, inventory)}
    assert plan_for(SINGLE, with_disk(home_server(), NVME1, table=table)).erasures == ()


@pytest.mark.parametrize(
    "kind", [HoldKind.BOOT, HoldKind.UNREADABLE, HoldKind.DUPLICATE, HoldKind.COPY, HoldKind.READ_ONLY]
)
def test_the_free_space_of_a_boot_disk_or_a_doubtful_one_is_not_used_either(kind: HoldKind) -> None:
    part = partition(disk_of(home_server(), NVME1), 1, MIB, GIB, Hold(kind, "x"))
    inventory = with_disk(home_server(), NVME1, table=TableKind.GPT, partitions=(part,))
    assert refused(replace(SINGLE, use_free_extents=True), inventory) == {f"disk-{kind}"}


def test_an_existing_partition_is_never_overlapped_whatever_a_plan_says() -> None:
    inventory = home_server()
    disk = disk_of(inventory, SHARED_SSD)
    taken = disk.partitions[0]
    for start in (
        taken.start_bytes,
        taken.end_bytes - MIB,
        0,
        disk.usable_end_bytes - MIB,
        2 * disk.usable_end_bytes,
    ):
        piece = slice_on(disk, number=2, start_bytes=start // MIB * MIB)
        assert code_of(can(CreateSlice(piece, TANK), inventory)) == "extent-taken"
    for size in (0, -GIB):
        piece = slice_on(disk, number=2, start_bytes=200 * GIB, size_bytes=size)
        assert code_of(can(CreateSlice(piece, TANK), inventory)) == "extent-taken"


def test_a_new_table_is_written_on_a_disk_without_any_only() -> None:
    disk = disk_of(home_server(), NVME1)
    table = CreateTable(NVME1, disk.path, TABLE_UUID, MIB, 400 * GIB)
    part = partition(disk, 1, MIB, GIB)
    for changes in ({"table": TableKind.GPT}, {"partitions": (part,)}):
        inventory = with_disk(home_server(), NVME1, **changes)
        assert code_of(can(table, inventory)) == "disk-not-blank"


def test_a_table_that_cannot_be_trusted_is_not_touched() -> None:
    disk = disk_of(home_server(), NVME1)
    size = disk.identity.size_bytes
    for broken in (
        with_partitions(disk, partition(disk, 1, MIB, 2 * GIB), partition(disk, 2, GIB, GIB)),
        with_partitions(disk, partition(disk, 1, MIB, size)),
        with_partitions(disk, partition(disk, 1, 0, GIB)),
        with_partitions(disk, partition(disk, 1, MIB, 0)),
        replace(with_partitions(disk), usable_end_bytes=size + 512),
        replace(with_partitions(disk), usable_start_bytes=0),
    ):
        assert code_of(can_use_disk(broken)) == "broken-table"
    assert code_of(can_use_disk(replace(with_partitions(disk), usable_end_bytes=size))) == ""
    touching = with_partitions(disk, partition(disk, 1, MIB, GIB - MIB), partition(disk, 2, GIB, size - GIB))
    assert code_of(can_use_disk(touching)) == ""
    assert code_of(can_use_disk(replace(disk, table=TableKind.OTHER))) == "foreign-table"


@pytest.mark.parametrize("sector_bytes", [0, -512, 256, 520, 1000, 128 * 1024, 10**9])
def test_a_disk_whose_sectors_cannot_be_counted_is_not_used(sector_bytes: int) -> None:
    identity = replace(disk_of(home_server(), NVME1).identity, logical_sector_bytes=sector_bytes)
    assert refused(SINGLE, with_disk(home_server(), NVME1, identity=identity)) == {"strange-sectors"}


def test_a_disk_that_two_devices_claim_to_be_is_not_there() -> None:
    inventory = home_server()
    twin = replace(disk_of(inventory, NVME1), kernel_name="nvme9n1")
    assert refused(SINGLE, replace(inventory, disks=(*inventory.disks, twin))) == {"disk-gone"}


def test_a_slice_that_shows_content_or_another_user_once_it_is_made_is_not_added() -> None:
    for kind in HoldKind:
        inventory, action = log_on(NVME1)
        parts = tuple(replace(part, holds=(Hold(kind, "x"),)) for part in disk_of(inventory, NVME1).partitions)
        answer = can(action, with_disk(inventory, NVME1, partitions=parts))
        assert code_of(answer) in ("slice-held", f"disk-{kind}")


def test_a_slice_that_a_pool_names_as_its_device_is_not_added_even_if_nothing_seems_to_hold_it() -> None:
    inventory, action = log_on(NVME1)
    leaf = leaf_on(disk_of(inventory, NVME1), "55")
    pools = tuple(replace(pool, caches=(leaf,)) if pool.guid == ARCHIVE else pool for pool in inventory.pools)
    assert code_of(can(action, replace(inventory, pools=pools))) == "slice-held"


def test_a_slice_on_a_disk_that_became_a_boot_disk_meanwhile_is_not_added() -> None:
    inventory, action = log_on(NVME1)
    assert code_of(can(action, with_disk(inventory, NVME1, holds=(Hold(HoldKind.BOOT, "/"),)))) == "disk-boot"
