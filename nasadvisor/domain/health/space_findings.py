"""What is worth knowing about the room, the spares and the TRIM of a pool."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from nasadvisor.domain.health.limits import (
    BEFORE_RESERVE_POINTS,
    FORECAST_DAYS,
    POOL_FULL_PERCENT,
    SPARE_FROM_DISKS,
    SPECIAL_FULL_PERCENT,
    SPECIAL_RESERVE_PERCENT,
    level_at,
)
from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Host, Inventory, Pool
from nasadvisor.domain.units import size_text


def space_findings(pool: Pool, inventory: Inventory, growth: float | None) -> Iterator[Finding]:
    """`growth` is how many bytes the pool took up a day lately; None where nobody watched it for long."""
    yield from _pool_full(pool, inventory.read_at, growth)
    yield from _special_full(pool, inventory.host)
    yield from _no_spare(pool)
    if pool.trimmed is False:
        yield _never_trimmed(pool)


def percent_of(part: int, whole: int) -> int:
    """Whole percent, rounded down; 0 of nothing."""
    return part * 100 // whole if whole else 0


def _about(pool: Pool, **values: str) -> dict[str, str]:
    return {"pool": pool.name, **values}


def _pool_full(pool: Pool, read_at: str, growth: float | None) -> Iterator[Finding]:
    percent = percent_of(pool.allocated_bytes, pool.size_bytes)
    level = level_at(percent, POOL_FULL_PERCENT)
    if level is None:
        return
    free = pool.size_bytes - pool.allocated_bytes
    days = free / growth if growth and growth > 0 else None
    template = _(
        "Pool {pool} is {percent} % full; {free} are free. Delete what is not needed, old snapshots first, or add "
        "disks."
    )
    day = ""
    if days is not None and days <= FORECAST_DAYS:
        template = _(
            "Pool {pool} is {percent} % full; {free} are free, at its present growth until {day}. Delete what is not "
            "needed, old snapshots first, or add disks."
        )
        day = (datetime.fromisoformat(read_at) + timedelta(days=days)).date().isoformat()
    yield Finding(
        "pool-full",
        template,
        _about(pool, percent=str(percent), free=size_text(free), day=day),
        level,
        _(
            "OpenZFS writes everything to free space. The less there is, the slower writes get; a full pool takes "
            "none, and then even deleting can fail. `zfs list -o space -r {pool}` shows what holds the space."
        ),
        subject=pool.guid,
        measure=percent,
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
    )


def _special_full(pool: Pool, host: Host) -> Iterator[Finding]:
    told = host.parameters.zfs_special_class_metadata_reserve_pct
    mark = 100 - (SPECIAL_RESERVE_PERCENT if told is None else told)
    percent = percent_of(pool.special_allocated_bytes, pool.special_size_bytes)
    if percent >= SPECIAL_FULL_PERCENT:
        yield Finding(
            "special-full",
            _(
                "The special vdevs of pool {pool} are {percent} % full. Soon new metadata goes to the data vdevs, and "
                "is slow. Add a special vdev as redundant as the present ones."
            ),
            _about(pool, percent=str(percent)),
            Level.WARNING,
            _("Nothing is lost by it. What is on the data vdevs by then stays there until it is rewritten."),
            subject=pool.guid,
            measure=percent,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )
    elif percent >= mark - BEFORE_RESERVE_POINTS:
        yield Finding(
            "special-near-reserve",
            _(
                "The special vdevs of pool {pool} are {percent} % full. From {mark} % on they take metadata only, and "
                "small blocks of files go to the data vdevs."
            ),
            _about(pool, percent=str(percent), mark=str(mark)),
            Level.INFO,
            _(
                "OpenZFS keeps the rest for metadata (zfs_special_class_metadata_reserve_pct). Lower "
                "special_small_blocks on the largest datasets, or add a special vdev as redundant as the present ones."
            ),
            subject=pool.guid,
            measure=percent,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )


def _no_spare(pool: Pool) -> Iterator[Finding]:
    disks = sum(len(tuple(top.leaves())) for top in (*pool.data, *pool.specials, *pool.dedups) if top.parity)
    if disks >= SPARE_FROM_DISKS and not pool.spares:
        yield Finding(
            "no-spare",
            _(
                "Pool {pool} has {count} disks and no spare. When one fails, its data stays at risk until somebody "
                "comes."
            ),
            _about(pool, count=str(disks)),
            Level.INFO,
            _(
                "A spare takes over automatically (zed has to run), in the night too. If a new disk is at "
                "hand here at all times, it is not needed."
            ),
            subject=pool.guid,
            measure=disks,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )


def _never_trimmed(pool: Pool) -> Finding:
    return Finding(
        "never-trimmed",
        _(
            "The SSDs of pool {pool} were never told what is free, which wears and slows them. Run `zpool trim "
            "{pool}`, and have it done every month."
        ),
        _about(pool),
        Level.INFO,
        _(
            "An SSD keeps moving blocks of which it does not know that they are free. `zpool set autotrim=on {pool}` "
            "does it at all times, at some cost; behind some controllers TRIM does not arrive."
        ),
        subject=pool.guid,
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
    )
