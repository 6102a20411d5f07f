"""A cache, out of service for a while without being lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Category, Outcome
from nasadvisor.domain.change.actions.inventory_queries import cache_of, with_cache_state
from nasadvisor.domain.change.actions.online_cache import OnlineCache
from nasadvisor.domain.change.actions.pool_step import PoolStep
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.storage.logs import OFFLINE


@dataclass(frozen=True)
class OfflineCache(PoolStep):
    """Take a cache out of service with `zpool offline`, by guid: it stays in the pool, and is neither read nor written.

    Not with `-t`: it stays out of service when the pool is imported again, until it is put back
    (vdev_config_generate() in module/zfs/vdev_label.c keeps it, vdev_alloc() in module/zfs/vdev.c reads it for caches).
    """

    vdev_guid: str
    vdev_path: str
    action: Literal["offline-cache"] = "offline-cache"

    category = Category.ALTERATION

    def describe(self) -> Statement:
        template = _("Take the cache {path} of pool {pool} out of service; it stays in the pool")
        return Statement(self.action, template, {"path": self.vdev_path or self.vdev_guid, "pool": self.pool_name})

    def forwards(self, inventory: Inventory) -> Inventory:
        return with_cache_state(inventory, self.pool_guid, self.vdev_guid, OFFLINE)

    def commands(self) -> tuple[Argv, ...]:
        return (("zpool", "offline", self.pool_name, self.vdev_guid),)

    def landed(self, inventory: Inventory) -> Outcome | None:
        cache = cache_of(self.pool_guid, self.vdev_guid, inventory)
        return Outcome() if cache and cache.state == OFFLINE else None

    def undo(self, outcome: Outcome) -> tuple[OnlineCache, ...]:
        del outcome
        return (OnlineCache(self.pool_name, self.pool_guid, self.vdev_guid, self.vdev_path),)

    def never_undone(self) -> Iterator[Finding]:
        yield Finding(
            "cache-comes-back-colder",
            _(
                "Once back in service, the cache of pool {pool} reloads its contents that are still valid. It loses "
                "all blocks that its lists did not yet include, or everything if it is under 1 GiB; the pool still "
                "has all of it."
            ),
            {"pool": self.pool_name},
            Level.INFO,
            explanation=_(
                "OpenZFS rebuilds a cache from lists that it keeps on the device, if `l2arc_rebuild_enabled` is 1. A "
                "cache contains only copies, so reads are slower for a while and nothing is lost."
            ),
        )
