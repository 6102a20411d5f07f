"""What speaks against a device of a pool, and how sure that is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from nasadvisor.domain.health.pool_findings import GOOD_STATES
from nasadvisor.domain.health.replacement.member import Member, controller_of, members_of
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.storage.logs import OFFLINE

Said = Mapping[str, tuple[Finding, ...]]
"""What is said of disks, by their keys."""

FAILING: Final = frozenset(
    {
        "disk-failing",
        "disk-media-read-only",
        "disk-persistent-memory-unreliable",
        "disk-reliability-degraded",
        "disk-spare-below-threshold",
    }
)
"""The disk itself says that it fails."""

MEDIA: Final = frozenset({"disk-prefail", "media-errors", "pending-sectors", "reallocated-growing", "self-test-failed"})
"""The disk counts what only its own surface or flash can cause."""

UNREADABLE: Final = frozenset({"media-errors", "pending-sectors"})
"""Something on the disk could not be read."""

CABLE: Final = "crc-growing"
"""The disk counts what only the way to it can cause."""


@dataclass(frozen=True)
class Survey:
    """A host, what is said of its disks, and every device of its pools."""

    inventory: Inventory
    said: Said
    members: tuple[Member, ...]


def survey_of(inventory: Inventory, said: Said) -> Survey:
    """Look at everything once."""
    return Survey(inventory, said, members_of(inventory))


class Suspicion(StrEnum):
    """How sure it is that this disk has to go."""

    HEALTHY = "healthy"
    OFFLINE = "offline"  # somebody took it out of service
    CABLE = "cable"  # the way to it, rather than the disk
    LIKELY = "likely"
    SURE = "sure"


@dataclass(frozen=True)
class DiskEvidence:
    """Everything that speaks against a device, the strongest first, and what follows from it."""

    suspicion: Suspicion
    reasons: tuple[Statement, ...]


def evidence_against(member: Member, survey: Survey) -> DiskEvidence:
    """What its pool, its disk and its neighbours say."""
    said, codes = survey.said, codes_of(member, survey.said)
    about_pool = tuple(_by_pool(member))
    about_disk = tuple(each.plain for each in said_of(member, said) if each.code in FAILING | MEDIA | {CABLE})
    neighbours = _neighbours_in_trouble(member, survey)
    reasons = (*about_pool, *about_disk)
    if codes & FAILING:
        return DiskEvidence(Suspicion.SURE, reasons)
    if reasons and not codes & MEDIA and (neighbours or CABLE in codes):
        return DiskEvidence(Suspicion.CABLE, (*reasons, *neighbours))
    if member.leaf.state == OFFLINE and not codes & MEDIA and not member.leaf.errors:
        return DiskEvidence(Suspicion.OFFLINE, reasons)
    if codes & MEDIA and (member.leaf.errors or not member.works):
        return DiskEvidence(Suspicion.SURE, reasons)
    return DiskEvidence(Suspicion.LIKELY if reasons else Suspicion.HEALTHY, reasons)


def troubled(survey: Survey) -> tuple[Member, ...]:
    """The devices of all pools against which something speaks; nothing healthy is ever among them."""
    return tuple(each for each in survey.members if evidence_against(each, survey).suspicion is not Suspicion.HEALTHY)


def said_of(member: Member, said: Said) -> tuple[Finding, ...]:
    """The warnings about the disk of a device."""
    found = said.get(member.disk.key, ()) if member.disk else ()
    return tuple(each for each in found if each.level is not Level.INFO)


def codes_of(member: Member, said: Said) -> frozenset[str]:
    """Their codes."""
    return frozenset(each.code for each in said_of(member, said))


def _by_pool(member: Member) -> Iterator[Statement]:
    leaf, values = member.leaf, {"pool": member.pool.name, "state": member.leaf.state}
    if leaf.state not in GOOD_STATES and leaf.state != OFFLINE:
        yield Statement("pool-gave-up", _("Pool {pool} reports it as {state}."), values)
    if leaf.state == OFFLINE:
        yield Statement("taken-offline", _("Someone took it offline."), values)
    if leaf.errors:
        counts = {"read": str(leaf.read_errors), "write": str(leaf.write_errors), "cksum": str(leaf.checksum_errors)}
        template = _("Errors since the counters were cleared: {read} read, {write} write, {cksum} checksum.")
        yield Statement("leaf-errors", template, counts)
    slow_beside = max((each.slow_ios for each in member.top.leaves() if each.guid != leaf.guid), default=0)
    if leaf.slow_ios > slow_beside:
        counts = {"count": str(leaf.slow_ios), "beside": str(slow_beside)}
        template = _("{count} of its requests took longer than 30 s; of the slowest disk beside it, {beside} did.")
        yield Statement("slower-than-siblings", template, counts)


def _neighbours_in_trouble(member: Member, survey: Survey) -> tuple[Statement, ...]:
    """Disks on the same controller that have errors as well, without a fault of their own."""
    controller = controller_of(member.disk) if member.disk else ""
    if not controller or not member.disk:
        return ()
    said = survey.said
    labels = {
        other.disk.label
        for other in survey.members
        if other.disk
        and other.disk is not member.disk
        and (other.leaf.errors or CABLE in codes_of(other, said))
        and controller_of(other.disk) == controller
        and not codes_of(other, said) & (FAILING | MEDIA)
    }
    if not labels:
        return ()
    template = _(
        "Other disks on the controller {controller} have errors without a fault of their own: {disks}. That points to "
        "a cable, the backplane or power."
    )
    return (Statement("same-controller", template, {"controller": controller, "disks": ", ".join(sorted(labels))}),)
