"""Rule 8: type BF01, aligned to 1 MiB, our own PARTUUIDs, no names; log first, cache next, the reserve last."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import (
    CreateSlice,
    CreateTable,
    Naming,
    Role,
)
from nasadvisor.domain.change.checks import can, can_use_disk
from nasadvisor.domain.change.plan import PlanIds, PlanRefused, PlanRequest, make_plan
from nasadvisor.domain.storage.gpt import SOLARIS_ZFS_TYPE
from nasadvisor.domain.storage.inventory import Inventory, TableKind
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import (
    TABLE_UUID,
    code_of,
    disk_of,
    slice_on,
)
from tests.unit.domain.change.never.wishes import CACHE, SINGLE, refused
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    SHARED_SSD,
    TANK,
    home_server,
    partition,
    plan_for,
    with_disk,
    with_partitions,
)


def test_sgdisk_gets_absolute_sectors_the_type_and_the_partuuid_and_no_name() -> None:
    piece = slice_on(disk_of(home_server(), NVME1), number=3, start_bytes=GIB, size_bytes=2 * GIB)
    argv = CreateSlice(piece, TANK).commands()[0]
    assert argv == (
        "sgdisk",
        f"--new=3:{GIB // 512}:{3 * GIB // 512 - 1}",
        "--typecode=3:BF01",
        f"--partition-guid=3:{piece.partuuid}",
        piece.disk_path,
    )
    four_k = CreateSlice(replace(piece, sector_bytes=4096), TANK).commands()[0]
    assert four_k[1] == f"--new=3:{GIB // 4096}:{3 * GIB // 4096 - 1}"


def test_the_slice_is_expected_back_with_the_same_type_and_place() -> None:
    piece = slice_on(disk_of(home_server(), NVME1))
    part = piece.as_partition()
    assert (part.type_uuid, part.name) == (SOLARIS_ZFS_TYPE, "")
    assert piece.is_on(disk_of(home_server(), NVME1), part)
    assert {piece.path, replace(piece, naming=Naming.DISK_ID).path} == set(part.links)


def test_a_new_table_gets_the_recorded_identifier() -> None:
    plan = plan_for(SINGLE, home_server())
    table = plan.actions[0]
    assert isinstance(table, CreateTable)
    assert table.table_uuid == plan.ids.uuids[0]
    path = disk_of(home_server(), NVME1).path
    assert table.commands() == (("sgdisk", "--clear", f"--disk-guid={table.table_uuid}", path),)


def test_an_unaligned_start_or_end_is_refused() -> None:
    inventory = with_disk(home_server(), NVME1, table=TableKind.GPT, table_uuid=TABLE_UUID)
    for start, size in ((MIB + 512, GIB), (MIB, GIB + 512)):
        piece = slice_on(disk_of(inventory, NVME1), size_bytes=size, start_bytes=start)
        assert code_of(can(CreateSlice(piece, TANK), inventory)) == "not-aligned"


@pytest.mark.parametrize(("start", "end"), [(4, 9), (5, 10), (0, 10), (4, 6), (3, 5), (9, 11), (6, 6), (8, 7)])
def test_a_slice_one_mib_beyond_its_extent_is_refused(start: int, end: int) -> None:
    """Between a partition that ends at 5 MiB and one that begins at 9 MiB."""
    disk = disk_of(home_server(), NVME1)
    parts = (partition(disk, 1, MIB, 4 * MIB), partition(disk, 2, 9 * MIB, MIB))
    inventory = with_disk(home_server(), NVME1, table=TableKind.GPT, table_uuid=TABLE_UUID, partitions=parts)
    whole = slice_on(disk, number=3, start_bytes=5 * MIB, size_bytes=4 * MIB)
    assert code_of(can(CreateSlice(whole, TANK), inventory)) == ""
    piece = replace(whole, start_bytes=start * MIB, size_bytes=(end - start) * MIB)
    assert code_of(can(CreateSlice(piece, TANK), inventory)) == "extent-taken"


def small(inventory: Inventory) -> Inventory:
    """The machine with an SSD of which 1 GiB less 1 MiB can be used."""
    identity = replace(disk_of(inventory, NVME1).identity, size_bytes=GIB + MIB)
    return with_disk(inventory, NVME1, identity=identity, usable_end_bytes=GIB)


def test_a_slice_one_mib_beyond_the_end_of_the_usable_area_is_refused() -> None:
    inventory = with_disk(small(home_server()), NVME1, table=TableKind.GPT, table_uuid=TABLE_UUID)
    disk = disk_of(inventory, NVME1)
    for size, code in ((GIB - MIB, ""), (GIB, "extent-taken")):
        piece = slice_on(disk, start_bytes=MIB, size_bytes=size)
        assert code_of(can(CreateSlice(piece, TANK), inventory)) == code


def test_a_disk_whose_usable_area_ends_far_from_its_end_is_refused() -> None:
    """As after a copy of a table from a smaller disk; its sectors would be too many to keep."""
    inventory = with_disk(home_server(), NVME1, usable_end_bytes=GIB)
    assert code_of(can_use_disk(disk_of(inventory, NVME1))) == "table-area-odd"
    assert refused(SINGLE, inventory) == {"table-area-odd"}


def test_a_plan_fills_its_extent_to_the_last_mib_and_asks_for_no_more() -> None:
    inventory = small(home_server())
    inventory = replace(inventory, host=replace(inventory.host, tail_bytes=0))
    log = replace(SINGLE, reserve_percent=0)
    assert refused(replace(log, log_size_bytes=GIB - MIB), inventory) == set()
    assert refused(replace(log, log_size_bytes=GIB), inventory) == {"too-small"}
    cache = replace(CACHE, reserve_percent=0)
    assert refused(replace(cache, cache_size_bytes=GIB - MIB), inventory) == set()
    assert refused(replace(cache, cache_size_bytes=GIB), inventory) == {"cache-too-large"}
    plan = plan_for(replace(cache, log_disks=(NVME1,), log_size_bytes=64 * MIB), inventory)
    assert [(piece.start_bytes, piece.size_bytes) for piece in plan.slices] == [
        (MIB, 64 * MIB),
        (65 * MIB, GIB - 65 * MIB),
    ]


def test_the_log_slice_is_first_then_the_cache_then_nothing() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    disk = disk_of(home_server(), NVME1)
    log, cache = (piece for piece in plan.slices if piece.disk_key == NVME1)
    assert (log.role, cache.role) == (Role.LOG, Role.CACHE)
    assert (log.number, cache.number) == (1, 2)
    assert log.start_bytes == MIB
    assert cache.start_bytes == log.start_bytes + log.size_bytes
    reserve = disk.usable_end_bytes - cache.start_bytes - cache.size_bytes
    assert disk.identity.size_bytes // 10 <= reserve < disk.identity.size_bytes // 10 + MIB


def test_the_platforms_share_at_the_end_stays_free_even_without_a_reserve() -> None:
    inventory = home_server()
    wanted = 2 * GIB + MIB
    inventory = replace(inventory, host=replace(inventory.host, tail_bytes=wanted))
    cache = plan_for(replace(CACHE, reserve_percent=0), inventory).slices[0]
    free = disk_of(inventory, NVME1).usable_end_bytes - cache.start_bytes - cache.size_bytes
    assert wanted <= free < wanted + MIB


def test_the_longest_free_space_is_that_outside_the_reserve() -> None:
    """60 GiB at the end shrink to 10 by the reserve, so the 20 GiB at the start are chosen."""
    disk = replace(
        disk_of(home_server(), NVME1),
        identity=replace(disk_of(home_server(), NVME1).identity, size_bytes=500 * GIB),
    )
    disk = replace(with_partitions(disk, partition(disk, 1, 20 * GIB, 420 * GIB)), usable_end_bytes=500 * GIB - MIB)
    inventory = home_server()
    inventory = replace(inventory, disks=tuple(disk if each.key == NVME1 else each for each in inventory.disks))
    cache = plan_for(replace(CACHE, use_free_extents=True), inventory).slices[0]
    assert (cache.start_bytes, cache.size_bytes) == (MIB, 20 * GIB - MIB)


@pytest.mark.parametrize("percent", [-1, 91, 10**30])
def test_a_reserve_that_cannot_be_is_refused(percent: int) -> None:
    assert refused(replace(CACHE, reserve_percent=percent), home_server()) == {"impossible-reserve"}
    assert refused(replace(CACHE, reserve_percent=90), home_server()) == set()


@pytest.mark.parametrize(("size", "code"), [(64 * MIB, set()), (63 * MIB, {"too-small"}), (-MIB, {"too-small"})])
def test_openzfs_wants_64_mib(size: int, code: set[str]) -> None:
    assert refused(replace(SINGLE, log_size_bytes=size), home_server()) == code
    cache_code = {"cache-too-large"} if code else set()
    assert refused(replace(CACHE, cache_size_bytes=size), home_server()) == cache_code


def test_the_whole_room_can_be_used_and_not_a_byte_more() -> None:
    room = plan_for(CACHE, home_server()).slices[0].size_bytes
    assert refused(replace(SINGLE, log_size_bytes=room), home_server()) == set()
    assert refused(replace(SINGLE, log_size_bytes=room + 1), home_server()) == {"too-small"}
    assert refused(replace(CACHE, cache_size_bytes=room), home_server()) == set()
    assert refused(replace(CACHE, cache_size_bytes=room + 1), home_server()) == {"cache-too-large"}


@pytest.mark.parametrize(("number", "code"), [(0, "table-full"), (129, "table-full"), (128, ""), (1, "")])
def test_a_partition_number_is_one_that_a_gpt_has(number: int, code: str) -> None:
    inventory = with_disk(home_server(), NVME1, table=TableKind.GPT, table_uuid=TABLE_UUID)
    piece = slice_on(disk_of(inventory, NVME1), start_bytes=GIB, number=number)
    assert code_of(can(CreateSlice(piece, TANK), inventory)) == code


def test_numbers_in_use_are_passed_over() -> None:
    disk = disk_of(home_server(), NVME1)
    disk = with_partitions(disk, partition(disk, 1, MIB, GIB), partition(disk, 3, GIB + MIB, GIB))
    inventory = home_server()
    inventory = replace(inventory, disks=tuple(disk if each.key == NVME1 else each for each in inventory.disks))
    plan = plan_for(PlanRequest(TANK, (NVME1,), 4 * GIB, (NVME1,), use_free_extents=True), inventory)
    assert [piece.number for piece in plan.slices] == [2, 4]


def test_partuuids_are_different_and_new() -> None:
    with pytest.raises(ValueError, match="different ones"):
        PlanIds("plan-1", "", ("11111111-0000-4000-8000-000000000000",) * 2)
    taken = disk_of(home_server(), SHARED_SSD).partitions[0].partuuid
    ids = PlanIds("plan-1", "", ("11111111-0000-4000-8000-000000000000", taken))
    answer = make_plan(SINGLE, home_server(), ids)
    assert isinstance(answer, PlanRefused)
    assert answer.refusals[0].code == "partuuid-taken"
