"""Emptying the outbox: what is due goes out, what did not go out is tried again, nothing goes out twice.

What waits is claimed by one worker only, and given up at last. What goes by the platform of a host counts as sent once
that host has said so. What it did not send, or could not prove that it did, goes out as an e-mail of the console too,
if the channel names addresses behind the host. If a host says nothing the message is handed to it again, so it may
arrive twice; it is never taken for sent. What changed about somebody's own way in goes to them by e-mail
(`nasadvisor.console.accounts.account_notices`).
"""

import hashlib
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from django.db.models import F, QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from nasadvisor.console.accounts.models import AccountNotice
from nasadvisor.console.health.alerts.models import (
    Channel,
    ChannelKind,
    Delivery,
    DeliveryState,
    Outgoing,
    WatchSettings,
)
from nasadvisor.console.health.alerts.senders import (
    AlertMessage,
    NotSent,
    is_answered_later,
    leads_to,
    message_for,
    send,
    send_mail,
    spare_addresses,
)
from nasadvisor.console.health.models import UNWORKABLE
from nasadvisor.console.secrets import SecretUnreadable
from nasadvisor.console.wording.statements import said
from nasadvisor.domain.fleet.platforms import NoticeAnswer
from nasadvisor.domain.statements import Level, Statement
from nasadvisor.stored.documents import Json, from_document

log = logging.getLogger(__name__)

EVENTS_AT_ONCE = 50
"""Events in one message."""


def deliver(now: datetime) -> None:
    """Send what is due on every channel; one that does not work does not hold up the others."""
    take_up_silence(now)
    take_back(Delivery.objects.all(), now)
    give_up(Delivery.objects.filter(event__at__lt=now - GIVE_UP_AFTER))
    for channel in Channel.objects.filter(is_enabled=True):
        mine = claim(Delivery.objects.filter(channel=channel), "event__at", now, EVENTS_AT_ONCE)
        claimed = Delivery.objects.filter(pk__in=mine).select_related("event__alert__node").order_by("event__at")
        if mine:
            _send(channel, list(claimed), now)


def _send(channel: Channel, claimed: list[Delivery], now: datetime) -> None:
    def hand_over() -> None:
        message = message_for([each.event for each in claimed], channel, WatchSettings.load().console_address)
        send(channel, message, message_id_of(claimed))

    with translation.override(channel.language):
        fault = fault_of(hand_over)
    if fault is not None:
        log.warning("channel %s: %s", channel.name, fault)
        for each in claimed:
            put_off(each, fault, now)
        Channel.objects.filter(pk=channel.pk).update(last_error=fault)
    elif not is_answered_later(channel):
        done(Delivery.objects.filter(pk__in=[each.pk for each in claimed]), now)
        Channel.objects.filter(pk=channel.pk).update(last_error="", last_sent_at=now)


def fault_of(hand_over: Callable[[], None]) -> str | None:
    """Hand something over to a service; why it did not go out, None if it did."""
    try:
        hand_over()
    except (NotSent, SecretUnreadable) as error:
        return str(error)
    except UNWORKABLE as error:  # what it says may hold the address, which is a secret
        return _("Sending failed: %(fault)s.") % {"fault": type(error).__name__}
    return None


Sent = TypeVar("Sent", bound=Outgoing)

LEASE = timedelta(minutes=10)
"""A claim older than this was left behind by a process that died."""

FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(minutes=15)
GIVE_UP_AFTER = timedelta(days=7)


def message_id_of(claimed: Sequence[Outgoing]) -> str:
    """The same for the same rows, so that a mail system knows a message that reaches it again."""
    digest = hashlib.sha256(",".join(str(pk) for pk in sorted(each.pk for each in claimed)).encode()).hexdigest()[:32]
    return f"<{digest}@nasadvisor>"


def take_back(rows: QuerySet[Any], now: datetime) -> None:
    """Free what a process that died had claimed."""
    stale = rows.filter(state=DeliveryState.SENDING, claimed_at__lt=now - LEASE)
    stale.update(state=DeliveryState.WAITING, due_at=now)


def give_up(rows: QuerySet[Any]) -> None:
    """Try these no more, as far as they still wait."""
    rows.filter(state=DeliveryState.WAITING).update(state=DeliveryState.GAVE_UP)


def claim(rows: QuerySet[Any], order: str, now: datetime, at_most: int) -> list[int]:
    """Take what is due, so that nobody else sends it: whoever changes a row from waiting has it. Their numbers."""
    due = rows.filter(state=DeliveryState.WAITING, due_at__lte=now)
    waiting = rows.model._default_manager.filter(state=DeliveryState.WAITING)  # noqa: SLF001 - Django's public name
    return [
        pk
        for pk in list(due.order_by(order).values_list("pk", flat=True)[:at_most])
        if waiting.filter(pk=pk).update(state=DeliveryState.SENDING, claimed_at=now, attempts=F("attempts") + 1)
    ]


def put_off(row: Outgoing, error: str, now: datetime) -> None:
    """It was not accepted: try again, ever more seldom."""
    wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(row.attempts - 1, 10))
    row.state, row.due_at, row.error, row.claimed_at = DeliveryState.WAITING, now + wait, error, None
    row.save(update_fields=["state", "due_at", "error", "claimed_at"])


def done(rows: QuerySet[Any], now: datetime) -> None:
    """It was accepted."""
    rows.update(state=DeliveryState.SENT, sent_at=now, error="", claimed_at=None)


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
            rows = next((each for each in _messages(channel) if message_id_of(each) == message_id), [])
            _settle(channel, rows, words, is_sent=is_sent, now=timezone.now())


def take_up_silence(now: datetime) -> None:
    """Say with their channels which hosts do not tell what became of a message; it is to be sent again."""
    waiting = Channel.objects.filter(kind=ChannelKind.PLATFORM, deliveries__state=DeliveryState.SENDING)
    for channel in waiting.distinct():
        for rows in _messages(channel):
            if rows[0].claimed_at and rows[0].claimed_at < now - LEASE:
                with translation.override(channel.language):
                    said = _("The host has not reported whether the message was sent.")
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
        done(Delivery.objects.filter(pk__in=[each.pk for each in rows]), now)
        Channel.objects.filter(pk=channel.pk).update(last_error=said, last_sent_at=now)
        return
    for each in rows:
        put_off(each, said, now)
    Channel.objects.filter(pk=channel.pk).update(last_error=said)


def _by_mail(channel: Channel, rows: list[Delivery], said: str) -> tuple[str, bool]:
    """Send it as an e-mail of the console: what is to be said then, and whether that went out."""
    message = message_for([each.event for each in rows], channel, WatchSettings.load().console_address)
    try:
        send_mail(spare_addresses(channel), message, message_id_of(rows))
    except (NotSent, SecretUnreadable) as error:
        log.warning("channel %s: %s", channel.name, error)
        return f"{said} {error}", False
    return f"{said} {_('It was also sent by e-mail.')}", True


NOTICES_GIVEN_UP_AFTER: Final = timedelta(days=1)
NOTICES_AT_ONCE: Final = 20
"""In one round, so that a mail server that is slow does not hold up the alerts."""


def send_notices(now: datetime) -> None:
    """Send what waits. One that is not accepted ends the round; the next begins with those that were tried less."""
    if not WatchSettings.load().mail_host:
        return
    due = AccountNotice.objects.filter(mailed_at=None, at__gt=now - NOTICES_GIVEN_UP_AFTER).exclude(mail_to="")
    for notice in due.order_by("tries", "at")[:NOTICES_AT_ONCE]:
        mine = AccountNotice.objects.filter(pk=notice.pk, mailed_at=None)
        if not mine.update(mailed_at=now, tries=F("tries") + 1):
            continue  # another worker has it
        try:
            send_mail([notice.mail_to], message_of(notice), f"<account-{notice.pk}@nasadvisor>")
        except (NotSent, SecretUnreadable) as error:
            log.warning("what changed about the account of %s was not sent: %s", notice.user, error)
            AccountNotice.objects.filter(pk=notice.pk).update(mailed_at=None)
            return


def message_of(notice: AccountNotice) -> AlertMessage:
    """The words, in the language that was on when it happened."""
    with translation.override(notice.language):
        advice = _(
            "If you did not make or approve this change, change your password, sign out everywhere and notify an "
            "administrator."
        )
        text = f"{notice.user.get_username()}: {notice.sentence}\n\n{advice}\n"
        return AlertMessage(_("NAS Advisor: your account was changed"), text, Level.WARNING)
