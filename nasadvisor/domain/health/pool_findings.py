"""What is worth knowing about a pool as a whole: its state, its errors, its scrubs, its space and its spares."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from nasadvisor.domain.health.limits import (
    BEFORE_RESERVE_POINTS,
    FORECAST_DAYS,
    POOL_FULL_PERCENT,
    SCRUB_AGE_DAYS,
    SPARE_FROM_DISKS,
    SPECIAL_FULL_PERCENT,
    SPECIAL_RESERVE_PERCENT,
    level_at,
)
from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import UNREADABLE, Host, Inventory, Pool, Vdev, VdevClass, leaf_name
from nasadvisor.domain.storage.logs import OFFLINE, all_that_ails
from nasadvisor.domain.units import size_text

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
    yield from about_pool(pool, _state(pool, inventory))
    if pool.state == UNREADABLE:
        return
    yield from about_pool(pool, _errors(pool, inventory))
    yield from about_pool(pool, _scrubs(pool, inventory.read_at))
    yield from _special_states(pool)


def about_pool(pool: Pool, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings about a pool as a whole, each with the way to its page."""
    return (replace(each, subject=pool.guid, step=NextStep.LOOK_AT_POOL, place=pool.guid) for each in findings)


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

    def missing(top: Vdev) -> int:
        works = [any(leaf.state in ("ONLINE", "DEGRADED") for leaf in member.leaves()) for member in top.children]
        return works.count(False)

    tops = [top for kind in HOLDING_DATA for top in pool.by_class()[kind] if top.parity]
    has_spare = any(spare.state == "AVAIL" for spare in pool.spares)
    return not has_spare and pool.scan != "resilver" and any(missing(top) >= top.parity for top in tops)


def member_finding(pool: Pool, vdev_class: VdevClass, leaf: Vdev, label: str) -> Finding | None:
    """What a pool says of one of its disks; None where nobody needs to look. A cache is out of service on purpose."""
    if leaf.state in GOOD_STATES or (leaf.state == OFFLINE and vdev_class is VdevClass.CACHE):
        return None
    if leaf.state == OFFLINE:
        template = _(
            "The disk {disk} of pool {pool} was taken offline. Bring it back with `zpool online {pool} {guid}`."
        )
    elif leaf.state in BROKEN_STATES:
        template = _(
            "Pool {pool} continues without the disk {disk}: it is {state}. Check its cable and slot, or replace it."
        )
    else:
        template = _("Disk {disk} of pool {pool} is {state}: it returned too much bad data.")
    return Finding(
        POOL_MEMBER,
        template,
        {"disk": label, "pool": pool.name, "state": leaf.state, "guid": leaf.guid},
        Level.CRITICAL if is_broken(vdev_class, leaf) else Level.WARNING,
        _("Until it is back or replaced, the pool has less protection than designed."),
        subject=leaf.guid,
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
    )


def _state(pool: Pool, inventory: Inventory) -> Iterator[Finding]:
    if pool.problem:
        yield Finding(
            "pool-unreadable",
            _(
                "The OpenZFS output for pool {pool} could not be interpreted ({problem}), so the pool is not "
                "monitored. `zpool status {pool}` shows its state; please report this with that output."
            ),
            {"pool": pool.name, "problem": pool.problem},
            Level.WARNING,
            _(
                "OpenZFS was queried twice. Until the pool can be read, a failed disk in it would go unnoticed here, "
                "and nothing is changed on it. Other pools of the host are monitored."
            ),
        )
    if pool.suspended and pool.state != UNREADABLE:
        yield Finding(
            "pool-suspended",
            _(
                "Pool {pool} is suspended: too many of its disks do not respond, and programs that write to it are "
                "blocked. Check cables and power, then run `zpool clear {pool}`."
            ),
            {"pool": pool.name},
            Level.CRITICAL,
            _("No acknowledged data is lost while the host is running. Do not reboot before the disks respond."),
        )
    elif pool.state not in ("ONLINE", UNREADABLE):
        yield _not_online(pool, inventory)


def _not_online(pool: Pool, inventory: Inventory) -> Finding:
    members = [(kind, leaf) for kind, tops in pool.by_class().items() for top in tops for leaf in top.leaves()]
    has_lost = any(is_broken(kind, leaf) for kind, leaf in members)
    bad = [leaf for _kind, leaf in members if leaf.state not in GOOD_STATES]
    bad.sort(key=lambda leaf: leaf.state not in BROKEN_STATES)
    if all_that_ails(pool):
        template = _("Pool {pool} is {state} only because of its log: {devices}. Its disks are healthy.")
    elif has_no_redundancy(pool):
        template = _(
            "Pool {pool} is {state}: {devices}. One more failed disk can destroy the pool: replace the failed devices "
            "now, and back up data that has no other copy."
        )
    elif bad:
        template = _(
            "Pool {pool} is {state}: {devices}. Replace the failed devices before you add anything to the pool."
        )
    else:
        template = _("Pool {pool} is {state}. `zpool status -x {pool}` shows the reason.")
    return Finding(
        "pool-not-online",
        template,
        {"pool": pool.name, "state": pool.state, "devices": named(bad, inventory)},
        Level.WARNING if pool.state == "DEGRADED" and not has_lost else Level.CRITICAL,
        _(
            "A degraded pool works, but with less protection than designed. How many more disks may fail depends on "
            "its layout."
        ),
        measure=len(bad),
    )


def _errors(pool: Pool, inventory: Inventory) -> Iterator[Finding]:
    if pool.data_errors:
        yield Finding(
            "data-errors",
            _(
                "Pool {pool} could not repair the damage in {count} of its files or objects. `zpool status -v {pool}` "
                "names them; restore them from a backup, then run `zpool scrub {pool}` twice to clear the list."
            ),
            {"pool": pool.name, "count": str(pool.data_errors)},
            Level.CRITICAL,
            _(
                "OpenZFS found blocks with no copy that matches its checksum. It returns an error for them, never bad "
                "data."
            ),
            measure=pool.data_errors,
        )
    leaves = [leaf for tops in pool.by_class().values() for top in tops for leaf in top.leaves()]
    faulty = [leaf for leaf in leaves if leaf.errors]
    if faulty:
        yield Finding(
            "device-errors",
            _(
                "Devices of pool {pool} have had I/O errors since the counters were last cleared: {devices}. Check "
                "their cables and SMART values, then run `zpool scrub {pool}`."
            ),
            {"pool": pool.name, "devices": named(faulty, inventory)},
            Level.WARNING,
            _(
                "Read and write errors come from the disk, its cable or its controller; checksum errors mean that it "
                "returned different data than was written. `zpool clear {pool}` resets the counters."
            ),
            measure=sum(leaf.errors for leaf in faulty),
        )
    slow = [leaf for leaf in leaves if leaf.slow_ios]
    if slow:
        yield Finding(
            "slow-io",
            _("Requests to devices of pool {pool} took longer than 30 s ({count} in total): {devices}."),
            {"pool": pool.name, "devices": named(slow, inventory), "count": str(sum(leaf.slow_ios for leaf in slow))},
            Level.WARNING,
            _(
                "One such disk slows the whole pool, because a write completes only when all its copies do. Often the "
                "disk keeps retrying a failing sector: check its SMART values and the kernel log."
            ),
            measure=sum(leaf.slow_ios for leaf in slow),
        )


def _scrubs(pool: Pool, read_at: str) -> Iterator[Finding]:
    if pool.scan or pool.suspended:
        yield from _endless_scrub(pool, read_at)
        return
    explanation = _(
        "Only a scrub reads every copy of every block. Errors that are not found in time add up until redundancy "
        "cannot repair them."
    )
    if pool.last_scan is None:
        yield Finding(
            "scrub-unknown",
            _("No scrub of pool {pool} is on record. Run `zpool scrub {pool}`, and schedule a monthly scrub."),
            {"pool": pool.name},
            Level.INFO,
            explanation,
        )
        return
    days = (datetime.fromisoformat(read_at) - datetime.fromisoformat(pool.last_scan.ended_at)).days
    level = level_at(days, SCRUB_AGE_DAYS)
    if level:
        yield Finding(
            "scrub-old",
            _("The last scrub of pool {pool} ended {days} days ago. Run `zpool scrub {pool}`."),
            {"pool": pool.name, "days": str(days)},
            level,
            explanation,
        )


def _endless_scrub(pool: Pool, read_at: str) -> Iterator[Finding]:
    """One that is paused goes on only when it is told to, and the cron job that starts others takes it for running."""
    progress = pool.scan_progress
    if pool.scan != "scrub" or pool.suspended or progress is None:
        return
    days = (datetime.fromisoformat(read_at) - datetime.fromisoformat(progress.began_at)).days
    level = level_at(days, SCRUB_AGE_DAYS)
    if level:
        yield Finding(
            "scrub-old",
            _(
                "The scrub of pool {pool} began {days} days ago and is paused. `zpool scrub {pool}` resumes it; until "
                "then no other scrub can start."
            )
            if progress.paused_at
            else _("The scrub of pool {pool} began {days} days ago and has not ended."),
            {"pool": pool.name, "days": str(days)},
            level,
            _("Until it ends, it is unknown whether all copies of all blocks can be read."),
        )


def _special_states(pool: Pool) -> Iterator[Finding]:
    if pool.read_only:
        yield Finding(
            "pool-read-only",
            _("Pool {pool} is imported read-only: it accepts no writes and no new devices."),
            {"pool": pool.name},
            Level.INFO,
            subject=pool.guid,
            explanation=_(
                "It was imported with `-o readonly=on`. To write to it again, export it and import it without that "
                "option."
            ),
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
            subject=pool.guid,
            explanation=_(
                "It preserves the pool as it was, and with it the space of everything deleted since. Discard it once "
                "you are sure that you will not rewind to it."
            ),
        )


def space_findings(pool: Pool, inventory: Inventory, growth: float | None) -> Iterator[Finding]:
    """What is worth knowing of the space, the spares and the TRIM of a pool.

    `growth` is how many bytes it took up a day lately; None where nobody watched it for long.
    """
    yield from about_pool(pool, _pool_full(pool, inventory.read_at, growth))
    yield from about_pool(pool, _special_full(pool, inventory.host))
    yield from about_pool(pool, _spares_and_trim(pool))


def percent_of(part: int, whole: int) -> int:
    """Whole percent, rounded down; 0 of nothing."""
    return part * 100 // whole if whole else 0


def _pool_full(pool: Pool, read_at: str, growth: float | None) -> Iterator[Finding]:
    percent = percent_of(pool.allocated_bytes, pool.size_bytes)
    level = level_at(percent, POOL_FULL_PERCENT)
    if level is None:
        return
    free = pool.size_bytes - pool.allocated_bytes
    days = free / growth if growth and growth > 0 else None
    template = _(
        "Pool {pool} is {percent} % full ({free} free). Delete unneeded data, old snapshots first, or add disks."
    )
    day = ""
    if days is not None and days <= FORECAST_DAYS:
        template = _(
            "Pool {pool} is {percent} % full ({free} free). At its present growth, the free space lasts until {day}. "
            "Delete unneeded data, old snapshots first, or add disks."
        )
        day = (datetime.fromisoformat(read_at) + timedelta(days=days)).date().isoformat()
    yield Finding(
        "pool-full",
        template,
        {"pool": pool.name, "percent": str(percent), "free": size_text(free), "day": day},
        level,
        _(
            "OpenZFS writes everything to free space. The less there is, the slower writes get; a full pool accepts "
            "none, and then even deleting can fail. `zfs list -o space -r {pool}` shows what uses the space."
        ),
        measure=percent,
    )


def _special_full(pool: Pool, host: Host) -> Iterator[Finding]:
    told = host.parameters.zfs_special_class_metadata_reserve_pct
    mark = 100 - (SPECIAL_RESERVE_PERCENT if told is None else told)
    percent = percent_of(pool.special_allocated_bytes, pool.special_size_bytes)
    if percent >= SPECIAL_FULL_PERCENT:
        yield Finding(
            "special-full",
            _(
                "The special vdevs of pool {pool} are {percent} % full. Soon new metadata goes to the data vdevs and "
                "is slow. Add a special vdev as redundant as the existing ones."
            ),
            {"pool": pool.name, "percent": str(percent)},
            Level.WARNING,
            _("Nothing is lost. Blocks that are on the data vdevs by then stay there until they are rewritten."),
            measure=percent,
        )
    elif percent >= mark - BEFORE_RESERVE_POINTS:
        yield Finding(
            "special-near-reserve",
            _(
                "The special vdevs of pool {pool} are {percent} % full. From {mark} % on, they take only metadata, "
                "and small file blocks go to the data vdevs."
            ),
            {"pool": pool.name, "percent": str(percent), "mark": str(mark)},
            Level.INFO,
            _(
                "OpenZFS keeps the rest for metadata (zfs_special_class_metadata_reserve_pct). Lower "
                "special_small_blocks on the largest datasets, or add a special vdev as redundant as the existing "
                "ones."
            ),
            measure=percent,
        )


def _spares_and_trim(pool: Pool) -> Iterator[Finding]:
    disks = sum(len(tuple(top.leaves())) for top in (*pool.data, *pool.specials, *pool.dedups) if top.parity)
    if disks >= SPARE_FROM_DISKS and not pool.spares:
        yield Finding(
            "no-spare",
            _(
                "Pool {pool} has {count} disks and no spare. If one fails, its data stays at risk until someone "
                "replaces the disk."
            ),
            {"pool": pool.name, "count": str(disks)},
            Level.INFO,
            _(
                "A spare takes over automatically (zed must be running), even at night. If you always have a new disk "
                "at hand, you do not need one."
            ),
            measure=disks,
        )
    if pool.trimmed is False:
        yield Finding(
            "never-trimmed",
            _(
                "The SSDs of pool {pool} were never trimmed, which wears and slows them. Run `zpool trim {pool}`, and "
                "schedule a monthly trim."
            ),
            {"pool": pool.name},
            Level.INFO,
            _(
                "An SSD keeps moving blocks that it does not know to be free. `zpool set autotrim=on {pool}` trims "
                "continuously, at some cost; some controllers do not pass TRIM on."
            ),
        )
