"""The first line of a report: the worst open thing, when everything was looked at, and what was not."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from nasadvisor.console.badges import BAD, GOOD, QUIET, WAITING, WARN, Badge
from nasadvisor.console.fleet.current_host import Contact, contact_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.headline import place_of, words_of
from nasadvisor.console.health.models import DiskOutcome, NodeHealth, StoredDisk
from nasadvisor.console.health.open_issues import Trouble
from nasadvisor.domain.statements import Level

NAMED: Final = 4
"""Disks of a host that are called by their names; how many more there are is said."""


@dataclass(frozen=True)
class HostLook:
    """When a host and its disks were looked at last, None for never, and what was not looked at, in sentences."""

    node: Node
    read_at: datetime | None
    asked_at: datetime | None
    gaps: tuple[str, ...]


@dataclass(frozen=True)
class ReportVerdict:
    """The answer to "is everything all right?", in one sentence, and what it rests on."""

    look: Badge
    hosts: tuple[HostLook, ...]

    @property
    def words(self) -> str:
        """The sentence."""
        return str(self.look.word)

    @property
    def has_gaps(self) -> bool:
        """Whether anything was not looked at."""
        return any(host.gaps for host in self.hosts)


def verdict_on(nodes: Sequence[Node], troubles: Sequence[Trouble], now: datetime) -> ReportVerdict:
    """The verdict on these hosts; `troubles` are theirs, the worst of what nobody has acknowledged first."""
    hosts = tuple(_hosts(nodes, now))
    return ReportVerdict(_look(hosts, troubles), hosts)


def _look(hosts: Sequence[HostLook], troubles: Sequence[Trouble]) -> Badge:
    opened = [each for each in troubles if not each.is_known]
    if opened:
        words = words_of(opened, place_of(opened[0], has_others=len(hosts) > 1))
        return Badge(*(BAD if opened[0].level is Level.CRITICAL else WARN), words)
    if all(host.read_at is None for host in hosts):
        return Badge(*WAITING, _("No host has told anything yet"))
    if any(host.gaps for host in hosts):
        return Badge(*QUIET, _("Nothing is open, but not everything was looked at"))
    if not any(host.node.inventory and host.node.inventory.pools for host in hosts):
        return Badge(*QUIET, _("No pool is imported"))
    if troubles:
        count = len(troubles)
        words = ngettext("Nothing new, %(count)s known problem", "Nothing new, %(count)s known problems", count)
        return Badge(*QUIET, words % {"count": count})
    return Badge(*GOOD, _("Everything is all right"))


def _hosts(nodes: Iterable[Node], now: datetime) -> Iterator[HostLook]:
    swept = dict(NodeHealth.objects.values_list("node", "sweep_ended_at"))
    silent = _silent_disks()
    for node in nodes:
        swept_at = swept.get(node.pk)
        unheard = silent.get(node.pk, ()) if swept_at else ()
        gaps = (*_gaps_of_host(node, swept_at, now), *_gaps_of_disks(unheard))
        yield HostLook(node, node.inventory_read_at, swept_at, gaps)


def _silent_disks() -> dict[int, list[StoredDisk]]:
    """Disks that are there and of which the last sweep brought nothing, by the number of their host."""
    there = StoredDisk.objects.filter(is_present=True, is_forgotten=False, is_removable=False)
    disks = there.exclude(outcome=DiskOutcome.READ).order_by("node", "outcome", "model", "serial")
    found = disks.only("node", "model", "serial", "outcome")
    return {node: list(group) for node, group in groupby(found, key=lambda disk: disk.node_id)}


def _gaps_of_host(node: Node, swept_at: datetime | None, now: datetime) -> Iterator[str]:
    at = f"{timezone.localtime(node.inventory_read_at):%Y-%m-%d %H:%M}" if node.inventory_read_at else "–"
    match contact_of(node, now):
        case Contact.NEVER:
            yield _("The host has not told anything yet.")
            return
        case Contact.SILENT:
            yield _("The host is silent: what is said of it was read at %(at)s.") % {"at": at}
        case Contact.FAILED | Contact.OUTDATED:
            yield _("The host's last reading is old: what is said of it was read at %(at)s.") % {"at": at}
        case Contact.FRESH:
            pass
    if swept_at is None:
        yield _("Its disks have not been asked for their health yet.")


def _gaps_of_disks(disks: Iterable[StoredDisk]) -> Iterator[str]:
    for outcome, group in groupby(disks, key=lambda disk: disk.outcome):
        found = list(group)
        names = ", ".join(disk.label for disk in found[:NAMED])
        if len(found) > NAMED:
            names = _("%(names)s and %(count)s more") % {"names": names, "count": len(found) - NAMED}
        yield _words_of_gap(DiskOutcome(outcome), len(found)) % {"count": len(found), "disks": names}


def _words_of_gap(outcome: DiskOutcome, count: int) -> str:
    if outcome is DiskOutcome.ASLEEP:
        return ngettext(
            "%(count)s disk was asleep and was left asleep: %(disks)s",
            "%(count)s disks were asleep and were left asleep: %(disks)s",
            count,
        )
    if outcome is DiskOutcome.UNSUPPORTED:
        return ngettext(
            "%(count)s disk tells nothing of its health: %(disks)s",
            "%(count)s disks tell nothing of their health: %(disks)s",
            count,
        )
    if outcome is DiskOutcome.FAILED:
        return ngettext("%(count)s disk did not answer: %(disks)s", "%(count)s disks did not answer: %(disks)s", count)
    return ngettext("%(count)s disk was not asked: %(disks)s", "%(count)s disks were not asked: %(disks)s", count)
