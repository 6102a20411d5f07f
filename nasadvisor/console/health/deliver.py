"""Emptying the outbox: what is due goes out, what did not go out is tried again, nothing goes out twice.

A message that goes by the platform of a host counts as sent once that host has said so. If it says nothing, the message
is handed over again, so it may arrive twice; it is never taken for sent.
"""

import hashlib
import logging
from collections import defaultdict
from datetime import datetime

from django.utils import translation
from django.utils.translation import gettext as _

from nasadvisor.console.health import outbox
from nasadvisor.console.health.alert_models import Channel, ChannelKind, Delivery, DeliveryState, WatchSettings
from nasadvisor.console.health.messages import message_for
from nasadvisor.console.health.secrets import SecretUnreadable
from nasadvisor.console.health.senders import NotSent, is_answered_later, leads_to, send
from nasadvisor.documents import Json, from_document
from nasadvisor.domain.platforms import NoticeAnswer

log = logging.getLogger(__name__)

AT_MOST = 50
"""Events in one message."""


def deliver(now: datetime) -> None:
    """Send what is due on every channel; one that does not work does not hold up the others."""
    _say_who_is_silent(now)
    outbox.take_back(Delivery.objects.all(), now)
    outbox.give_up(Delivery.objects.filter(event__at__lt=now - outbox.GIVE_UP_AFTER))
    for channel in Channel.objects.filter(is_enabled=True):
        mine = outbox.claim(Delivery.objects.filter(channel=channel), "event__at", now, AT_MOST)
        claimed = Delivery.objects.filter(pk__in=mine).select_related("event__alert__node").order_by("event__at")
        if mine:
            _send(channel, list(claimed), now)


def _send(channel: Channel, claimed: list[Delivery], now: datetime) -> None:
    message = message_for([each.event for each in claimed], channel, WatchSettings.load().console_address)
    try:
        send(channel, message, message_id(claimed))
    except (NotSent, SecretUnreadable) as error:
        log.warning("channel %s: %s", channel.name, error)
        for each in claimed:
            outbox.put_off(each, str(error), now)
        Channel.objects.filter(pk=channel.pk).update(last_error=str(error))
        return
    if is_answered_later(channel):
        return
    outbox.done(Delivery.objects.filter(pk__in=[each.pk for each in claimed]), now)
    Channel.objects.filter(pk=channel.pk).update(last_error="", last_sent_at=now)


def answered(node: str, document: Json, now: datetime) -> None:
    """Take up what a host says of a message that its platform was to send.

    Raises:
        DocumentError: if it says nothing of the kind.
    """
    answer = from_document(NoticeAnswer, document)
    for channel in Channel.objects.filter(kind=ChannelKind.PLATFORM):
        if not leads_to(channel, node):
            continue
        with translation.override(channel.language):
            said = f"{node}: {answer.said.said(_)}" if answer.said else ""
        rows = _deliveries_of(channel, answer.message_id)
        if answer.is_sent:
            outbox.done(Delivery.objects.filter(pk__in=[each.pk for each in rows]), now)
            Channel.objects.filter(pk=channel.pk).update(last_error=said, last_sent_at=now)
        else:
            for each in rows:
                outbox.put_off(each, said, now)
            Channel.objects.filter(pk=channel.pk).update(last_error=said)


def _deliveries_of(channel: Channel, wanted: str) -> list[Delivery]:
    """What went out together under this id and was not answered yet."""
    groups: defaultdict[datetime | None, list[Delivery]] = defaultdict(list)
    for each in channel.deliveries.filter(state=DeliveryState.SENDING):
        groups[each.claimed_at].append(each)
    return next((group for group in groups.values() if message_id(group) == wanted), [])


def _say_who_is_silent(now: datetime) -> None:
    """A host that does not say what became of a message is named with the channel; the message goes to it again."""
    silent = Channel.objects.filter(
        kind=ChannelKind.PLATFORM,
        deliveries__state=DeliveryState.SENDING,
        deliveries__claimed_at__lt=now - outbox.LEASE,
    )
    for channel in silent.distinct():
        with translation.override(channel.language):
            said = _("The host has not said whether the message went out, so it is handed to it again.")
        Channel.objects.filter(pk=channel.pk).update(last_error=said)


def message_id(claimed: list[Delivery]) -> str:
    """The same for the same deliveries, so that a mail system knows one that reaches it again."""
    digest = hashlib.sha256(",".join(str(pk) for pk in sorted(each.pk for each in claimed)).encode()).hexdigest()[:32]
    return f"<{digest}@nasadvisor>"
