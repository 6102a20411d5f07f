"""Proxmox VE on the host: its disk lock, guests that have an SSD, the limit of the ARC, its task log, its messages."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nasadvisor.domain.fleet.platforms import Guest, Notice, Veto
from nasadvisor.domain.statements import Finding, Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Disk, Inventory
from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import HostError
from plugins.contract.host import Certificate, HostPlatform, Task
from plugins.proxmox import messages
from plugins.proxmox.findings import arc_findings, wipe_findings
from plugins.proxmox.guests import guest_disks, guests_of, read_file, unsafe_volumes, zfs_mounts
from plugins.proxmox.pci import GuestPciDevice, guest_pci_devices
from plugins.proxmox.usb import GuestUsbDevice, guest_usb_devices
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
        pve, block = self.root / "etc/pve", self.root / "sys/block"
        given = [disk for disk in guest_disks(pve) if disk.volume.startswith("/dev/")]
        devices: list[GuestPciDevice | GuestUsbDevice] = [*guest_pci_devices(pve), *guest_usb_devices(pve)]
        vetoes: list[Veto] = []
        for ssd in inventory.disks:
            as_disk = [disk for disk in given if self._leads_to(disk.volume, ssd)]
            as_device = [device for device in devices if device.carries(block / ssd.kernel_name)]
            vetoes.extend(Veto(_given_away(ssd, by.guest, by.key), ssd.key) for by in (*as_disk, *as_device))
        return tuple(vetoes)

    def findings(self, runner: Runner, inventory: Inventory) -> tuple[Finding, ...]:
        """The limit of the ARC that the installer sets, and what must not be done in PVE's own pages."""
        return (*arc_findings(self._arc_limit(), inventory), *wipe_findings(inventory))

    def guests(self, runner: Runner, inventory: Inventory) -> tuple[Guest, ...]:
        """Virtual machines and containers of this node."""
        return guests_of(self.root / "etc/pve", zfs_mounts(read_file(self.root / "proc/self/mounts")))

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

    def _leads_to(self, device: str, ssd: Disk) -> bool:
        """By a name that udev knows, or by a link of anybody's making to it."""
        real = (self.root / device.lstrip("/")).resolve()
        names = (device, f"/dev/{real.name}") if real.parent == (self.root / "dev").resolve() else (device,)
        parts = any(part.is_at(name) for part in ssd.partitions for name in names)
        return parts or any(ssd.is_at(name) for name in names)

    def _arc_limit(self) -> int:
        """zfs_arc_max in bytes; 0 where it is not set."""
        try:
            return int((self.root / "sys/module/zfs/parameters/zfs_arc_max").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0


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


PLATFORM = ProxmoxHost()
