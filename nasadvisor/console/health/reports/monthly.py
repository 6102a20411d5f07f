"""The report that the schedule sends to every channel that wants it: sent once, and none is lost.

An order is written down first, one for each channel; it is tried until it is accepted, as alerts are.
"""

import logging
from datetime import date, datetime, timedelta
from functools import partial
from typing import Final

from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django_celery_beat.models import PeriodicTask

from nasadvisor.console.health.alerts.deliver import GIVE_UP_AFTER, claim, done, fault_of, give_up, put_off, take_back
from nasadvisor.console.health.alerts.models import Channel, ChannelKind, ReportDelivery, ReportState, StoredReport
from nasadvisor.console.health.alerts.senders import NotSent, is_answered_later, recipients_in, send, send_mail
from nasadvisor.console.health.reports.reports import make_report, report_message
from nasadvisor.console.secrets import decrypt

log = logging.getLogger(__name__)

TASK: Final = "console.monthly_report"
MISSED_AFTER: Final = timedelta(minutes=10)
MISSED_UNTIL: Final = timedelta(days=2)
"""An order that was lost on its way, because Redis was down, is made up for within this time."""

AT_MOST: Final = 20


def order(day: date, now: datetime) -> None:
    """Write down who gets the report of a day. Doing it twice changes nothing."""
    with transaction.atomic():
        for channel in Channel.objects.filter(is_enabled=True, gets_reports=True):
            wanted = {"day": day, "language": channel.language}
            report, _created = StoredReport.objects.get_or_create(**wanted, defaults={"requested_at": now})
            ReportDelivery.objects.get_or_create(report=report, channel=channel, defaults={"due_at": now})


def order_missed(now: datetime) -> None:
    """Order what the clock asked for and nobody took up."""
    task = PeriodicTask.objects.filter(name=TASK, enabled=True, last_run_at__isnull=False).first()
    if task is None or not MISSED_AFTER < now - task.last_run_at < MISSED_UNTIL:
        return
    day = timezone.localtime(task.last_run_at).date()
    if not StoredReport.objects.filter(day=day).exists():
        order(day, now)


def send_waiting(now: datetime) -> None:
    """Send every report that is due; what is not accepted is tried again for a week."""
    rows = ReportDelivery.objects.all()
    take_back(rows, now)
    give_up(rows.filter(report__requested_at__lt=now - GIVE_UP_AFTER))
    mine = claim(rows.filter(channel__is_enabled=True), "report__requested_at", now, AT_MOST)
    for delivery in ReportDelivery.objects.filter(pk__in=mine).select_related("channel"):
        channel = Channel.objects.filter(pk=delivery.channel_id)
        with translation.override(delivery.channel.language):
            fault = fault_of(partial(_send, delivery, now))
        if fault is not None:
            log.warning("report by %s: %s", delivery.channel.name, fault)
            put_off(delivery, fault, now)
            channel.update(last_error=fault)
        else:
            done(ReportDelivery.objects.filter(pk=delivery.pk), now)
            if not is_answered_later(delivery.channel):
                channel.update(last_error="", last_sent_at=now)


def _send(delivery: ReportDelivery, now: datetime) -> None:
    """Send one; its Message-ID is the same when it is tried again."""
    channel, report = delivery.channel, _made(delivery.report_id, now)
    message = report_message(report.requested_at)
    day = f"{report.day or timezone.localtime(report.requested_at).date():%Y-%m-%d}"
    message_id = f"<report-{channel.pk}-{day}@nasadvisor>"
    if channel.kind == ChannelKind.MAIL:
        attachment = (f"nas-advisor-{day}.pdf", bytes(report.pdf), "application/pdf")
        send_mail(recipients_in(decrypt(channel.secret)), message, message_id, attachment)
    else:
        send(channel, message, message_id)


def _made(pk: int, now: datetime) -> StoredReport:
    """The report, made at its first use and the same for all channels of its language.

    Raises:
        NotSent: it could not be made.
    """
    report = StoredReport.objects.get(pk=pk)
    if report.state != ReportState.DONE:
        make_report(report, now)
        report.refresh_from_db()
    if report.state != ReportState.DONE:
        raise NotSent(_("The report could not be created. The log of nasadvisor-console shows why."))
    return report
