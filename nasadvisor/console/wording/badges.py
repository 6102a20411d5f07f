"""The badge of each state: never a colour alone, always icon and word."""

from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from nasadvisor.domain.statements import Level


@dataclass(frozen=True)
class Badge:
    """A Bootstrap colour ("success"), a Bootstrap icon ("check-circle-fill") and a word."""

    colour: str
    icon: str
    word: str | Promise


GOOD = ("success", "check-circle-fill")
BUSY = ("primary", "arrow-repeat")
WAITING = ("secondary", "hourglass-split")
QUIET = ("secondary", "dash-circle")
WARN = ("warning", "exclamation-triangle-fill")
BAD = ("danger", "x-octagon-fill")

_BADGES: Final[dict[str, Badge]] = {
    # OpenZFS prints these in capitals in every language.
    "ONLINE": Badge(*GOOD, "ONLINE"),
    "DEGRADED": Badge(*WARN, "DEGRADED"),
    "OFFLINE": Badge(*WARN, "OFFLINE"),
    "FAULTED": Badge(*BAD, "FAULTED"),
    "UNAVAIL": Badge(*BAD, "UNAVAIL"),
    "REMOVED": Badge(*BAD, "REMOVED"),
    "SUSPENDED": Badge(*BAD, "SUSPENDED"),
    "AVAIL": Badge(*GOOD, "AVAIL"),
    "INUSE": Badge(*WARN, "INUSE"),
    # Runs and their steps.
    "requested": Badge(*WAITING, _("Requested")),
    "unanswered": Badge(*WARN, _("Not picked up")),
    "applying": Badge(*BUSY, _("Applying")),
    "applied": Badge(*GOOD, _("Applied")),
    "refused": Badge("warning", "slash-circle-fill", _("Refused")),
    "undoing": Badge(*BUSY, _("Undoing")),
    "undone": Badge("secondary", "arrow-counterclockwise", _("Undone")),
    "putting-back": Badge(*BUSY, _("Reverting")),
    "put-back": Badge("warning", "arrow-counterclockwise", _("Failed and reverted")),
    "interrupted": Badge("warning", "pause-circle-fill", _("Interrupted")),
    "attention": Badge(*BAD, _("Needs attention")),
    "damaged": Badge(*BAD, _("Damaged")),
    "newer": Badge(*WARN, _("From a newer release")),
    "pending": Badge("secondary", "circle", _("To do")),
    "started": Badge(*BUSY, _("Running")),
    "done": Badge(*GOOD, _("Done")),
    "skipped": Badge(*QUIET, _("Skipped")),
    "failed": Badge(*BAD, _("Failed")),
    # Verdicts.
    "helps": Badge(*GOOD, _("Helps")),
    "little": Badge("secondary", "dash-circle", _("Little gain")),
    "no": Badge("secondary", "slash-circle", _("No gain")),
    "cannot-tell": Badge("info", "hourglass-split", _("Cannot tell")),
    # Alerts, deliveries, and how asking a disk went.
    "new": Badge("danger", "bell-fill", _("New")),
    "acknowledged": Badge("secondary", "check2-circle", _("Acknowledged")),
    "recovered": Badge(*GOOD, _("Resolved")),
    "read": Badge(*GOOD, _("Responding")),
    "asleep": Badge("secondary", "moon-fill", _("Asleep")),
    "unsupported": Badge(*QUIET, _("No SMART data")),
    # How a host stands with us.
    "host-never": Badge(*WAITING, _("Not read yet")),
    "host-fresh": Badge("secondary", "check-circle", _("Responding")),
    "host-failed": Badge(*WARN, _("Last check failed")),
    "host-outdated": Badge(*WARN, _("Reading outdated")),
    "host-silent": Badge(*BAD, _("Host not reporting")),
    # Power-loss protection.
    "confirmed": Badge(*GOOD, _("Confirmed")),
    "likely": Badge("info", "check-circle", _("Likely")),
    "unlikely": Badge(*WARN, _("Unlikely")),
    "unknown": Badge("secondary", "question-circle", _("Unknown")),
    # Levels of findings.
    Level.INFO.value: Badge("info", "info-circle-fill", _("Note")),
    Level.WARNING.value: Badge(*WARN, _("Warning")),
    Level.CRITICAL.value: Badge(*BAD, _("Critical")),
}


def badge_of_state(state: str) -> Badge:
    """The badge of a state; one that nobody knows is shown as it is, without a verdict."""
    return _BADGES.get(state) or Badge(*QUIET, state)
