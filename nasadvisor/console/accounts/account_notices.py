"""Telling people what changed about their own way in, whoever did it: at their next sign-in, on the page of their
account, and by e-mail where they gave an address (`nasadvisor.console.health.alerts.deliver`).
"""

from typing import Final

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.models import AccountNotice
from nasadvisor.console.accounts.roles import user_of

SHOWN: Final = 10


def record(request: HttpRequest, act: Act, whom: User, about: object = "") -> None:
    """Write an act down, and tell whom it is about."""
    audit.record(request, act, about)
    tell(whom, act, user_of(request).get_username(), audit.address_of(request))


def tell(whom: User, act: Act, by: str, address: str = "", mail_to: str = "") -> None:
    """Tell somebody what was done, by whom ("" for the console's machine), and from where.

    By e-mail to the address that they have, or to `mail_to`.
    """
    AccountNotice.objects.create(
        user=whom,
        at=timezone.now(),
        act=act,
        by=by,
        address=address,
        mail_to=mail_to or whom.email,
        language=get_language() or "en",
    )


def of(user: User) -> list[AccountNotice]:
    """The newest about somebody."""
    return list(AccountNotice.objects.filter(user=user)[:SHOWN])


@receiver(user_logged_in)
def _tell_at_sign_in(request: HttpRequest, user: User, **_kwargs: object) -> None:
    """Once each; the page of the account keeps them."""
    new = AccountNotice.objects.filter(user=user, is_told=False)
    lines = [notice.sentence for notice in new[:SHOWN]]
    new.update(is_told=True)
    for line in lines:
        text = _("New: %(line)s If this wasn't you, change your password.") % {"line": line}
        messages.warning(request, text, fail_silently=True)
