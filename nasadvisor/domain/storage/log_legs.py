"""The sides of a pool's logs: finding one, the broken one of a mirror, how long a new one must be, and the pool once
one is out.
"""

from dataclasses import dataclass, replace

from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from nasadvisor.domain.units import align_up


@dataclass(frozen=True)
class BrokenLeg:
    """A side of a mirrored log that does not work, and one beside it that does."""

    leg: Vdev
    partner: Vdev


def find_log_leg(pool: Pool, guid: str) -> Vdev | None:
    """The leaf of a pool's logs with this guid."""
    return next((leaf for top in pool.logs for leaf in top.leaves() if leaf.guid == guid), None)


def broken_log_legs(pool: Pool) -> tuple[BrokenLeg, ...]:
    """The sides that could be replaced, of every mirrored log of the pool."""
    return tuple(
        BrokenLeg(leg, partner)
        for top in pool.logs
        for partner in [leg for leg in top.children if leg.state == "ONLINE" and not leg.children][:1]
        for leg in top.children
        if leg.state != "ONLINE" and not leg.children
    )


def log_mirror_of(pool: Pool, guid: str) -> Vdev | None:
    """The mirrored log of which this is a side."""
    return next((top for top in pool.logs if any(leg.guid == guid for leg in top.children)), None)


def leg_bounds(top: Vdev, inventory: Inventory) -> tuple[int, int]:
    """How long a further side of a log must and may be, in bytes: as the shortest and as the longest that is there.

    OpenZFS uses no more of any side than the shortest has (vdev_get_min_asize() in module/zfs/vdev.c). A slice made by
    somebody else need not end at a multiple of 1 MiB; ours does, and must not be shorter. Zeros where no side is known.
    """
    places = (inventory.place_of(leaf) for leaf in top.leaves())
    sizes = [align_up(place[1].size_bytes) for place in places if place and place[1]]
    return min(sizes, default=0), max(sizes, default=0)


def new_leg_bytes(pool: Pool, attach_to: str, replaces: str, inventory: Inventory) -> int:
    """How long the slice is that becomes a further side of the log with this side; 0 where that is not known."""
    leg = find_log_leg(pool, attach_to)
    if leg is None:
        return 0
    left = without_log_leg(pool, replaces) if replaces else pool
    # By its path, for the guid of one that stays alone changes.
    top = next((top for top in left.logs for leaf in top.leaves() if leaf.path == leg.path), leg)
    return leg_bounds(top, inventory)[0]


def without_log_leg(pool: Pool, guid: str) -> Pool:
    """The pool once a side of a mirrored log is detached.

    A side that stays alone takes the guid of the mirror (vdev_remove_parent() in module/zfs/vdev.c), and a pool that
    was degraded by nothing else is well again. Caches and spares have no part in a pool's state.
    """
    logs = tuple(_without(top, guid) for top in pool.logs)
    state = pool.state
    vital = (*pool.data, *pool.specials, *pool.dedups, *logs)
    if state == "DEGRADED" and all(vdev.state == "ONLINE" for top in vital for vdev in top.walk()):
        state = "ONLINE"
    return replace(pool, logs=logs, state=state)


def _without(top: Vdev, guid: str) -> Vdev:
    stay = tuple(leg for leg in top.children if leg.guid != guid)
    if len(stay) == len(top.children):
        return top
    if len(stay) == 1:
        return replace(stay[0], guid=top.guid)
    states = {leg.state for leg in stay}
    return replace(top, children=stay, state="ONLINE" if states == {"ONLINE"} else top.state)
