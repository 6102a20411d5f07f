"""What the second step shows: every disk, whether it can carry a log or a cache, and why not."""

from dataclasses import dataclass, replace
from enum import StrEnum

from nasadvisor.console.change.wizard.draft import Draft
from nasadvisor.console.health.models import LARGE_FIELDS, StoredDisk, identity_key
from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.change.checks import can_use_disk
from nasadvisor.domain.change.plan import MIN_SLICE_BYTES
from nasadvisor.domain.change.refusals import DiskHasPartitions, DiskHeld, SameDisk, SectorTooLarge, TooSmall
from nasadvisor.domain.change.warnings import warnings_for_disk
from nasadvisor.domain.fleet.platforms import Veto, vetoes_on
from nasadvisor.domain.statements import Finding, Refused
from nasadvisor.domain.storage.gaps import largest_extent
from nasadvisor.domain.storage.inventory import Disk, Inventory, Pool
from nasadvisor.domain.storage.log_legs import find_log_leg


class Standing(StrEnum):
    """How a disk stands as a target."""

    SUITABLE = "suitable"
    FREE_SPACE = "free-space"  # has partitions, and room beside them
    DISCOURAGED = "discouraged"  # hard disk, USB, removable
    UNUSABLE = "unusable"


@dataclass(frozen=True)
class DiskChoice:
    """A disk as a possible target. `refusal` says why it is not offered, `log_refusal` why not for the log.

    `health` is what its sweeps said, None before the first.
    """

    disk: Disk
    standing: Standing
    room_bytes: int
    for_log: bool
    for_cache: bool
    refusal: Refused | None = None
    log_refusal: Refused | None = None
    warnings: tuple[Finding, ...] = ()
    health: StoredDisk | None = None

    @property
    def is_offered(self) -> bool:
        """Whether it can be chosen for anything."""
        return self.refusal is None

    @property
    def is_offered_for_log(self) -> bool:
        """Whether it can be chosen for the log."""
        return self.refusal is None and self.log_refusal is None


def disk_choices(
    inventory: Inventory, pool: Pool, draft: Draft, vetoes: tuple[Veto, ...] = ()
) -> tuple[DiskChoice, ...]:
    """Every disk, the most suitable first; `vetoes` are those of the host's platform."""
    partner_disks = _partner_disks(inventory, pool, draft)
    health = _health_of(inventory)
    choices = (
        replace(_choice(disk, pool, draft, partner_disks, vetoes), health=health.get(identity_key(disk.identity)))
        for disk in inventory.disks
    )
    order = list(Standing)
    return tuple(sorted(choices, key=lambda choice: order.index(choice.standing)))


def _health_of(inventory: Inventory) -> dict[str, StoredDisk]:
    """What the sweeps said of the SSDs, by what is printed on them."""
    names = [identity_key(disk.identity) for disk in inventory.disks if not disk.rotational]
    found = StoredDisk.objects.filter(identity_key__in=names, read_at__isnull=False).defer(*LARGE_FIELDS)
    return {disk.identity_key: disk for disk in found}


def offered_keys(choices: tuple[DiskChoice, ...], role: Role) -> tuple[str, ...]:
    """The keys of the disks that may be chosen for a role."""
    return tuple(
        choice.disk.key for choice in choices if (choice.is_offered_for_log if role is Role.LOG else choice.is_offered)
    )


def _choice(
    disk: Disk, pool: Pool, draft: Draft, partner_disks: tuple[Disk, ...], vetoes: tuple[Veto, ...]
) -> DiskChoice:
    refusal = refusal_of_disk(disk, pool) or next(iter(vetoes_on(vetoes, disk.key)), None)
    standing = _standing(disk, refusal)
    if standing is Standing.FREE_SPACE and not draft.use_free_space:
        refusal = DiskHasPartitions(disk)
    shares = any(_is_same_device(disk, partner) for partner in partner_disks)
    return DiskChoice(
        disk=disk,
        standing=standing,
        room_bytes=largest_extent(disk).size_bytes,
        for_log=refusal is None and not shares and disk.key in draft.log_disks,
        for_cache=refusal is None and disk.key in draft.cache_disks,
        refusal=refusal,
        log_refusal=SameDisk(disk) if shares else None,
        warnings=() if refusal else warnings_for_disk(disk),
    )


def refusal_of_disk(disk: Disk, pool: Pool) -> Refused | None:
    """Why a disk cannot be a target for this pool, whatever is planned on it; its free space counts as usable."""
    answer = can_use_disk(disk)
    if isinstance(answer, Refused):
        return answer
    if pool.ashift and disk.identity.logical_sector_bytes > 1 << pool.ashift:
        return SectorTooLarge(disk, pool)
    room_bytes, holds = largest_extent(disk).size_bytes, disk.all_holds
    if holds and (disk.rotational or room_bytes < MIN_SLICE_BYTES):
        return DiskHeld(disk, holds[0])
    return None if room_bytes >= MIN_SLICE_BYTES else TooSmall(disk, Role.LOG, MIN_SLICE_BYTES, room_bytes)


def _standing(disk: Disk, refusal: Refused | None) -> Standing:
    if refusal:
        return Standing.UNUSABLE
    if warnings_for_disk(disk):
        return Standing.DISCOURAGED if not disk.partitions else Standing.FREE_SPACE
    return Standing.FREE_SPACE if disk.partitions else Standing.SUITABLE


def _partner_disks(inventory: Inventory, pool: Pool, draft: Draft) -> tuple[Disk, ...]:
    """The disk of the log that is to become a mirror."""
    leg = find_log_leg(pool, draft.attach_to) if draft.attach_to else None
    found = inventory.partition_at(leg.path) if leg else None
    return (found[0],) if found else ()


def _is_same_device(left: Disk, right: Disk) -> bool:
    """Namespaces of one NVMe SSD share its serial."""
    return left.key == right.key or bool(left.identity.serial and left.identity.serial == right.identity.serial)
