# ruff: noqa: N802 - named like the statements they make
"""What is refused and what is said about whole disks, besides the rules that hold everywhere."""

from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Hold, Pool, Vdev
from plugins.truenas.api.records import Record


def ProtectionInformation(disk: Disk) -> Refused:
    """With protection information each sector carries eight more bytes. SAS disks from other systems have it
    sometimes; `sg_format` formats them without, which erases them and takes hours.
    """
    return Refused(
        "protection-information",
        _(
            "{disk} is formatted with protection information (DIF), which TrueNAS does not take. Format it without, or "
            "choose another SSD."
        ),
        {"disk": disk.label},
    )


def RoleTwice(disk: Disk) -> Refused:
    """Where TrueNAS itself adds the devices, it makes one partition as large as the disk on each."""
    return Refused(
        "role-twice",
        _(
            "{disk} cannot be log and cache at once here: TrueNAS gives each a whole disk. Choose another SSD for one "
            "of them, or slices."
        ),
        {"disk": disk.label},
    )


def RemoveWipesMore(disk: Disk) -> Refused:
    """TrueNAS takes the device out of the pool and then wipes the whole of the disk that it was on. That is asked
    of it only where the disk carries only what TrueNAS made for this log or cache.
    """
    return Refused(
        "remove-wipes-more",
        _(
            "TrueNAS's own removal is not used: it wipes the whole disk {disk}, and there is more on it than this log "
            "or cache, or only a slice of it is used. Nothing was changed. Undo the run that made the slices instead."
        ),
        {"disk": disk.label},
    )


def LeafUnknown(leaf: Vdev) -> Refused:
    """TrueNAS wipes the disk of a device that it takes out, so it is asked to only where it shows which disk that
    is.
    """
    return Refused(
        "leaf-unknown",
        _(
            "TrueNAS does not show which disk {path} is on, so nobody can tell what its removal would wipe. Nothing "
            "was changed. Plug the disk in, or take the device out in TrueNAS; then undo it here again."
        ),
        {"path": leaf.path or leaf.name},
    )


def DisksDiffer(pool_name: str) -> Refused:
    """TrueNAS gives each side of the mirror a whole disk, so the sides are as large as their SSDs, and a mirror has
    sides of one size.
    """
    return Refused(
        "disks-differ",
        _("The SSDs of a mirrored log for pool {pool} must have the same size. Choose two of one size."),
        {"pool": pool_name},
    )


def PoolNotSeen(pool: Pool) -> Refused:
    """Whether a step has had its effect is read off TrueNAS. Of a pool that is locked, exported or offline it shows
    no devices, so neither yes nor no can be said.
    """
    return Refused(
        "pool-not-seen",
        _(
            "Pool {pool} is {state} in TrueNAS and its devices are not shown, so nobody can see whether the log or "
            "cache is still in it. Nothing was changed by this step, and nothing is recorded as taken back. Import the "
            "pool or unlock its disks, then undo it again."
        ),
        {"pool": pool.name, "state": pool.state},
    )


def PoolNotListed(record: Record) -> Refused:
    """A pool that is exported comes back with its devices, and a pool that was destroyed does not. TrueNAS shows
    neither of them, so only the SSDs could tell, and they do not.
    """
    return Refused(
        "pool-not-listed",
        _(
            "TrueNAS no longer lists pool {pool} (guid {guid}), and the SSDs {disks} are not all there and "
            "blank, so the log or cache may be in use again once the pool is imported. Nothing was changed "
            "by this step, and nothing is recorded as taken back. Import the pool, or wipe the SSDs in "
            "TrueNAS if it was destroyed; then undo it again."
        ),
        {"pool": record.pool_name, "guid": record.pool_guid, "disks": ", ".join(record.disks)},
    )


def OtherPoolOfThatName(record: Record, pool: Pool) -> Refused:
    """A pool that is destroyed and made again can have the old name. What was added to the old one is not looked
    for in the new one.
    """
    return Refused(
        "other-pool-of-that-name",
        _(
            "The pool that TrueNAS shows as {pool} has none of the data devices that it had when {disks} were added: "
            "it is another pool of that name. Nothing was changed by this step, and nothing is recorded as taken back. "
            "Import the pool that got them, then undo it again."
        ),
        {"pool": pool.name, "disks": ", ".join(record.disks)},
    )


def VdevUnclear(pool: Pool, top: Vdev) -> Refused:
    """The record holds the SSDs that were asked for, not yet the device that TrueNAS made of them. One that came
    since may be ours or somebody else's, and only ours is taken out.
    """
    return Refused(
        "vdev-unclear",
        _(
            "Pool {pool} has a log or cache, {vdev} (guid {guid}), that was not there before, and the record does not "
            "say whether it is the one that was added here. Nothing was changed by this step, and nothing is recorded "
            "as taken back. If it is not wanted, take it out in TrueNAS; if its SSD is missing, plug it in. Then undo "
            "it again."
        ),
        {"pool": pool.name, "vdev": top.name, "guid": top.guid},
    )


def DiskStillHeld(disk: Disk, hold: Hold) -> Refused:
    """TrueNAS notes for each disk which pool it belongs to. As long as it does that without showing the disk in the
    pool, nobody can say that it is out.
    """
    return Refused(
        "disk-still-held",
        _(
            "TrueNAS counts {disk} to the pool {pool} without showing as what, so nobody can see whether it is still "
            "its log or cache. Nothing was changed by this step, and nothing is recorded as taken back. Import that "
            "pool if it is exported, or wipe the SSD in TrueNAS if the pool is gone; then undo it again."
        ),
        {"disk": disk.label, "pool": hold.what},
    )


def StillThere(pool: Pool, top: Vdev) -> Refused:
    """TrueNAS was told to take the device out and reported no error, and yet it is there. What was not seen is not
    recorded.
    """
    return Refused(
        "still-there",
        _(
            "Pool {pool} still shows {vdev} (guid {guid}), which was to be taken out. Nothing is recorded as taken "
            "back. Look at the pool and at Jobs in TrueNAS, then undo it again."
        ),
        {"pool": pool.name, "vdev": top.name, "guid": top.guid},
    )


def JobUnderWay(job: int, method: str) -> Refused:
    """TrueNAS does such work in jobs that continue on their own. A second one for the same device would get into the
    way of the first.
    """
    return Refused(
        "job-under-way",
        _(
            "TrueNAS is still working on job {job} ({method}), so what comes of it cannot be seen yet. Nothing was "
            "changed. Wait until it has ended (Jobs in TrueNAS), then undo it again."
        ),
        {"job": str(job), "method": method},
    )


def DiskNotShown(name: str) -> Statement:
    return Statement(
        "disk-not-shown",
        _(
            "TrueNAS does not show exactly one disk {disk}. It is no longer in any of its pools, but "
            "whether it was wiped cannot be seen: wipe it before it is used elsewhere."
        ),
        {"disk": name},
    )


def DiskUsedAnew(disk: Disk) -> Statement:
    return Statement(
        "disk-used-anew",
        _("{disk} is in use by a pool again, as something that this record did not add. It was left alone."),
        {"disk": disk.label},
    )


def DiskNotWiped(disk: Disk) -> Statement:
    return Statement(
        "disk-not-wiped",
        _(
            "TrueNAS still shows partitions on {disk}, so it was not wiped. It is in no pool; wipe it in TrueNAS "
            "before it is used elsewhere."
        ),
        {"disk": disk.label},
    )


def WipeFailed(job: int, problem: Statement) -> Statement:
    return Statement(
        "wipe-failed",
        _(
            "The device is out of the pool, but TrueNAS could not wipe its SSD: job {job} (pool.remove) says {error}. "
            "Wipe it in TrueNAS before it is used elsewhere."
        ),
        {"job": str(job), "error": problem.values["error"]},
    )


def LayoutDiffers(pool: Pool) -> Statement:
    return Statement(
        "layout-differs",
        _("pool {pool} does not show exactly the SSDs that were asked for as an ONLINE log or cache"),
        {"pool": pool.name},
    )


def StillShown(pool: Pool, top: Vdev) -> Statement:
    return Statement(
        "still-shown",
        _("pool {pool} still shows {vdev} (guid {guid})"),
        {"pool": pool.name, "vdev": top.name, "guid": top.guid},
    )


def DevicesHidden(name: str) -> Statement:
    return Statement("devices-hidden", _("TrueNAS does not show the devices of pool {pool} now."), {"pool": name})
