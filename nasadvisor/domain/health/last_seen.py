"""Disks that are gone, by the names that they had: a pool knows only the path at which it last found them."""

from collections.abc import Mapping
from dataclasses import replace

from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev


def with_names(pool: Pool, last_seen: Mapping[str, str], inventory: Inventory) -> Pool:
    """The pool with each leaf that the host does not show called by the disk that was last seen there."""

    def named(vdev: Vdev) -> Vdev:
        if vdev.children:
            return replace(vdev, children=tuple(map(named, vdev.children)))
        label = last_seen.get(vdev.guid, "")
        return replace(vdev, name=label, path="") if label and not inventory.place_of(vdev) else vdev

    return replace(
        pool,
        data=tuple(map(named, pool.data)),
        logs=tuple(map(named, pool.logs)),
        caches=tuple(map(named, pool.caches)),
        specials=tuple(map(named, pool.specials)),
        dedups=tuple(map(named, pool.dedups)),
        spares=tuple(map(named, pool.spares)),
    )
