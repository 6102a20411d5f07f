"""What is worth knowing on Proxmox VE only."""

from collections.abc import Iterable, Iterator
from typing import Final

from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory, Pool
from nasadvisor.domain.units import GIB, size_text
from plugins.proxmox.config import GuestConfig
from plugins.proxmox.given import keys_for_any, keys_that_hide

ARC_CAP_PERCENT: Final = 11
ARC_CAP_BYTES: Final = 16 * GIB
"""The installer of PVE 8.1 and later sets zfs_arc_max to 10 % of the memory, at most 16 GiB (pve-docs, local-zfs)."""


def arc_findings(limit: int, inventory: Inventory) -> Iterator[Finding]:
    """The limit of the ARC, in bytes, if it looks like the installer's; 0 is none."""
    memory = inventory.host.memory_bytes
    if inventory.pools and 0 < limit <= ARC_CAP_BYTES and limit * 100 <= memory * ARC_CAP_PERCENT:
        yield _arc_capped(limit, memory)


def wipe_findings(inventory: Inventory) -> Iterator[Finding]:
    """For each pool with a log or cache on slices: that PVE offers to wipe their SSDs.

    wipe_disk in pve-storage, API2/Disks.pm, asks for mounts and holders only and takes no lock; wipe_blockdev in
    Diskmanage.pm runs wipefs on each partition and then on the disk. OpenZFS holds its slices open exclusively, which
    makes wipefs fail.
    """
    for pool in inventory.pools:
        leaves = (leaf for top in (*pool.logs, *pool.caches) for leaf in top.leaves())
        places = (place for leaf in leaves if (place := inventory.place_of(leaf)))
        labels = dict.fromkeys(disk.label for disk, part in places if part)
        if labels:
            yield _never_wipe(pool, ", ".join(labels))


def guest_findings(guests: Iterable[GuestConfig]) -> Iterator[Finding]:
    """For each guest that may have an SSD although no line of its configuration names one."""
    for guest in guests:
        if keys := keys_that_hide(guest):
            yield _hides(guest.name, ", ".join(keys))
        if keys := keys_for_any(guest):
            yield _may_open_any(guest.name, ", ".join(keys))


def _hides(guest: str, keys: str) -> Finding:
    return Finding(
        "proxmox-guest-hides",
        _("What {guest} is given cannot all be seen: its configuration names further files or programs ({keys})."),
        {"guest": guest, "keys": keys},
        Level.INFO,
        _(
            "They can hand an SSD to the guest, and NAS Advisor does not read them. An SSD that looks blank here may "
            "be in use there. Look into them before you give an SSD to a pool."
        ),
        subject=guest,
    )


def _may_open_any(guest: str, keys: str) -> Finding:
    return Finding(
        "proxmox-guest-opens-any",
        _("{guest} may open every disk of this host ({keys})."),
        {"guest": guest, "keys": keys},
        Level.INFO,
        _(
            "No SSD is named there, so none is refused because of it. Make sure that nothing in this container uses a "
            "disk directly before you give an SSD to a pool. Better, allow it only the devices that it needs."
        ),
        subject=guest,
    )


def _never_wipe(pool: Pool, disks: str) -> Finding:
    return Finding(
        "proxmox-never-wipe",
        _("Proxmox VE offers Wipe Disk for SSDs that carry the log or cache of pool {pool}: {disks}. Do not use it."),
        {"pool": pool.name, "disks": disks},
        Level.INFO,
        _(
            "It looks for mounts and holders only, and a log or cache is neither. Only OpenZFS, which keeps its slices "
            "open, makes the wipe fail; a slice that is not open at that moment is wiped, and the wipe does not wait "
            "for a run of NAS Advisor. To get the SSDs back, use the undo here."
        ),
        subject=pool.guid,
        step=NextStep.LOOK_AT_POOL,
        place=pool.guid,
    )


def _arc_capped(limit: int, memory: int) -> Finding:
    return Finding(
        "proxmox-arc-capped",
        _("The ARC of this host is limited to {limit} of {memory} of memory, as the installer of Proxmox VE sets it."),
        {"limit": size_text(limit), "memory": size_text(memory)},
        Level.INFO,
        _(
            "Memory serves reads faster than any SSD. If the guests do not need it, raise zfs_arc_max in "
            "/etc/modprobe.d/zfs.conf (then `update-initramfs -u -k all` and a reboot) before you add a cache."
        ),
    )
