"""Proxmox VE: its disk lock."""

from pathlib import Path

from nasadvisor.domain.units import MIB


class ProxmoxVE:
    """Proxmox VE 8 and 9."""

    name = "Proxmox VE"

    def detect(self) -> bool:
        """Every node has the cluster file system's configuration tool."""
        return Path("/usr/bin/pvesh").exists()

    def locks(self) -> tuple[Path, ...]:
        """PVE::Diskmanage takes this lock around every disk operation (pve-storage, Diskmanage.pm)."""
        return (Path("/run/lock/pve-diskmanage.lck"),)

    def tail_bytes(self) -> int:
        """No demand of its own."""
        return MIB


PLATFORM = ProxmoxVE()
