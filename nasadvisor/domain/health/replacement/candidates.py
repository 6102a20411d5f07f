"""Which free disks of the host can take the place of a device."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.change.checks import can_use_disk
from nasadvisor.domain.health.replacement.evidence import Survey
from nasadvisor.domain.health.replacement.member import Member
from nasadvisor.domain.statements import Level, Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Bus, Disk, Inventory
from nasadvisor.domain.units import size_text

KEPT_SECTORS: Final = 34 + 2048 + 16384
ROUNDED_SECTORS: Final = 2048
"""What OpenZFS keeps of a whole disk before and behind its partition, whose length it rounds down: zpool_label_disk()
in lib/libzfs/os/linux/libzfs_pool_os.c."""

SHINGLED: Final = re.compile(
    r"WDC WD[2346]0EFAX-|ST(2000DM00[589]|3000DM007|4000DM00[45]|6000DM003|8000DM004)-|ST(5|6|8)000AS00\d\d-|"
    r"TOSHIBA HDWD2[24]0"
)
"""Hard disks with shingled recording by their models, as smartmontools' drivedb.h names them "(SMR)". Others exist."""


@dataclass(frozen=True)
class Candidate:
    """A free disk: why it cannot be used, and what is to be known if it can."""

    disk: Disk
    against: tuple[Statement, ...]
    warnings: tuple[Statement, ...]

    @property
    def fits(self) -> bool:
        """Whether OpenZFS would take it without force, and nothing speaks against it."""
        return not self.against


def candidates(member: Member, survey: Survey) -> tuple[Candidate, ...]:
    """Every free disk of the host, what fits best first."""
    free = (each for each in survey.inventory.disks if each.is_blank and not isinstance(can_use_disk(each), Refused))
    found = [
        Candidate(disk, tuple(_against(disk, member, survey)), tuple(_warnings(disk, member)))
        for disk in free
        if disk is not member.disk
    ]
    return tuple(sorted(found, key=lambda each: (not each.fits, len(each.warnings), each.disk.identity.size_bytes)))


def needed_bytes(member: Member, inventory: Inventory) -> int:
    """How large the device must be: as the smallest that is in the vdev; 0 where no size is known."""
    places = (inventory.place_of(leaf) for leaf in member.top.leaves())
    sizes = (place[1].size_bytes if place[1] else place[0].identity.size_bytes for place in places if place)
    return min(sizes, default=0)


def partition_bytes(disk: Disk) -> int:
    """How large the partition is that OpenZFS makes on a whole disk."""
    sector = disk.identity.logical_sector_bytes or 512
    sectors = disk.identity.size_bytes // sector - KEPT_SECTORS
    return max(sectors - sectors % ROUNDED_SECTORS, 0) * sector


def ashift_of(member: Member) -> int:
    """The sector size of the vdev, as a power of two; 0 where it is not known."""
    return member.top.ashift or member.leaf.ashift or member.pool.ashift


def _against(disk: Disk, member: Member, survey: Survey) -> Iterator[Statement]:
    missing = needed_bytes(member, survey.inventory) - partition_bytes(disk)
    if missing > 0:
        template = _("It is smaller than the smallest disk of the vdev, by {missing}.")
        yield Statement("candidate-small", template, {"missing": size_text(missing)})
    ashift = ashift_of(member)
    if ashift and disk.identity.logical_sector_bytes > 1 << ashift:
        values = {"sector": str(disk.identity.logical_sector_bytes), "ashift": str(ashift)}
        template = _("Its sectors of {sector} bytes are larger than the vdev allows (ashift {ashift}).")
        yield Statement("candidate-sectors", template, values)
    if disk.removable or disk.network or disk.bus in (Bus.USB, Bus.MMC):
        yield Statement("candidate-loose", _("It is a removable, USB or network disk."))
    worrying = [each for each in survey.said.get(disk.key, ()) if each.level is not Level.INFO]
    if worrying:
        yield Statement("candidate-ill", _("It has trouble itself: {said}"), {"said": worrying[0].plain})


def _warnings(disk: Disk, member: Member) -> Iterator[Statement]:
    if disk.rotational and SHINGLED.match(disk.identity.model):
        template = _("It has shingled recording (SMR): filling it can take days, and OpenZFS may give it up.")
        yield Statement("candidate-shingled", template)
    old = member.disk
    if old and disk.rotational != old.rotational:
        template = (
            _("It is a hard disk and the old one an SSD.")
            if disk.rotational
            else _("It is an SSD and the old one a hard disk.")
        )
        yield Statement("candidate-other-kind", template)
    if old and disk.identity.size_bytes > old.identity.size_bytes * 1.1:
        template = _("It is larger than needed; the vdev grows only when all its disks are larger.")
        yield Statement("candidate-large", template)
