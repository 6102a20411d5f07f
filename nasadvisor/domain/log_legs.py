"""The sides of a pool's logs: finding one, the broken one of a mirror, and the pool once that one is out."""

from dataclasses import dataclass, replace

from nasadvisor.domain.inventory import Pool, Vdev


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
