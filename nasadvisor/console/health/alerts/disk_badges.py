"""How each disk of a host is, in an icon and a word, for drawings and lists that are about something else."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.db.models import Case, Q, Value, When
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.collect_findings import findings_about
from nasadvisor.console.health.inventory import last_seen_on
from nasadvisor.console.health.models import SAID_OF, DiskOutcome, StoredDisk
from nasadvisor.console.storage.diagrams import PoolDrawing, draw_pool
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.console.wording.badges import Badge, badge_of_state
from nasadvisor.domain.health.pool_findings import POOL_MEMBER, member_finding
from nasadvisor.domain.health.urgency import urgency, worst_first
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Inventory, Pool

OPEN_LEVELS: Final = (Level.WARNING.value, Level.CRITICAL.value)

UNWELL: Final = (
    Q(worst_level__in=OPEN_LEVELS) | Q(outcome=DiskOutcome.FAILED) | Q(is_present=False, is_removable=False)
) & Q(is_forgotten=False)
"""The disks of which `collect_findings.findings_about` has a warning or worse to say."""

WORST_FIRST: Final = Case(
    When(UNWELL & Q(worst_level=Level.CRITICAL.value), then=Value(0)), When(UNWELL, then=Value(1)), default=Value(2)
)

_FAILING: Final = _("Failing")

WORDS: Final[dict[str, str | Promise]] = {
    "disk-failing": _FAILING,
    "disk-spare-below-threshold": _FAILING,
    "disk-reliability-degraded": _FAILING,
    "disk-media-read-only": _FAILING,
    "disk-persistent-memory-unreliable": _FAILING,
    "disk-prefail": _("Likely to fail"),
    "disk-gone": _("Not detected"),
    "disk-unanswered": _("No response"),
    "self-test-failed": _("Self-test failed"),
    "power-loss-protection-failed": _("Power-loss protection failed"),
    "media-errors": _("Media errors"),
    "pending-sectors": _("Unreadable sectors"),
    "reallocated-growing": _("Reallocated sectors rising"),
    "crc-growing": _("Transfer errors (CRC)"),
    "worn": _("Worn"),
    "worn-soon": _("Wears out soon"),
    "too-hot": _("Too hot or too cold"),
}
"""What a finding says, in a word or two; its level for the others."""


@dataclass(frozen=True)
class DiskBadge:
    """All that is said of a disk, the worst first. `key` is the disk's, "" of one that nobody knows."""

    findings: tuple[Finding, ...]
    key: str

    @property
    def url(self) -> str:
        """The page of the disk, or that of the pool that misses it."""
        return reverse("disk", args=[self.key]) if self.key else reverse("pool", args=[self.worst.place])

    @property
    def worst(self) -> Finding:
        """The first of the worst."""
        return self.findings[0]

    @property
    def level(self) -> Level:
        """How bad it is."""
        return self.worst.level

    @property
    def look(self) -> Badge:
        """Colour and icon of the level, with a word for the finding."""
        look = badge_of_state(self.level.value)
        state = self.worst.values.get("state") if self.worst.code == POOL_MEMBER else None
        return Badge(look.colour, look.icon, WORDS.get(self.worst.code, str(state or look.word)))


@dataclass(frozen=True)
class DiskBadges:
    """The badges of the disks that need a look, and the disks that answered and have nothing to say, by their keys.
    `gone` are those that the host shows no more, by the guids of the vdevs that they were.
    """

    unwell: dict[str, DiskBadge]
    well: frozenset[str]
    gone: dict[str, StoredDisk]

    @property
    def version(self) -> str:
        """Another one whenever a list of disks would look different because of the badges."""
        return ";".join(f"{key}={badge.worst.code}" for key, badge in sorted(self.unwell.items()))


def badge_of(disk: StoredDisk) -> DiskBadge | None:
    """The badge of one disk; None where nobody needs to look."""
    found = worst_first(finding for finding in findings_about(disk) if finding.level is not Level.INFO)
    return DiskBadge(found, disk.key) if found else None


def badges_on(node: Node) -> DiskBadges:
    """The badges of every disk of a node."""
    return badges_of(node, StoredDisk.objects.filter(UNWELL, node=node).only(*SAID_OF))


def badges_in(drawing: PoolDrawing, badges: DiskBadges) -> list[DiskBadge]:
    """Those of the disks of a pool, with what the pool itself says of them, the worst first."""
    found: dict[str, DiskBadge] = {}
    for group in drawing.groups:
        for leaf in (leaf for vdev in group.vdevs for leaf in vdev.leaves):
            gone = badges.gone.get(leaf.vdev.guid)
            key = leaf.marked_key or (gone.key if gone and not leaf.disk else "")
            label = leaf.disk.label if leaf.disk else gone.label if gone else leaf.short_path
            own = found.get(key or leaf.vdev.guid) or badges.unwell.get(key)
            said = None if leaf.is_new else member_finding(drawing.pool, group.vdev_class, leaf.vdev, label)
            findings = (*(own.findings if own else ()), *((said,) if said else ()))
            if findings:
                found[key or leaf.vdev.guid] = DiskBadge(worst_first(findings), key)
    return sorted(found.values(), key=lambda badge: urgency(badge.worst))


def badges_in_pool(node: Node, inventory: Inventory, pool: Pool) -> list[DiskBadge]:
    """Those of the disks of a pool where nothing else is drawn of it."""
    return badges_in(draw_pool(pool, Index(inventory)), badges_on(node))


def badges_of(node: Node, unwell: Iterable[StoredDisk]) -> DiskBadges:
    """The same where its disks that are `UNWELL` are read already; others, also of other nodes, may be among them."""
    badges = {disk.key: badge for disk in unwell if disk.node_id == node.pk and (badge := badge_of(disk))}
    disks = StoredDisk.objects.filter(node=node)
    answered = disks.filter(outcome=DiskOutcome.READ, is_present=True, is_forgotten=False).values_list("key", flat=True)
    return DiskBadges(badges, frozenset(answered) - badges.keys(), last_seen_on(node))
