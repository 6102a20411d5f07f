"""What is worth knowing about a pool as a whole: its state, its errors, its scrubs."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from nasadvisor.domain.health.limits import SCRUB_AGE_DAYS, level_at
from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import UNREADABLE, Inventory, Pool, Vdev, VdevClass, leaf_name
from nasadvisor.domain.storage.logs import OFFLINE, all_that_ails

GOOD_STATES: Final = frozenset({"ONLINE", "AVAIL", "INUSE"})
"""States of a vdev that need nobody; the last two are a spare's."""

NAMED_AT_MOST: Final = 3

BROKEN_STATES: Final = frozenset({"FAULTED", "UNAVAIL", "REMOVED"})
"""States of a vdev that the pool goes on without, and nobody asked for."""

HOLDING_DATA: Final = (VdevClass.NORMAL, VdevClass.SPECIAL, VdevClass.DEDUP)

POOL_MEMBER: Final = "pool-member"
"""The code of what a pool says of one of its disks."""


def pool_findings(pool: Pool, inventory: Inventory) -> Iterator[Finding]:
    """What is worth knowing of a pool of this inventory."""
    if pool.problem:
        yield _unreadable(pool)
    if pool.state == UNREADABLE:
        return
    if pool.suspended:
        yield _suspended(pool)
    elif pool.state != "ONLINE":
        yield _not_online(pool, inventory)
    if pool.data_errors:
        yield _data_errors(pool)
    yield from _leaf_findings(pool, inventory)
    yield from _scrub_findings(pool, inventory.read_at)
    yield from _special_states(pool)


def leaves(pool: Pool) -> Iterator[Vdev]:
    """The leaves of every class."""
    return (leaf for tops in pool.by_class().values() for top in tops for leaf in top.leaves())


def named(vdevs: Iterable[Vdev], inventory: Inventory) -> str:
    """The first few by name, with their states."""
    found = list(vdevs)
    names = [f"{name_of(leaf, inventory)} {leaf.state}" for leaf in found[:NAMED_AT_MOST]]
    return ", ".join(names) + (" …" if len(found) > NAMED_AT_MOST else "")


def name_of(leaf: Vdev, inventory: Inventory) -> str:
    """Model and serial of the disk; of one that the host does not show, the last part of the leaf's path or name."""
    place = inventory.place_of(leaf)
    return place[0].label if place else leaf_name(leaf.path) or leaf.name


def is_broken(vdev_class: VdevClass, leaf: Vdev) -> bool:
    """Whether a disk that holds data of a pool has failed or is gone. One that somebody took offline has not."""
    return vdev_class in HOLDING_DATA and leaf.state in BROKEN_STATES


def has_no_redundancy(pool: Pool) -> bool:
    """Whether a vdev has lost as many members as it can, and nothing mends that: no spare is free, no resilver runs.
    A member works as long as one of its leaves does: a spare that took over, or a disk that returned too much rubbish.
    """
    tops = [top for kind in HOLDING_DATA for top in pool.by_class()[kind] if top.parity]
    missing = {top.guid: sum(not any(map(_works, member.leaves())) for member in top.children) for top in tops}
    has_spare = any(spare.state == "AVAIL" for spare in pool.spares)
    return not has_spare and pool.scan != "resilver" and any(missing[top.guid] >= top.parity for top in tops)


def _works(leaf: Vdev) -> bool:
    return leaf.state in ("ONLINE", "DEGRADED")


def member_finding(pool: Pool, vdev_class: VdevClass, leaf: Vdev, label: str) -> Finding | None:
    """What a pool says of one of its disks; None where nobody needs to look. A cache is out of service on purpose."""
    if leaf.state in GOOD_STATES or (leaf.state == OFFLINE and vdev_class is VdevClass.CACHE):
        return None
    if leaf.state == OFFLINE:
        template = _("The disk {disk} of pool {pool} was taken offline. `zpool online {pool} {guid}` brings it back.")
    elif leaf.state in BROKEN_STATES:
        template = _(
            "Pool {pool} continues without the disk {disk}: it is {state}. Look at its cable and slot, or replace it."
        )
    else:
        template = _("The disk {disk} of pool {pool} is {state}: too much of what it returned was wrong.")
    return Finding(
        POOL_MEMBER,
        template,
        {"disk": label, "pool": pool.name, "state": leaf.state, "guid": leaf.guid},
        Level.CRITICAL if is_broken(vdev_class, leaf) else Level.WARNING,
        _("Until it is back or replaced, the pool has less protection than it was built for."),
        subject=leaf.guid,
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
    )


def _about(pool: Pool, **values: str) -> dict[str, str]:
    return {"pool": pool.name, **values}


def _unreadable(pool: Pool) -> Finding:
    return Finding(
        "pool-unreadable",
        _(
            "What OpenZFS tells of pool {pool} could not be understood ({problem}), so it is not watched. `zpool "
            "status {pool}` shows how it is; please report it with that output."
        ),
        _about(pool, problem=pool.problem),
        Level.WARNING,
        _(
            "It was asked twice. Until it can be read, nobody would be told here if a disk of the pool failed, and "
            "nothing is changed on it. Other pools of the host are watched."
        ),
        subject=pool.guid,
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
    )


def _suspended(pool: Pool) -> Finding:
    return Finding(
        "pool-suspended",
        _(
            "Pool {pool} is suspended: too many of its disks do not answer, and programs that write to it wait. "
            "Check cables and power, then run `zpool clear {pool}`."
        ),
        _about(pool),
        Level.CRITICAL,
        _("Nothing that was acknowledged is lost as long as the machine runs. Do not reboot before the disks answer."),
        subject=pool.guid,
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
    )


def _not_online(pool: Pool, inventory: Inventory) -> Finding:
    members = [(kind, leaf) for kind, tops in pool.by_class().items() for top in tops for leaf in top.leaves()]
    has_lost = any(is_broken(kind, leaf) for kind, leaf in members)
    bad = [leaf for _kind, leaf in members if leaf.state not in GOOD_STATES]
    bad.sort(key=lambda leaf: leaf.state not in BROKEN_STATES)
    if all_that_ails(pool):
        template = _("Pool {pool} is {state} because of its log alone: {devices}. Its disks are well.")
    elif has_no_redundancy(pool):
        template = _(
            "Pool {pool} is {state}: {devices}. The next disk that fails can take the pool with it: replace what is "
            "broken now, and save what has no copy elsewhere."
        )
    elif bad:
        template = _("Pool {pool} is {state}: {devices}. Replace what is broken before you add anything to the pool.")
    else:
        template = _("Pool {pool} is {state}. `zpool status -x {pool}` says why.")
    return Finding(
        "pool-not-online",
        template,
        _about(pool, state=pool.state, devices=named(bad, inventory)),
        Level.WARNING if pool.state == "DEGRADED" and not has_lost else Level.CRITICAL,
        _(
            "A degraded pool works, with less protection than it was built for: how many more disks may fail depends "
            "on its layout."
        ),
        subject=pool.guid,
        measure=len(bad),
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
    )


def _data_errors(pool: Pool) -> Finding:
    return Finding(
        "data-errors",
        _(
            "Pool {pool} could not repair the damage in {count} of its files or objects. `zpool status -v {pool}` "
            "names them; restore them from a backup, then run `zpool scrub {pool}` twice to clear the list."
        ),
        _about(pool, count=str(pool.data_errors)),
        Level.CRITICAL,
        _("OpenZFS found blocks of which no copy matches its checksum. It returns an error for them, never bad data."),
        subject=pool.guid,
        measure=pool.data_errors,
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
    )


def _leaf_findings(pool: Pool, inventory: Inventory) -> Iterator[Finding]:
    faulty = [leaf for leaf in leaves(pool) if leaf.errors]
    if faulty:
        yield Finding(
            "device-errors",
            _(
                "Devices of pool {pool} had I/O errors since they were last cleared: {devices}. Look at their cables "
                "and SMART values, then run `zpool scrub {pool}`."
            ),
            _about(pool, devices=named(faulty, inventory)),
            Level.WARNING,
            _(
                "Read and write errors come from the disk, its cable or its controller; checksum errors mean that it "
                "returned something else than was written. `zpool clear {pool}` sets the counters back."
            ),
            subject=pool.guid,
            measure=sum(leaf.errors for leaf in faulty),
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )
    slow = [leaf for leaf in leaves(pool) if leaf.slow_ios]
    if slow:
        yield Finding(
            "slow-io",
            _("Requests to devices of pool {pool} took longer than 30 s ({count} in all): {devices}."),
            _about(pool, devices=named(slow, inventory), count=str(sum(leaf.slow_ios for leaf in slow))),
            Level.WARNING,
            _(
                "One such disk slows the whole pool, as a write is done when all its copies are. Often the disk tries "
                "a failing sector again and again: look at its SMART values and at the kernel's log."
            ),
            subject=pool.guid,
            measure=sum(leaf.slow_ios for leaf in slow),
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )


def _scrub_findings(pool: Pool, read_at: str) -> Iterator[Finding]:
    if pool.scan or pool.suspended:
        return
    explanation = _(
        "Only a scrub reads every copy of every block. Errors that nobody finds in time add up until redundancy cannot "
        "repair them."
    )
    if pool.last_scan is None:
        yield Finding(
            "scrub-unknown",
            _("No scrub of pool {pool} is on record. Run `zpool scrub {pool}`, and have it done every month."),
            _about(pool),
            Level.INFO,
            explanation,
            subject=pool.guid,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )
        return
    days = (datetime.fromisoformat(read_at) - datetime.fromisoformat(pool.last_scan.ended_at)).days
    level = level_at(days, SCRUB_AGE_DAYS)
    if level:
        yield Finding(
            "scrub-old",
            _("The last scrub of pool {pool} ended {days} days ago. Run `zpool scrub {pool}`."),
            _about(pool, days=str(days)),
            level,
            explanation,
            subject=pool.guid,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )


def _special_states(pool: Pool) -> Iterator[Finding]:
    if pool.read_only:
        yield Finding(
            "pool-read-only",
            _("Pool {pool} is imported read-only. Nothing can be written to it, and no device can be added."),
            _about(pool),
            Level.INFO,
            subject=pool.guid,
            explanation=_(
                "It was imported with `-o readonly=on`. To write to it again, export it and import it without that."
            ),
        )
    if pool.checkpoint:
        yield Finding(
            "pool-checkpoint",
            _(
                "Pool {pool} has a checkpoint of {size}. While it exists, no device can be removed; `zpool checkpoint "
                "-d {pool}` discards it."
            ),
            _about(pool, size=pool.checkpoint),
            Level.INFO,
            subject=pool.guid,
            explanation=_(
                "It keeps the whole pool as it was, and so also the space of all that was deleted"
                " since. Discard it once you are sure that nobody wants to go back."
            ),
        )
