"""Drawings of pools and disks."""

from nasadvisor.console.storage.diagrams import (
    DRAWING_WIDTH,
    LEAST_WIDTH,
    DiskDrawing,
    Segment,
    SegmentKind,
    draw_disk,
    draw_pool,
    segment,
)
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.domain.storage.inventory import Inventory, Vdev, VdevClass
from tests.fixtures.machines.build import large, typical
from tests.unit.machines import (
    MIRROR_AND_CACHES,
    NVME1,
    SATA_SSD,
    TANK,
    home_server,
    plan_for,
    with_pool,
    with_single_log,
)


def drawing_of(inventory: Inventory) -> dict[VdevClass, list[str]]:
    """The leaves' disks by class, new ones with a plus."""
    pool = inventory.pool(TANK)
    assert pool
    return {
        group.vdev_class: [
            ("+" if leaf.is_new else "") + (leaf.disk.key if leaf.disk else "?")
            for vdev in group.vdevs
            for leaf in vdev.leaves
        ]
        for group in draw_pool(pool, Index(inventory)).groups
    }


def test_it_draws_log_and_cache_also_where_there_is_none() -> None:
    drawn = drawing_of(home_server())
    assert drawn[VdevClass.LOG] == drawn[VdevClass.CACHE] == []
    assert VdevClass.SPARE not in drawn


def test_it_finds_the_disk_behind_each_leaf() -> None:
    assert drawing_of(with_single_log())[VdevClass.LOG] == [NVME1]


def test_it_marks_what_a_plan_adds_as_new() -> None:
    plan = plan_for(MIRROR_AND_CACHES, home_server())
    drawn = drawing_of(plan.after(home_server()))
    assert drawn[VdevClass.LOG] == [f"+{key}" for key in MIRROR_AND_CACHES.log_disks]
    assert drawn[VdevClass.CACHE] == [f"+{key}" for key in MIRROR_AND_CACHES.cache_disks]
    assert not any(name.startswith("+") for name in drawn[VdevClass.NORMAL])


def test_it_says_in_which_inner_vdev_a_leaf_stands() -> None:
    old, new = Vdev("1", "disk", "sda1", "OFFLINE"), Vdev("2", "disk", "sdb1", "ONLINE")
    replacing = Vdev("3", "replacing", "replacing-0", "DEGRADED", children=(old, new))
    mirror = Vdev("4", "mirror", "mirror-0", "DEGRADED", children=(replacing, Vdev("5", "disk", "sdc1", "ONLINE")))
    inventory = with_pool(home_server(), data=(mirror,))
    pool = inventory.pool(TANK)
    assert pool
    leaves = draw_pool(pool, Index(inventory)).groups[0].vdevs[0].leaves
    assert [leaf.inside for leaf in leaves] == ["replacing-0", "replacing-0", ""]


def test_it_survives_vdevs_that_nobody_knows() -> None:
    odd = Vdev("1", "quantum", "quantum-0", "ENTANGLED", children=(Vdev("2", "", "", "?"),))
    assert drawing_of(with_pool(home_server(), data=(odd,)))[VdevClass.NORMAL] == ["?"]


def test_it_counts_vdevs_in_words() -> None:
    pool = large().pools[0]
    summaries = {group.vdev_class: group.summary for group in draw_pool(pool, Index(large())).groups}
    assert summaries[VdevClass.NORMAL] == "15 × raidz2 of 12"
    assert summaries[VdevClass.LOG] == "1 × mirror of 2"
    assert summaries[VdevClass.SPARE] == "4 disks"


def test_it_draws_a_disk_to_scale() -> None:
    inventory = typical()
    boot = draw_disk(inventory.disks[0], Index(inventory))
    assert [segment.number for segment in boot.segments] == [1, 2, 3, 0]
    assert boot.segments[-1].kind is SegmentKind.FREE
    assert sum(segment.width for segment in boot.segments) <= DRAWING_WIDTH


def test_it_tells_log_cache_and_data_apart_on_a_disk() -> None:
    inventory = with_single_log()
    disk = inventory.disk(NVME1)
    assert disk
    kinds = [segment.kind for segment in draw_disk(disk, Index(inventory)).segments]
    assert kinds == [SegmentKind.LOG, SegmentKind.FREE]


def test_it_draws_a_disk_that_is_held_as_a_whole_as_one_piece() -> None:
    inventory = home_server()
    disk = inventory.disk(SATA_SSD)
    assert disk
    (piece,) = draw_disk(disk, Index(inventory)).segments
    assert (piece.kind, piece.width, piece.what) == (SegmentKind.PARTITION, DRAWING_WIDTH, "backup")


def test_small_pieces_of_a_large_disk_stand_in_the_order_in_which_they_lie() -> None:
    disk = typical().disks[0]
    pieces = [
        segment(disk, SegmentKind.PARTITION, start, 1 << 20, number) for number, start in ((2, 2 << 20), (1, 1 << 20))
    ]
    gap = segment(disk, SegmentKind.FREE, 3 << 20, 1 << 20)
    assert len({round(piece.x) for piece in pieces}) == 1
    assert DiskDrawing.of(disk, (gap, *pieces)).segments == (pieces[1], pieces[0], gap)


def test_only_a_disk_that_zfs_says_nothing_of_is_quiet() -> None:
    leaves = [
        leaf
        for group in draw_pool(large().pools[0], Index(large())).groups
        for vdev in group.vdevs
        for leaf in vdev.leaves
    ]
    assert {leaf.vdev.state for leaf in leaves if leaf.is_quiet} == {"ONLINE"}
    assert [leaf.errors for leaf in leaves if leaf.is_quiet and leaf.errors] == []
    loud = [leaf for leaf in leaves if not leaf.is_quiet]
    assert {leaf.vdev.state for leaf in loud} == {"ONLINE", "FAULTED", "AVAIL"}
    assert len(loud) < len(leaves) / 10


def test_a_stretch_of_a_disk_is_named_with_what_it_holds() -> None:
    names = [
        Segment(SegmentKind.LOG, 0, 1, 0, 1, 1, "tank").words,
        Segment(SegmentKind.PARTITION, 0, 1, 0, 1, 2, "EFI").words,
        Segment(SegmentKind.PARTITION, 0, 1, 0, 1, 3).words,
        Segment(SegmentKind.FREE, 0, 1, 0, 1).words,
    ]
    assert names == ["1: Log of tank", "2: EFI", "3: Partition", "Free"]


def test_a_small_slice_of_a_large_disk_can_be_seen_and_nothing_covers_it() -> None:
    disk = typical().disks[0]
    log = segment(disk, SegmentKind.LOG, 1 << 20, 1 << 20, 1)
    free = segment(disk, SegmentKind.FREE, 2 << 20, 1 << 20)
    assert log.drawn_width == LEAST_WIDTH > log.width
    assert free.drawn_width == free.width
    assert DiskDrawing.of(disk, (log, free)).painted == [free, log]
