"""What state a log is in, told from the states and errors of its sides, and whether logs alone ail a pool."""

from dataclasses import replace
from typing import Final

from nasadvisor.domain.storage.inventory import Pool, Vdev

OFFLINE: Final = "OFFLINE"
"""The state of a device that somebody took out of service (zpoolconcepts(7), "Device Failure and Recovery")."""

TAKES_IO: Final = frozenset({"ONLINE", "DEGRADED"})
"""States in which a pool serves, and a device is still read and written; OpenZFS calls one DEGRADED that had errors."""


def is_dead(log: Vdev) -> bool:
    """Whether every side of a log is broken: nothing of it takes a write, and nobody only took it offline."""
    return all(leaf.state not in TAKES_IO and leaf.state != OFFLINE for leaf in log.leaves())


def is_out_of_service(log: Vdev) -> bool:
    """Whether nothing of a log takes a write because somebody took it, or what was left of it, offline."""
    return not is_dead(log) and all(leaf.state not in TAKES_IO for leaf in log.leaves())


def is_failing(log: Vdev) -> bool:
    """Whether a log takes writes, on sides that had errors only."""
    taking = [leaf for leaf in log.leaves() if leaf.state in TAKES_IO]
    return bool(taking) and all(leaf.state != "ONLINE" for leaf in taking)


def was_missing_at_import(log: Vdev) -> bool:
    """Whether a dead log took no part in the import of its pool, as far as its sides tell.

    OpenZFS calls a device UNAVAIL that it could not open at the import, or FAULTED where what stands on it is no label
    of the pool; both have no errors (spa_check_for_missing_logs() in module/zfs/spa.c; zpool_state_to_name() in
    lib/libzfs/libzfs_pool.c). One that dies while the pool runs has errors or is REMOVED, which it then stays, and one
    that somebody forced to be FAULTED was there until then. After `zpool clear` of a dead log the two look the same; so
    may they after a restart with one that was forced.
    """
    sides = list(log.leaves())
    was_there = any(side.errors or side.is_forced for side in sides) or log.errors
    return is_dead(log) and not was_there and any(side.state != "REMOVED" for side in sides)


def dead_log(pool: Pool, guid: str) -> Vdev | None:
    """The dead log of a pool with this guid."""
    return next((top for top in pool.logs if top.guid == guid and is_dead(top)), None)


def without_logs(pool: Pool, *guids: str) -> Pool:
    """The pool once these logs are out; one that was degraded by nothing else is well again."""
    left = replace(pool, logs=tuple(top for top in pool.logs if top.guid not in guids))
    vital = (*left.data, *left.specials, *left.dedups, *left.logs)
    if pool.state == "DEGRADED" and all(vdev.state == "ONLINE" for top in vital for vdev in top.walk()):
        return replace(left, state="ONLINE")
    return left


def without_dead_logs(pool: Pool) -> Pool:
    """The pool as it would be without any of its logs that is dead."""
    return without_logs(pool, *(top.guid for top in pool.logs if is_dead(top)))


def all_that_ails(pool: Pool) -> Vdev | None:
    """The first log with a side that is not well, where a pool is DEGRADED by its logs alone; else None.

    Caches and spares have no part in a pool's state.
    """
    vital = (*pool.data, *pool.specials, *pool.dedups)
    if pool.state != "DEGRADED" or any(vdev.state != "ONLINE" for top in vital for vdev in top.walk()):
        return None
    return next((top for top in pool.logs if any(side.state != "ONLINE" for side in top.leaves())), None)
