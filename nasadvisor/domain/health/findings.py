"""What is worth knowing about a host as its inventory shows it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nasadvisor.domain.health.log_cache_findings import log_cache_findings
from nasadvisor.domain.health.pool_findings import pool_findings
from nasadvisor.domain.health.release_findings import release_findings
from nasadvisor.domain.health.space_findings import space_findings
from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage import releases
from nasadvisor.domain.storage.inventory import Host, Inventory, Pool, Vdev
from nasadvisor.domain.storage.logs import was_missing_at_import


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
        return (_no_zfs(inventory),)
    grown = growth or {}
    pools = (with_names(pool, last_seen, inventory) for pool in inventory.pools) if last_seen else inventory.pools
    return tuple(finding for pool in pools for finding in _about_pool(pool, inventory, grown.get(pool.guid)))


def _about_pool(pool: Pool, inventory: Inventory, growth: float | None) -> Iterator[Finding]:
    yield from pool_findings(pool, inventory)
    yield from space_findings(pool, inventory, growth)
    yield from log_cache_findings(pool, inventory)
    yield from _bugs(pool, inventory.host)
    yield from release_findings(pool, inventory)


def _no_zfs(inventory: Inventory) -> Finding:
    return Finding(
        "no-openzfs",
        _("OpenZFS is not installed on {node}, so there are no pools. Install zfsutils-linux and read the host again."),
        {"node": inventory.host.node},
        Level.WARNING,
        explanation=_("Without its tools neither pools nor what their disks hold can be seen."),
    )


def _bugs(pool: Pool, host: Host) -> Iterator[Finding]:
    """Known bugs of this OpenZFS that this pool's layout can meet."""
    version = host.zfs_kernel or host.zfs_userland
    values = {"pool": pool.name, "version": version}
    if pool.multihost and pool.logs and releases.MULTIHOST_HOLE.is_in(version):
        yield Finding(
            "bug-multihost-hole",
            _("Do not take the log of pool {pool} out with OpenZFS {version}: the pool could not be imported again."),
            values,
            Level.WARNING,
            _(
                "Pool {pool} has multihost=on. A log that is removed leaves a hole in the layout, and this release "
                "then refuses the import as in use by another host (issue 18823). Update OpenZFS to 2.3.9 or 2.4.4."
            ),
            subject=pool.guid,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )
    if any(was_missing_at_import(log) for log in pool.logs) and releases.REPLAY_FLAG_LEFT.is_in(version):
        yield Finding(
            "bug-log-replay-flag",
            _(
                "With OpenZFS {version} the missing log of pool {pool} may not be removable once the pool was imported "
                "without it: `zpool remove` then says that logs have to be replayed."
            ),
            values,
            Level.WARNING,
            _(
                "`zpool import -m` of this release leaves a flag behind that says there were something to replay. The "
                "pool works on without the log. Bring the device back, or update OpenZFS to 2.3.8 or 2.4.3 and remove "
                "it then (openzfs 18277)."
            ),
            subject=pool.guid,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )
    if pool.caches and releases.STALE_CACHE.is_in(version):
        yield Finding(
            "bug-stale-cache",
            _("OpenZFS {version} can show a wrong size for a cache of pool {pool} that was removed and added again."),
            values,
            Level.INFO,
            _(
                "It may read old cache records back (the size then shows as 16.0E). No data is harmed: every block of "
                "a cache is verified by its checksum. OpenZFS 2.3.9 and 2.4.4 have the fix."
            ),
            subject=pool.guid,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )
