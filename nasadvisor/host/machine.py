"""The composition root: what a machine is made of, as the services see it.

`Machine` is handed to every service. Tests and recorded machines put other parts into the same places.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from nasadvisor.domain.inventory import Disk, DiskIdentity, Host, Pool
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.process import Runner


class HostReader(Protocol):
    """Tells the machine's name, versions and memory."""

    def read(self) -> Host:
        """Look now."""
        ...


class PoolReader(Protocol):
    """Tells the imported pools."""

    def read(self) -> tuple[Pool, ...]:
        """Look now; no pools where there is no OpenZFS.

        Raises:
            HostError: OpenZFS is there but cannot be read.
        """
        ...


class DiskReader(Protocol):
    """Tells the disks and what holds them."""

    def identify(self, device_number: int) -> DiskIdentity:
        """The identity of the whole disk with this device number, told apart as in the inventory.

        Raises:
            MachineUnreadable: udev does not know the device.
        """
        ...

    def read(self, pools: tuple[Pool, ...]) -> tuple[Disk, ...]:
        """Look now; the pools tell which disks are their members.

        Raises:
            MachineUnreadable: udev, /sys or /proc cannot be read.
        """
        ...


@dataclass(frozen=True)
class Roots:
    """Where the system's own file trees are."""

    dev: Path = Path("/dev")
    etc: Path = Path("/etc")
    proc: Path = Path("/proc")
    sys: Path = Path("/sys")


@dataclass(frozen=True)
class Machine:
    """One machine, through ports. `clock` tells the time in UTC; `tail_bytes` is for `domain.inventory.Host`."""

    runner: Runner
    host: HostReader
    pools: PoolReader
    disks: DiskReader
    clock: Callable[[], datetime]
    roots: Roots = Roots()
    tail_bytes: int = MIB

    def with_runner(self, runner: Runner) -> "Machine":
        """The same machine, its commands started by another runner."""
        return replace(self, runner=runner)
