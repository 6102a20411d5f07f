"""When somebody is told about a finding: a state machine for each alert, pure, moved by observations.

An alert is one finding about one thing. It is told once when it is new, again only when it has grown, once more to
those on call if nobody takes it up, and once when it is over. Seeing the same again and again says nothing. Quiet hours
hold back what can wait until morning.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Final

from nasadvisor.domain.statements import RANK, Level

RECOVERED_AFTER: Final = timedelta(minutes=3)
"""How long a finding must stay away before it counts as over, so that one that flickers is one alert."""

GROWTH_FACTOR: Final = 2
"""Twice what was told last is worth telling at once …"""

SLOW_GROWTH_AFTER: Final = timedelta(days=1)
"""… and any growth is after a day without a word."""

NEWS: Final = frozenset({"trial-ended"})
"""Codes of findings that tell of something that has happened. That one is old by now is not worth a word."""


class AlertState(StrEnum):
    """Where an alert stands."""

    NEW = "new"  # nobody has taken it up
    ACKNOWLEDGED = "acknowledged"  # somebody has; only growth tells of it again
    RECOVERED = "recovered"  # over


class EventKind(StrEnum):
    """What there is to tell."""

    NEW = "new"
    WORSE = "worse"
    AGAIN = "again"
    ESCALATED = "escalated"
    RECOVERED = "recovered"


@dataclass(frozen=True)
class AlertKey:
    """What an alert is about. `source` is who can tell that it is over: silence of that source says nothing."""

    source: str
    code: str
    subject: str


@dataclass(frozen=True)
class Observation:
    """A finding as seen now; `measure` is how bad it is, in the finding's own unit."""

    key: AlertKey
    level: Level
    measure: int = 0


@dataclass(frozen=True)
class Alert:
    """One alert. `told_level` and `told_measure` are what was told last, at `told_at`.

    `away_since` is when the finding was first missed, None while it is there. `snoozed_until` is when one that was
    acknowledged for a while is told again, None where it was for good.
    """

    key: AlertKey
    state: AlertState
    level: Level
    measure: int
    began_at: datetime
    told_at: datetime
    told_level: Level
    told_measure: int
    away_since: datetime | None = None
    is_escalated: bool = False
    snoozed_until: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is not over."""
        return self.state is not AlertState.RECOVERED


@dataclass(frozen=True)
class AlertChange:
    """An alert after an observation, and what there is to tell, None for nothing."""

    alert: Alert
    event: EventKind | None = None


def reconcile(
    alerts: Mapping[AlertKey, Alert], observed: Iterable[Observation], sources: frozenset[str], now: datetime
) -> Iterator[AlertChange]:
    """The steps of every alert that moves, given all that the sources saw now.

    Alerts of other sources stay as they are: who was not asked cannot say that something is over.
    """
    seen = {each.key: each for each in observed}
    for observation in seen.values():
        before = alerts.get(observation.key)
        step = present(before, observation, now)
        if step.alert != before:
            yield step
    for key, alert in alerts.items():
        if key.source in sources and key not in seen and alert.is_open:
            step = absent(alert, now)
            if step.alert != alert:
                yield step


def present(alert: Alert | None, seen: Observation, now: datetime) -> AlertChange:
    """The finding is there."""
    if alert is None or not alert.is_open:
        new = Alert(seen.key, AlertState.NEW, seen.level, seen.measure, now, now, seen.level, seen.measure)
        return AlertChange(new, EventKind.NEW)
    current = replace(alert, level=seen.level, measure=seen.measure, away_since=None)
    if not _has_grown(alert, seen, now):
        return AlertChange(current)
    told = replace(
        current,
        state=AlertState.NEW,  # what was accepted is not what there is now
        snoozed_until=None,
        told_at=now,
        told_level=max(seen.level, alert.told_level, key=RANK.__getitem__),
        told_measure=max(seen.measure, alert.told_measure),
        is_escalated=False,
    )
    return AlertChange(told, EventKind.WORSE)


def absent(alert: Alert, now: datetime) -> AlertChange:
    """The finding is not there, although its source looked."""
    if not alert.is_open:
        return AlertChange(alert)
    if alert.away_since is None:
        return AlertChange(replace(alert, away_since=now))
    if now - alert.away_since < RECOVERED_AFTER:
        return AlertChange(alert)
    event = None if alert.key.code in NEWS else EventKind.RECOVERED
    return AlertChange(replace(alert, state=AlertState.RECOVERED, told_at=now), event)


def acknowledge(alert: Alert, until: datetime | None = None) -> Alert:
    """Somebody has taken it up, for good or until then."""
    return replace(alert, state=AlertState.ACKNOWLEDGED, snoozed_until=until) if alert.is_open else alert


def wake(alert: Alert, now: datetime) -> AlertChange:
    """The time for which an alert was acknowledged is over: if the finding is still there, it is told again."""
    is_due = alert.snoozed_until is not None and now >= alert.snoozed_until
    if not is_due or alert.state is not AlertState.ACKNOWLEDGED or alert.away_since is not None:
        return AlertChange(alert)
    told = replace(alert, state=AlertState.NEW, snoozed_until=None, told_at=now, is_escalated=False)
    return AlertChange(told, EventKind.AGAIN)


def escalate(alert: Alert, after: timedelta, now: datetime) -> AlertChange:
    """A critical alert that nobody took up in time is told to those on call, once."""
    is_due = alert.state is AlertState.NEW and alert.level is Level.CRITICAL and now - alert.told_at >= after
    if not is_due or alert.is_escalated:
        return AlertChange(alert)
    return AlertChange(replace(alert, is_escalated=True), EventKind.ESCALATED)


def _has_grown(alert: Alert, seen: Observation, now: datetime) -> bool:
    if RANK[seen.level] > RANK[alert.told_level]:
        return True
    if seen.measure <= alert.told_measure:
        return False
    return seen.measure >= GROWTH_FACTOR * alert.told_measure or now - alert.told_at >= SLOW_GROWTH_AFTER


@dataclass(frozen=True)
class QuietHours:
    """From `begin` to `end`, local time, over midnight where `end` is the earlier; none where both are equal."""

    begin: time
    end: time

    def holds(self, moment: datetime) -> bool:
        """Whether a local moment is within."""
        at = moment.time()
        if self.begin <= self.end:
            return self.begin <= at < self.end
        return at >= self.begin or at < self.end

    def ends_after(self, moment: datetime) -> datetime:
        """The next end, at or after a local moment."""
        end = moment.replace(hour=self.end.hour, minute=self.end.minute, second=self.end.second, microsecond=0)
        return end if end >= moment else end + timedelta(days=1)


def due_at(level: Level, quiet: QuietHours | None, now: datetime) -> datetime:
    """When a message of this level may go out; `now` is local. What is critical never waits."""
    if quiet is None or level is Level.CRITICAL or not quiet.holds(now):
        return now
    return quiet.ends_after(now)
