"""A dead log, out of its pool."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Category, Outcome
from nasadvisor.domain.change.actions.pool_step import PoolStep
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.storage.logs import without_logs


@dataclass(frozen=True)
class DropLog(PoolStep):
    """Take a log of which no side works out of a pool with `zpool remove`, by guid. Nothing takes it back.

    Nothing waits for a device that takes no I/O any more (tried on OpenZFS 2.3.9, pulled and faulted). `devices` are
    the names under which the pool knows its sides.
    """

    vdev_guid: str
    devices: tuple[str, ...]
    action: Literal["drop-log"] = "drop-log"

    category = Category.REMOVAL

    def describe(self) -> Statement:
        return Statement(self.action, _("Remove the failed log {devices} from pool {pool}"), self._values)

    def forwards(self, inventory: Inventory) -> Inventory:
        pools = tuple(
            without_logs(pool, self.vdev_guid) if pool.guid == self.pool_guid else pool for pool in inventory.pools
        )
        return replace(inventory, pools=pools)

    def commands(self) -> tuple[Argv, ...]:
        return (("zpool", "remove", self.pool_name, self.vdev_guid),)

    def landed(self, inventory: Inventory) -> Outcome | None:
        pool = inventory.pool(self.pool_guid)
        return Outcome() if pool and all(vdev.guid != self.vdev_guid for vdev in pool.vdevs()) else None

    def undo(self, outcome: Outcome) -> tuple[()]:
        """A dead log is not put back: it would only be dead again."""
        del outcome
        return ()

    def never_undone(self) -> Iterator[Finding]:
        yield Finding(
            "dead-log-stays-out",
            _(
                "The failed log {devices} is not restored: an undo leaves pool {pool} without it, and with an empty "
                "entry (a hole) in its place."
            ),
            self._values,
            Level.INFO,
            explanation=_(
                "A failed device cannot be returned to a pool. Any data left on it stays as it is. The hole contains "
                "no data and needs no space; OpenZFS leaves one for every removed log."
            ),
        )

    @property
    def _values(self) -> dict[str, str]:
        return {"devices": ", ".join(self.devices) or self.vdev_guid, "pool": self.pool_name}
