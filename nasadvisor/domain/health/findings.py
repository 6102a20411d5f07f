"""What is worth knowing about a host as its inventory shows it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nasadvisor.domain.health.log_cache_findings import log_cache_findings
from nasadvisor.domain.health.pool_findings import pool_findings, space_findings
from nasadvisor.domain.health.release_findings import release_findings
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _
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


def findings_of(
    inventory: Inventory, last_seen: Mapping[str, str] | None = None, growth: Mapping[str, float] | None = None
) -> tuple[Finding, ...]:
    """Everything worth knowing, pool by pool. `last_seen` names the disks behind leaves that the host shows no more, by
    the guid of the leaf: nobody finds a slot by a path that leads nowhere. `growth` is how many bytes pools took up a
    day lately, by the pool's guid.
    """
    if not inventory.host.zfs_userland:
        missing = Finding(
            "no-openzfs",
            _(
                "OpenZFS is not installed on {node}, so there are no pools. Install zfsutils-linux and read the host "
                "again."
            ),
            {"node": inventory.host.node},
            Level.WARNING,
            explanation=_("Without its tools neither pools nor what their disks hold can be seen."),
        )
        return (missing,)
    grown = growth or {}
    pools = (with_names(pool, last_seen, inventory) for pool in inventory.pools) if last_seen else inventory.pools
    return tuple(finding for pool in pools for finding in _about_pool(pool, inventory, grown.get(pool.guid)))


def _about_pool(pool: Pool, inventory: Inventory, growth: float | None) -> Iterator[Finding]:
    yield from pool_findings(pool, inventory)
    yield from space_findings(pool, inventory, growth)
    yield from log_cache_findings(pool, inventory)
    yield from release_findings(pool, inventory)
