"""Proxmox VE for the console."""

from pathlib import Path

from plugins.contract import VersionRange
from plugins.contract.console import ConsolePlatform


class ProxmoxConsole(ConsolePlatform):
    """Proxmox VE 8 and 9."""

    name = "Proxmox VE"
    supports = VersionRange("8.2", "10")

    def detect(self) -> bool:
        """Every node has the tool that calls the API."""
        return Path("/usr/bin/pvesh").exists()


PLATFORM = ProxmoxConsole()
