"""A broken side of a log, out."""

from dataclasses import dataclass, replace
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Category, Outcome
from nasadvisor.domain.change.actions.pool_step import PoolStep
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.storage.logs import without_log_side


@dataclass(frozen=True)
class DropLogSide(PoolStep):
    """Take a broken side out of a mirrored log, by guid, so that another can take its place. Nothing takes it back."""

    vdev_guid: str
    vdev_path: str
    action: Literal["drop-log-side"] = "drop-log-side"

    category = Category.REMOVAL

    def describe(self) -> Statement:
        return Statement(
            self.action,
            _("Remove the failed side {path} from the log of pool {pool}"),
            {"path": self.vdev_path or self.vdev_guid, "pool": self.pool_name},
        )

    def forwards(self, inventory: Inventory) -> Inventory:
        pools = tuple(
            without_log_side(pool, self.vdev_guid) if pool.guid == self.pool_guid else pool for pool in inventory.pools
        )
        return replace(inventory, pools=pools)

    def commands(self) -> tuple[Argv, ...]:
        return (("zpool", "detach", self.pool_name, self.vdev_guid),)

    def landed(self, inventory: Inventory) -> Outcome | None:
        pool = inventory.pool(self.pool_guid)
        return Outcome() if pool and all(vdev.guid != self.vdev_guid for vdev in pool.vdevs()) else None

    def undo(self, outcome: Outcome) -> tuple[()]:
        """A broken side is not put back: it would only be broken again."""
        del outcome
        return ()
