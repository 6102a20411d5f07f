"""Messages that go by the platform of a host: they count as sent once that host has said so.

What a host did not send, or could not prove that it did, goes out as an e-mail of the console too, if the channel names
addresses behind the host. If a host says nothing the message is handed to it again, so it may arrive twice; it is never
taken for sent.
"""

import logging
from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from django.utils import timezone, translation
from django.utils.translation import gettext as _

from nasadvisor.console.health.alerts import outbox
from nasadvisor.console.health.alerts.messages import message_for
from nasadvisor.console.health.alerts.models import Channel, ChannelKind, Delivery, DeliveryState, WatchSettings
from nasadvisor.console.health.alerts.senders import NotSent, leads_to, send_mail, spare_addresses
from nasadvisor.console.secrets import SecretUnreadable
from nasadvisor.console.wording.statements import said
from nasadvisor.domain.fleet.platforms import NoticeAnswer
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import Json, from_document

log = logging.getLogger(__name__)


def store_notice_answer(node_name: str, answer: NoticeAnswer, _document: Json) -> None:
    """A message has gone out by the platform of a host."""
    _take_up(node_name, answer.message_id, answer.said, is_sent=True)


def store_notice_error(node_name: str, message_id: str, document: Json) -> None:
    """A message has not gone out by the platform of a host."""
    _take_up(node_name, message_id, from_document(Statement, document), is_sent=False)


def _take_up(node_name: str, message_id: str, what: Statement | None, *, is_sent: bool) -> None:
    for channel in Channel.objects.filter(kind=ChannelKind.PLATFORM):
        if not leads_to(channel, node_name):
            continue
        with translation.override(channel.language):
            words = f"{node_name}: {said(what)}" if what else ""
            rows = next((each for each in _messages(channel) if outbox.message_id(each) == message_id), [])
            _settle(channel, rows, words, is_sent=is_sent, now=timezone.now())


def take_up_silence(now: datetime) -> None:
    """Say with their channels which hosts do not tell what became of a message; it is to be sent again."""
    waiting = Channel.objects.filter(kind=ChannelKind.PLATFORM, deliveries__state=DeliveryState.SENDING)
    for channel in waiting.distinct():
        for rows in _messages(channel):
            if rows[0].claimed_at and rows[0].claimed_at < now - outbox.LEASE:
                with translation.override(channel.language):
                    said = _("The host has not said whether the message went out.")
                    _settle(channel, rows, said, is_sent=False, now=now)


def _messages(channel: Channel) -> Collection[list[Delivery]]:
    """What went out together and was not answered yet."""
    groups: defaultdict[datetime | None, list[Delivery]] = defaultdict(list)
    for each in channel.deliveries.filter(state=DeliveryState.SENDING).select_related("event__alert__node"):
        groups[each.claimed_at].append(each)
    return groups.values()


def _settle(channel: Channel, rows: list[Delivery], said: str, *, is_sent: bool, now: datetime) -> None:
    """`said` is what there is to say of a message that was not proven to be delivered, "" for one that was."""
    if said and rows and spare_addresses(channel):
        said, is_mailed = _by_mail(channel, rows, said)
        is_sent = is_sent or is_mailed
    if is_sent:
        outbox.done(Delivery.objects.filter(pk__in=[each.pk for each in rows]), now)
        Channel.objects.filter(pk=channel.pk).update(last_error=said, last_sent_at=now)
        return
    for each in rows:
        outbox.put_off(each, said, now)
    Channel.objects.filter(pk=channel.pk).update(last_error=said)


def _by_mail(channel: Channel, rows: list[Delivery], said: str) -> tuple[str, bool]:
    """Send it as an e-mail of the console: what is to be said then, and whether that went out."""
    message = message_for([each.event for each in rows], channel, WatchSettings.load().console_address)
    try:
        send_mail(spare_addresses(channel), message, outbox.message_id(rows))
    except (NotSent, SecretUnreadable) as error:
        log.warning("channel %s: %s", channel.name, error)
        return f"{said} {error}", False
    return f"{said} {_('It was sent by e-mail as well.')}", True
