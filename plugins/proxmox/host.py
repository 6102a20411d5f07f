"""Proxmox VE on the host: its disk lock, guests that have an SSD, the limit of the ARC, its task log, its messages."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from nasadvisor.domain.fleet.platforms import Guest, Notice, Veto
from nasadvisor.domain.statements import Finding, Level, NextStep, Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.domain.units import GIB, size_text
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import HostError
from plugins.contract.host import Certificate, HostPlatform, Task
from plugins.proxmox import SUPPORTS, messages
from plugins.proxmox.config import GuestConfig, guest_configs, read_file, read_mappings
from plugins.proxmox.devices import DeviceNumbers
from plugins.proxmox.given import given_devices, keys_for_any, keys_that_hide
from plugins.proxmox.guests import datasets_by_mountpoint, guests_of, unsafe_volumes

ARC_CAP_PERCENT: Final = 11
ARC_CAP_BYTES: Final = 16 * GIB
"""The installer of PVE 8.1 and later sets zfs_arc_max to 10 % of the memory, at most 16 GiB (pve-docs, local-zfs)."""


def arc_findings(limit: int, inventory: Inventory) -> Iterator[Finding]:
    """The limit of the ARC, in bytes, if it looks like the installer's; 0 is none."""
    memory = inventory.host.memory_bytes
    if inventory.pools and 0 < limit <= ARC_CAP_BYTES and limit * 100 <= memory * ARC_CAP_PERCENT:
        yield Finding(
            "proxmox-arc-capped",
            _(
                "The ARC on this host is limited to {limit} of its {memory} of memory, as set by the Proxmox VE "
                "installer."
            ),
            {"limit": size_text(limit), "memory": size_text(memory)},
            Level.INFO,
            _(
                "Memory serves reads faster than any SSD. If the guests do not need it, raise zfs_arc_max in "
                "/etc/modprobe.d/zfs.conf (then run `update-initramfs -u -k all` and reboot) before you add a cache."
            ),
        )


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
            yield Finding(
                "proxmox-never-wipe",
                _(
                    "Proxmox VE offers Wipe Disk for the SSDs that hold the log or cache of pool {pool}: {disks}. Do "
                    "not use it."
                ),
                {"pool": pool.name, "disks": ", ".join(labels)},
                Level.INFO,
                _(
                    "Wipe Disk checks only for mounts and holders; a log or cache is neither. It fails only while "
                    "OpenZFS keeps the slices open. A slice that is not open at that moment is wiped, and Wipe Disk "
                    "does not wait for a NAS Advisor run. To free the SSDs, use Undo here."
                ),
                subject=pool.guid,
                step=NextStep.LOOK_AT_POOL,
                place=pool.guid,
            )


def guest_findings(guests: Iterable[GuestConfig]) -> Iterator[Finding]:
    """For each guest that may have an SSD although no line of its configuration names one."""
    for guest in guests:
        if keys := keys_that_hide(guest):
            yield Finding(
                "proxmox-guest-hides",
                _(
                    "NAS Advisor cannot see all devices assigned to {guest}: its configuration refers to other files "
                    "or programs ({keys})."
                ),
                {"guest": guest.name, "keys": ", ".join(keys)},
                Level.INFO,
                _(
                    "They can pass an SSD to the guest, and NAS Advisor does not read them. An SSD that looks blank "
                    "here may be in use there. Check them before you add an SSD to a pool."
                ),
                subject=guest.name,
            )
        if keys := keys_for_any(guest):
            yield Finding(
                "proxmox-guest-opens-any",
                _("{guest} may open every disk on this host ({keys})."),
                {"guest": guest.name, "keys": ", ".join(keys)},
                Level.INFO,
                _(
                    "The configuration names no SSD, so none is refused because of it. Before you add an SSD to a "
                    "pool, make sure that nothing in this container uses a disk directly. Better still, allow the "
                    "container only the devices it needs."
                ),
                subject=guest.name,
            )


SCRIPTS: Final = Path(__file__).parent / "perl"

_USER: Final = re.compile(r"[^\s:/!]{1,64}@[A-Za-z][A-Za-z0-9._-]{1,31}")

ANSWER_S: Final = 30.0


@dataclass(frozen=True)
class ProxmoxHost(HostPlatform):
    """Proxmox VE 8 and 9. `root` is the root of the file system."""

    name = "Proxmox VE"
    supports = SUPPORTS
    notifies = True
    root: Path = Path("/")

    def detect(self) -> bool:
        """Every node has the tool that calls the API."""
        return (self.root / "usr/bin/pvesh").exists()

    def version(self, runner: Runner) -> str:
        """That of the package that the release is named after."""
        args = ("--showformat=${Version}", "--show", "pve-manager")
        try:
            return runner.run(Command(Tool.DPKG_QUERY, args, timeout_s=20)).stdout.strip()
        except HostError:
            return ""

    def locks(self) -> tuple[Path, ...]:
        """PVE::Diskmanage takes this lock around every disk operation (pve-storage, Diskmanage.pm)."""
        return (self.root / "run/lock/pve-diskmanage.lck",)

    def certificate(self) -> Certificate | None:
        """That of pveproxy: an own one if there is one, else the node's (pve-manager, service/pveproxy.pm)."""
        local = self.root / "etc/pve/local"
        pairs = (Certificate(local / f"{name}.pem", local / f"{name}.key") for name in ("pveproxy-ssl", "pve-ssl"))
        return next((pair for pair in pairs if pair.chain.exists() and pair.key.exists()), None)

    def vetoes(self, runner: Runner, inventory: Inventory) -> tuple[Veto, ...]:
        """SSDs that were handed to a guest as a whole: they look blank while that guest has not written to them."""
        pve = self.root / "etc/pve"
        given = tuple(given_devices(guest_configs(pve), read_mappings(pve)))
        found: dict[tuple[str, str], Veto] = {}
        for ssd in inventory.disks:
            for by in (each for each in given if each.device.is_of(ssd, self.root)):
                names_many = isinstance(by.device, DeviceNumbers) and "*" in by.device.numbers
                refused = _may_open(ssd, by.guest, by.key) if names_many else _given_away(ssd, by.guest, by.key)
                found[ssd.key, str(refused)] = Veto(refused, ssd.key)
        return tuple(found.values())

    def findings(self, runner: Runner, inventory: Inventory) -> tuple[Finding, ...]:
        """The limit of the ARC that the installer sets, what must not be done in PVE's own pages, and which guests may
        have more than can be seen.
        """
        of_guests = guest_findings(guest_configs(self.root / "etc/pve"))
        return (*arc_findings(self._arc_limit(), inventory), *wipe_findings(inventory), *of_guests)

    def cautions(self, runner: Runner, inventory: Inventory) -> tuple[Finding, ...]:
        """Which guests may have one of the SSDs without it being seen."""
        found = guest_findings(guest_configs(self.root / "etc/pve"))
        return tuple(replace(finding, level=Level.WARNING) for finding in found)

    def guests(self, runner: Runner, inventory: Inventory) -> tuple[Guest, ...]:
        """Virtual machines and containers of this node."""
        return guests_of(self.root / "etc/pve", datasets_by_mountpoint(read_file(self.root / "proc/self/mounts")))

    def unsafe_volumes(self) -> tuple[str, ...]:
        """Drives with cache=unsafe."""
        return tuple(unsafe_volumes(self.root / "etc/pve"))

    def log_task(self, runner: Runner, task: Task) -> None:
        """A task of type "nasadvisor", which follows the log until the run ends."""
        user = task.by if _USER.fullmatch(task.by) else "root@pam"
        arguments = (str(SCRIPTS / "task.pl"), task.pool, user, str(task.log), str(task.pid))
        runner.run(Command(Tool.PERL, arguments, timeout_s=ANSWER_S))

    def notify(self, runner: Runner, notice: Notice) -> Statement | None:
        """By PVE's notification system, and by a mail of our own where that gives no proof that it delivered it."""
        return messages.send(runner, self.root / "etc/pve", notice)

    def _arc_limit(self) -> int:
        """zfs_arc_max in bytes; 0 where it is not set."""
        try:
            return int((self.root / "sys/module/zfs/parameters/zfs_arc_max").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0


def _given_away(ssd: Disk, guest: str, key: str) -> Refused:
    """A virtual machine or container can use a disk assigned to it at any time, and the host cannot see the contents of
    the disk while the guest is off.
    """
    return Refused(
        "proxmox-disk-of-guest",
        _(
            "{disk} is assigned to {guest} as its {key}. It may look blank here but be in use there. Detach it from "
            "the guest first, or choose another SSD."
        ),
        {"disk": ssd.label, "guest": guest, "key": key},
    )


def _may_open(ssd: Disk, guest: str, key: str) -> Refused:
    """A container that may open every device of a kind can use this SSD at any time, through a device node that it
    creates or is given.
    """
    return Refused(
        "proxmox-guest-may-open-disk",
        _(
            "{guest} may open {disk} and every other device of its kind (its {key}). It may look blank here but be in "
            "use there. Allow the guest only the devices it needs, or choose another SSD."
        ),
        {"disk": ssd.label, "guest": guest, "key": key},
    )


PLATFORM = ProxmoxHost()
