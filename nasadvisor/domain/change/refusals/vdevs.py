"""Refusals about log and cache devices that a pool has already."""
# ruff: noqa: N802

from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.change.advice import after_checkpoint
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.domain.storage.logs import OFFLINE


def LogSideGone(pool: Pool, guid: str) -> Refused:
    """The plan identifies the device for the new side by its guid, and the log no longer has a device with that guid.
    It has been removed or replaced since the plan was created.
    """
    return Refused(
        "log-side-gone",
        _("Pool {pool} no longer has a log device with the guid {guid}. Read the host again and create a new plan."),
        {"pool": pool.name, "guid": guid},
    )


def LogSideNotOnline(pool: Pool, side: Vdev) -> Refused:
    """The new side is copied from the existing one, and a device that does not work properly is no reliable source."""
    return Refused(
        "log-side-not-online",
        _("The log device {path} of pool {pool} is {state}. Repair it before you attach a second side."),
        {"pool": pool.name, "path": side.path, "state": side.state},
    )


def LogSideWorks(pool: Pool, side: Vdev) -> Refused:
    """Removing a working side would leave the log without its mirror until another side is attached."""
    return Refused(
        "log-side-works",
        _("The side {path} of the log of pool {pool} is ONLINE, so it is not removed. Only a failed side is replaced."),
        {"pool": pool.name, "path": side.path or side.name},
    )


def LogSideUnknown(pool: Pool, side: Vdev) -> Refused:
    """The partition at the path of a device shows which SSD the device is on. With multipath, device-mapper or a file
    in between, two devices can be on one SSD, and a mirror of them would protect nothing.
    """
    return Refused(
        "log-side-unknown",
        _(
            "The log device {path} of pool {pool} is not a partition of a disk known here, so nothing proves that the "
            "two sides would be on different SSDs. Check that its disk is plugged in, and read the host again. A "
            "second side is not added behind multipath, device-mapper or a file."
        ),
        {"pool": pool.name, "path": side.path},
    )


def LogWorks(pool: Pool, log: Vdev) -> Refused:
    """Only a log that has failed on every side is removed or replaced this way. To remove a working log, undo the run
    that added it.
    """
    return Refused(
        "log-works",
        _(
            "The log {name} of pool {pool} works: it is {state}, so it is not removed as a failed one. Nothing was "
            "changed. To remove a log that NAS Advisor added, undo the run that added it."
        ),
        {"pool": pool.name, "name": log.path or log.name, "state": log.state},
    )


def LogOutOfService(pool: Pool, log: Vdev) -> Refused:
    """Someone took the log offline, which says nothing about its device. Back online, it either works or shows its
    fault.
    """
    offline = [side.guid for side in log.leaves() if side.state == OFFLINE]
    return Refused(
        "log-out-of-service",
        _(
            "The log {name} of pool {pool} has not failed: someone took it, or a side of it, offline. Nothing was "
            "changed. Bring it back online with `zpool online {pool} {guids}`; if it has failed, it then shows that "
            "and can be removed."
        ),
        {"pool": pool.name, "name": log.path or log.name, "guids": " ".join(offline)},
    )


def CacheGone(pool: Pool, guid: str) -> Refused:
    """A cache is taken out of service and put back into service by its guid, and only while it is a cache. It may have
    been removed since.
    """
    return Refused(
        "cache-gone",
        _("Pool {pool} has no cache device with the guid {guid}. Nothing was changed. Read the host again."),
        {"pool": pool.name, "guid": guid},
    )


def CacheNotOnline(pool: Pool, cache: Vdev) -> Refused:
    """A cache that is already out of service was taken out by someone else, who also puts it back; and a failed cache
    does nothing that could be compared with its absence.
    """
    return Refused(
        "cache-not-online",
        _(
            "The cache {path} of pool {pool} is {state}, not ONLINE, so it is not taken out of service. Nothing was changed."
        ),
        {"pool": pool.name, "path": cache.path or cache.name, "state": cache.state},
    )


def CacheStaysOut(pool_name: str) -> Refused:
    """`zpool online` treats autoexpand=on as a request to expand the device, which a cache does not support, and fails
    for that reason alone (zpool_vdev_online() in lib/libzfs/libzfs_pool.c; OpenZFS issue 2677). A cache that is offline
    stays offline until autoexpand is off.
    """
    return Refused(
        "cache-stays-out",
        _(
            "Pool {pool} has autoexpand=on, and with that setting OpenZFS does not put a cache back into service "
            '("cannot expand cache devices"). Nothing was changed. Run `zpool set autoexpand=off {pool}` and try '
            "again; you can set it to on again once the cache is back."
        ),
        {"pool": pool_name},
    )


def CacheOverwritten(pool: Pool, cache: Vdev, kind: str) -> Refused:
    """While a cache is out of service, its device is not protected from other use. OpenZFS takes the device back if one
    of its four labels is intact, and a new filesystem leaves those at the end as they are; the cache would then
    overwrite that filesystem.
    """
    refused = Refused(
        "cache-overwritten",
        _(
            "The cache {path} of pool {pool} now holds something else ({kind}): someone used it while it was out of "
            "service. Back in service, the cache would overwrite that. Nothing was changed. If you need the new data, "
            "remove the cache from the pool with `zpool remove {pool} {guid}`; if not, clear it with `wipefs --all "
            "--types {kind} {path}`. Then try again."
        ),
        {"pool": pool.name, "path": cache.path or cache.name, "guid": cache.guid, "kind": kind},
    )
    return after_checkpoint(refused, pool)


def VdevGone(guid: str, pool_name: str, role: Role) -> Refused:
    """A device is removed only by its guid, and only while it is a log or a cache, so that nothing else is ever removed
    from a pool. No device matches now; it may already have been removed.
    """
    return Refused(
        "vdev-gone",
        _(
            "Pool {pool} has no {role} device with the guid {guid}, or the device now has another class, so nothing "
            "is removed. Read the host again to see its current devices."
        ),
        {"pool": pool_name, "guid": guid, "role": str(role)},
    )


def LogHasErrors(pool: Pool, side: Vdev) -> Refused:
    """To remove a log, OpenZFS writes its contents to the pool and waits for the device. A device that returns errors
    can keep it waiting indefinitely. Once the device is offline, OpenZFS no longer accesses it.
    """
    return Refused(
        "log-has-errors",
        _(
            "The log device {path} of pool {pool} is {state}; I/O errors so far: {errors}. `zpool remove` of such a "
            "log can hang permanently and block every other zpool command until a hard reboot (OpenZFS issue 18894). "
            "Nothing was changed. First take the device out of use with `zpool offline -f {pool} {guid}`: synchronous "
            "writes then go to the pool's own disks, more slowly, and nothing is lost while the host is running. Then "
            "try again."
        ),
        {
            "pool": pool.name,
            "path": side.path or side.name,
            "guid": side.guid,
            "state": side.state,
            "errors": str(side.read_errors + side.write_errors),
        },
    )


def VdevChanged(pool: Pool, top: Vdev, leaf: Vdev, role: Role) -> Refused:
    """Someone has attached a side to this log since the run, or replaced one, so the log is no longer only what the run
    added. Removing it would also remove that device.
    """
    return Refused(
        "vdev-changed",
        _(
            "The {role} {guid} of pool {pool} now also includes {path}, which this run did not add. First undo the "
            "run that added that device, or remove the device by hand; then undo this run."
        ),
        {"pool": pool.name, "guid": top.guid, "path": leaf.path, "role": str(role)},
    )


def LastGoodSide(pool: Pool, side: Vdev) -> Refused:
    """The contents of a log survive only as long as one of its sides does. A side is detached only while the other one
    is ONLINE.
    """
    return Refused(
        "last-good-side",
        _(
            "The log side of pool {pool} that would remain, {path}, is {state}. Without the other side, the log would "
            "be lost, so nothing is detached. Repair the remaining side first."
        ),
        {"pool": pool.name, "path": side.path or side.name, "state": side.state},
    )
