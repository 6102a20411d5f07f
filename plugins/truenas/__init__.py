"""TrueNAS SCALE: the space it expects at the end of a disk."""

from pathlib import Path

from nasadvisor.domain.units import GIB, MIB


class TrueNAS:
    """TrueNAS SCALE 25.10 and later."""

    name = "TrueNAS"

    def detect(self) -> bool:
        """The middleware's client is part of every installation."""
        return Path("/usr/bin/midclt").exists()

    def locks(self) -> tuple[Path, ...]:
        """The middleware keeps its locks to itself."""
        return ()

    def tail_bytes(self) -> int:
        """ "Expand pool" writes 1 MiB near 2 GiB before the end of the disk (middleware, expand.py)."""
        return 2 * GIB + MIB


PLATFORM = TrueNAS()
