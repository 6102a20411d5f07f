"""TrueNAS SCALE on the host: the space it expects at the end of a disk."""

from pathlib import Path

from nasadvisor.domain.units import GIB, MIB
from nasadvisor.host.adapters.process import Runner
from plugins.contract import VersionRange
from plugins.contract.host import HostPlatform


class TrueNASHost(HostPlatform):
    """TrueNAS SCALE 25.10 and 26."""

    name = "TrueNAS"
    supports = VersionRange("25.10", "27")

    def detect(self) -> bool:
        """The middleware's client is part of every installation."""
        return Path("/usr/bin/midclt").exists()

    def version(self, runner: Runner) -> str:
        """From /etc/version, "25.10.1" or "TrueNAS-SCALE-25.10.1"."""
        try:
            return Path("/etc/version").read_text(encoding="utf-8").strip().removeprefix("TrueNAS-SCALE-")
        except OSError:
            return ""

    def tail_bytes(self) -> int:
        """ "Expand pool" writes 1 MiB near 2 GiB before the end of the disk (middleware, expand.py)."""
        return 2 * GIB + MIB


PLATFORM = TrueNASHost()
