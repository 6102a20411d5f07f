"""Sending people by e-mail what changed about their own way in (`nasadvisor.console.accounts.account_notices`)."""

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F
from django.utils import translation
from django.utils.translation import gettext as _

from nasadvisor.console.accounts.models import AccountNotice
from nasadvisor.console.health.alerts.messages import AlertMessage
from nasadvisor.console.health.alerts.models import WatchSettings
from nasadvisor.console.health.alerts.senders import NotSent, send_mail
from nasadvisor.console.secrets import SecretUnreadable
from nasadvisor.domain.statements import Level

log = logging.getLogger(__name__)

GIVE_UP_AFTER: Final = timedelta(days=1)
AT_MOST: Final = 20
"""In one round, so that a mail server that is slow does not hold up the alerts."""


def send_notices(now: datetime) -> None:
    """Send what waits. One that is not accepted ends the round; the next begins with those that were tried less."""
    if not WatchSettings.load().mail_host:
        return
    due = AccountNotice.objects.filter(mailed_at=None, at__gt=now - GIVE_UP_AFTER).exclude(mail_to="")
    for notice in due.order_by("tries", "at")[:AT_MOST]:
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
            "If that was neither you nor agreed with you, change your password, sign out everywhere and tell an "
            "administrator."
        )
        text = f"{notice.user.get_username()}: {notice.sentence}\n\n{advice}\n"
        return AlertMessage(_("NAS Advisor: your account was changed"), text, Level.WARNING)
