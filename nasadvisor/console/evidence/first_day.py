"""The first day of a pool: since when it is watched, when there is an answer, and what is known already."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from nasadvisor.console.evidence.watch import Watched
from nasadvisor.console.wording.statements import localized, time_text, unbroken
from nasadvisor.domain.evidence.options import waits_of
from nasadvisor.domain.evidence.verdict import Answer
from nasadvisor.domain.figures import milliseconds, percent, rate
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import DAY_S

AT_ONCE: Final = timedelta(minutes=10)
"""Two answers that come so close to each other are one."""


@dataclass(frozen=True)
class FirstDay:
    """What is said instead of answers. `so_far` is how long programs waited, `figures` are what was counted."""

    since: str
    first: str
    whole: str
    so_far: str
    figures: tuple[tuple[str, str], ...]
    beside: tuple[Statement, ...]


def first_day(seen: Watched, now: datetime) -> FirstDay | None:
    """None once there is an answer, or what decides about a log is something else than time."""
    if not seen.known.log.wait_s or any(verdict.answer is not Answer.CANNOT_TELL for verdict in seen.known.verdicts):
        return None
    waits_s = [verdict.wait_s for verdict in seen.known.verdicts if verdict.wait_s]
    last_at = datetime.fromtimestamp(seen.last_at, UTC)
    first, whole = (last_at + timedelta(seconds=each(waits_s)) for each in (min, max))
    return FirstDay(
        since=_moment(datetime.fromtimestamp(seen.first_at, UTC), now),
        first=_moment(first, now) if whole - first > AT_ONCE else "",
        whole=_moment(whole, now),
        so_far=_waited(seen),
        figures=tuple((name, unbroken(localized(value))) for name, value in _figures(seen)),
        beside=tuple({each.code: each for verdict in seen.known.verdicts for each in verdict.beside}.values()),
    )


def _moment(moment: datetime, now: datetime) -> str:
    at, today = timezone.localtime(moment), timezone.localtime(now).date()
    values = {"time": date_format(at, "H:i"), "day": date_format(at, _("j M Y"))}
    if at.date() == today:
        return values["time"]
    if at.date() == today + timedelta(days=1):
        return _("tomorrow %(time)s") % values
    if at.date() == today - timedelta(days=1):
        return _("yesterday %(time)s") % values
    return pgettext("a day and a time", "%(day)s %(time)s") % values


def _waited(seen: Watched) -> str:
    """In all that was watched, not in a day: a night is none."""
    waits, share = waits_of(seen.known.workload), seen.known.workload.seconds / DAY_S
    commits_s, reads_s = (each.likely_s * share if each else 0.0 for each in (waits.commits, waits.reads))
    values = {"commits": time_text(commits_s), "reads": time_text(reads_s)}
    if waits.commits is None:
        return _("So far programs waited %(reads)s for disk reads.") % values
    if max(commits_s, reads_s) < 1:
        return _("So far no program waits.")
    return _("So far programs waited %(commits)s for synchronous writes and %(reads)s for disk reads.") % values


def _figures(seen: Watched) -> Iterator[tuple[str, str]]:
    workload, arc = seen.known.workload, seen.known.workload.sample.arc
    reads = arc.demand_hits + arc.demand_misses
    if workload.commits:
        yield _("Synchronous writes"), f"{rate(workload.commits / max(workload.seconds, 1e-9))}/s"
    if workload.commit_time:
        yield _("Commit latency"), milliseconds(workload.commit_time.likely_ns)
    if reads:
        yield _("Reads served by the ARC"), percent(arc.demand_hits / reads)
    if workload.reads.total:
        yield _("Disk read latency"), milliseconds(workload.read_ns)
