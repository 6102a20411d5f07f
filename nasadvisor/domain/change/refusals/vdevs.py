"""Refusals about log and cache devices that a pool has already."""
# ruff: noqa: N802

from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.change.advice import after_checkpoint
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Pool, Vdev
from nasadvisor.domain.storage.logs import OFFLINE


def LogSideGone(pool: Pool, guid: str) -> Refused:
    """The plan names the device to which a side is to be attached by its guid, and the log has none with it now. It
    was removed or replaced since the plan was made.
    """
    return Refused(
        "log-side-gone",
        _("Pool {pool} no longer has a log device with the guid {guid}. Read the host again and make a new plan."),
        {"pool": pool.name, "guid": guid},
    )


def LogSideNotOnline(pool: Pool, side: Vdev) -> Refused:
    """The new side is filled from the one that is there, and one that does not work well gives nothing dependable
    to copy.
    """
    return Refused(
        "log-side-not-online",
        _("The log device {path} of pool {pool} is {state}. Repair it before a second side is attached."),
        {"pool": pool.name, "path": side.path, "state": side.state},
    )


def LogSideWorks(pool: Pool, side: Vdev) -> Refused:
    """Taking out a side that works would leave the log without its mirror until another is attached."""
    return Refused(
        "log-side-works",
        _(
            "The side {path} of the log of pool {pool} is ONLINE, so it is not taken out. Only a side that is broken is replaced."
        ),
        {"pool": pool.name, "path": side.path or side.name},
    )


def LogSideUnknown(pool: Pool, side: Vdev) -> Refused:
    """Which SSD a device is on is told by the partition at its path. With multipath, device-mapper or a file in
    between, two devices can be one SSD, and a mirror of them would protect nothing.
    """
    return Refused(
        "log-side-unknown",
        _(
            "The log device {path} of pool {pool} is no partition of a disk that is known here, so nothing shows that the two sides would be on different SSDs. Check that its disk is plugged in, and read the host again. Behind multipath, device-mapper or a file, a second side is not added."
        ),
        {"pool": pool.name, "path": side.path},
    )


def LogWorks(pool: Pool, log: Vdev) -> Refused:
    """Only a log that is dead, every side of it, is taken out or replaced so. One that works is taken out by undoing the
    run that added it.
    """
    return Refused(
        "log-works",
        _(
            "The log {name} of pool {pool} works: it is {state}, so it is not taken out as a dead one. Nothing was changed. To take out one that NAS Advisor added, undo the run that added it."
        ),
        {"pool": pool.name, "name": log.path or log.name, "state": log.state},
    )


def LogOutOfService(pool: Pool, log: Vdev) -> Refused:
    """Somebody took the log offline, which says nothing of its device. Put back, it either works or shows what it has."""
    offline = [side.guid for side in log.leaves() if side.state == OFFLINE]
    return Refused(
        "log-out-of-service",
        _(
            "The log {name} of pool {pool} is not dead: somebody took it, or a side of it, offline. Nothing was changed. Put it back with `zpool online {pool} {guids}`; if it is broken, it shows so then and can be taken out."
        ),
        {"pool": pool.name, "name": log.path or log.name, "guids": " ".join(offline)},
    )


def CacheGone(pool: Pool, guid: str) -> Refused:
    """A cache is taken out of service and put back by its guid, and only while it is a cache. Somebody may have
    removed it since.
    """
    return Refused(
        "cache-gone",
        _("Pool {pool} has no cache device with the guid {guid}. Nothing was changed. Read the host again."),
        {"pool": pool.name, "guid": guid},
    )


def CacheNotOnline(pool: Pool, cache: Vdev) -> Refused:
    """What is out of service already was taken out by somebody else, who also puts it back; and a cache that is broken
    serves nothing that could be compared with its absence.
    """
    return Refused(
        "cache-not-online",
        _(
            "The cache {path} of pool {pool} is {state}, not ONLINE, so it is not taken out of service. Nothing was changed."
        ),
        {"pool": pool.name, "path": cache.path or cache.name, "state": cache.state},
    )


def CacheStaysOut(pool_name: str) -> Refused:
    """`zpool online` takes a pool with autoexpand=on as a wish to let the device grow, which a cache cannot, and fails
    for that alone (zpool_vdev_online() in lib/libzfs/libzfs_pool.c; OpenZFS issue 2677). A cache that is offline stays
    so until autoexpand is off.
    """
    return Refused(
        "cache-stays-out",
        _(
            'Pool {pool} has autoexpand=on, and with that OpenZFS does not put a cache back into service ("cannot expand cache devices"). Nothing was changed. Run `zpool set autoexpand=off {pool}` and try again; it can be set on again once the cache is back.'
        ),
        {"pool": pool_name},
    )


def CacheOverwritten(pool: Pool, cache: Vdev, kind: str) -> Refused:
    """While a cache is out of service nothing keeps others from its device. OpenZFS takes the device back if one of the
    four labels on it is whole, and a new filesystem leaves those at the end as they are; the cache would then write
    over that filesystem.
    """
    refused = Refused(
        "cache-overwritten",
        _(
            "The cache {path} of pool {pool} holds something else by now ({kind}): somebody used it while it was out of service. Put back into service it would write over that. Nothing was changed. If that is needed, let the pool forget the cache with `zpool remove {pool} {guid}`; if not, clear it with `wipefs --all --types {kind} {path}`. Then try again."
        ),
        {"pool": pool.name, "path": cache.path or cache.name, "guid": cache.guid, "kind": kind},
    )
    return after_checkpoint(refused, pool)


def VdevGone(guid: str, pool_name: str, role: Role) -> Refused:
    """A device is removed by its guid only, and only while it is a log or a cache, so that nothing else of a pool
    is ever taken out. None fits that now; somebody may have taken it out already.
    """
    return Refused(
        "vdev-gone",
        _(
            "Pool {pool} has no {role} device with the guid {guid}, or it now has another class, so nothing is removed. Read the host again to see what it has."
        ),
        {"pool": pool_name, "guid": guid, "role": str(role)},
    )


def LogHasErrors(pool: Pool, side: Vdev) -> Refused:
    """To remove a log OpenZFS writes out what is in it and waits for the device. One that answers with errors can
    keep it waiting indefinitely. Once it is offline, OpenZFS asks it nothing more.
    """
    return Refused(
        "log-has-errors",
        _(
            "The log device {path} of pool {pool} is {state}; I/O errors so far: {errors}. `zpool remove` "
            "of such a log can hang permanently and block every other zpool command until a hard reboot "
            "(OpenZFS issue 18894). Nothing was changed. Take it out of use first with `zpool offline -f "
            "{pool} {guid}`: synchronous writes then go to the pool's own disks, more slowly, and nothing "
            "is lost while the machine runs. Then try again."
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
    """Somebody has attached a side to this log since the run, or replaced one, so it is no longer only what the run
    added. Taking it out would take that device along.
    """
    return Refused(
        "vdev-changed",
        _(
            "The {role} {guid} of pool {pool} now also stands on {path}, which this run did not add. Undo first the run that added it, or take it out by hand; then undo this one."
        ),
        {"pool": pool.name, "guid": top.guid, "path": leaf.path, "role": str(role)},
    )


def LastGoodSide(pool: Pool, side: Vdev) -> Refused:
    """Whatever is in a log lives only as long as one of its sides does. A side is detached only while the other one
    is ONLINE.
    """
    return Refused(
        "last-good-side",
        _(
            "The side of the log of pool {pool} that would stay, {path}, is {state}. Without the other one the log would be lost, so nothing is detached. Repair that side first."
        ),
        {"pool": pool.name, "path": side.path or side.name, "state": side.state},
    )
