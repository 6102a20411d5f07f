"""Refusals about pools as a whole."""
# ruff: noqa: N802

from typing import Final

from nasadvisor.domain.change.advice import WaitingDataset, after_checkpoint
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.storage.logs import OFFLINE, TAKES_IO, all_that_ails, is_dead, is_failing

NAMED_AT_MOST: Final = 3


def NoPool(guid: str) -> Refused:
    """Pools are identified by their guid, which stays the same when a pool is renamed, and not by their name."""
    return Refused(
        "pool-gone",
        _(
            "No imported pool has the guid {guid}. The pool may have been exported or destroyed; read the host again "
            "and create a new plan."
        ),
        {"guid": guid},
    )


def PoolRenamed(pool: Pool, planned: str) -> Refused:
    """A pool is renamed when it is imported under another name. The commands of a plan name the pool, so a plan for the
    old name would fail, or affect another pool that now has that name.
    """
    return Refused(
        "pool-renamed",
        _("The plan is for pool {planned}, but the pool with that guid is now called {name}. Create a new plan."),
        {"planned": planned, "name": pool.name},
    )


def PoolNotOnline(pool: Pool) -> Refused:
    """A pool that is degraded or worse already lacks a device, and changing others can make that worse. The one
    exception is a log: if a failed log, or the failed side of a mirrored log, is the pool's only fault, it can be
    replaced or removed.
    """
    log = all_that_ails(pool)
    sides = tuple(log.leaves()) if log else ()
    offline = [side.guid for side in sides if side.state == OFFLINE]
    broken = [side.guid for side in sides if side.state not in ("ONLINE", OFFLINE)]
    guids = offline or broken[:1]
    if log is None:
        template = _(
            "Pool {pool} is {state}, not ONLINE. Repair it first; `zpool status {pool}` shows the fault. Nothing is "
            "changed on a pool that already has problems."
        )
    elif is_dead(log):
        guids = [log.guid]
        template = _(
            "Pool {pool} is {state} because its log has failed: {devices}. Nothing else is wrong with it. Replace or "
            "remove the log; the manual command is `zpool remove {pool} {guids}`. Nothing was changed."
        )
    elif is_failing(log):
        guids = [side.guid for side in sides if side.state in TAKES_IO]
        template = _(
            "Pool {pool} is {state} because its log has errors but still accepts writes: {devices}. Take it out of "
            "use with `zpool offline -f {pool} {guids}`; then you can replace or remove it. Nothing was changed."
        )
    elif offline:
        template = _(
            "Pool {pool} is {state} because someone took its log, or a side of it, offline: {devices}. Bring it back "
            "online with `zpool online {pool} {guids}`, then try again. Nothing was changed."
        )
    else:
        template = _(
            "Pool {pool} is {state} because a side of its log has failed: {devices}. Replace that side, or remove it "
            "with `zpool detach {pool} {guids}`, then try again. Nothing was changed."
        )
    values = {"pool": pool.name, "state": pool.state}
    if log:
        bad = [f"{side.path or side.name} {side.state}" for side in sides if side.state != "ONLINE"]
        values |= {"devices": ", ".join(bad), "guids": " ".join(guids)}
    return after_checkpoint(Refused("pool-not-online", template, values), pool)


def PoolUnreadable(pool: Pool) -> Refused:
    """The OpenZFS output about this pool has an unexpected form, or a part of it is missing. Other pools of the host
    are not affected. An unknown state of a pool is never treated as healthy.
    """
    return Refused(
        "pool-unreadable",
        _(
            "The OpenZFS output about pool {pool} could not be interpreted ({problem}), so the pool is not changed. "
            "`zpool status {pool}` shows the pool. Read the host again; if the problem persists, please report it."
        ),
        {"pool": pool.name, "problem": pool.problem},
    )


def PoolSuspended(pool: Pool) -> Refused:
    """OpenZFS suspends a pool whose disks do not accept its writes. Every command that changes the pool would wait,
    perhaps indefinitely. Acknowledged writes are not lost while the host is running.
    """
    return Refused(
        "pool-suspended",
        _("Pool {pool} is suspended: its disks do not respond. Repair it and run `zpool clear {pool}` first."),
        {"pool": pool.name},
    )


def PoolReadOnly(pool: Pool) -> Refused:
    """Adding a device writes to every disk of the pool, which an import with `-o readonly=on` forbids."""
    return Refused(
        "pool-read-only",
        _("Pool {pool} is imported read-only. First export it and import it writable."),
        {"pool": pool.name},
    )


def PoolHasCheckpoint(pool: Pool) -> Refused:
    """A checkpoint preserves a pool as it was, including its layout, so that the pool can return to that state. Until
    it is discarded, no device can be removed, so adding a device now could not be undone.
    """
    return Refused(
        "pool-checkpoint",
        _(
            "Pool {pool} has a checkpoint ({size}). While it exists, OpenZFS can add a device but not remove it, so "
            "nothing could be undone. First discard the checkpoint with `zpool checkpoint -d {pool}`."
        ),
        {"pool": pool.name, "size": pool.checkpoint},
    )


def PoolResilvers(pool: Pool) -> Refused:
    """A resilver copies missing data to a device; until it is done, the pool has less protection. Restarting it extends
    that time.
    """
    return Refused(
        "pool-resilvers",
        _(
            "Pool {pool} is resilvering. Attaching a side to its log restarts the resilver of the whole pool, so wait "
            "until it is done; `zpool status {pool}` shows its progress."
        ),
        {"pool": pool.name},
    )


def FeatureMissing(pool: Pool) -> Refused:
    """Pools created by older systems can lack features that newer systems take for granted. A feature that is in use
    can no longer be disabled, so enabling one is left to you.
    """
    template = _(
        "Pool {pool} lacks the feature allocation_classes, which a log device needs on this OpenZFS. `zpool set "
        "feature@allocation_classes=enabled {pool}` enables only this feature; after that, older OpenZFS may be "
        "unable to import the pool for writing."
    )
    values = {"pool": pool.name}
    if pool.compatibility:
        # set_callback() in cmd/zpool/zpool_main.c refuses to enable a feature that the sets lack.
        template = _(
            "Pool {pool} lacks the feature allocation_classes, which a log device needs on this OpenZFS. Its property "
            "compatibility={sets} limits which features can be enabled, so that another system or a boot loader "
            "(GRUB) can still import it. Only if no other system has to import it: `zpool set compatibility=off "
            "{pool}`, then `zpool set feature@allocation_classes=enabled {pool}`."
        )
        values["sets"] = pool.compatibility
    return Refused("feature-missing", template, values)


def AshiftUnknown(pool: Pool) -> Refused:
    """The ashift is the unit in which a pool device is written. It is set when the device is added, so it is always
    specified, as that of the existing vdevs; otherwise OpenZFS would rely on the values that the new SSD reports.
    """
    return Refused(
        "ashift-unknown",
        _(
            "The sector size (ashift) of pool {pool} could not be read, at least for one of its data vdevs. A device "
            "added with the wrong ashift cannot be corrected, so nothing is added. `zpool get ashift {pool} "
            "all-vdevs` shows the values that OpenZFS knows."
        ),
        {"pool": pool.name},
    )


def WrongAshift(pool: Pool, ashift: int) -> Refused:
    """A plan gives new devices the ashift of the existing vdevs. Another vdev has been added since the plan was
    created, or the plan was edited.
    """
    return Refused(
        "wrong-ashift",
        _("The plan specifies ashift {planned}, but pool {pool} has ashift {actual}. Create a new plan."),
        {"pool": pool.name, "planned": str(ashift), "actual": str(pool.ashift)},
    )


def KnownBug(pool: Pool, version: str, why: Statement) -> Refused:
    """Some OpenZFS releases have bugs that make exactly this operation dangerous. A table lists the affected releases
    and those with the fix; with the fix, the operation is allowed again.
    """
    return Refused(
        "known-bug",
        _("OpenZFS {version} has a known bug that affects this operation on pool {pool}: {why}"),
        {"pool": pool.name, "version": version, "why": why},
    )


def LogHoldsLocked(pool: Pool, waiting: tuple[WaitingDataset, ...]) -> Refused:
    """Before OpenZFS removes a log, it writes the remaining contents to the pool, and for an encrypted dataset it needs
    the key for that. Such writes stay in the log if, for example, the key has not been loaded since the last crash.
    """
    return Refused(
        "log-holds-locked",
        _(
            "The log of pool {pool} may hold writes of datasets whose keys are not loaded: {datasets}. OpenZFS cannot "
            "write them to the pool, and would refuse to remove the log. Nothing was changed. Run {commands}, then "
            "try again."
        ),
        _values_of(pool, waiting),
    )


def LogHoldsWrites(pool: Pool, waiting: tuple[WaitingDataset, ...]) -> Refused:
    """After a crash, the log holds the last writes of each dataset. OpenZFS writes those of a filesystem to the pool
    when it is mounted, and those of a volume when its device appears; until then, it removes no log. Filesystems with
    canmount=noauto, such as older boot environments, and volumes with volmode=none wait indefinitely. This does not
    require encryption, although zpool reports "Mount encrypted datasets to replay logs".
    """
    return Refused(
        "log-holds-writes",
        _(
            "The log of pool {pool} holds writes of datasets that have not been mounted since the import: {datasets}. "
            "OpenZFS would refuse to remove the log. Nothing was changed. Run {commands} to write them to the pool, "
            "then try again."
        ),
        _values_of(pool, waiting),
    )


def _values_of(pool: Pool, waiting: tuple[WaitingDataset, ...]) -> dict[str, str]:
    """The first few datasets, and what to run for them."""
    named = waiting[:NAMED_AT_MOST]
    commands = dict.fromkeys(command for each in named for command in each.commands)
    more = " …" if len(waiting) > NAMED_AT_MOST else ""
    return {
        "pool": pool.name,
        "datasets": ", ".join(each.name for each in named) + more,
        "commands": ", ".join(f"`{command}`" for command in commands) + more,
    }


def PoolAway(name: str, guid: str) -> Refused:
    """A log can hold acknowledged writes that exist nowhere else; the next import writes them to the pool. Deleting its
    slices before that would lose them.
    """
    return Refused(
        "pool-away",
        _(
            "Pool {pool} (guid {guid}) is not imported, and its slices may hold writes that exist nowhere else. "
            "Nothing was changed. Import it with `zpool import {guid}`, with a new name after the guid if another "
            "pool now has its name; then try again."
        ),
        {"pool": name, "guid": guid},
    )
