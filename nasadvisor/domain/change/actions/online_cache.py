"""A cache of a pool, back in service."""

from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Backwards, Category
from nasadvisor.domain.change.actions.seen import OFFLINE, cache_of
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory


@dataclass(frozen=True)
class OnlineCache(Backwards):
    """Put a cache that the run took out of service back, with `zpool online`, by guid."""

    pool_name: str
    pool_guid: str
    vdev_guid: str
    vdev_path: str
    action: Literal["online-cache"] = "online-cache"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        template = _("Put the cache {path} of pool {pool} back into service")
        return Statement(self.action, template, {"path": self.vdev_path or self.vdev_guid, "pool": self.pool_name})

    def commands(self) -> tuple[Argv, ...]:
        return (("zpool", "online", self.pool_name, self.vdev_guid),)

    def gone(self, inventory: Inventory) -> bool:
        """Whether it is in service, or not in the pool any more; one that is broken is not out of service either."""
        cache = cache_of(self.pool_guid, self.vdev_guid, inventory)
        return inventory.pool(self.pool_guid) is not None and (cache is None or cache.state != OFFLINE)
