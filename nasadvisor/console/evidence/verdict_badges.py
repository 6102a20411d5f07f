"""What is known of a pool's log and cache in a few words each, from what was kept of the last verdicts."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.evidence.options import gain_words
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.wording.badges import GOOD, QUIET, WAITING, WARN, Badge
from nasadvisor.console.wording.statements import localized
from nasadvisor.domain.evidence.options import Waits
from nasadvisor.domain.evidence.thresholds import HISTORY
from nasadvisor.domain.evidence.verdict import Answer, Device
from nasadvisor.domain.figures import duration
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import HOUR_S, MINUTE_S

WORDS: Final[dict[str, str | Promise]] = {
    "slow-commits": gettext_lazy("would help, {pool} → {ssd}"),
    "log-in-use": gettext_lazy("handles {share} of log writes"),
    "log-bypassed": gettext_lazy("handles only {share} of log writes"),
    "log-idle": gettext_lazy("hardly used"),
    "log-slow": gettext_lazy("hardly faster than the disks"),
    "log-flush-unknown": gettext_lazy("disk latency unavailable"),
    "log-throughput": gettext_lazy("commits still wait for the disks"),
    "flush-unknown": gettext_lazy("disk latency unavailable"),
    "no-latency": gettext_lazy("disk latency unavailable"),
    "ghosts": gettext_lazy("would serve at least {share} of ARC misses"),
    "some-ghosts": gettext_lazy("would serve at least {share} of ARC misses"),
    "cache-serves": gettext_lazy("serves {share} of ARC misses"),
    "cache-serves-little": gettext_lazy("serves only {share} of what the memory misses"),
    "cache-wears": gettext_lazy("more wear than benefit"),
    "cache-slow": gettext_lazy("hardly faster than the pool itself"),
    "arc-fills": gettext_lazy("the ARC is still filling"),
    "kept-out": gettext_lazy("the data read is excluded from caching"),
    "nothing-eligible": gettext_lazy("the data read is excluded from caching"),
    "no-arcstats": gettext_lazy("ARC counters unavailable"),
}
"""By the code of the rule that decided, with the values of its sentence; by the answer for the others."""

OPEN: Final[dict[Device, str | Promise]] = {
    Device.LOG: gettext_lazy("depends on the SSD: test it first"),
    Device.CACHE: gettext_lazy("no proven benefit"),
}
"""What else is said where nobody can tell."""

ANSWERS: Final[dict[str, str | Promise]] = {
    Answer.HELPS: gettext_lazy("would help"),
    Answer.LITTLE: gettext_lazy("would help little"),
    Answer.NO: gettext_lazy("would not help"),
}

SHORTEST_WAIT_S: Final = 1.0
"""Less than a second in a day is none."""

OVERDUE_S: Final = 10 * MINUTE_S
"""An answer that should have come so long ago does not come while nothing new is watched."""

BADGES: Final = {Answer.HELPS: GOOD, Answer.LITTLE: QUIET, Answer.NO: QUIET, Answer.CANNOT_TELL: WAITING}
BAD_USE: Final = frozenset({"log-bypassed", "log-slow", "cache-wears"})

TITLES: Final[dict[Device, str | Promise]] = {Device.LOG: gettext_lazy("Log"), Device.CACHE: gettext_lazy("Cache")}


@dataclass(frozen=True)
class VerdictBadge:
    """A few words about a log or a cache, with the colour and icon for them; `is_waiting` where they say when an answer
    comes."""

    title: str | Promise
    look: Badge
    is_waiting: bool = False


def verdict_badges_on(node: Node, pools: Iterable[Pool], now: datetime) -> dict[str, tuple[VerdictBadge, ...]]:
    """What is known of the log and cache of some pools in a few words each, by the guids of the pools."""
    found = series_on(node)
    return {pool.guid: verdict_badges_of(found.get(pool.guid), now) for pool in pools}


def series_on(node: Node) -> dict[str, SampledPool]:
    """The samples of a node's pools by their guids."""
    return {each.guid: each for each in SampledPool.objects.filter(node=node).defer("facts_document")}


def verdict_badges_of(series: SampledPool | None, now: datetime) -> tuple[VerdictBadge, ...]:
    """How long programs wait, then one for the log and one for the cache; before any answer, when that comes."""
    if series is None or not series.log_answer:
        missing_s = HISTORY.yes_s - (_watched_s(series, now) if series else 0)
        return (_waiting(_("Log and cache"), missing_s),)
    waiting = series.waiting
    log_gain = gain_words(waiting.log, waiting.waits) if waiting else ""
    cache_gain = gain_words(waiting.cache, waiting.waits) if waiting else ""
    return (
        *((_waiting_badge(waiting.waits),) if waiting else ()),
        _verdict_badge(Device.LOG, series.log_answer, series.log_rule, series.log_due_at, now, log_gain),
        _verdict_badge(Device.CACHE, series.cache_answer, series.cache_rule, series.cache_due_at, now, cache_gain),
    )


def _waiting_badge(waits: Waits) -> VerdictBadge:
    """How long programs wait in a day, for reads and synchronous writes together."""
    is_felt = waits.total_s >= SHORTEST_WAIT_S
    words = _("%(time)s a day") % {"time": localized(duration(waits.total_s))} if is_felt else _("hardly any")
    return VerdictBadge(_("Programs wait"), Badge("secondary", "hourglass-split", words))


def _watched_s(series: SampledPool, now: datetime) -> float:
    first = series.samples.order_by("at").values_list("at", flat=True).first()
    return now.timestamp() - first if first else 0


def _verdict_badge(
    device: Device, answer: str, rule: Statement | None, due_at: int, now: datetime, gain: str
) -> VerdictBadge:
    if answer == Answer.CANNOT_TELL and due_at:
        return _waiting(TITLES[device], due_at - now.timestamp())
    words = str(WORDS.get(rule.code if rule else "", ANSWERS.get(Answer(answer), OPEN[device])))
    colour, icon = WARN if rule and rule.code in BAD_USE else BADGES[Answer(answer)]
    if gain and answer == Answer.HELPS:
        return VerdictBadge(TITLES[device], Badge(colour, icon, _("would help: %(gain)s") % {"gain": gain}))
    return VerdictBadge(
        TITLES[device], Badge(colour, icon, localized(words.format_map(rule.values)) if rule else words)
    )


def _waiting(title: str | Promise, missing_s: float) -> VerdictBadge:
    return VerdictBadge(title, Badge(*WAITING, _still_watching(missing_s)), is_waiting=True)


def _still_watching(missing_s: float) -> str:
    """How long it takes to an answer, hours once it is that long; or that it should be there and nothing comes."""
    if missing_s < -OVERDUE_S:
        return _("overdue: no recent data")
    if missing_s > HOUR_S:
        hours = ceil(missing_s / HOUR_S)
        return ngettext("%(count)s h more data needed", "%(count)s h more data needed", hours) % {"count": hours}
    minutes = max(1, ceil(missing_s / MINUTE_S))
    return _("collecting data: first answer in %(count)s min") % {"count": minutes}
