"""Deleting a slice off a disk that somebody holds, and one that only the kernel still shows."""

from dataclasses import replace

from nasadvisor.domain.change import refusals as no
from nasadvisor.domain.change.actions import DeleteSlice, RemoveVdev, Role
from nasadvisor.domain.change.undo_checks import can_undo, is_readable
from nasadvisor.domain.statements import Allowed
from nasadvisor.domain.storage.inventory import Hold, HoldKind, Inventory, TableKind
from tests.unit.domain.builders import MIRROR_GUID, disk_of, made, mirrored_log, slice_on, tank_of
from tests.unit.machines import NVME1, TANK, home_server, with_disk, with_pool

PIECE = slice_on(disk_of(home_server(), NVME1))
READY = made(home_server(), PIECE)
DELETE = DeleteSlice(PIECE, TANK)
LVM, MOUNT, UNREADABLE = (Hold(kind, "x") for kind in (HoldKind.LVM, HoldKind.MOUNT, HoldKind.UNREADABLE))


def phantom(*holds: Hold) -> Inventory:
    """The kernel still has the slice, the table does not."""
    part = disk_of(READY, NVME1).partitions[0]
    return with_disk(READY, NVME1, partitions=(replace(part, partuuid="", holds=holds),))


def test_a_slice_is_not_deleted_off_a_disk_that_somebody_holds_as_a_whole() -> None:
    held = with_disk(READY, NVME1, holds=(LVM,))
    assert can_undo(DELETE, held) == no.DiskHeld(disk_of(held, NVME1), LVM)
    assert can_undo(DELETE, with_disk(READY, NVME1, holds=(UNREADABLE,))) == Allowed()
    assert can_undo(DELETE, READY) == Allowed()


def test_a_slice_that_only_the_kernel_still_shows_is_deleted_unless_somebody_uses_it() -> None:
    assert can_undo(DELETE, phantom()) == Allowed()
    assert can_undo(DELETE, phantom(UNREADABLE)) == Allowed()
    assert can_undo(DELETE, phantom(UNREADABLE, MOUNT)) == no.SliceHeld(PIECE, MOUNT)


def test_a_slice_that_is_there_beside_its_phantom_is_judged_by_itself() -> None:
    part = disk_of(READY, NVME1).partitions[0]
    both = (part, replace(part, partuuid="", holds=(MOUNT,)))
    assert can_undo(DELETE, with_disk(READY, NVME1, partitions=both)) == Allowed()


def test_a_table_is_readable_unless_it_is_of_another_kind_or_udev_says_that_it_is_not() -> None:
    disk = disk_of(READY, NVME1)
    assert is_readable(disk)
    assert is_readable(replace(disk, holds=(LVM,)))
    assert not is_readable(replace(disk, holds=(LVM, UNREADABLE)))
    assert not is_readable(replace(disk, table=TableKind.OTHER))


def test_a_log_is_not_taken_out_of_a_pool_with_a_checkpoint_which_is_named() -> None:
    """Who has several pools has to be told whose checkpoint to discard."""
    inventory, sides = mirrored_log()
    step = RemoveVdev("tank", TANK, Role.LOG, MIRROR_GUID, sides)
    assert can_undo(step, inventory) == Allowed()
    held = with_pool(inventory, checkpoint="1.2M")
    assert can_undo(step, held) == no.PoolHasCheckpoint(tank_of(held))
