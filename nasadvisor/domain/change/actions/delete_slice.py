"""A slice of ours, cleared and deleted."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Backwards, Category
from nasadvisor.domain.change.actions.inventory_queries import is_there, phantom_of
from nasadvisor.domain.change.actions.pieces import Role, Slice, place_of
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory


@dataclass(frozen=True)
class DeleteSlice(Backwards):
    """Clear the ZFS labels of a slice that we made for this pool, and delete the partition."""

    slice: Slice
    pool_guid: str
    action: Literal["delete-slice"] = "delete-slice"

    category = Category.REMOVAL

    def describe(self) -> Statement:
        template = (
            _("Clear and delete the log slice (partition {number}) on {disk}")
            if self.slice.role is Role.LOG
            else _("Clear and delete the cache slice (partition {number}) on {disk}")
        )
        return Statement(self.action, template, place_of(self.slice))

    def commands(self) -> tuple[Argv, ...]:
        piece = self.slice
        return (
            ("zpool", "labelclear", piece.partuuid_path),
            ("blkdiscard", piece.partuuid_path),
            ("sgdisk", f"--delete={piece.number}", piece.disk_path),
        )

    def gone(self, inventory: Inventory) -> bool:
        piece = self.slice
        is_there = bool(inventory.partitions(piece.partuuid)) or phantom_of(piece, inventory) is not None
        return inventory.disk(piece.disk_key) is not None and not is_there

    def away_from(self, inventory: Inventory) -> str:
        is_here = inventory.partitions(self.slice.partuuid) or is_there(self.slice.disk_key, inventory)
        return "" if is_here else self.slice.disk_path
