"""From what a person types to a disk or a pool of the inventory."""

import re
from typing import Final

import click

from nasadvisor.cli.errors import Refusal
from nasadvisor.domain.change.checks import can_use_disk
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.gaps import largest_extent
from nasadvisor.domain.storage.inventory import Disk, HoldKind, Inventory, Pool, TableKind
from nasadvisor.domain.units import MIB, size_text

KERNEL_NAME: Final = re.compile(r"(/dev/)?(sd[a-z]+\d*|vd[a-z]+\d*|hd[a-z]+\d*|nvme\d+n\d+(p\d+)?|mmcblk\d+(p\d+)?)")
BY_ID: Final = "/dev/disk/by-id/"


def find_disk(inventory: Inventory, text: str) -> Disk:
    """The one disk with this by-id name, persistent path or serial.

    Raises:
        UsageError: more than one, or a name that can mean another disk after the next boot.
        Refusal: there is none now.
    """
    if KERNEL_NAME.fullmatch(text):
        disk = inventory.disk_at(f"/dev/{text.removeprefix('/dev/')}")
        instead = f"Use a name from {BY_ID} or a serial; `nasadvisor inventory` lists them."
        if disk and disk.path:
            instead = f"Use its persistent name: {disk.path}"
        raise click.UsageError(f"{text} can be another disk after the next boot, so it is not accepted. {instead}")
    found = [disk for disk in inventory.disks if text in _names(disk)]
    if len(found) > 1:
        listed = ", ".join(disk.path or disk.label for disk in found)
        raise click.UsageError(f"{text} means more than one disk: {listed}. Give the persistent name of one.")
    if not found:
        raise _unknown(inventory, text)
    return found[0]


def find_pool(inventory: Inventory, text: str) -> Pool:
    """The imported pool with this name or guid.

    Raises:
        Refusal: there is none now.
    """
    for pool in inventory.pools:
        if text in (pool.name, pool.guid):
            return pool
    known = ", ".join(pool.name for pool in inventory.pools)
    there = f"Imported are: {known}." if known else "No pool is imported on this host."
    raise Refusal(f"There is no imported pool {text}. {there}")


def use_of(disk: Disk) -> str:
    """In a few words, what a disk is used for or how much of it is free. Of several holds the strongest is told."""
    if disk.all_holds:
        strongest = min((hold.kind for hold in disk.all_holds), key=list(HoldKind).index)
        what = dict.fromkeys(hold.what for hold in disk.all_holds if hold.kind is strongest and hold.what)
        return " ".join((strongest.replace("-", " "), ", ".join(what))).rstrip()
    if isinstance(can_use_disk(disk), Refused):
        return "not usable"
    if disk.unrecognised_at is not None:
        return "data that no tool recognises"
    if disk.table is TableKind.NONE or not disk.partitions:
        return "free"
    free = largest_extent(disk).size_bytes
    return f"{len(disk.partitions)} partition(s), {size_text(free) if free >= MIB else 'nothing'} free"


def _names(disk: Disk) -> set[str]:
    paths = {disk.path, *disk.links}
    return {*paths, *(path.removeprefix(BY_ID) for path in paths), disk.identity.serial, disk.key} - {""}


def _unknown(inventory: Inventory, text: str) -> click.ClickException:
    partition = inventory.partition_at(text) or inventory.partition_at(f"{BY_ID}{text}")
    if partition:
        named = f"{text} is a partition. Slices are made by NAS Advisor itself: name the disk, {partition[0].path}."
        return click.UsageError(named)
    return Refusal(f"There is no disk {text} on this host. `nasadvisor inventory` lists the disks and their names.")
