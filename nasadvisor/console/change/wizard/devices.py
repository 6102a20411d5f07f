"""What the first step shows: every disk, whether it can carry a log or a cache, and why not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from nasadvisor.console.change.wizard.draft import Draft
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.change.checks import physical
from nasadvisor.domain.change.plan import room_on
from nasadvisor.domain.change.proposal import Proposal
from nasadvisor.domain.change.refusals import DiskHasPartitions, DiskHeld, SameDisk
from nasadvisor.domain.change.targets import can_be_target
from nasadvisor.domain.change.warnings import warnings_for_disk
from nasadvisor.domain.fleet.platforms import Veto, vetoes_on
from nasadvisor.domain.statements import Finding, Refused, Statement
from nasadvisor.domain.storage.inventory import Disk, Host, Inventory, Pool
from nasadvisor.domain.storage.logs import find_log_side


class Standing(StrEnum):
    """How a disk stands as a target."""

    SUITABLE = "suitable"
    FREE_SPACE = "free-space"  # has partitions, and room beside them
    DISCOURAGED = "discouraged"  # hard disk, USB, removable, data that nobody recognises
    UNUSABLE = "unusable"


@dataclass(frozen=True)
class DiskChoice:
    """A disk as a possible target. `refusal` says why it is not offered, `log_refusal` why not for the log.

    `health` is what its sweeps said, None before the first; `not_proposed` says why it was not ticked by itself.
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
    not_proposed: Statement | None = None

    @property
    def is_offered(self) -> bool:
        """Whether it can be chosen for anything."""
        return self.refusal is None

    @property
    def is_offered_for_log(self) -> bool:
        """Whether it can be chosen for the log."""
        return self.refusal is None and self.log_refusal is None


def disk_choices(inventory: Inventory, pool: Pool, draft: Draft, vetoes: tuple[Veto, ...]) -> tuple[DiskChoice, ...]:
    """Every disk, the most suitable first; `vetoes` are those of the host's platform."""
    side = find_log_side(pool, draft.attach_to) if draft.attach_to else None  # of the log that is to become a mirror
    partner = inventory.partition_at(side.path) if side else None
    partners = frozenset({physical(partner[0])} if partner else ())
    choices = (_choice(disk, pool, inventory.host, draft, partners, vetoes) for disk in inventory.disks)
    order = list(Standing)
    return tuple(sorted(choices, key=lambda choice: order.index(choice.standing)))


def told(
    choices: tuple[DiskChoice, ...], health: Mapping[str, StoredDisk], proposal: Proposal
) -> tuple[DiskChoice, ...]:
    """The choices with what is known of their health (by key), and why those that could be were not proposed.

    Warnings that are shown with a disk anyway say that themselves.
    """
    return tuple(
        replace(
            choice,
            health=health.get(choice.disk.key),
            not_proposed=None if choice.warnings else proposal.left_out.get(choice.disk.key),
        )
        for choice in choices
    )


def offered_keys(choices: tuple[DiskChoice, ...], role: Role) -> tuple[str, ...]:
    """The keys of the disks that may be chosen for a role."""
    return tuple(
        choice.disk.key for choice in choices if (choice.is_offered_for_log if role is Role.LOG else choice.is_offered)
    )


def _choice(
    disk: Disk, pool: Pool, host: Host, draft: Draft, partners: frozenset[str], vetoes: tuple[Veto, ...]
) -> DiskChoice:
    refusal = refusal_of_disk(disk, pool, host) or next(iter(vetoes_on(vetoes, disk.key)), None)
    standing = _standing(disk, refusal)
    if standing is Standing.FREE_SPACE and not draft.use_free_space:
        refusal = DiskHasPartitions(disk)
    shares = physical(disk) in partners
    return DiskChoice(
        disk=disk,
        standing=standing,
        room_bytes=room_on(disk, host, 0).size_bytes,
        for_log=refusal is None and not shares and disk.key in draft.log_disks,
        for_cache=refusal is None and disk.key in draft.cache_disks,
        refusal=refusal,
        log_refusal=SameDisk(disk) if shares else None,
        warnings=() if refusal else warnings_for_disk(disk),
    )


def refusal_of_disk(disk: Disk, pool: Pool, host: Host) -> Refused | None:
    """Why a disk is no target for this pool, whatever is planned on it; its free space counts as usable.

    A hard disk that is in use is never worth offering, although nothing would forbid the gaps on it.
    """
    answer = can_be_target(disk, pool, host)
    if isinstance(answer, Refused):
        return answer
    holds = disk.all_holds
    return DiskHeld(disk, holds[0]) if disk.rotational and holds else None


def _standing(disk: Disk, refusal: Refused | None) -> Standing:
    if refusal:
        return Standing.UNUSABLE
    if warnings_for_disk(disk):
        return Standing.DISCOURAGED if not disk.partitions else Standing.FREE_SPACE
    return Standing.FREE_SPACE if disk.partitions else Standing.SUITABLE
