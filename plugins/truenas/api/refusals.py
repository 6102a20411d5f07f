# ruff: noqa: N802 - named like the statements they make
"""What is refused and what is said about whole disks, besides the rules that hold everywhere."""

from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Hold, Pool, Vdev
from plugins.truenas.api.records import Record


def ProtectionInformation(disk: Disk) -> Refused:
    """With protection information, each sector carries eight extra bytes. SAS disks from other systems sometimes have
    it; `sg_format` can reformat them without it, which erases them and takes hours.
    """
    return Refused(
        "protection-information",
        _(
            "{disk} is formatted with protection information (DIF), which TrueNAS does not accept. Reformat it "
            "without protection information, or choose another SSD."
        ),
        {"disk": disk.label},
    )


def RoleTwice(disk: Disk) -> Refused:
    """When TrueNAS itself adds devices, it creates one partition on each, as large as the disk."""
    return Refused(
        "role-twice",
        _(
            "{disk} cannot be both log and cache here: TrueNAS uses a whole disk for each. Choose another SSD for one "
            "of them, or use slices."
        ),
        {"disk": disk.label},
    )


def RemoveWipesMore(disk: Disk) -> Refused:
    """TrueNAS removes the device from the pool and then wipes the whole disk it was on. NAS Advisor requests this only
    if the disk carries only what TrueNAS created for this log or cache.
    """
    return Refused(
        "remove-wipes-more",
        _(
            "TrueNAS's own removal is not used: it wipes the whole disk {disk}, which holds more than this log or "
            "cache, or of which only a slice is used. Nothing was changed. Undo the run that created the slices "
            "instead."
        ),
        {"disk": disk.label},
    )


def LeafUnknown(leaf: Vdev) -> Refused:
    """TrueNAS wipes the disk of a device that it removes, so NAS Advisor requests this only if TrueNAS shows which disk
    that is.
    """
    return Refused(
        "leaf-unknown",
        _(
            "TrueNAS does not show which disk {path} is on, so it is unknown what the removal would wipe. Nothing was "
            "changed. Plug in the disk, or remove the device in TrueNAS; then try the undo again here."
        ),
        {"path": leaf.path or leaf.name},
    )


def DisksDiffer(pool_name: str) -> Refused:
    """TrueNAS uses a whole disk for each side of the mirror, so each side is as large as its SSD, and both sides of a
    mirror must have the same size.
    """
    return Refused(
        "disks-differ",
        _("The SSDs of a mirrored log for pool {pool} must be the same size. Choose two SSDs of the same size."),
        {"pool": pool_name},
    )


def PoolNotSeen(pool: Pool) -> Refused:
    """NAS Advisor checks in TrueNAS whether a step took effect. TrueNAS shows no devices of a pool that is locked,
    exported or offline, so the check gives no answer.
    """
    return Refused(
        "pool-not-seen",
        _(
            "Pool {pool} is {state} in TrueNAS and its devices are not shown, so it is unknown whether the log or "
            "cache is still in it. This step changed nothing, and nothing is recorded as undone. Import the pool or "
            "unlock its disks, then try the undo again."
        ),
        {"pool": pool.name, "state": pool.state},
    )


def PoolNotListed(record: Record) -> Refused:
    """An exported pool comes back with its devices; a destroyed pool does not. TrueNAS shows neither, so only the SSDs
    could reveal the difference, and they do not.
    """
    return Refused(
        "pool-not-listed",
        _(
            "TrueNAS no longer lists pool {pool} (guid {guid}), and at least one of the SSDs {disks} is missing or "
            "not blank, so the log or cache may be in use again once the pool is imported. This step changed nothing, "
            "and nothing is recorded as undone. Import the pool, or wipe the SSDs in TrueNAS if the pool was "
            "destroyed; then try the undo again."
        ),
        {"pool": record.pool_name, "guid": record.pool_guid, "disks": ", ".join(record.disks)},
    )


def OtherPoolOfThatName(record: Record, pool: Pool) -> Refused:
    """A pool that was destroyed and created again can have the old name. Additions to the old pool are not looked for
    in the new one.
    """
    return Refused(
        "other-pool-of-that-name",
        _(
            "The pool shown in TrueNAS as {pool} has none of the data devices that the pool had when {disks} were "
            "added: it is a different pool with the same name. This step changed nothing, and nothing is recorded as "
            "undone. Import the original pool, then try the undo again."
        ),
        {"pool": pool.name, "disks": ", ".join(record.disks)},
    )


def VdevUnclear(pool: Pool, top: Vdev) -> Refused:
    """The record lists the requested SSDs, but not yet the device that TrueNAS created from them. A device that
    appeared since may have been added by NAS Advisor or by someone else, and only the one added by NAS Advisor is
    removed.
    """
    return Refused(
        "vdev-unclear",
        _(
            "Pool {pool} has a log or cache, {vdev} (guid {guid}), that was not there before, and the record does not "
            "show whether it was added here. This step changed nothing, and nothing is recorded as undone. If you do "
            "not want it, remove it in TrueNAS; if its SSD is missing, plug it in. Then try the undo again."
        ),
        {"pool": pool.name, "vdev": top.name, "guid": top.guid},
    )


def DiskStillHeld(disk: Disk, hold: Hold) -> Refused:
    """TrueNAS records which pool each disk belongs to. While it does so without showing the disk in the pool, it is
    uncertain whether the disk has left the pool.
    """
    return Refused(
        "disk-still-held",
        _(
            "TrueNAS assigns {disk} to pool {pool} without showing its role, so it is unknown whether it is still the "
            "log or cache of that pool. This step changed nothing, and nothing is recorded as undone. Import the pool "
            "if it is exported, or wipe the SSD in TrueNAS if the pool no longer exists; then try the undo again."
        ),
        {"disk": disk.label, "pool": hold.what},
    )


def StillThere(pool: Pool, top: Vdev) -> Refused:
    """TrueNAS was asked to remove the device and reported no error, but the device is still there. Only confirmed
    results are recorded.
    """
    return Refused(
        "still-there",
        _(
            "Pool {pool} still shows {vdev} (guid {guid}), which should have been removed. Nothing is recorded as "
            "undone. Check the pool and Jobs in TrueNAS, then try the undo again."
        ),
        {"pool": pool.name, "vdev": top.name, "guid": top.guid},
    )


def JobUnderWay(job: int, method: str) -> Refused:
    """TrueNAS does such work in jobs that continue on their own. A second job for the same device would interfere with
    the first.
    """
    return Refused(
        "job-under-way",
        _(
            "TrueNAS is still working on job {job} ({method}), so its result is not known yet. Nothing was changed. "
            "Wait until it has ended (Jobs in TrueNAS), then try the undo again."
        ),
        {"job": str(job), "method": method},
    )


def DiskNotShown(name: str) -> Statement:
    return Statement(
        "disk-not-shown",
        _(
            "TrueNAS shows no disk {disk}, or more than one. It is no longer in any TrueNAS pool, but it is unknown "
            "whether it was wiped. Wipe it before you use it elsewhere."
        ),
        {"disk": name},
    )


def DiskUsedAnew(disk: Disk) -> Statement:
    return Statement(
        "disk-used-anew",
        _("{disk} is in use by a pool again, in a role that this record did not add. It was left untouched."),
        {"disk": disk.label},
    )


def DiskNotWiped(disk: Disk) -> Statement:
    return Statement(
        "disk-not-wiped",
        _(
            "TrueNAS still shows partitions on {disk}, so it was not wiped. It is in no pool. Wipe it in TrueNAS "
            "before you use it elsewhere."
        ),
        {"disk": disk.label},
    )


def WipeFailed(job: int, problem: Statement) -> Statement:
    return Statement(
        "wipe-failed",
        _(
            "The device was removed from the pool, but TrueNAS could not wipe its SSD: job {job} (pool.remove) "
            "reported {error}. Wipe the SSD in TrueNAS before you use it elsewhere."
        ),
        {"job": str(job), "error": problem.values["error"]},
    )


def LayoutDiffers(pool: Pool) -> Statement:
    return Statement(
        "layout-differs",
        _("pool {pool} does not show exactly the requested SSDs as an ONLINE log or cache"),
        {"pool": pool.name},
    )


def StillShown(pool: Pool, top: Vdev) -> Statement:
    return Statement(
        "still-shown",
        _("pool {pool} still shows {vdev} (guid {guid})"),
        {"pool": pool.name, "vdev": top.name, "guid": top.guid},
    )


def DevicesHidden(name: str) -> Statement:
    return Statement("devices-hidden", _("TrueNAS does not currently show the devices of pool {pool}."), {"pool": name})
