"""Whether a device may leave its pool now: what its mirror or raidz can still lose, and what holds the change back."""
# ruff: noqa: N802

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.health.replacement.evidence import (
    FAILING,
    MEDIA,
    UNREADABLE,
    DiskEvidence,
    Survey,
    Suspicion,
    codes_of,
)
from nasadvisor.domain.health.replacement.member import WORKS, Member
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Vdev, VdevClass

DATA: Final = frozenset({VdevClass.NORMAL, VdevClass.SPECIAL, VdevClass.DEDUP})
"""Classes that a pool cannot be without."""


@dataclass(frozen=True)
class Redundancy:
    """How many more parts of a top-level vdev may fail: now, and while this device is out."""

    now: int
    without: int

    @property
    def said(self) -> Statement:
        """In a sentence."""
        values = {"now": str(max(self.now, 0)), "without": str(max(self.without, 0))}
        if self.without < 0:
            return Statement("redundancy-none", _("Without it, its vdev has too few disks: the pool stops."), values)
        template = _("Its vdev can lose {now} more disk(s) now, and {without} more while this one is out.")
        return Statement("redundancy", template, values)


def redundancy_of(member: Member) -> Redundancy:
    """Counted by parts: one works as long as any of its leaves does, as where a spare took over."""
    top, part = member.top, member.part
    if part is top:
        others = [leaf for leaf in part.leaves() if leaf.guid != member.leaf.guid and leaf.state in WORKS]
        return Redundancy(0 if member.works or others else -1, 0 if others else -1)
    missing = sum(not _works(each) for each in top.children)
    works_alone = member.works and sum(leaf.state in WORKS for leaf in part.leaves()) == 1
    return Redundancy(top.parity - missing, top.parity - missing - works_alone)


def holds(member: Member, evidence: DiskEvidence, survey: Survey) -> tuple[Refused, ...]:
    """Everything that is in the way now, with what to do first."""
    pool = member.pool
    found: list[Refused] = []
    if pool.suspended:
        found.append(PoolStands(member))
    if pool.read_only:
        found.append(OnlyReadable(member))
    if pool.checkpoint and member.vdev_class in DATA:
        found.append(CheckpointFirst(member))
    if member.doubt and member.works:
        found.append(NotCertain(member))
    if member.part.kind == "replacing" and member.vdev_class in DATA:
        found.append(IsReplaced(member))
    elif pool.scan in ("resilver", "removal", "expansion"):
        found.append(StillWorking(member))
    elif pool.scan == "scrub" and member.works:
        found.append(ScrubFirst(member))
    if evidence.suspicion is Suspicion.CABLE:
        found.append(CableFirst(member))
    worse = tuple(_siblings_in_trouble(member, survey))
    if worse and member.works and member.vdev_class in DATA:
        found.append(SiblingFirst(member, worse[0]))
    return tuple(found)


def warnings(member: Member, survey: Survey) -> Iterator[Statement]:
    """What holds nothing back, because waiting would not help, and has to be known all the same."""
    if member.works or member.vdev_class not in DATA:
        return
    for sibling in _siblings_in_trouble(member, survey):
        label = sibling.disk.label if sibling.disk else sibling.leaf.name
        values = {"disk": label, "vdev": member.top.name}
        template = _(
            "{disk} in {vdev} has trouble too. What cannot be read from it while the new disk is filled is lost: back "
            "up first what has no other copy."
        )
        yield Statement("sibling-in-trouble", template, values)


def _works(part: Vdev) -> bool:
    return any(leaf.state in WORKS for leaf in part.leaves())


def _siblings_in_trouble(member: Member, survey: Survey) -> Iterator[Member]:
    """Working members of the same vdev, of which something is not readable or that are about to fail."""
    for other in survey.members:
        beside = other.top is member.top and other.part is not member.part and other.works
        bad = codes_of(other, survey.said) & (UNREADABLE | FAILING | MEDIA) or other.leaf.errors
        if beside and bad:
            yield other


def PoolStands(member: Member) -> Refused:
    """A suspended pool accepts no command that changes it. Its disks have to respond first."""
    template = _("Pool {pool} is suspended. Check cables and power, then run `zpool clear {pool}`; replace afterwards.")
    return Refused("replace-suspended", template, {"pool": member.pool.name})


def OnlyReadable(member: Member) -> Refused:
    """A pool that is imported read-only cannot be changed."""
    template = _("Pool {pool} is imported read-only. Export it and import it for writing first.")
    return Refused("replace-read-only", template, {"pool": member.pool.name})


def CheckpointFirst(member: Member) -> Refused:
    """While a checkpoint exists, OpenZFS attaches, replaces and detaches nothing: spa_vdev_attach() in
    module/zfs/spa.c.
    """
    template = _("Pool {pool} has a checkpoint, which prevents this. `zpool checkpoint -d {pool}` discards it.")
    return Refused("replace-checkpoint", template, {"pool": member.pool.name})


def NotCertain(member: Member) -> Refused:
    """Guid, label and path must lead to one disk. Where they do not, a healthy disk could be pulled by mistake."""
    template = _("It is not certain which disk this is. {doubt}")
    return Refused("replace-not-certain", template, {"doubt": member.doubt or ""})


def IsReplaced(member: Member) -> Refused:
    """The device is part of a replacement that is running: the old one stays until the new one is filled."""
    template = _(
        "It is part of a replacement that is not finished. Wait for its end; if the new disk fails, `zpool detach "
        "{pool} {guid}` ends it and keeps the old one."
    )
    new = list(member.part.leaves())[-1]
    return Refused("replace-running", template, {"pool": member.pool.name, "guid": new.guid})


def StillWorking(member: Member) -> Refused:
    """A resilver restores redundancy, and only one runs at a time; a removal or an expansion moves the same blocks."""
    template = _("Pool {pool} is busy: {scan}. Wait for its end; `zpool status {pool}` shows how far it is.")
    return Refused("replace-busy", template, {"pool": member.pool.name, "scan": member.pool.scan})


def ScrubFirst(member: Member) -> Refused:
    """A replacement cancels the scrub. Its findings decide whether the other disks can be relied on."""
    template = _("A scrub of pool {pool} is running, and a replacement would cancel it. While this disk works, wait.")
    return Refused("replace-scrub", template, {"pool": member.pool.name})


def CableFirst(member: Member) -> Refused:
    """Corrupted transfers and errors of several disks on one controller come from the way to the disks."""
    template = _(
        "This looks like a cable, backplane or power fault, not like a failed disk. Check those, then run `zpool clear "
        "{pool} {guid}` and watch whether errors return."
    )
    return Refused("replace-cable", template, {"pool": member.pool.name, "guid": member.leaf.guid})


def SiblingFirst(member: Member, sibling: Member) -> Refused:
    """While the disk works, its data can still repair what another disk cannot read. A scrub does that."""
    label = sibling.disk.label if sibling.disk else sibling.leaf.name
    template = _(
        "{disk} in the same {vdev} has trouble too. While both work, run `zpool scrub {pool}` first: it repairs from "
        "one what the other cannot read."
    )
    return Refused("replace-sibling", template, {"disk": label, "vdev": member.top.name, "pool": member.pool.name})
