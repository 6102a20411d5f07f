"""A cache of a pool, back in service."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nasadvisor.domain.change.actions.base import Argv, Backwards, Category
from nasadvisor.domain.change.actions.inventory_queries import cache_of
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.storage.logs import OFFLINE


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
        return Statement(self.action, template, self._values)

    def commands(self) -> tuple[Argv, ...]:
        return (("zpool", "online", self.pool_name, self.vdev_guid),)

    def gone(self, inventory: Inventory) -> bool:
        """Whether it is in service, or not in the pool any more; one that is broken is not out of service either."""
        cache = cache_of(self.pool_guid, self.vdev_guid, inventory)
        return inventory.pool(self.pool_guid) is not None and (cache is None or cache.state != OFFLINE)

    def is_away(self, inventory: Inventory) -> bool:
        """Whether neither the pool nor the device of the cache is on the host, so that nobody could put it back."""
        is_there = inventory.partition_at(self.vdev_path) or inventory.disk_at(self.vdev_path)
        return inventory.pool(self.pool_guid) is None and self.vdev_path != "" and not is_there

    def left_with(self, inventory: Inventory) -> Iterator[Finding]:
        cache = cache_of(self.pool_guid, self.vdev_guid, inventory)
        if self.is_away(inventory):
            yield Finding(
                "cache-away",
                _(
                    "Neither pool {pool} nor its cache {path} is on this host. If they return, the cache is still out "
                    "of service; `zpool online {pool} {guid}` then puts it back into service."
                ),
                {**self._values, "guid": self.vdev_guid},
                Level.WARNING,
                explanation=_(
                    "The pool itself records which of its caches are out of service, wherever it is imported."
                ),
            )
        elif cache is None:
            yield Finding(
                "cache-not-in-pool",
                _("The cache {path} is no longer in pool {pool}, so there was nothing to put back into service."),
                self._values,
                explanation=_("Someone has removed it from the pool since. It contained only copies."),
            )
        elif cache.state != "ONLINE":
            yield Finding(
                "cache-back-broken",
                _(
                    "The cache {path} of pool {pool} is no longer out of service, but it is {state} and serves no "
                    "reads. The pool works without it. Check that its SSD is present, or remove the cache with `zpool "
                    "remove {pool} {guid}` and add a new one."
                ),
                {**self._values, "state": cache.state, "guid": self.vdev_guid},
                Level.WARNING,
                explanation=_(
                    "`zpool online` only reverses `zpool offline`. It does not bring back a device that has since "
                    "disappeared or been overwritten with something else."
                ),
            )

    @property
    def _values(self) -> dict[str, str]:
        return {"path": self.vdev_path or self.vdev_guid, "pool": self.pool_name}
