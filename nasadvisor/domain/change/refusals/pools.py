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
    """Pools are known by their guid, which never changes, and not by their name."""
    return Refused(
        "pool-gone",
        _(
            "There is no imported pool with the guid {guid}. It may have been exported or destroyed; read the host again and make a new plan."
        ),
        {"guid": guid},
    )


def PoolRenamed(pool: Pool, planned: str) -> Refused:
    """A pool gets another name when it is imported under one. The commands of a plan name the pool, so a plan for
    the old name would fail, or meet another pool that has it now.
    """
    return Refused(
        "pool-renamed",
        _("The plan is for pool {planned}, but the pool with that guid is now called {name}. Make a new plan."),
        {"planned": planned, "name": pool.name},
    )


def PoolNotOnline(pool: Pool) -> Refused:
    """A pool that is degraded or worse lacks a device already, and changing others can make that worse. The one
    exception is a log: where a dead log, or the broken side of a mirrored one, is the pool's only fault, it can be
    replaced or taken out.
    """
    log = all_that_ails(pool)
    sides = tuple(log.leaves()) if log else ()
    offline = [side.guid for side in sides if side.state == OFFLINE]
    broken = [side.guid for side in sides if side.state not in ("ONLINE", OFFLINE)]
    guids = offline or broken[:1]
    if log is None:
        template = _(
            "Pool {pool} is {state}, not ONLINE. Repair it first; `zpool status {pool}` shows what is wrong. Nothing is changed on a pool that is already in trouble."
        )
    elif is_dead(log):
        guids = [log.guid]
        template = _(
            "Pool {pool} is {state} because its log is dead: {devices}. Nothing else is wrong with it. Replace the log, or take it out; by hand `zpool remove {pool} {guids}` does that. Nothing was changed."
        )
    elif is_failing(log):
        guids = [side.guid for side in sides if side.state in TAKES_IO]
        template = _(
            "Pool {pool} is {state} because its log has errors and still takes writes: {devices}. Take it out of use with `zpool offline -f {pool} {guids}`; then it can be replaced or taken out. Nothing was changed."
        )
    elif offline:
        template = _(
            "Pool {pool} is {state} because somebody took its log or a side of it offline: {devices}. Put it back with `zpool online {pool} {guids}`, then try again. Nothing was changed."
        )
    else:
        template = _(
            "Pool {pool} is {state} because a side of its log is broken: {devices}. Replace that side, or take it out with `zpool detach {pool} {guids}`, then try again. Nothing was changed."
        )
    values = {"pool": pool.name, "state": pool.state}
    if log:
        bad = [f"{side.path or side.name} {side.state}" for side in sides if side.state != "ONLINE"]
        values |= {"devices": ", ".join(bad), "guids": " ".join(guids)}
    return after_checkpoint(Refused("pool-not-online", template, values), pool)


def PoolUnreadable(pool: Pool) -> Refused:
    """What OpenZFS told of this pool has not the form that it has elsewhere, or a part of it is missing. Other pools of
    the host are not held up by that. What is not known of a pool is never taken for well.
    """
    return Refused(
        "pool-unreadable",
        _(
            "What OpenZFS tells of pool {pool} could not be understood ({problem}), so nothing is changed on it. `zpool status {pool}` shows the pool. Read the host again; if it stays so, please report it."
        ),
        {"pool": pool.name, "problem": pool.problem},
    )


def PoolSuspended(pool: Pool) -> Refused:
    """OpenZFS stops a pool whose disks do not take what it must write. Every command that changes it would wait,
    perhaps indefinitely. What was acknowledged is not lost as long as the machine runs.
    """
    return Refused(
        "pool-suspended",
        _("Pool {pool} is suspended: its disks do not answer. Repair it and run `zpool clear {pool}` first."),
        {"pool": pool.name},
    )


def PoolReadOnly(pool: Pool) -> Refused:
    """Adding a device writes to every disk of the pool, which an import with `-o readonly=on` forbids."""
    return Refused(
        "pool-read-only",
        _("Pool {pool} is imported read-only. Export it and import it writable first."),
        {"pool": pool.name},
    )


def PoolHasCheckpoint(pool: Pool) -> Refused:
    """A checkpoint keeps the whole of a pool as it was, layout included, so that it can go back there. Until it is
    discarded no device can be removed, so whatever is added now could not be taken back.
    """
    return Refused(
        "pool-checkpoint",
        _(
            "Pool {pool} has a checkpoint ({size}). While it exists, OpenZFS can add a device but not remove it, so nothing could be undone. Discard it with `zpool checkpoint -d {pool}` first."
        ),
        {"pool": pool.name, "size": pool.checkpoint},
    )


def PoolResilvers(pool: Pool) -> Refused:
    """A resilver copies to a device what it lacks, and until it is done the pool has less protection. Starting it
    again makes that time longer.
    """
    return Refused(
        "pool-resilvers",
        _(
            "Pool {pool} is resilvering. Attaching a side to its log starts the resilver of the whole pool again, so wait until it is done; `zpool status {pool}` shows when."
        ),
        {"pool": pool.name},
    )


def FeatureMissing(pool: Pool) -> Refused:
    """Pools that were made by older systems can lack features that newer ones take for granted. A feature that is
    in use can no longer be disabled, so enabling one is left to you.
    """
    template = _(
        "Pool {pool} lacks the feature allocation_classes, which a log device needs on this OpenZFS. `zpool set feature@allocation_classes=enabled {pool}` enables it and no other; older OpenZFS may not import the pool for writing after that."
    )
    values = {"pool": pool.name}
    if pool.compatibility:
        # set_callback() in cmd/zpool/zpool_main.c refuses to enable a feature that the sets lack.
        template = _(
            "Pool {pool} lacks the feature allocation_classes, which a log device needs on this OpenZFS. Its property compatibility={sets} limits which features can be enabled, so that another system or a boot loader (GRUB) can still import it. Only if nothing else has to: `zpool set compatibility=off {pool}`, then `zpool set feature@allocation_classes=enabled {pool}`."
        )
        values["sets"] = pool.compatibility
    return Refused("feature-missing", template, values)


def AshiftUnknown(pool: Pool) -> Refused:
    """The ashift is the unit in which a device of a pool is written. It is settled when the device is added, so it
    is always given along, as that of the vdevs that are there; OpenZFS alone would go by what the new SSD says of
    itself.
    """
    return Refused(
        "ashift-unknown",
        _(
            "The sector size (ashift) of pool {pool} could not be read, at least for one of its data vdevs. A device added with the wrong one cannot be put right, so nothing is added. `zpool get ashift {pool} all-vdevs` shows what OpenZFS knows."
        ),
        {"pool": pool.name},
    )


def WrongAshift(pool: Pool, ashift: int) -> Refused:
    """A plan gives new devices the ashift of the vdevs that are there. Another vdev was added since it was made, or
    the plan was edited.
    """
    return Refused(
        "wrong-ashift",
        _("The plan says ashift {planned} and pool {pool} has ashift {actual}. Make a new plan."),
        {"pool": pool.name, "planned": str(ashift), "actual": str(pool.ashift)},
    )


def KnownBug(pool: Pool, version: str, why: Statement) -> Refused:
    """Some releases of OpenZFS have bugs that make just this operation dangerous. Which release has which is in a
    table, with those in which it is mended; there it is allowed again.
    """
    return Refused(
        "known-bug",
        _("OpenZFS {version} has a known bug for this operation on pool {pool}: {why}"),
        {"pool": pool.name, "version": version, "why": why},
    )


def LogHoldsLocked(pool: Pool, waiting: tuple[WaitingDataset, ...]) -> Refused:
    """Before OpenZFS lets go of a log it writes out what is still in it, and for an encrypted dataset it needs the
    key for that. Such writes stay in the log if the key was not loaded since the last crash, for example.
    """
    return Refused(
        "log-holds-locked",
        _(
            "The log of pool {pool} may hold writes of datasets whose keys are not loaded: {datasets}. OpenZFS cannot write them out, and would refuse to remove the log. Nothing was changed. Run {commands}, then try again."
        ),
        _values_of(pool, waiting),
    )


def LogHoldsWrites(pool: Pool, waiting: tuple[WaitingDataset, ...]) -> Refused:
    """After a crash the log holds the last writes of each dataset. OpenZFS writes those of a filesystem to the pool
    when it is mounted, and those of a volume when its device appears; until then it lets go of no log. Filesystems
    with canmount=noauto, such as older boot environments, and volumes with volmode=none wait indefinitely. Nothing has to
    be encrypted for that, although zpool says "Mount encrypted datasets to replay logs".
    """
    return Refused(
        "log-holds-writes",
        _(
            "The log of pool {pool} holds writes of datasets that were not mounted since the import: {datasets}. OpenZFS would refuse to remove the log. Nothing was changed. Run {commands}, which writes them to the pool, then try again."
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
    """A log can hold writes that were acknowledged and are nowhere else; the next import writes them out. Deleting
    its slices before that would lose them.
    """
    return Refused(
        "pool-away",
        _(
            "Pool {pool} (guid {guid}) is not imported, and its slices may hold writes that are nowhere else. Nothing was changed. Import it with `zpool import {guid}`, and with a new name behind the guid if another pool has its name by now; then try again."
        ),
        {"pool": name, "guid": guid},
    )
