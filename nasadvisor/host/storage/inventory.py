"""The inventory service: one frozen picture of the machine."""

from dataclasses import replace

from nasadvisor.domain.storage.inventory import Inventory
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
    return Inventory(host, disks, pools, machine.clock().isoformat(timespec="seconds"))
