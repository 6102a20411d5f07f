"""The composition root: what a machine is made of, as the services see it, and one frozen picture of it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Disk, Host, Inventory, Pool, has_data_on_ssds
from nasadvisor.domain.units import MIB
from nasadvisor.host.adapters.disks import HostDisks
from nasadvisor.host.adapters.pools import HostPools, Reader
from nasadvisor.host.adapters.process import HostRunner, Runner
from nasadvisor.host.adapters.procfs import HostFacts
from nasadvisor.host.adapters.zpool_questions import was_trimmed
from nasadvisor.host.errors import HostError


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


def read_inventory(machine: Machine) -> Inventory:
    """Look at the machine now. Pools are read first: they tell which disks are theirs.

    Raises:
        HostError: a part of the machine could not be read. A disk that cannot be examined is no error: it is in the
            inventory with a hold that says so.
    """
    host = replace(machine.host.read(), tail_bytes=machine.tail_bytes)
    pools = machine.pools.read()
    disks = machine.disks.read(pools)
    pools = tuple(_complete(pool, disks, machine) for pool in pools)
    return Inventory(host, disks, pools, machine.clock().isoformat(timespec="seconds"))


def _complete(pool: Pool, disks: tuple[Disk, ...], machine: Machine) -> Pool:
    """With what its own answers do not tell. udev has a folder of links for each pool with volumes (60-zvol.rules)."""
    has_volumes = (machine.roots.dev / "zvol" / pool.name).is_dir()
    trimmed = None
    if pool.autotrim is False and not pool.suspended and has_data_on_ssds(pool, disks):
        with suppress(HostError):  # a pool that does not tell this is not worth less in all else
            trimmed = was_trimmed(machine.runner, pool.name)
    return replace(pool, has_volumes=has_volumes, trimmed=trimmed)
