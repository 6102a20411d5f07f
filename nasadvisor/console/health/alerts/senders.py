"""The words of a message about alerts, in the language of its channel, and handing it to a mail server, to the platform
of a host or to a service that Apprise knows. What they must keep secret stays here.
"""

import importlib
import logging
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from smtplib import SMTPException
from types import ModuleType

from django.core.mail import EmailMessage, get_connection
from django.core.mail.utils import DNS_NAME
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from nasadvisor.console.accounts.platforms import detected
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import (
    AlertEvent,
    Channel,
    ChannelKind,
    EventKinds,
    MailSecurity,
    WatchSettings,
)
from nasadvisor.console.health.alerts.services import TYPES, NoServiceAddress, service_address
from nasadvisor.console.health.alerts.ssrf_guard import fault_in, outward_only
from nasadvisor.console.secrets import SecretUnreadable, decrypt
from nasadvisor.console.wording.badges import badge_of_state
from nasadvisor.console.wording.statements import lead_from, said
from nasadvisor.domain.fleet.platforms import Notice
from nasadvisor.domain.fleet.questions import NOTIFY
from nasadvisor.domain.statements import Finding, Level, Statement
from nasadvisor.runtime.own_names import full_name
from plugins.contract.console import ConsolePlatform, PlatformSilent


@dataclass(frozen=True)
class AlertMessage:
    """A subject in one line, a text, and how much it matters."""

    subject: str
    text: str
    level: Level = Level.INFO


def message_for(events: Sequence[AlertEvent], channel: Channel, console: str) -> AlertMessage:
    """One message about one or several events; `console` is the address of the console, "" if unknown."""
    with translation.override(channel.language):
        parts = [_part(event, console) for event in events]
        level = max((Level(event.level) for event in events), key=list(Level).index)
        if len(events) == 1:
            first = events[0]
            subject = f"{first.alert.node.name}: {_kind(first)}: {_short(first)}"
            return AlertMessage(subject, f"{parts[0]}\n", level)
        subject = ngettext("%(count)d message", "%(count)d messages", len(events)) % {"count": len(events)}
        return AlertMessage(f"NAS Advisor: {subject}", "\n\n".join(parts) + "\n", level)


def trial_message(channel: Channel) -> AlertMessage:
    """What "send test" sends."""
    with translation.override(channel.language):
        return AlertMessage(
            _("NAS Advisor: test"),
            _("This is a test of the channel %(name)s. It works.") % {"name": channel.name} + "\n",
        )


def plain(template: str, finding: Finding) -> str:
    """A sentence of a finding in the language that is on, commands in quotes."""
    return said(Statement(finding.code, template, finding.values)).replace("`", "'") if template else ""


def _short(event: AlertEvent) -> str:
    """The first sentence, which says what it is about."""
    finding = event.finding
    text = plain(finding.template, finding) if finding else event.alert.code
    return text.split(". ")[0].rstrip(".")


def _kind(event: AlertEvent) -> str:
    if event.kind == EventKinds.NEW:
        return str(badge_of_state(event.level).word)
    return EventKinds(event.kind).label.capitalize()


def _part(event: AlertEvent, console: str) -> str:
    finding = event.finding
    when = f"{timezone.localtime(event.at):%Y-%m-%d %H:%M %Z}"
    lines = [f"{event.alert.node.name} · {_kind(event)} · {when}"]
    if finding is None:
        return "\n".join([*lines, event.alert.code])
    if "disk" in finding.values and "{disk}" not in finding.template:
        lines.append(str(finding.values["disk"]))
    lines.append(plain(finding.template, finding))
    if event.kind != EventKinds.RECOVERED:
        lines.append(plain(finding.explanation, finding))
        lead = lead_from(finding, may_change=True)
        if lead and console:
            lines.append(f"{lead.words}: {console.rstrip('/')}{lead.url}")
    return "\n".join(line for line in lines if line)


SMTP_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
TIMEOUT_S = 20
SHORTEST_SECRET = 4

# How the console names itself to mail servers. Django would ask name servers for it (socket.getfqdn), without a limit.
DNS_NAME._fqdn = full_name(platform.node())  # noqa: SLF001 - Django has no setting for it


class NotSent(Exception):  # noqa: N818 - named for what happened
    """The message did not go out; `str(error)` says why, without any secret."""


def send(channel: Channel, message: AlertMessage, message_id: str) -> None:
    """Send one message. `message_id` is the same when it is tried again.

    Raises:
        NotSent: it was not accepted, or, if it is answered later, not handed over.
        SecretUnreadable: where to send it to cannot be decrypted.
    """
    secret = decrypt(channel.secret)
    if channel.kind == ChannelKind.MAIL:
        send_mail(recipients_in(secret), message, message_id)
    elif channel.kind == ChannelKind.PLATFORM:
        # By the platform that the console is on, if it sends messages; else by that of the host with this name.
        host = host_in(secret)
        notice = Notice(message.level, message.subject, message.text)
        platform = _platform_here()
        node = Node.objects.defer("inventory_document").filter(name=host).first()
        try:
            if platform:
                platform.notify(notice)
            elif node:
                hosts.ask(node, NOTIFY, notice, message_id, by=None)
            else:
                raise NotSent(_("There is no host named %(host)s.") % {"host": host})
        except PlatformSilent as error:
            raise NotSent(said(error.statement)) from error
        except hosts.HostUnreachable as error:
            raise NotSent(str(error)) from error
    else:
        _send_by_apprise(channel, secret, message)


def send_mail(
    recipients: Sequence[str], message: AlertMessage, message_id: str, attachment: tuple[str, bytes, str] | None = None
) -> None:
    """Send one e-mail; `attachment` is name, content and type.

    Raises:
        NotSent: the mail server did not accept it.
        SecretUnreadable: its password cannot be decrypted.
    """
    options = WatchSettings.load()
    if not options.mail_host:
        raise NotSent(_("No mail server is set. Enter one under Settings, Notifications."))
    connection = get_connection(
        SMTP_BACKEND,
        host=options.mail_host,
        port=options.mail_port,
        username=options.mail_user,
        password=decrypt(options.mail_secret),
        use_tls=options.mail_security == MailSecurity.STARTTLS,
        use_ssl=options.mail_security == MailSecurity.TLS,
        timeout=TIMEOUT_S,
    )
    sender = options.mail_sender or f"nasadvisor@{options.mail_host}"
    headers = {"Message-ID": message_id, "Auto-Submitted": "auto-generated"}
    mail = EmailMessage(message.subject, message.text, sender, list(recipients), headers=headers, connection=connection)
    if attachment:
        mail.attach(*attachment)
    try:
        mail.send()
    except (SMTPException, OSError, ValueError) as error:
        raise NotSent(
            _("The mail server %(host)s did not accept the message: %(reason)s")
            % {"host": options.mail_host, "reason": str(error)}
        ) from error


def is_answered_later(channel: Channel) -> bool:
    """Whether `send` only hands a message to a host, which says later what became of it."""
    return channel.kind == ChannelKind.PLATFORM and _platform_here() is None


def leads_to(channel: Channel, node: str) -> bool:
    """Whether a channel goes by the platform of this host."""
    try:
        return channel.kind == ChannelKind.PLATFORM and host_in(decrypt(channel.secret)) == node
    except SecretUnreadable:
        return False


def spare_addresses(channel: Channel) -> list[str]:
    """Where a message goes by e-mail that the platform of a host did not prove to have delivered."""
    try:
        return recipients_in(decrypt(channel.secret))[1:]
    except SecretUnreadable:
        return []


def host_in(secret: str) -> str:
    """The host of a channel of the platform; e-mail addresses may stand behind it."""
    return next(iter(recipients_in(secret)), "")


def _platform_here() -> ConsolePlatform | None:
    return next((each for each in detected() if each.notifies), None)


def recipients_in(secret: str) -> list[str]:
    """The addresses of a mail channel."""
    return [address for address in re.split(r"[\s,;]+", secret) if address]


def is_apprise_address(secret: str) -> bool:
    """Whether Apprise knows what to do with it."""
    return bool(_apprise().Apprise().add(secret))


def _apprise() -> ModuleType:
    """Loaded only when it is needed: its plugins take 45 MB, and most consoles send e-mail."""
    return importlib.import_module("apprise")


def _send_by_apprise(channel: Channel, secret: str, message: AlertMessage) -> None:
    try:
        address = service_address(channel.kind, secret, message.level)
    except NoServiceAddress as error:
        raise NotSent(str(error)) from error
    may_be_private = channel.may_be_private
    fault = fault_in(address, may_be_private=may_be_private)
    if fault:
        raise NotSent(fault)
    apprise = _apprise()
    service = apprise.Apprise()
    if not service.add(address):
        raise NotSent(_("Apprise does not support this kind of address."))
    captured = apprise.LogCapture(level=logging.WARNING, fmt="%(message)s")
    with outward_only(may_be_private=may_be_private), captured as said:
        is_sent = service.notify(title=message.subject, body=message.text, notify_type=TYPES[message.level])
        reason = said.getvalue() if said else ""
    if not is_sent:
        raise NotSent(_("The service did not accept the message: %(reason)s") % {"reason": redact(reason, address)})


def redact(text: str, secret: str) -> str:
    """A text without any part of an address."""
    parts = [part for part in re.split(r"[:/@?&=,\s]+", secret) if len(part) >= SHORTEST_SECRET]
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, "…")
    return " ".join(text.split())
