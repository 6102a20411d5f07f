"""A slice for a pool."""

from dataclasses import dataclass, replace
from typing import Literal, Self

from nasadvisor.domain.change.actions.base import Argv, Category, Forwards, Outcome
from nasadvisor.domain.change.actions.delete_slice import DeleteSlice
from nasadvisor.domain.change.actions.inventory_queries import with_disk
from nasadvisor.domain.change.actions.pieces import Role, Slice, place_of
from nasadvisor.domain.change.actions.rewind_table import RewindTable
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.units import size_text


@dataclass(frozen=True)
class CreateSlice(Forwards):
    """Make one partition of type BF01 in free space, for this pool."""

    slice: Slice
    pool_guid: str
    action: Literal["create-slice"] = "create-slice"

    category = Category.ADDITION

    @property
    def pieces(self) -> tuple[Slice, ...]:
        return (self.slice,)

    def describe(self) -> Statement:
        template = (
            _("Create a {size} log slice (partition {number}) on {disk}")
            if self.slice.role is Role.LOG
            else _("Create a {size} cache slice (partition {number}) on {disk}")
        )
        values = {"size": size_text(self.slice.size_bytes), **place_of(self.slice)}
        return Statement(self.action, template, values)

    def forwards(self, inventory: Inventory) -> Inventory:
        disk = inventory.disk(self.slice.disk_key)
        parts = (*disk.partitions, self.slice.as_partition()) if disk else ()
        return with_disk(inventory, self.slice.disk_key, partitions=parts)

    def commands(self) -> tuple[Argv, ...]:
        """sgdisk(8) with absolute sectors. No partition name: a name shared with another disk would let OpenZFS's
        import search (by-partlabel before by-partuuid) open the wrong one."""
        piece = self.slice
        first = piece.start_bytes // piece.sector_bytes
        last = (piece.start_bytes + piece.size_bytes) // piece.sector_bytes - 1
        argv = (
            "sgdisk",
            f"--new={piece.number}:{first}:{last}",
            f"--typecode={piece.number}:BF01",
            f"--partition-guid={piece.number}:{piece.partuuid}",
            piece.disk_path,
        )
        return (argv,)

    def landed(self, inventory: Inventory) -> Outcome | None:
        found = inventory.partition(self.slice.partuuid)
        return Outcome() if found and self.slice.is_on(*found) else None

    def undo(self, outcome: Outcome) -> tuple[DeleteSlice, ...]:
        del outcome
        return (DeleteSlice(self.slice, self.pool_guid),)

    def at_pool(self, pool: Pool | None) -> Self:
        return replace(self, pool_guid=pool.guid) if pool else self

    def cleaning(self) -> tuple[RewindTable, ...]:
        return (RewindTable(self.slice.disk_key, self.slice.disk_path),)
