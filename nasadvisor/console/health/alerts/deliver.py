"""Emptying the outbox: what is due goes out, what did not go out is tried again, nothing goes out twice.

What goes by the platform of a host is only handed over here; `platform_delivery` has the rest.
"""

import logging
from collections.abc import Callable
from datetime import datetime

from django.utils import translation
from django.utils.translation import gettext as _

from nasadvisor.console.health.alerts import outbox, platform_delivery
from nasadvisor.console.health.alerts.messages import message_for
from nasadvisor.console.health.alerts.models import Channel, Delivery, WatchSettings
from nasadvisor.console.health.alerts.senders import NotSent, is_answered_later, send
from nasadvisor.console.health.models import UNWORKABLE
from nasadvisor.console.secrets import SecretUnreadable

log = logging.getLogger(__name__)

AT_MOST = 50
"""Events in one message."""


def deliver(now: datetime) -> None:
    """Send what is due on every channel; one that does not work does not hold up the others."""
    platform_delivery.take_up_silence(now)
    outbox.take_back(Delivery.objects.all(), now)
    outbox.give_up(Delivery.objects.filter(event__at__lt=now - outbox.GIVE_UP_AFTER))
    for channel in Channel.objects.filter(is_enabled=True):
        mine = outbox.claim(Delivery.objects.filter(channel=channel), "event__at", now, AT_MOST)
        claimed = Delivery.objects.filter(pk__in=mine).select_related("event__alert__node").order_by("event__at")
        if mine:
            _send(channel, list(claimed), now)


def _send(channel: Channel, claimed: list[Delivery], now: datetime) -> None:
    def hand_over() -> None:
        message = message_for([each.event for each in claimed], channel, WatchSettings.load().console_address)
        send(channel, message, outbox.message_id(claimed))

    with translation.override(channel.language):
        fault = fault_of(hand_over)
    if fault is not None:
        log.warning("channel %s: %s", channel.name, fault)
        for each in claimed:
            outbox.put_off(each, fault, now)
        Channel.objects.filter(pk=channel.pk).update(last_error=fault)
    elif not is_answered_later(channel):
        outbox.done(Delivery.objects.filter(pk__in=[each.pk for each in claimed]), now)
        Channel.objects.filter(pk=channel.pk).update(last_error="", last_sent_at=now)


def fault_of(hand_over: Callable[[], None]) -> str | None:
    """Hand something over to a service; why it did not go out, None if it did."""
    try:
        hand_over()
    except (NotSent, SecretUnreadable) as error:
        return str(error)
    except UNWORKABLE as error:  # what it says may hold the address, which is a secret
        return _("It could not be sent: %(fault)s.") % {"fault": type(error).__name__}
    return None
