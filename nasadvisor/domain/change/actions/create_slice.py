"""A slice for a pool."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.after import with_disk
from nasadvisor.domain.change.actions.base import Category
from nasadvisor.domain.change.actions.pieces import Role, Slice, place_of
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import zfs_size


@dataclass(frozen=True)
class CreateSlice:
    """Make one partition of type BF01 in free space, for this pool."""

    slice: Slice
    pool_guid: str
    action: Literal["create-slice"] = "create-slice"

    category = Category.ADDITION

    def describe(self) -> Statement:
        template = (
            _("Create a {size} log slice (partition {number}) on {disk}")
            if self.slice.role is Role.LOG
            else _("Create a {size} cache slice (partition {number}) on {disk}")
        )
        values = {"size": zfs_size(self.slice.size_bytes), **place_of(self.slice)}
        return Statement(self.action, template, values)

    def forwards(self, inventory: Inventory) -> Inventory:
        disk = inventory.disk(self.slice.disk_key)
        parts = (*disk.partitions, self.slice.as_partition()) if disk else ()
        return with_disk(inventory, self.slice.disk_key, partitions=parts)
