from dataclasses import replace

from nasadvisor.domain.storage.gaps import (
    Extent,
    free_extents,
    free_number,
    has_odd_area,
    is_out_of_bounds,
    largest_extent,
    overlaps,
)
from nasadvisor.domain.storage.inventory import Disk
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.builders import disk_of
from tests.unit.machines import NVME1, home_server, partition, with_partitions


def gib_disk(*places: tuple[int, int]) -> Disk:
    """A disk of 1 GiB whose usable area ends 1 MiB before its end, with partitions at these places."""
    blank = disk_of(home_server(), NVME1)
    blank = replace(blank, identity=replace(blank.identity, size_bytes=GIB), usable_end_bytes=GIB - MIB)
    parts = (partition(blank, number, start, size) for number, (start, size) in enumerate(places, 1))
    return with_partitions(blank, *parts)


def test_a_blank_disk_is_free_from_the_first_mib_to_the_end_of_its_usable_area() -> None:
    assert free_extents(gib_disk()) == (Extent(MIB, GIB - MIB),)
    unaligned = replace(gib_disk(), usable_start_bytes=34 * 512, usable_end_bytes=GIB - 33 * 512)
    assert free_extents(unaligned) == (Extent(MIB, GIB - MIB),)


def test_space_is_free_before_between_and_behind_partitions() -> None:
    disk = gib_disk((100 * MIB, 100 * MIB), (300 * MIB + 512, 100 * MIB))
    assert free_extents(disk) == (
        Extent(MIB, 100 * MIB),
        Extent(200 * MIB, 300 * MIB),
        Extent(401 * MIB, GIB - MIB),
    )
    assert largest_extent(disk) == Extent(401 * MIB, GIB - MIB)


def test_the_order_in_the_table_does_not_matter() -> None:
    disk = gib_disk((300 * MIB, 100 * MIB), (100 * MIB, 100 * MIB))
    assert [extent.start_bytes for extent in free_extents(disk)] == [MIB, 200 * MIB, 400 * MIB]


def test_less_than_one_aligned_mib_is_no_space() -> None:
    assert free_extents(gib_disk((2 * MIB, GIB - 3 * MIB))) == (Extent(MIB, 2 * MIB),)
    assert free_extents(gib_disk((2 * MIB - 512, GIB - 3 * MIB + 512))) == ()
    assert largest_extent(gib_disk((MIB, GIB - 2 * MIB))) == Extent(0, 0)


def test_an_extent_is_cut_but_never_turned_around() -> None:
    extent = Extent(MIB, 10 * MIB)
    assert extent.size_bytes == 9 * MIB
    assert extent.head(3 * MIB) == Extent(MIB, 4 * MIB)
    assert extent.without_head(3 * MIB) == Extent(4 * MIB, 10 * MIB)
    assert extent.without_head(3 * MIB + 1) == Extent(5 * MIB, 10 * MIB)
    assert extent.until(4 * MIB) == Extent(MIB, 4 * MIB)
    assert extent.until(20 * MIB) == extent
    assert extent.until(0) == Extent(MIB, MIB)


def test_partitions_that_touch_do_not_overlap_and_one_byte_more_does() -> None:
    assert not overlaps(gib_disk((200 * MIB, 100 * MIB), (100 * MIB, 100 * MIB)))
    assert overlaps(gib_disk((200 * MIB, 100 * MIB), (100 * MIB, 100 * MIB + 1)))


def test_a_partition_lies_on_its_disk_from_the_second_byte_to_the_last() -> None:
    assert not is_out_of_bounds(gib_disk())
    assert not is_out_of_bounds(gib_disk((1, 1), (MIB, GIB - MIB)))
    for place in ((0, MIB), (-1, MIB), (MIB, 0), (MIB, -1), (MIB, GIB - MIB + 1)):
        assert is_out_of_bounds(gib_disk(place)), place
        assert is_out_of_bounds(gib_disk((2 * MIB, MIB), place)), place


def test_the_usable_area_lies_on_its_disk() -> None:
    assert not is_out_of_bounds(replace(gib_disk(), usable_start_bytes=1, usable_end_bytes=GIB))
    for start, end in ((0, GIB), (-1, GIB), (1, GIB + 1)):
        assert is_out_of_bounds(replace(gib_disk(), usable_start_bytes=start, usable_end_bytes=end)), (start, end)


def test_the_areas_before_and_behind_the_usable_one_have_four_mib_at_most() -> None:
    """Larger ones are left by tables that were copied from another disk, and would be too much to keep."""
    disk = replace(gib_disk(), usable_start_bytes=4 * MIB, usable_end_bytes=GIB - 4 * MIB)
    assert not has_odd_area(disk)
    assert has_odd_area(replace(disk, usable_start_bytes=4 * MIB + 1))
    assert has_odd_area(replace(disk, usable_end_bytes=GIB - 4 * MIB - 1))


def test_the_lowest_number_that_is_free_is_taken() -> None:
    assert free_number(gib_disk()) == 1
    disk = with_partitions(gib_disk(), *(partition(gib_disk(), number, MIB, MIB) for number in (1, 2, 4)))
    assert free_number(disk) == 3
    assert free_number(disk, 3) == 5
