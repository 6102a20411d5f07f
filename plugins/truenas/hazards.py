"""What TrueNAS does to slices when its own functions are used on a pool that has them.

Read in the middleware's code: pool_/expand.py, pool_/pool_disk_operations.py, disk_/format.py, disk_/zfs_guid.py,
etc_files/motd.mako. docs/how-to/truenas.md says in which versions.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.fleet.platforms import Veto
from nasadvisor.domain.statements import Finding, Level, NextStep, Refused
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.gpt import SOLARIS_ZFS_TYPE
from nasadvisor.domain.storage.inventory import Disk, Inventory, Partition
from nasadvisor.domain.units import GIB
from plugins.truenas.guests import GuestDevice

WHOLE_DISK_TAIL_BYTES: Final = 2 * GIB
"""TrueNAS's one partition begins at 1 MiB and is as long as the disk less min(2 GiB, 1 %), rounded down to 1 MiB
(disk_/format.py), so it ends less than this before the end of the disk. Our slices end earlier (`Host.tail_bytes`)."""

NOT_SUPPORTED: Final = Finding(
    "slices-not-supported",
    _(
        "The vendor of TrueNAS does not support slices: only its web interface, command line and API are supported, "
        "and they use whole disks. Support may ask you to undo the slices first."
    ),
    {},
    Level.WARNING,
    _(
        "TrueNAS shows the pool with its slices and imports it at boot like any other, but its functions Expand and "
        "Remove do not expect slices. For the supported way, whole disks added by TrueNAS itself, see "
        "docs/how-to/truenas.md."
    ),
)


def is_whole(disk: Disk, part: Partition) -> bool:
    """Whether a partition reaches as far as only TrueNAS's own do, and is alone."""
    return len(disk.partitions) == 1 and part.end_bytes > disk.identity.size_bytes - WHOLE_DISK_TAIL_BYTES


def findings(inventory: Inventory) -> Iterator[Finding]:
    """What not to do in TrueNAS's own pages, for each pool with slices."""
    for pool in inventory.pools:
        leaves = (leaf for top in (*pool.logs, *pool.caches) for leaf in top.leaves())
        places = (place for leaf in leaves if (place := inventory.place_of(leaf)))
        sliced = {disk.key: disk.label for disk, part in places if part and not is_whole(disk, part)}
        if not sliced:
            continue
        named = ", ".join(sliced.values())
        yield Finding(
            "undo-before-expand",
            _(
                "Do not use Expand on pool {pool} in TrueNAS while it has slices. Undo them here first, expand the "
                "pool, then add them again."
            ),
            {"pool": pool.name, "disks": named},
            Level.WARNING,
            _(
                "Expand treats each disk of the pool as a single partition and tries to grow it, including {disks}. "
                "It writes 1 MiB near the end of the disk, which our layout keeps free, then fails or grows the last "
                "slice into the reserve; the pool is not expanded."
            ),
            subject=pool.guid,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )
        yield Finding(
            "never-remove-in-truenas",
            _(
                "Do not remove the log or cache of pool {pool} in TrueNAS itself: its Remove wipes the whole SSD, "
                "including all slices. Use Undo here."
            ),
            {"pool": pool.name, "disks": named},
            Level.WARNING,
            _(
                "Remove takes the device out of the pool and then wipes its parent disk, here {disks}. If another "
                "slice of it is in use, the wipe fails and the job is shown as failed although the device is gone. "
                "Otherwise the partition table and every slice are destroyed."
            ),
            subject=pool.guid,
            step=NextStep.LOOK_AT_POOL,
            place=pool.guid,
        )


def vetoes(inventory: Inventory) -> Iterator[Veto]:
    """An SSD that has ZFS partitions already gets no further slices: TrueNAS counts on one pool a disk."""
    for disk in inventory.disks:
        if not disk.rotational and any(part.type_uuid == SOLARIS_ZFS_TYPE for part in disk.partitions):
            yield Veto(_one_run_a_disk(disk), disk.key, (Goal.APPLY,))


def vetoes_of_guests(devices: Iterable[GuestDevice], inventory: Inventory, root: Path) -> Iterator[Veto]:
    """SSDs that were given to guests of this host, whose file system begins at `root`."""
    given = tuple(devices)
    for disk in inventory.disks:
        yield from (Veto(reason, disk.key) for reason in against_given_away(disk, given, root))


def against_given_away(disk: Disk, devices: Iterable[GuestDevice], root: Path) -> Iterator[Refused]:
    """Every guest that has a disk of the host whose file system begins at `root`."""
    yield from (_given_away(disk, each) for each in devices if each.has(disk, root))


def _one_run_a_disk(disk: Disk) -> Refused:
    """TrueNAS records one pool for each disk and relies on that record when a disk is replaced or wiped."""
    return Refused(
        "one-pool-a-disk",
        _(
            "{disk} already has ZFS partitions, and TrueNAS records only one pool per disk: with slices from two runs "
            "it could mistake one pool's SSD for the other's. Choose a blank SSD, or undo the run that created them."
        ),
        {"disk": disk.label},
    )


def _given_away(disk: Disk, device: GuestDevice) -> Refused:
    """A virtual machine or container can use a disk assigned to it at any time, and the host cannot see the contents of
    the disk while the guest is off.
    """
    return Refused(
        "truenas-disk-of-guest",
        _(
            "{disk} is assigned to {guest} as its {kind} device. It may look blank here but be in use there. Detach "
            "it from the guest in TrueNAS first, or choose another SSD."
        ),
        {"disk": disk.label, "guest": device.guest, "kind": device.kind},
    )
