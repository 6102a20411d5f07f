"""The inventory service: one frozen picture of the machine."""

from dataclasses import replace

from nasadvisor.domain.storage.inventory import Disk, Inventory, Pool, has_data_on_ssds
from nasadvisor.host.adapters.zpool_trim import was_trimmed
from nasadvisor.host.errors import HostError
from nasadvisor.host.storage.machine import Machine


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
    asks = pool.autotrim is False and not pool.suspended and has_data_on_ssds(pool, disks)
    return replace(pool, has_volumes=has_volumes, trimmed=_was_trimmed(pool, machine) if asks else None)


def _was_trimmed(pool: Pool, machine: Machine) -> bool | None:
    """A pool that does not tell this is not worth less in all else."""
    try:
        return was_trimmed(machine.runner, pool.name)
    except HostError:
        return None
