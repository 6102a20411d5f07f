"""What happens if a device of a plan dies, word for word what OpenZFS does.

The sources are named at each sentence; `zil.c`, `vdev.c` and `spa.c` are those of OpenZFS 2.2 to 2.4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.change.actions import AddCache, AddLog, AttachLog
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev

SINGLE_LOG_DIES: Final = _(
    "If it dies while the machine runs, nothing acknowledged is lost: memory still holds it, and waiting writes are "
    "acknowledged with the next transaction group. Later log blocks go to the pool itself. Pool {pool} shows as "
    "DEGRADED and keeps working; synchronous writes are slower. A device that hangs instead of failing stalls the "
    "programs that write synchronously."
)
"""zil_commit_impl() in module/zfs/zil.c falls back to txg_wait_synced(); vdev_propagate_state() in module/zfs/vdev.c
counts a lost log as degraded, not faulted."""

SINGLE_LOG_DIES_AND_CRASH: Final = _(
    "If the machine crashes or loses power and it is dead from then on, the import of pool {pool} is refused until "
    "somebody runs `zpool import -m {pool}`. The pool is then consistent, but the synchronous writes "
    "acknowledged since its last transaction group are gone: normally up to 5 s, longer if the pool was slow. A "
    "database, a virtual machine or an NFS client was told that they were saved. After a clean shutdown nothing is "
    "lost."
)
"""zpool-import(8) -m; zfs_txg_timeout in zfs(4); openzfs-docs issue 281."""

LOG_LEG_DIES: Final = _(
    "If it dies, the other side of the mirrored log carries on: nothing is lost, and pool {pool} shows as DEGRADED "
    "until the side is replaced. Acknowledged writes are lost only if both sides are dead and the machine crashes."
)

CACHE_DIES: Final = _(
    "If it dies or returns bad data, nothing is lost: every block of the cache is verified by its checksum and read "
    "from pool {pool} instead. Reads are slower until the cache is replaced."
)
"""zpoolconcepts(7), "Cache Devices"."""

OTHER_LOG_STRIPED: Final = _(
    "Pool {pool} has another log beside this one, and log blocks are spread over both. A second log does not stand "
    "in for the first: each must survive a crash by itself."
)


@dataclass(frozen=True)
class DeviceLoss:
    """What happens if one device dies. `device` is what people call it, `path` its persistent name."""

    device: str
    path: str
    findings: tuple[Finding, ...]


def losses_of(plan: Plan, inventory: Inventory) -> tuple[DeviceLoss, ...]:
    """One entry for each device that the plan touches, the partner of a newly mirrored log included."""
    pool = inventory.pool(plan.request.pool_guid)
    losses = [_loss_of_disk(plan, inventory, key) for key in plan.request.disks]
    if pool and plan.request.attach_to:
        losses.extend(_losses_of_partners(plan, inventory, pool))
    return tuple(losses)


def _loss_of_disk(plan: Plan, inventory: Inventory, key: str) -> DeviceLoss:
    disk = inventory.disk(key)
    label, path = (disk.label, disk.path) if disk else (key, "")
    return DeviceLoss(label, path, tuple(_findings_for(plan, inventory, key)))


def _findings_for(plan: Plan, inventory: Inventory, key: str) -> Iterator[Finding]:
    """Its log first, then its cache."""
    for action in plan.actions:
        match action:
            case AddLog(legs=legs) if any(leg.disk_key == key for leg in legs):
                yield from _log_findings(action, inventory.pool(action.pool_guid))
            case AttachLog(leg=leg) if leg.disk_key == key:
                yield _leg_dies(plan.pool_name)
            case AddCache(slices=pieces) if any(piece.disk_key == key for piece in pieces):
                yield Finding(
                    "cache-dies",
                    CACHE_DIES,
                    {"pool": plan.pool_name},
                    Level.INFO,
                    explanation=_("A cache holds nothing but copies, so it needs no mirror and its loss no hurry."),
                )
            case _:
                pass


def _log_findings(action: AddLog, pool: Pool | None) -> Iterator[Finding]:
    values = {"pool": action.pool_name}
    if action.is_mirror:
        yield _leg_dies(action.pool_name)
    else:
        yield Finding(
            "single-log-dies",
            SINGLE_LOG_DIES,
            values,
            Level.WARNING,
            explanation=_(
                "Nothing is lost as long as the machine runs: what is in the log is in memory "
                "too, and goes to the pool with the next transaction group."
            ),
        )
        yield Finding(
            "single-log-dies-and-crash",
            SINGLE_LOG_DIES_AND_CRASH,
            values,
            Level.CRITICAL,
            explanation=_("A mirror ends this risk but for the case that both of its SSDs die."),
        )
    if pool and pool.logs:
        yield Finding(
            "other-log-striped",
            OTHER_LOG_STRIPED,
            values,
            Level.WARNING,
            explanation=_("Make each of them a mirror, or take one out."),
        )


def _leg_dies(pool_name: str) -> Finding:
    return Finding(
        "log-leg-dies",
        LOG_LEG_DIES,
        {"pool": pool_name},
        Level.INFO,
        explanation=_("Replace it soon: until then the log is as a single one."),
    )


def _losses_of_partners(plan: Plan, inventory: Inventory, pool: Pool) -> Iterator[DeviceLoss]:
    """The legs that are in the log already: from now on they are sides of a mirror."""
    for top in pool.logs:
        leaves = tuple(top.leaves())
        if any(leaf.guid == plan.request.attach_to for leaf in leaves):
            stay = (leaf for leaf in leaves if leaf.guid != plan.request.replaces)
            yield from (_loss_of_partner(leaf, inventory, pool) for leaf in stay)


def _loss_of_partner(leaf: Vdev, inventory: Inventory, pool: Pool) -> DeviceLoss:
    found = inventory.partition_at(leaf.path)
    disk = found[0] if found else inventory.disk_at(leaf.path)
    return DeviceLoss(disk.label if disk else leaf.name, leaf.path, (_leg_dies(pool.name),))
