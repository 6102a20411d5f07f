"""Caches for a pool."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from nasadvisor.domain.change.actions.base import Argv, Category, Outcome
from nasadvisor.domain.change.actions.inventory_queries import is_leaf_on, leaf_on, left_on, with_pool
from nasadvisor.domain.change.actions.pieces import Role, Slice
from nasadvisor.domain.change.actions.pool_step import PoolStep, dry_run_of, zpool_add
from nasadvisor.domain.change.actions.remove_vdev import RemoveVdev
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory

CACHE_DIES: Final = _(
    "If it fails or returns bad data, nothing is lost: every block of the cache is verified by its checksum and, if "
    "bad, read from pool {pool} instead. Reads are slower until the cache is replaced."
)
"""zpoolconcepts(7), "Cache Devices"."""


@dataclass(frozen=True)
class AddCache(PoolStep):
    """Add cache vdevs; OpenZFS always stripes them."""

    ashift: int
    slices: tuple[Slice, ...]
    action: Literal["add-cache"] = "add-cache"

    category = Category.ADDITION

    @property
    def pieces(self) -> tuple[Slice, ...]:
        return self.slices

    def describe(self) -> Statement:
        if len(self.slices) == 1:
            return Statement(self.action, _("Add 1 cache slice to pool {pool}"), {"pool": self.pool_name})
        values = {"count": str(len(self.slices)), "pool": self.pool_name}
        return Statement(self.action, _("Add {count} cache slices to pool {pool}"), values)

    def forwards(self, inventory: Inventory) -> Inventory:
        leaves = tuple(leaf_on(piece, self.ashift) for piece in self.slices)
        pool = inventory.pool(self.pool_guid)
        return with_pool(inventory, self.pool_guid, self.slices, caches=(*pool.caches, *leaves) if pool else ())

    def commands(self) -> tuple[Argv, ...]:
        return (zpool_add(self.pool_name, self.ashift, ("cache",), self.slices),)

    def dry_run(self) -> Argv:
        """Shows the layout that would result, and changes nothing."""
        return dry_run_of(*self.commands())

    def landed(self, inventory: Inventory) -> Outcome | None:
        pool = inventory.pool(self.pool_guid)
        guids = []
        for piece in self.slices:
            leaf = next((leaf for leaf in pool.caches if is_leaf_on(leaf, piece, inventory)), None) if pool else None
            if leaf is None:
                return None
            guids.append(leaf.guid)
        return Outcome(tuple(guids)) if pool else None

    def left(self, inventory: Inventory) -> Outcome | None:
        pool = inventory.pool(self.pool_guid)
        return left_on(self.slices, pool.caches, inventory) if pool else None

    def undo(self, outcome: Outcome) -> tuple[RemoveVdev, ...]:
        return tuple(
            RemoveVdev(self.pool_name, self.pool_guid, Role.CACHE, guid, self.slices) for guid in outcome.vdev_guids
        )

    def planned_outcome(self) -> Outcome:
        return Outcome(tuple(f"<guid of cache {number}>" for number in range(1, len(self.slices) + 1)))

    def if_lost(self, disk_key: str, inventory: Inventory) -> Iterator[Finding]:
        del inventory
        if any(piece.disk_key == disk_key for piece in self.slices):
            yield Finding(
                "cache-dies",
                CACHE_DIES,
                {"pool": self.pool_name},
                Level.INFO,
                explanation=_(
                    "A cache contains only copies, so it needs no mirror, and replacing a failed one is not urgent."
                ),
            )
