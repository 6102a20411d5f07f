"""Requests against the lab's machine, in the words of its scenario."""

from dataclasses import replace

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.storage.inventory import Disk, Inventory, Pool
from nasadvisor.domain.units import MIB
from tests.integration.agent import Agent

SSDS = ("nvme0", "nvme1", "sata0", "sas0")

LOG_BYTES, CACHE_BYTES = 128 * MIB, 256 * MIB
"""A slice is searched for old data at every MiB before it is made, which takes a second for each 100 MiB here."""


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
    return PlanRequest(pool_of(agent).guid, keys, LOG_BYTES, keys, CACHE_BYTES)


def single_log(agent: Agent, name: str) -> PlanRequest:
    """A log and a cache on slices of one SSD."""
    keys = keys_of(agent, name)
    return PlanRequest(pool_of(agent).guid, keys, LOG_BYTES, keys, CACHE_BYTES)


def without_cache(request: PlanRequest) -> PlanRequest:
    """The log alone."""
    return replace(request, cache_disks=())
