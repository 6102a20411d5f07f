"""A log or cache of ours, out of its pool."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Backwards, Category
from nasadvisor.domain.change.actions.inventory_queries import is_out
from nasadvisor.domain.change.actions.pieces import Role, Slice
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory


@dataclass(frozen=True)
class RemoveVdev(Backwards):
    """Take one log or cache vdev out of a pool, by guid. `slices` are those of the step that added it."""

    pool_name: str
    pool_guid: str
    role: Role
    vdev_guid: str
    slices: tuple[Slice, ...]
    action: Literal["remove-vdev"] = "remove-vdev"

    category = Category.REMOVAL

    def describe(self) -> Statement:
        return Statement(
            self.action,
            self._template(),
            {
                "guid": self.vdev_guid,
                "devices": ", ".join(piece.path for piece in self.slices),
                "pool": self.pool_name,
            },
        )

    def _template(self) -> str:
        if self.role is Role.LOG:
            return _("Remove the log on {devices} from pool {pool}")
        if len(self.slices) == 1:
            return _("Remove the cache on {devices} from pool {pool}")
        # Each of a step's caches is a vdev of its own, and which guid is on which slice only OpenZFS knows.
        return _("Remove cache {guid} from pool {pool}, one of those on {devices}")

    def commands(self) -> tuple[Argv, ...]:
        return (("zpool", "remove", self.pool_name, self.vdev_guid),)

    def gone(self, inventory: Inventory) -> bool:
        # A cache keeps its guid, and its pieces may be those of other caches of the same run.
        sides = self.slices if self.role is Role.LOG else ()
        return is_out(self.pool_guid, self.vdev_guid, sides, inventory)
