"""What is worth knowing about counts of a disk that grow, as somebody who has watched it for weeks can tell."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.disk_findings import Subject, placed
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _

FEW_REALLOCATED: Final = 4
"""[policy] Of disks with fewer than 4 replaced sectors about 3 of 100 fail within a year, from 4 on 8 and more
(Backblaze's figures by attribute 5, as Scrutiny has them)."""

FEW_CRC: Final = 4
"""[policy] A reset or a plug pulled under load damages one or two transfers; a bad cable goes on."""


@dataclass(frozen=True)
class Growth:
    """What a disk counts now, and how much more that is than so many days ago."""

    now: int
    more: int
    days: int


def growth_findings(disk: Subject, reallocated: Growth | None, crc: Growth | None) -> tuple[Finding, ...]:
    """What grew so much that somebody should look; None is what a disk does not count or nobody has watched."""
    return tuple(placed(disk, finding) for finding in (*_reallocated(disk, reallocated), *_crc(disk, crc)))


def _reallocated(disk: Subject, growth: Growth | None) -> Iterator[Finding]:
    if growth and growth.more >= FEW_REALLOCATED:
        yield Finding(
            "reallocated-growing",
            _(
                "The disk {disk} has replaced {more} more bad sectors or blocks in the last {days} days ({count} in "
                "all). Have a replacement ready."
            ),
            _figures(disk, growth),
            Level.WARNING,
            _("A disk that keeps replacing sectors often fails within months. What was readable was kept."),
            measure=growth.now,
        )


def _crc(disk: Subject, growth: Growth | None) -> Iterator[Finding]:
    if growth and growth.more >= FEW_CRC:
        yield Finding(
            "crc-growing",
            _(
                "{more} transfers to or from the disk {disk} arrived damaged in the last {days} days "
                "({count} in all). Check its cable and slot, and change the cable if it continues."
            ),
            _figures(disk, growth),
            Level.WARNING,
            _(
                "Damaged transfers are noticed and made again, so no data is lost. They cost time, and such a "
                "connection can drop the disk out of its pool. The count never falls; it is growth that matters."
            ),
            measure=growth.now,
        )


def _figures(disk: Subject, growth: Growth) -> dict[str, str]:
    return {"disk": disk.label, "more": str(growth.more), "days": str(growth.days), "count": str(growth.now)}
