"""What is worth knowing about the logs and caches of a pool."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from nasadvisor.domain.change.advice import after_checkpoint
from nasadvisor.domain.health.pool_findings import GOOD_STATES, name_of, named
from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Pool, Vdev
from nasadvisor.domain.storage.logs import OFFLINE, TAKES_IO, is_dead, is_failing, was_missing_at_import

CACHE_OUT_OF_SERVICE: Final = "cache-out-of-service"
"""The code of what is said of a cache that is offline."""

_KERNEL_PATH: Final = re.compile(r"/dev/(sd[a-z]+\d*|vd[a-z]+\d*|xvd[a-z]+\d*|nvme\d+n\d+(p\d+)?|mmcblk\d+(p\d+)?)")


def log_cache_findings(pool: Pool, inventory: Inventory) -> Iterator[Finding]:
    """Logs first, then caches."""
    yield from (after_checkpoint(finding, pool) for finding in _findings(pool, inventory))


def _findings(pool: Pool, inventory: Inventory) -> Iterator[Finding]:
    for log in pool.logs:
        yield from (replace(each, subject=log.guid, place=pool.guid) for each in _about_log(pool, log, inventory))
    single = [log for log in pool.logs if not log.children and log.state in GOOD_STATES]
    if single:
        yield _log_single(pool, single, inventory)
    yield from _about_caches(pool, inventory)
    yield from _unstable_paths(pool)


def _about_log(pool: Pool, log: Vdev, inventory: Inventory) -> Iterator[Finding]:
    sides = list(log.leaves())
    good = [side for side in sides if side.state in GOOD_STATES]
    offline = [side for side in sides if side.state == OFFLINE]
    broken = [side for side in sides if side not in good and side not in offline]
    if is_dead(log):
        yield _dead_log(pool, log, named(broken, inventory))
        return
    if is_failing(log):
        yield _log_failing(pool, log, [side for side in broken if side.state in TAKES_IO], inventory)
    elif broken and good:
        yield _log_one_side(pool, good, broken, inventory)
    if offline:
        yield _log_out_of_service(pool, log, offline, good, inventory)


def _dead_log(pool: Pool, log: Vdev, devices: str) -> Finding:
    values = {"pool": pool.name, "devices": devices, "guid": log.guid}
    if was_missing_at_import(log):
        return Finding(
            "log-lost",
            _(
                "Pool {pool} was imported without its log: {devices}. If the host crashed before the import, "
                "synchronous writes of its last seconds are lost. Check databases and virtual machines, then replace "
                "the log, or remove it with `zpool remove {pool} {guid}`."
            ),
            values,
            Level.CRITICAL,
            _(
                "The pool is consistent as of its last transaction group, normally up to 5 s before the crash. Later "
                "acknowledged writes were only in the log, and `zpool import -m` discards them. After a clean "
                "shutdown, nothing is lost. Nothing is lost either if the log failed later and was cleared with "
                "`zpool clear`, or was taken out of use with `zpool offline -f` before a restart; both look the same."
            ),
            step=NextStep.REPLACE_DEAD_LOG,
        )
    return Finding(
        "log-missing",
        _(
            "The log of pool {pool} has failed: {devices}. The pool continues, and no acknowledged data is lost. "
            "Replace the log, or remove it with `zpool remove {pool} {guid}`."
        ),
        values,
        Level.CRITICAL,
        _(
            "Log blocks now go to the pool's own disks, so synchronous writes are slower. While the failed log is in "
            "the pool, the next import can be refused without `zpool import -m {pool}`."
        ),
        step=NextStep.REPLACE_DEAD_LOG,
    )


def _log_failing(pool: Pool, log: Vdev, failing: list[Vdev], inventory: Inventory) -> Finding:
    return Finding(
        "log-failing",
        _(
            "The log of pool {pool} has errors and still takes writes: {devices}. Take it out of use with `zpool "
            "offline -f {pool} {guids}`, then replace or remove it."
        ),
        {
            "pool": pool.name,
            "devices": named(failing, inventory),
            "guids": " ".join(side.guid for side in failing),
            "guid": log.guid,
        },
        Level.CRITICAL,
        _(
            "`zpool remove` of a log with I/O errors can hang permanently and block every other zpool command until a "
            "hard reboot (OpenZFS issue 18894). Once the log is FAULTED, nothing waits for it: synchronous writes go "
            "to the pool's own disks, more slowly, and nothing is lost while the host is running."
        ),
        measure=len(failing),
        step=NextStep.LOOK_AT_POOL,
    )


def _log_out_of_service(pool: Pool, log: Vdev, offline: list[Vdev], good: list[Vdev], inventory: Inventory) -> Finding:
    template = (
        _(
            "A side of the log of pool {pool} was taken out of service deliberately: {devices}. Put it back with "
            "`zpool online {pool} {guids}`."
        )
        if good
        else _(
            "The log of pool {pool} was taken out of service deliberately: {devices}. The pool continues, with slower "
            "synchronous writes. Put it back with `zpool online {pool} {guids}`."
        )
    )
    return Finding(
        "log-out-of-service",
        template,
        {
            "pool": pool.name,
            "devices": named(offline, inventory),
            "guids": " ".join(side.guid for side in offline),
            "guid": log.guid,
        },
        Level.WARNING,
        _(
            "Nothing is lost, even after a restart or import. While it is offline, the pool is DEGRADED and no device "
            "can be added. To remove the whole log permanently, run `zpool remove {pool} {guid}`."
        ),
        measure=len(offline),
        step=NextStep.LOOK_AT_POOL,
    )


def _log_one_side(pool: Pool, good: list[Vdev], bad: list[Vdev], inventory: Inventory) -> Finding:
    return Finding(
        "log-one-side",
        _(
            "The mirrored log of pool {pool} runs on {good} alone: {devices}. Replace the failed side with a slice on "
            "another SSD, or remove it without a replacement: `zpool detach {pool} {guid}`."
        ),
        {
            "pool": pool.name,
            "good": ", ".join(name_of(side, inventory) for side in good),
            "devices": named(bad, inventory),
            "guid": bad[0].guid,
        },
        Level.WARNING,
        _(
            "Nothing is lost. If the other side also fails and the host crashes at the same moment, the synchronous "
            "writes of the last transaction group (normally up to 5 s) are lost."
        ),
        measure=len(bad),
        step=NextStep.REPLACE_LOG_SIDE,
    )


def _log_single(pool: Pool, logs: list[Vdev], inventory: Inventory) -> Finding:
    values = {"pool": pool.name, "device": ", ".join(name_of(log, inventory) for log in logs)}
    template = _("The log of pool {pool} is a single device without a mirror: {device}.")
    if len(logs) > 1:
        values["count"] = str(len(logs))
        template = _(
            "The logs of pool {pool} are {count} devices without mirrors, and log blocks are spread over all of them: "
            "{device}. Each one must survive a crash."
        )
    return Finding(
        "log-single",
        template,
        values,
        Level.INFO,
        _(
            "If one fails and the host crashes at the same moment, the synchronous writes of the last transaction "
            "group (normally up to 5 s) are lost. The pool itself survives. A second side removes that risk."
        ),
        subject=logs[0].guid,
        step=NextStep.MIRROR_LOG,
        place=pool.guid,
    )


def _about_caches(pool: Pool, inventory: Inventory) -> Iterator[Finding]:
    bad = [leaf for cache in pool.caches for leaf in cache.leaves() if leaf.state not in GOOD_STATES]
    gone = [leaf for leaf in bad if leaf.state != OFFLINE]
    if gone:
        yield Finding(
            "cache-missing",
            _(
                "A cache of pool {pool} has failed or is gone: {devices}. Nothing is lost, but reads are slower. "
                "Remove it with `zpool remove {pool} {guid}` and add a new one."
            ),
            {"pool": pool.name, "devices": named(gone, inventory), "guid": gone[0].guid},
            Level.WARNING,
            _("A cache holds only copies; all its blocks are read from the pool instead."),
            subject=pool.guid,
            measure=len(gone),
            step=NextStep.ADD_LOG_OR_CACHE,
            place=pool.guid,
        )
    # `zpool status -x` names every pool with a device that is offline, caches too (find_vdev_problem() in
    # lib/libzfs/libzfs_status.c); the state of the pool comes from its other vdevs alone.
    for cache in bad:
        if cache.state == OFFLINE:
            yield Finding(
                CACHE_OUT_OF_SERVICE,
                _(
                    "The cache {device} of pool {pool} was taken out of service deliberately. In a randomised cache "
                    "test, it returns automatically. Otherwise undo the run that took it out, or, if that was done "
                    "manually, put it back with `zpool online {pool} {guid}`."
                ),
                {"pool": pool.name, "device": name_of(cache, inventory), "guid": cache.guid},
                Level.INFO,
                _(
                    "It is neither read nor written, even after a restart or import, and nothing is lost. The pool "
                    "stays ONLINE, although `zpool status -x` lists it. The device is not in use during this time: "
                    "put nothing else on it."
                ),
                subject=cache.guid,
                step=NextStep.LOOK_AT_POOL,
                place=pool.guid,
            )


def _unstable_paths(pool: Pool) -> Iterator[Finding]:
    for leaf in (leaf for top in (*pool.logs, *pool.caches) for leaf in top.leaves()):
        if _KERNEL_PATH.fullmatch(leaf.path):
            yield Finding(
                "unstable-path",
                _("Pool {pool} refers to its log or cache device {path} by a name that can change at the next boot."),
                {"pool": pool.name, "path": leaf.path},
                Level.WARNING,
                _(
                    "Kernel names follow the order in which disks are found. If another disk gets this name, the "
                    "import can fail because the log is missing. Remove the device and add it again by its "
                    "/dev/disk/by-id name."
                ),
                subject=leaf.guid,
                step=NextStep.LOOK_AT_POOL,
                place=pool.guid,
            )
