"""Moving alerts by what is seen now, and writing down what there is to tell, to whom and when: the outbox."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from nasadvisor.console.fleet import quotas
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.collect_findings import ObservedFinding, View, unwatchable, view
from nasadvisor.console.health.alerts.host_findings import CODE as QUOTA_CODE
from nasadvisor.console.health.alerts.models import (
    AlertEvent,
    AlertStates,
    Channel,
    Delivery,
    StoredAlert,
    Timing,
    WatchSettings,
)
from nasadvisor.console.health.models import UNWORKABLE
from nasadvisor.domain.health.alerts import (
    Alert,
    AlertChange,
    EventKind,
    QuietHours,
    acknowledge,
    due_at,
    escalate,
    reconcile,
    wake,
)
from nasadvisor.domain.statements import RANK, Level
from nasadvisor.stored.documents import to_document

log = logging.getLogger(__name__)

EVENTS_KEPT: Final = timedelta(days=2 * 365)


def watch(now: datetime) -> None:
    """Look at every node and move its alerts on; one that cannot be worked with does not keep the others waiting.

    Doing it twice tells nothing twice.
    """
    for node in Node.objects.defer("inventory_document"):
        try:
            with transaction.atomic():
                _move(node, view(node, now), now)
        except UNWORKABLE as error:
            log.exception("%s cannot be watched", node.name)
            with transaction.atomic():
                _move(node, unwatchable(node, error), now)
    with transaction.atomic():
        _wake(now)
        _escalate(now)


def take_up(stored: StoredAlert, by: str, now: datetime, until: datetime | None = None) -> None:
    """Somebody acknowledges an alert, for good or until then."""
    with transaction.atomic():
        current = StoredAlert.objects.select_for_update().get(pk=stored.pk)
        current.take(acknowledge(current.as_alert(), until))
        if current.state == AlertStates.ACKNOWLEDGED:
            current.acknowledged_by, current.acknowledged_at = by, now
            current.save()


def _move(node: Node, found: View, now: datetime) -> None:
    opened = StoredAlert.objects.select_for_update().filter(node=node).exclude(state=AlertStates.RECOVERED)
    stored = {each.alert_key: each for each in opened}
    seen = {each.observation.key: each for each in found.seen}
    # Of a pool that could not be read nobody knows whether anything is over.
    told = {key: each for key, each in stored.items() if key in seen or place_of(each) not in found.unread}
    alerts = {key: each.as_alert() for key, each in told.items()}
    steps = reconcile(alerts, (each.observation for each in found.seen), found.sources, now)
    for step in _with_room(node, list(steps), now):
        key = step.alert.key
        _store(stored.get(key), step, seen.get(key), now)
    # The page shows a finding as it is now, also where there is nothing to tell about it.
    for key in stored.keys() & seen.keys():
        document = to_document(seen[key].finding)
        if stored[key].finding_document != document:
            StoredAlert.objects.filter(pk=stored[key].pk).update(finding_document=document)


def place_of(stored: StoredAlert) -> str:
    """The guid of the pool that an alert is about, "" for others."""
    return stored.finding.place if stored.finding else ""


def _with_room(node: Node, steps: list[AlertChange], now: datetime) -> list[AlertChange]:
    """As many of them as may be told of one host within a day; the others are there again when it is over."""
    exempt = (None, EventKind.RECOVERED)
    counted = [step for step in steps if step.event not in exempt and step.alert.key.code != QUOTA_CODE]
    if not counted:
        return steps
    since = now - quotas.WITHIN
    told = AlertEvent.objects.filter(alert__node=node, at__gt=since).exclude(kind=EventKind.RECOVERED.value).count()
    counted.sort(key=lambda step: -RANK[step.alert.level])
    left_out = {step.alert.key for step in counted[max(0, quotas.MOST_MESSAGES - told) :]}
    if left_out:
        quotas.note(node.name, quotas.Quota.ALERTS)
    return [step for step in steps if step.alert.key not in left_out]


def _store(stored: StoredAlert | None, step: AlertChange, seen: ObservedFinding | None, now: datetime) -> None:
    if stored is None:
        assert seen is not None  # noqa: S101 - only what was seen can be new
        key, began_at = step.alert.key, step.alert.began_at
        stored = StoredAlert(node=seen.node, source=key.source, code=key.code, subject=key.subject, began_at=began_at)
    stored.take(step.alert)
    if seen:
        stored.finding_document = to_document(seen.finding)
    if stored.state == AlertStates.RECOVERED:
        stored.ended_at = now
    stored.save()
    if step.event:
        tell(stored, step.event, now)


def _wake(now: datetime) -> None:
    snoozed = StoredAlert.objects.filter(state=AlertStates.ACKNOWLEDGED, snoozed_until__lte=now)
    _go_on(snoozed, lambda alert: wake(alert, now), now)


def _escalate(now: datetime) -> None:
    after = timedelta(hours=WatchSettings.load().escalate_after_hours)
    due = StoredAlert.objects.filter(state=AlertStates.NEW, level=Level.CRITICAL.value, is_escalated=False)
    _go_on(due, lambda alert: escalate(alert, after, now), now)


def _go_on(due: QuerySet[StoredAlert], step_of: Callable[[Alert], AlertChange], now: datetime) -> None:
    """Move each of these by time alone, and tell what there is to tell of it."""
    for stored in due.select_for_update():
        step = step_of(stored.as_alert())
        if step.event:
            stored.take(step.alert)
            stored.save()
            tell(stored, step.event, now)


def tell(stored: StoredAlert, kind: EventKind, now: datetime) -> AlertEvent:
    """Write down an event and one delivery for each channel that wants it."""
    level = Level(stored.told_level)
    event = AlertEvent.objects.create(
        alert=stored, kind=kind.value, level=level.value, at=now, finding_document=stored.finding_document
    )
    options = WatchSettings.load()
    for channel in Channel.objects.filter(is_enabled=True):
        wants = RANK[level] >= RANK[Level(channel.level)]
        if wants and (kind is not EventKind.ESCALATED or channel.is_on_call):
            Delivery.objects.create(event=event, channel=channel, due_at=_due(channel, level, options, now))
    return event


def _due(channel: Channel, level: Level, options: WatchSettings, now: datetime) -> datetime:
    local = timezone.localtime(now)
    if channel.timing == Timing.DIGEST:
        return QuietHours(options.digest_at, options.digest_at).ends_after(local)
    quiet = None
    if options.quiet_begin and options.quiet_end:
        quiet = QuietHours(options.quiet_begin, options.quiet_end)
    return due_at(level, quiet, local)


def forget_events(now: datetime) -> None:
    """Drop what was told long ago of alerts that are over."""
    AlertEvent.objects.filter(at__lt=now - EVENTS_KEPT, alert__state=AlertStates.RECOVERED).delete()
