"""Emptying the outbox: what is due goes out, what did not go out is tried again, nothing goes out twice."""

import hashlib
import logging
from datetime import datetime, timedelta

from django.db.models import F

from nasadvisor.console.health.alert_models import Channel, Delivery, DeliveryState, WatchSettings
from nasadvisor.console.health.messages import message_for
from nasadvisor.console.health.secrets import SecretUnreadable
from nasadvisor.console.health.senders import NotSent, send

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=10)
"""A claim older than this was left behind by a process that died."""

FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(minutes=15)
GIVE_UP_AFTER = timedelta(days=7)

AT_MOST = 50
"""Events in one message."""


def deliver(now: datetime) -> None:
    """Send what is due on every channel; one that does not work does not hold up the others."""
    stale = Delivery.objects.filter(state=DeliveryState.SENDING, claimed_at__lt=now - LEASE)
    stale.update(state=DeliveryState.WAITING, due_at=now)
    old = Delivery.objects.filter(state=DeliveryState.WAITING, event__at__lt=now - GIVE_UP_AFTER)
    old.update(state=DeliveryState.GAVE_UP)
    for channel in Channel.objects.filter(is_enabled=True):
        claimed = _claim(channel, now)
        if claimed:
            _send(channel, claimed, now)


def _claim(channel: Channel, now: datetime) -> list[Delivery]:
    """Take what is due, so that nobody else sends it: whoever changes the row from waiting has it."""
    due = Delivery.objects.filter(channel=channel, state=DeliveryState.WAITING, due_at__lte=now)
    ids = list(due.order_by("event__at").values_list("pk", flat=True)[:AT_MOST])
    mine = [
        pk
        for pk in ids
        if Delivery.objects.filter(pk=pk, state=DeliveryState.WAITING).update(
            state=DeliveryState.SENDING, claimed_at=now, attempts=F("attempts") + 1
        )
    ]
    return list(Delivery.objects.filter(pk__in=mine).select_related("event__alert__node").order_by("event__at"))


def _send(channel: Channel, claimed: list[Delivery], now: datetime) -> None:
    deliveries = Delivery.objects.filter(pk__in=[each.pk for each in claimed])
    message = message_for([each.event for each in claimed], channel, WatchSettings.load().console_address)
    try:
        send(channel, message, message_id(claimed))
    except (NotSent, SecretUnreadable) as error:
        log.warning("channel %s: %s", channel.name, error)
        for each in claimed:
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(each.attempts - 1, 10))
            Delivery.objects.filter(pk=each.pk).update(
                state=DeliveryState.WAITING, due_at=now + wait, error=str(error), claimed_at=None
            )
        Channel.objects.filter(pk=channel.pk).update(last_error=str(error))
        return
    deliveries.update(state=DeliveryState.SENT, sent_at=now, error="", claimed_at=None)
    Channel.objects.filter(pk=channel.pk).update(last_error="", last_sent_at=now)


def message_id(claimed: list[Delivery]) -> str:
    """The same for the same deliveries, so that a mail system knows one that reaches it again."""
    digest = hashlib.sha256(",".join(str(each.pk) for each in claimed).encode()).hexdigest()[:32]
    return f"<{digest}@nasadvisor>"
