"""Undo steps that have nothing to act on any more: what they would take back went with its disk or its pool."""

from nasadvisor.domain.change.actions import DetachLog, OnlineCache, RemoveVdev, Role, UndoAction
from nasadvisor.domain.change.device_scan import DeviceScan
from nasadvisor.domain.change.undo import GONE_WITH_DISK
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory


def why_skipped(action: UndoAction, inventory: Inventory, look: DeviceScan) -> Statement | None:
    """Why a step is left out, None where it has something to do.

    `look` is what stands in the slices of a vdev; it tells a pool that was destroyed from one that is away.
    """
    path = action.away_from(inventory)
    if path:
        template = _("{disk} is not on this host, so nothing was changed on it.")
        return Statement(GONE_WITH_DISK, template, {"disk": path})
    if isinstance(action, RemoveVdev | DetachLog) and inventory.pool(action.pool_guid) is None:
        if any(label.may_be_needed for _partuuid, label in look.labels):
            return None
        if isinstance(action, RemoveVdev) and action.role is Role.CACHE:
            return _cache_of_absent_pool(action)
        template = _(
            "Pool {pool} is not on this host, and no slice of this run says that it is needed by it: the pool was "
            "destroyed. There was nothing to take out of it."
        )
        return Statement("gone-with-pool", template, {"pool": action.pool_name})
    if isinstance(action, OnlineCache) and action.is_away(inventory):
        template = _(
            "Neither pool {pool} nor its cache {path} is on this host, so there was nothing to put back into service."
        )
        return Statement("gone-with-cache", template, {"pool": action.pool_name, "path": action.vdev_path})
    return None


def _cache_of_absent_pool(action: RemoveVdev) -> Statement:
    """The label of a cache names no pool, so it does not tell a pool that was destroyed from one that is away."""
    template = _(
        "Pool {pool} is not on this host, so its cache was not taken out of it. A cache holds nothing but copies. If "
        "the pool is imported again, it shows the cache as missing: take it out with `zpool remove {pool} {guid}`."
    )
    return Statement("cache-of-absent-pool", template, {"pool": action.pool_name, "guid": action.vdev_guid})
