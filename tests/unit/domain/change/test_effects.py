"""What a step did is read off the host, and nothing that merely looks like it counts."""

from dataclasses import replace

import pytest

from nasadvisor.domain.change.actions import (
    AddLog,
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
    Slice,
)
from nasadvisor.domain.storage.inventory import Inventory, TableKind, Vdev
from tests.unit.domain.builders import (
    LOG_GUID,
    MIRROR_GUID,
    TABLE_UUID,
    attach_to_log,
    cache_on,
    disk_of,
    log_on,
    mirrored_log,
    slice_on,
    tank_of,
    with_log,
)
from tests.unit.machines import (
    NVME1,
    NVME2,
    TANK,
    home_server,
    leaf_on,
    with_broken_log,
    with_disk,
    with_pool,
    with_single_log,
)

EXPORTED = {"guid": "99"}
"""What makes tank another pool than the planned one."""


def leaf_of(inventory: Inventory, piece: Slice, guid: str) -> Vdev:
    """A leaf on a slice, by the name that only OpenZFS's own tools show."""
    return replace(leaf_on(disk_of(inventory, piece.disk_key), guid), path=f"{piece.disk_path}-part{piece.number}")


def mirror_of(*leaves: Vdev) -> Vdev:
    return Vdev(MIRROR_GUID, "mirror", "mirror-2", "ONLINE", ashift=12, children=leaves)


class TestTablesAndSlices:
    def test_a_table_is_there_when_it_is_a_gpt_with_the_planned_guid(self) -> None:
        action = CreateTable(NVME1, "/dev/disk/by-id/x", TABLE_UUID, 0, 0)
        made = with_disk(home_server(), NVME1, table=TableKind.GPT, table_uuid=TABLE_UUID)
        assert action.landed(made) == Outcome()
        assert action.landed(with_disk(made, NVME1, table=TableKind.OTHER)) is None
        assert action.landed(with_disk(made, NVME1, table_uuid="another")) is None
        assert replace(action, disk_key="gone").landed(made) is None

    def test_a_copy_of_a_table_leaves_nothing_to_see(self) -> None:
        assert SaveTable(NVME1, "/dev/disk/by-id/x", TABLE_UUID, ()).landed(home_server()) is None

    @pytest.mark.parametrize(
        "changes", [{"number": 2}, {"start_bytes": 2**21}, {"size_bytes": 2**30}, {"type_uuid": "x"}, {"partuuid": "x"}]
    )
    def test_a_slice_is_there_when_its_partition_is_exactly_the_planned_one(self, changes: dict[str, object]) -> None:
        inventory, log = log_on(NVME1)
        action = CreateSlice(log.sides[0], TANK)
        assert action.landed(inventory) == Outcome()
        part = disk_of(inventory, NVME1).partitions[0]
        other = replace(part, **changes)  # type: ignore[arg-type]
        assert action.landed(with_disk(inventory, NVME1, partitions=(other,))) is None
        assert action.landed(with_disk(inventory, NVME1, partitions=())) is None

    def test_a_slice_is_gone_when_its_disk_is_there_without_it(self) -> None:
        inventory, log = log_on(NVME1, NVME2)
        step = DeleteSlice(log.sides[0], TANK)
        assert not step.gone(inventory)
        assert step.gone(with_disk(inventory, NVME1, partitions=()))
        pulled = tuple(disk for disk in inventory.disks if disk.key != NVME1)
        assert not step.gone(replace(inventory, disks=pulled)), "nobody knows what is on a disk in a drawer"

    def test_a_restored_table_is_never_seen_to_be_so(self) -> None:
        assert RestoreTable(NVME1, "/dev/disk/by-id/x", TABLE_UUID, ()).gone(home_server()) is False


class TestLogs:
    def test_a_mirror_counts_when_it_stands_on_all_planned_slices_and_no_other(self) -> None:
        inventory, action = log_on(NVME1, NVME2)
        sides = [leaf_of(inventory, piece, guid) for piece, guid in zip(action.sides, ("31", "32"), strict=True)]
        assert action.landed(with_log(inventory, mirror_of(*sides))) == Outcome((MIRROR_GUID,))
        stranger = Vdev("33", "disk", "x", "ONLINE", path="/dev/disk/by-id/x-part1")
        for leaves in ([sides[0], stranger], [*sides, stranger], [*sides, sides[0]], [sides[0]]):
            assert action.landed(with_log(inventory, mirror_of(*leaves))) is None, leaves

    def test_the_kind_and_the_number_of_sides_count_and_not_only_the_slices(self) -> None:
        """A single log where a mirror was planned, and the other way round, is another log than the planned one."""
        inventory, mirror = log_on(NVME1, NVME2)
        one, two = (leaf_of(inventory, piece, guid) for piece, guid in zip(mirror.sides, ("31", "32"), strict=True))
        single = AddLog("tank", TANK, 12, mirror.sides[:1])
        assert mirror.landed(with_log(inventory, one)) is None
        assert mirror.landed(with_log(inventory, one, two)) is None
        assert mirror.landed(with_log(inventory, replace(mirror_of(one, two), kind="raidz"))) is None
        assert single.landed(with_log(inventory, mirror_of(one))) is None
        assert single.landed(with_log(inventory, mirror_of(one, two))) is None
        assert single.landed(with_log(inventory, two, one)) == Outcome(("31",))

    def test_another_pool_or_class_does_not_count(self) -> None:
        inventory, action = log_on(NVME1)
        leaf = leaf_of(inventory, action.sides[0], LOG_GUID)
        assert action.landed(with_log(inventory, leaf)) == Outcome((LOG_GUID,))
        assert action.landed(with_pool(with_log(inventory, leaf), **EXPORTED)) is None
        assert action.landed(with_pool(inventory, caches=(leaf,))) is None
        assert action.landed(inventory) is None

    def test_what_is_left_of_a_mirror_is_the_vdev_on_its_other_slices(self) -> None:
        inventory, action = log_on(NVME1, NVME2)
        one, two = (leaf_of(inventory, piece, guid) for piece, guid in zip(action.sides, ("31", "32"), strict=True))
        stranger = Vdev("33", "disk", "x", "ONLINE", path="/dev/disk/by-id/x-part1")
        assert action.left(with_log(inventory, stranger, two)) == Outcome(("32",))
        assert action.left(with_log(inventory, mirror_of(one, two))) == Outcome((MIRROR_GUID,))
        assert action.left(with_log(inventory, mirror_of(one, stranger))) is None
        assert action.left(with_log(inventory, stranger)) is None
        assert action.left(inventory) is None
        assert action.left(with_pool(with_log(inventory, two), **EXPORTED)) is None

    def test_only_of_a_log_can_something_be_left(self) -> None:
        inventory, action = cache_on(NVME1)
        log = leaf_of(inventory, action.slices[0], "41")
        assert action.left(with_log(inventory, log)) is None
        assert CreateTable(NVME1, "/dev/disk/by-id/x", TABLE_UUID, 0, 0).left(with_log(inventory, log)) is None

    def test_a_side_is_attached_when_both_stand_in_one_mirror(self) -> None:
        inventory, action = attach_to_log()
        old = tank_of(inventory).logs[0]
        new = leaf_of(inventory, action.side, "32")
        stranger = Vdev("33", "disk", "x", "ONLINE", path="/dev/disk/by-id/x-part1")
        assert action.landed(with_log(inventory, stranger, mirror_of(old, new))) == Outcome(("32",))
        for tops in (
            (old, new),
            (mirror_of(stranger, new),),
            (old, mirror_of(stranger, new)),
            (mirror_of(old, stranger),),
            (replace(mirror_of(old, new), kind="replacing"),),
        ):
            assert action.landed(with_log(inventory, *tops)) is None, tops
        assert action.landed(with_pool(with_log(inventory, mirror_of(old, new)), **EXPORTED)) is None

    def test_a_broken_side_is_out_when_the_pool_shows_no_such_guid(self) -> None:
        action = DropLogSide("tank", TANK, "32", "/dev/disk/by-id/x")
        assert action.landed(with_broken_log()) is None
        assert action.landed(with_single_log()) == Outcome()
        assert action.landed(with_pool(with_single_log(), **EXPORTED)) is None


class TestCaches:
    def test_all_caches_count_or_none(self) -> None:
        inventory, action = cache_on(NVME1, NVME2)
        leaves = [leaf_of(inventory, piece, guid) for piece, guid in zip(action.slices, ("41", "42"), strict=True)]
        stranger = Vdev("43", "disk", "x", "ONLINE", path="/dev/disk/by-id/x-part1")
        assert action.landed(with_pool(inventory, caches=(stranger, *leaves[::-1]))) == Outcome(("41", "42"))
        assert action.landed(with_pool(inventory, caches=(leaves[0], stranger))) is None
        assert action.landed(with_pool(inventory, logs=tuple(leaves))) is None
        assert action.landed(with_pool(inventory, caches=tuple(leaves), **EXPORTED)) is None

    def test_what_is_left_of_caches_are_those_on_their_slices(self) -> None:
        inventory, action = cache_on(NVME1, NVME2)
        two = leaf_of(inventory, action.slices[1], "42")
        stranger = Vdev("43", "disk", "x", "ONLINE", path="/dev/disk/by-id/x-part1")
        assert action.left(with_pool(inventory, caches=(stranger, two))) == Outcome(("42",))
        assert action.left(with_pool(inventory, caches=(stranger,))) is None
        assert action.left(with_pool(inventory, caches=(two,), **EXPORTED)) is None

    def test_a_cache_is_out_by_its_guid_alone(self) -> None:
        """Its slices may be those of other caches of the same run, which are still there."""
        inventory, action = cache_on(NVME1, NVME2)
        one, two = (leaf_of(inventory, piece, guid) for piece, guid in zip(action.slices, ("41", "42"), strict=True))
        step = RemoveVdev("tank", TANK, Role.CACHE, "41", action.slices)
        assert not step.gone(with_pool(inventory, caches=(one, two)))
        assert step.gone(with_pool(inventory, caches=(two,)))
        assert not step.gone(with_pool(inventory, caches=(two,), **EXPORTED))


class TestOut:
    def test_a_log_is_out_when_neither_its_guid_nor_a_leaf_on_its_slices_is_there(self) -> None:
        inventory, pieces = mirrored_log()
        step = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, pieces)
        assert not step.gone(inventory)
        assert step.gone(with_log(inventory))
        one = leaf_of(inventory, pieces[0], "77")
        assert not step.gone(with_log(inventory, one)), "the guid changed when a side was taken out"
        assert not step.gone(with_log(inventory, leaf_of(inventory, pieces[1], "77")))
        nowhere = Vdev(MIRROR_GUID, "mirror", "mirror-2", "UNAVAIL")
        assert not step.gone(with_log(inventory, nowhere)), "its disks are away, and it is still in the pool"
        stranger = Vdev("33", "disk", "x", "ONLINE", path="/dev/disk/by-id/x-part1")
        assert step.gone(with_log(inventory, stranger))

    def test_of_a_pool_that_is_not_imported_nothing_is_known(self) -> None:
        inventory, pieces = mirrored_log()
        step = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, pieces)
        assert not step.gone(with_pool(with_log(inventory), **EXPORTED))
        assert not DetachLog("tank", TANK, "32", pieces[1]).gone(with_pool(with_log(inventory), **EXPORTED))

    def test_a_side_is_out_when_neither_its_guid_nor_a_leaf_on_its_slice_is_there(self) -> None:
        inventory, pieces = mirrored_log()
        step = DetachLog("tank", TANK, "32", pieces[1])
        assert not step.gone(inventory)
        assert step.gone(with_log(inventory, leaf_of(inventory, pieces[0], "31")))
        assert not step.gone(with_log(inventory, leaf_of(inventory, pieces[1], "77")))
        assert not step.gone(with_log(inventory, Vdev("32", "disk", "x", "UNAVAIL", path="/dev/disk/by-id/x-part1")))

    def test_a_leaf_of_unknown_path_lies_on_nothing(self) -> None:
        inventory, pieces = mirrored_log()
        step = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, pieces)
        nameless = tuple(
            replace(part, path="", links=(), kernel_name="") for part in disk_of(inventory, NVME1).partitions
        )
        inventory = with_disk(with_log(inventory, Vdev("33", "disk", "x", "UNAVAIL")), NVME1, partitions=nameless)
        assert step.gone(inventory)


def test_a_slice_of_another_number_is_not_the_planned_one() -> None:
    inventory, log = log_on(NVME1)
    second = slice_on(disk_of(inventory, NVME1), number=2)
    leaf = leaf_of(inventory, log.sides[0], LOG_GUID)
    assert AddLog("tank", TANK, 12, (second,)).landed(with_log(inventory, leaf)) is None
