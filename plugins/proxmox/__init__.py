"""Proxmox VE, and for which of its versions this integration was written."""

from typing import Final

from plugins.contract import VersionRange

SUPPORTS: Final = VersionRange("8.2.4", "10")
"""Templates of messages have names since pve-manager 8.2.3 and libpve-notify-perl 8.0.7 (both of 4 June 2024)."""
