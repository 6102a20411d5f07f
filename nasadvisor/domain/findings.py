"""What is worth knowing about a host as its inventory shows it."""

from collections.abc import Iterator
from typing import Final

from nasadvisor.domain.inventory import Inventory, Pool, Vdev
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _

GOOD_STATES: Final = frozenset({"ONLINE", "AVAIL", "INUSE"})
"""States of a vdev that need nobody; the last two are a spare's."""

NAMED_AT_MOST: Final = 3


def findings_of(inventory: Inventory) -> tuple[Finding, ...]:
    """Everything worth knowing, pool by pool."""
    if not inventory.host.zfs_userland:
        return (_no_zfs(inventory),)
    return tuple(finding for pool in inventory.pools for finding in _about_pool(pool))


def _no_zfs(inventory: Inventory) -> Finding:
    return Finding(
        "no-openzfs",
        _("OpenZFS is not installed on {node}, so there are no pools. Install zfsutils-linux and read the host again."),
        {"node": inventory.host.node},
        Level.WARNING,
    )


def _about_pool(pool: Pool) -> Iterator[Finding]:
    if pool.suspended:
        yield Finding(
            "pool-suspended",
            _(
                "Pool {pool} is suspended: too many of its disks do not answer, and programs that write to it wait. "
                "Check cables and power, then run `zpool clear {pool}`."
            ),
            {"pool": pool.name},
            Level.CRITICAL,
        )
    elif pool.state != "ONLINE":
        yield _not_online(pool)
    faulty = [leaf for leaf in _leaves(pool) if leaf.read_errors + leaf.write_errors + leaf.checksum_errors]
    if faulty:
        yield _device_errors(pool, faulty)
    if pool.read_only:
        yield Finding(
            "pool-read-only",
            _("Pool {pool} is imported read-only. Nothing can be written to it, and no device can be added."),
            {"pool": pool.name},
            Level.INFO,
        )
    if pool.checkpoint:
        yield Finding(
            "pool-checkpoint",
            _(
                "Pool {pool} has a checkpoint of {size}. While it exists, no device can be removed; `zpool checkpoint "
                "-d {pool}` discards it."
            ),
            {"pool": pool.name, "size": pool.checkpoint},
            Level.INFO,
        )


def _not_online(pool: Pool) -> Finding:
    bad = [leaf for leaf in _leaves(pool) if leaf.state not in GOOD_STATES]
    values = {"pool": pool.name, "state": pool.state, "devices": _named(bad)}
    level = Level.WARNING if pool.state == "DEGRADED" else Level.CRITICAL
    if not bad:
        template = _("Pool {pool} is {state}. `zpool status -x {pool}` says why.")
        return Finding("pool-not-online", template, values, level)
    template = _("Pool {pool} is {state}: {devices}. Replace what is broken before you add anything to the pool.")
    return Finding("pool-not-online", template, values, level)


def _device_errors(pool: Pool, faulty: list[Vdev]) -> Finding:
    return Finding(
        "device-errors",
        _(
            "Devices of pool {pool} had I/O errors since they were last cleared: {devices}. Look at their cables and "
            "SMART values, then run `zpool scrub {pool}`."
        ),
        {"pool": pool.name, "devices": _named(faulty)},
        Level.WARNING,
    )


def _leaves(pool: Pool) -> Iterator[Vdev]:
    return (leaf for tops in pool.by_class().values() for top in tops for leaf in top.leaves())


def _named(leaves: list[Vdev]) -> str:
    """The first few by name, with their states."""
    names = [f"{leaf.path.rpartition('/')[2] or leaf.name} ({leaf.state})" for leaf in leaves[:NAMED_AT_MOST]]
    return ", ".join(names) + (" …" if len(leaves) > NAMED_AT_MOST else "")
