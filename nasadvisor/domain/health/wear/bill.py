"""The bill of an SSD: whose are the bytes that the kernel counted for it within a time, line by line.

The lines add up to what was counted for the whole drive (/sys/block/DISK/stat), or for its slices if that is more. What
no line accounts for is a line of its own.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Final

from nasadvisor.domain.statements import Finding
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import GIGABYTE


class Payee(StrEnum):
    """What kind of writer a line is about."""

    GUEST = "guest"  # datasets of a guest of the platform
    DATASET = "dataset"
    METADATA = "metadata"  # what a pool wrote beyond what its datasets account for
    LOG = "log"  # for a dataset
    CACHE = "cache"
    UNDIVIDED = "undivided"  # of a pool, at a time of which its datasets are not known
    OTHERS = "others"  # counted for the drive, and for none of its slices that belong to a pool


DATA: Final = "data"
UNATTRIBUTED: Final = "other"
"""The role of bytes that the drive counted and no role accounts for."""

ROLES: Final = {Payee.LOG: "log", Payee.CACHE: "cache", Payee.OTHERS: UNATTRIBUTED}


@dataclass(frozen=True)
class BillLine:
    """One writer, and what the device was written for it. `name` is "" where the kind says all.

    `logical_bytes` are what programs wrote, in so many `writes`. Of the device's bytes, `rewritten_bytes` are those
    that records and blocks larger than the writes account for, `zil_bytes` those of the ZIL on the pool's own vdevs.
    """

    kind: Payee
    name: str
    device_bytes: int
    logical_bytes: int = 0
    writes: int = 0
    rewritten_bytes: int = 0
    zil_bytes: int = 0

    @property
    def role(self) -> str:
        """The use of the SSD that it is a part of: a log, a cache, or the data of a pool."""
        return ROLES.get(self.kind, DATA)

    @property
    def amplification(self) -> float | None:
        """Bytes on the device for each byte that programs wrote."""
        return self.device_bytes / self.logical_bytes if self.logical_bytes else None


COUNTS: Final = ("device_bytes", "logical_bytes", "writes", "rewritten_bytes", "zil_bytes")


def added_up(lines: Iterable[BillLine]) -> tuple[BillLine, ...]:
    """One line for each writer, the largest first. Order does not matter."""
    sums: dict[tuple[Payee, str], BillLine] = {}
    for line in lines:
        known = sums.get((line.kind, line.name))
        both = {name: getattr(known, name) + getattr(line, name) for name in COUNTS} if known else {}
        sums[line.kind, line.name] = replace(line, **both)
    return tuple(sorted(sums.values(), key=lambda line: (-line.device_bytes, line.kind, line.name)))


@dataclass(frozen=True)
class WearBill:
    """The lines, the largest first, and what there is to say against them."""

    lines: tuple[BillLine, ...]
    findings: tuple[Finding, ...] = ()

    @cached_property
    def total(self) -> int:
        """All bytes."""
        return sum(line.device_bytes for line in self.lines)

    def share_of(self, line: BillLine) -> float:
        """A line's part of all."""
        return line.device_bytes / self.total if self.total else 0.0

    def bytes_of(self, role: str) -> int:
        """What one role wrote."""
        return sum(line.device_bytes for line in self.lines if line.role == role)

    @property
    def amplification(self) -> float | None:
        """Bytes on the device for each byte that programs wrote to datasets; logs, caches and others left out."""
        own = [line for line in self.lines if line.role == DATA and line.kind is not Payee.UNDIVIDED]
        logical = sum(line.logical_bytes for line in own)
        return sum(line.device_bytes for line in own) / logical if logical else None


def bill_of(drive_bytes: int | None, lines: Iterable[BillLine]) -> WearBill:
    """The bill of what was written within a time.

    Args:
        drive_bytes: what the kernel counted for the whole drive within that time, or None if nobody knows.
        lines: what its slices were written within the same time; lines of one writer are added up.
    """
    known = [line for line in lines if line.device_bytes > 0]
    accounted = sum(line.device_bytes for line in known)
    others = (drive_bytes or 0) - accounted
    if others > 0:
        known.append(BillLine(Payee.OTHERS, "", others))
    return WearBill(added_up(known), tuple(_disagreement(drive_bytes, accounted)))


def with_guests(bill: WearBill, guest_of: Callable[[str], str]) -> WearBill:
    """The same with the datasets of each guest in one line; `guest_of` is "" for a dataset that nobody owns."""
    return replace(bill, lines=added_up(_owned(line, guest_of(line.name)) for line in bill.lines))


def _owned(line: BillLine, guest: str) -> BillLine:
    kind = Payee.GUEST if line.kind is Payee.DATASET else line.kind
    return replace(line, kind=kind, name=guest) if guest else line


def _disagreement(drive_bytes: int | None, accounted: int) -> list[Finding]:
    """Roles that claim a tenth more than the drive counted: one of the two is read wrongly."""
    if drive_bytes is None or accounted <= 1.1 * drive_bytes + 2**30:
        return []
    template = _(
        "The roles of this disk wrote {roles} GB, but the disk itself counted {drive} GB in the same time. Its "
        "counter may use another unit; the split follows the figures of the roles."
    )
    values = {"roles": f"{accounted / GIGABYTE:.1f}", "drive": f"{drive_bytes / GIGABYTE:.1f}"}
    return [
        Finding(
            "role-bytes-exceed-drive",
            template,
            values,
            explanation=_(
                "OpenZFS counts the writes of a log and a cache, and the disk counts the writes it receives. They "
                "should agree within 10 %."
            ),
        )
    ]
