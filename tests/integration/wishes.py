"""Requests against the lab's machine, in the words of its scenario."""

from dataclasses import replace

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.storage.inventory import Disk, Inventory, Pool
from nasadvisor.domain.units import GIB, MIB
from tests.integration.agent import Agent

SSDS = ("nvme0", "nvme1", "sata0", "sas0")


def disk_named(inventory: Inventory, serial: str) -> Disk:
    """The disk with this serial."""
    return next(disk for disk in inventory.disks if disk.identity.serial == serial)


def keys_of(agent: Agent, *names: str) -> tuple[str, ...]:
    """The keys of disks by their names in the scenario."""
    inventory = agent.inventory()
    serials = {disk.name: disk.serial for disk in agent.guest.scenario.disks}
    return tuple(disk_named(inventory, serials[name]).key for name in names)


def pool_of(agent: Agent, name: str = "tank") -> Pool:
    """A pool by name."""
    return next(pool for pool in agent.inventory().pools if pool.name == name)


def mirror_and_caches(agent: Agent, *names: str) -> PlanRequest:
    """Stories 2 and 3: a mirrored log and a cache on slices of the same SSDs."""
    keys = keys_of(agent, *names)
    return PlanRequest(pool_of(agent).guid, keys, GIB, keys, 2 * GIB)


def single_log(agent: Agent, name: str) -> PlanRequest:
    """A log of 512 MiB and a cache of 1 GiB on one SSD."""
    keys = keys_of(agent, name)
    return PlanRequest(pool_of(agent).guid, keys, 512 * MIB, keys, GIB)


def without_cache(request: PlanRequest) -> PlanRequest:
    """The log alone."""
    return replace(request, cache_disks=())
