"""The words of a message about alerts, in the language of its channel."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from nasadvisor.console.health.alerts.models import AlertEvent, Channel, EventKinds
from nasadvisor.console.wording.badges import badge_of_state
from nasadvisor.console.wording.statements import said
from nasadvisor.console.wording.steps import lead_from
from nasadvisor.domain.statements import Finding, Level, Statement


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
            return AlertMessage(_subject(events[0]), f"{parts[0]}\n", level)
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


def _subject(event: AlertEvent) -> str:
    return f"{event.alert.node.name}: {_kind(event)}: {_short(event)}"


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
