"""A log for a pool."""

from dataclasses import dataclass, replace
from typing import Literal, Self

from nasadvisor.domain.change.actions.adding import dry_run_of, zpool_add
from nasadvisor.domain.change.actions.after import leaf_on, with_pool
from nasadvisor.domain.change.actions.base import PLANNED_GUID, Argv, Category, Forwards, Outcome
from nasadvisor.domain.change.actions.clear_slice import ClearSlice
from nasadvisor.domain.change.actions.pieces import Role, Slice
from nasadvisor.domain.change.actions.remove_vdev import RemoveVdev
from nasadvisor.domain.change.actions.seen import is_leaf_on_any, left_on
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev


@dataclass(frozen=True)
class AddLog(Forwards):
    """Add a log vdev: one leg is a single log, two or more are a mirror."""

    pool_name: str
    pool_guid: str
    ashift: int
    legs: tuple[Slice, ...]
    action: Literal["add-log"] = "add-log"

    category = Category.ADDITION

    @property
    def is_mirror(self) -> bool:
        return len(self.legs) > 1

    def describe(self) -> Statement:
        if not self.is_mirror:
            return Statement(self.action, _("Add one slice as log to pool {pool}"), {"pool": self.pool_name})
        values = {"count": str(len(self.legs)), "pool": self.pool_name}
        return Statement(self.action, _("Add a mirror of {count} slices as log to pool {pool}"), values)

    def forwards(self, inventory: Inventory) -> Inventory:
        if not self.legs:
            return inventory
        leaves = tuple(leaf_on(leg, self.ashift) for leg in self.legs)
        top = leaves[0]
        if self.is_mirror:
            top = Vdev(PLANNED_GUID, "mirror", "mirror", "ONLINE", ashift=self.ashift, children=leaves)
        pool = inventory.pool(self.pool_guid)
        return with_pool(inventory, self.pool_guid, self.legs, logs=(*pool.logs, top) if pool else ())

    def commands(self) -> tuple[Argv, ...]:
        keyword = ("log", "mirror") if self.is_mirror else ("log",)
        return (zpool_add(self.pool_name, self.ashift, keyword, self.legs),)

    def dry_run(self) -> Argv:
        """Shows the layout that would result, and changes nothing."""
        return dry_run_of(*self.commands())

    def landed(self, inventory: Inventory) -> Outcome | None:
        pool = inventory.pool(self.pool_guid)
        for top in pool.logs if pool else ():
            leaves = list(top.leaves())
            same_count = len(leaves) == len(self.legs)
            right_kind = (top.kind == "mirror") == self.is_mirror
            if same_count and right_kind and all(is_leaf_on_any(leaf, self.legs, inventory) for leaf in leaves):
                return Outcome((top.guid,))
        return None

    def left(self, inventory: Inventory) -> Outcome | None:
        pool = inventory.pool(self.pool_guid)
        return left_on(self.legs, pool.logs, inventory) if pool else None

    def undo(self, outcome: Outcome) -> tuple[RemoveVdev, ...]:
        return tuple(
            RemoveVdev(self.pool_name, self.pool_guid, Role.LOG, guid, self.legs) for guid in outcome.vdev_guids
        )

    def planned_outcome(self) -> Outcome:
        return Outcome(("<guid of the new log>",))

    def _named_as(self, pool: Pool) -> Self:
        return replace(self, pool_name=pool.name, pool_guid=pool.guid)

    def cleaning(self) -> tuple[ClearSlice, ...]:
        return tuple(ClearSlice(piece, self.pool_name, self.pool_guid) for piece in self.pieces)

    @property
    def pieces(self) -> tuple[Slice, ...]:
        return self.legs
