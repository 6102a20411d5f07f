"""The logs of a pool: their sides, and what state each is in."""

from dataclasses import dataclass, replace
from typing import Final

from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from nasadvisor.domain.units import align_up


@dataclass(frozen=True)
class BrokenSide:
    """A side of a mirrored log that does not work, and one beside it that does."""

    side: Vdev
    partner: Vdev


def find_log_side(pool: Pool, guid: str) -> Vdev | None:
    """The leaf of a pool's logs with this guid."""
    return next((leaf for top in pool.logs for leaf in top.leaves() if leaf.guid == guid), None)


def broken_log_sides(pool: Pool) -> tuple[BrokenSide, ...]:
    """The sides that could be replaced, of every mirrored log of the pool."""
    return tuple(
        BrokenSide(side, partner)
        for top in pool.logs
        for partner in [side for side in top.children if side.state == "ONLINE" and not side.children][:1]
        for side in top.children
        if side.state != "ONLINE" and not side.children
    )


def log_mirror_of(pool: Pool, guid: str) -> Vdev | None:
    """The mirrored log of which this is a side."""
    return next((top for top in pool.logs if any(side.guid == guid for side in top.children)), None)


def side_bounds(top: Vdev, inventory: Inventory) -> tuple[int, int]:
    """How long a further side of a log must and may be, in bytes: as the shortest and as the longest that is there.

    OpenZFS uses no more of any side than the shortest has (vdev_get_min_asize() in module/zfs/vdev.c). A slice made by
    somebody else need not end at a multiple of 1 MiB; ours does, and must not be shorter. Zeros where no side is known.
    """
    places = (inventory.place_of(leaf) for leaf in top.leaves())
    sizes = [align_up(place[1].size_bytes) for place in places if place and place[1]]
    return min(sizes, default=0), max(sizes, default=0)


def new_side_bytes(pool: Pool, attach_to: str, replaces: str, inventory: Inventory) -> int:
    """How long the slice is that becomes a further side of the log with this side; 0 where that is not known."""
    side = find_log_side(pool, attach_to)
    if side is None:
        return 0
    left = without_log_side(pool, replaces) if replaces else pool
    # By its path, for the guid of one that stays alone changes.
    top = next((top for top in left.logs for leaf in top.leaves() if leaf.path == side.path), side)
    return side_bounds(top, inventory)[0]


def without_log_side(pool: Pool, guid: str) -> Pool:
    """The pool once a side of a mirrored log is detached.

    A side that stays alone takes the guid of the mirror (vdev_remove_parent() in module/zfs/vdev.c).
    """
    return _with_state(replace(pool, logs=tuple(_without(top, guid) for top in pool.logs)))


def _with_state(pool: Pool) -> Pool:
    """A pool that is degraded by nothing is well. Caches and spares have no part in a pool's state."""
    vital = (*pool.data, *pool.specials, *pool.dedups, *pool.logs)
    if pool.state == "DEGRADED" and all(vdev.state == "ONLINE" for top in vital for vdev in top.walk()):
        return replace(pool, state="ONLINE")
    return pool


def _without(top: Vdev, guid: str) -> Vdev:
    stay = tuple(side for side in top.children if side.guid != guid)
    if len(stay) == len(top.children):
        return top
    if len(stay) == 1:
        return replace(stay[0], guid=top.guid)
    states = {side.state for side in stay}
    return replace(top, children=stay, state="ONLINE" if states == {"ONLINE"} else top.state)


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
    return _with_state(replace(pool, logs=tuple(top for top in pool.logs if top.guid not in guids)))


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
