"""Proxmox VE on the host: its version and its disk lock."""

from pathlib import Path

from nasadvisor.host.adapters.process import Command, Runner, Tool
from nasadvisor.host.errors import HostError
from plugins.contract import VersionRange
from plugins.contract.host import HostPlatform


class ProxmoxHost(HostPlatform):
    """Proxmox VE 8 and 9."""

    name = "Proxmox VE"
    supports = VersionRange("8.2", "10")

    def detect(self) -> bool:
        """Every node has the tool that calls the API."""
        return Path("/usr/bin/pvesh").exists()

    def version(self, runner: Runner) -> str:
        """That of the package that the release is named after."""
        args = ("--showformat=${Version}", "--show", "pve-manager")
        try:
            return runner.run(Command(Tool.DPKG_QUERY, args, mutates=False, timeout_s=20)).stdout.strip()
        except HostError:
            return ""

    def locks(self) -> tuple[Path, ...]:
        """PVE::Diskmanage takes this lock around every disk operation (pve-storage, Diskmanage.pm)."""
        return (Path("/run/lock/pve-diskmanage.lck"),)


PLATFORM = ProxmoxHost()
