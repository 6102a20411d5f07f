"""Refusals about pools as a whole."""
# ruff: noqa: N802

from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool


def NoPool(guid: str) -> Refused:
    return Refused(
        "pool-gone",
        _(
            "There is no imported pool with the guid {guid}. It may have been exported or destroyed; read the host again and make a new plan."
        ),
        {"guid": guid},
    )


def PoolRenamed(pool: Pool, planned: str) -> Refused:
    return Refused(
        "pool-renamed",
        _("The plan is for pool {planned}, but the pool with that guid is now called {name}. Make a new plan."),
        {"planned": planned, "name": pool.name},
    )


def PoolNotOnline(pool: Pool) -> Refused:
    return Refused(
        "pool-not-online",
        _(
            "Pool {pool} is {state}, not ONLINE. Repair it first; `zpool status {pool}` shows what is wrong. Nothing is changed on a pool that is already in trouble."
        ),
        {"pool": pool.name, "state": pool.state},
    )


def PoolSuspended(pool: Pool) -> Refused:
    return Refused(
        "pool-suspended",
        _("Pool {pool} is suspended: its disks do not answer. Repair it and run `zpool clear {pool}` first."),
        {"pool": pool.name},
    )


def PoolReadOnly(pool: Pool) -> Refused:
    return Refused(
        "pool-read-only",
        _("Pool {pool} is imported read-only. Export it and import it writable first."),
        {"pool": pool.name},
    )


def PoolHasCheckpoint(pool: Pool) -> Refused:
    return Refused(
        "pool-checkpoint",
        _(
            "Pool {pool} has a checkpoint ({size}). While it exists, OpenZFS can add a device but not remove it, so nothing could be undone. Discard it with `zpool checkpoint -d {pool}` first."
        ),
        {"pool": pool.name, "size": pool.checkpoint},
    )


def PoolResilvers(pool: Pool) -> Refused:
    return Refused(
        "pool-resilvers",
        _(
            "Pool {pool} is resilvering. Attaching a side to its log starts the resilver of the whole pool again, so wait until it is done; `zpool status {pool}` shows when."
        ),
        {"pool": pool.name},
    )


def FeatureMissing(pool: Pool) -> Refused:
    return Refused(
        "feature-missing",
        _(
            "Pool {pool} lacks the feature allocation_classes, which a log device needs on this OpenZFS. `zpool set feature@allocation_classes=enabled {pool}` enables it and no other; older OpenZFS may not import the pool for writing after that."
        ),
        {"pool": pool.name},
    )


def AshiftUnknown(pool: Pool) -> Refused:
    return Refused(
        "ashift-unknown",
        _(
            "The sector size (ashift) of pool {pool} could not be read, at least for one of its data vdevs. A device added with the wrong one cannot be put right, so nothing is added. `zpool get ashift {pool} all-vdevs` shows what OpenZFS knows."
        ),
        {"pool": pool.name},
    )


def WrongAshift(pool: Pool, ashift: int) -> Refused:
    return Refused(
        "wrong-ashift",
        _("The plan says ashift {planned} and pool {pool} has ashift {actual}. Make a new plan."),
        {"pool": pool.name, "planned": str(ashift), "actual": str(pool.ashift)},
    )


def KnownBug(pool: Pool, version: str, why: Statement) -> Refused:
    return Refused(
        "known-bug",
        _("OpenZFS {version} has a known bug for this operation on pool {pool}: {why}"),
        {"pool": pool.name, "version": version, "why": why},
    )


def LogHoldsLocked(pool: Pool, count: int, dataset: str) -> Refused:
    return Refused(
        "log-holds-locked",
        _(
            "The log of pool {pool} may hold writes of {count} dataset(s) whose keys are not loaded ({dataset}), so OpenZFS could not write them out and would refuse to remove the log. Nothing was changed. Load the key with `zfs load-key {dataset}` and mount the dataset with `zfs mount {dataset}`, then try again."
        ),
        {"pool": pool.name, "count": str(count), "dataset": dataset},
    )


def PoolAway(name: str, guid: str) -> Refused:
    return Refused(
        "pool-away",
        _(
            "Pool {pool} (guid {guid}) is not imported, and its slices may hold writes that are nowhere else. Nothing was changed. Import it with `zpool import {pool}` and try again."
        ),
        {"pool": name, "guid": guid},
    )
