"""The composition root: what a machine is made of, as the services see it.

`Machine` is handed to every service. Tests and recorded machines put other parts into the same places.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Disk, Host, Pool
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.disks import HostDisks
from nasadvisor.host.adapters.pools import HostPools, Reader
from nasadvisor.host.adapters.process import HostRunner, Runner
from nasadvisor.host.adapters.procfs import HostFacts


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
    """One machine, through ports. `clock` tells the time in UTC; `tail_bytes` is for the inventory's `Host`.

    `unsafe_volumes` tells volumes of virtual machines whose flushes are thrown away, by the last part of their names.
    """

    runner: Runner
    host: HostReader
    pools: PoolReader
    disks: DiskReader
    clock: Callable[[], datetime]
    roots: Roots = Roots()
    tail_bytes: int = MIB
    unsafe_volumes: Callable[[], tuple[str, ...]] = tuple

    @staticmethod
    def real(pool_reader: str = "auto", node: str = "", roots: Roots = Roots()) -> "Machine":
        """The machine that this process runs on. `pool_reader` is "auto", "json" or "libzfs".

        Raises:
            SettingInvalid: there is no such pool reader.
        """
        runner = HostRunner()
        return Machine(
            runner=runner,
            host=HostFacts(runner, roots.proc, roots.sys, roots.etc, node),
            pools=HostPools(runner, roots.sys, Reader.named(pool_reader)),
            disks=HostDisks(roots.proc, roots.dev, roots.sys),
            clock=lambda: datetime.now(UTC),
            roots=roots,
        )

    def with_runner(self, runner: Runner) -> "Machine":
        """The same machine, its commands started by another runner."""
        return replace(self, runner=runner)
