"""Proxmox VE on the host: its disk lock, guests that have an SSD, the limit of the ARC, its task log, its messages."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from nasadvisor.domain.fleet.platforms import Guest, Notice, Veto
from nasadvisor.domain.statements import Finding, Level, Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import HostError
from plugins.contract.host import Certificate, HostPlatform, Task
from plugins.proxmox import messages
from plugins.proxmox.config import guest_configs, read_file
from plugins.proxmox.devices import DeviceNumbers
from plugins.proxmox.findings import arc_findings, guest_findings, wipe_findings
from plugins.proxmox.given import GivenDevice, given_devices
from plugins.proxmox.guests import datasets_by_mountpoint, guests_of, unsafe_volumes
from plugins.proxmox.mapping import read_mappings
from plugins.proxmox.versions import SUPPORTS

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
        found = ((ssd, by) for ssd in inventory.disks for by in given if by.device.is_of(ssd, self.root))
        vetoes = (Veto(_refused(ssd, by), ssd.key) for ssd, by in found)
        return tuple({(veto.scope, str(veto.reason)): veto for veto in vetoes}.values())

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


def _refused(ssd: Disk, by: GivenDevice) -> Refused:
    names_many = isinstance(by.device, DeviceNumbers) and "*" in by.device.numbers
    return _may_open(ssd, by.guest, by.key) if names_many else _given_away(ssd, by.guest, by.key)


def _given_away(ssd: Disk, guest: str, key: str) -> Refused:
    """A virtual machine or a container that was given a disk can use it at any moment, and the host does not see
    what is on it while the guest is off.
    """
    return Refused(
        "proxmox-disk-of-guest",
        _(
            "{disk} belongs to {guest}: it is its {key}. It may look blank here and be in use there. Detach it from "
            "the guest first, or choose another SSD."
        ),
        {"disk": ssd.label, "guest": guest, "key": key},
    )


def _may_open(ssd: Disk, guest: str, key: str) -> Refused:
    """A container that may open every device of a sort can use this SSD at any moment, by a node that it makes or is
    given.
    """
    return Refused(
        "proxmox-guest-may-open-disk",
        _(
            "{guest} may open {disk} and all devices of its sort (its {key}). It may look blank here and be in use "
            "there. Name there only the devices that the guest needs, or choose another SSD."
        ),
        {"disk": ssd.label, "guest": guest, "key": key},
    )


PLATFORM = ProxmoxHost()
