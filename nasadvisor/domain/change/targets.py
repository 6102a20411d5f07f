"""Which disks have room for a slice at all: what every list of disks asks before it offers one."""

from collections.abc import Iterator

from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.change.checks import ASHIFTS, can_use_disk
from nasadvisor.domain.change.plan import room_on
from nasadvisor.domain.change.refusals import DiskHeld, SectorTooLarge, TooSmall
from nasadvisor.domain.statements import Allowed, Answer, Refused
from nasadvisor.domain.storage.gaps import MIN_SLICE_BYTES
from nasadvisor.domain.storage.inventory import Disk, Host, Pool


def can_have_slice(disk: Disk, host: Host) -> Answer:
    """Whether a slice could be made on a disk, be it beside its partitions, for any pool and with no reserve at all."""
    return next(_against_slice(disk, host), Allowed())


def can_be_target(disk: Disk, pool: Pool, host: Host) -> Answer:
    """Whether a slice could be made on a disk that this pool can use."""
    answer = can_have_slice(disk, host)
    if isinstance(answer, Refused):
        return answer
    if pool.ashift in ASHIFTS and disk.identity.logical_sector_bytes > 1 << pool.ashift:
        return SectorTooLarge(disk, pool)
    return answer


def _against_slice(disk: Disk, host: Host) -> Iterator[Refused]:
    answer = can_use_disk(disk)
    if isinstance(answer, Refused):
        yield answer
    room_bytes = room_on(disk, host, 0).size_bytes
    if room_bytes < MIN_SLICE_BYTES:
        holds = disk.all_holds
        yield DiskHeld(disk, holds[0]) if holds else TooSmall(disk, Role.LOG, MIN_SLICE_BYTES, room_bytes)
