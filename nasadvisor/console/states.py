"""How states look: never a colour alone, always icon and word."""

from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from nasadvisor.domain.statements import Level


@dataclass(frozen=True)
class Look:
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

_LOOKS: Final[dict[str, Look]] = {
    # OpenZFS prints these in capitals in every language.
    "ONLINE": Look(*GOOD, "ONLINE"),
    "DEGRADED": Look(*WARN, "DEGRADED"),
    "OFFLINE": Look(*WARN, "OFFLINE"),
    "FAULTED": Look(*BAD, "FAULTED"),
    "UNAVAIL": Look(*BAD, "UNAVAIL"),
    "REMOVED": Look(*BAD, "REMOVED"),
    "SUSPENDED": Look(*BAD, "SUSPENDED"),
    "AVAIL": Look(*GOOD, "AVAIL"),
    "INUSE": Look(*WARN, "INUSE"),
    # Runs and their steps.
    "requested": Look(*WAITING, _("Requested")),
    "unanswered": Look(*WARN, _("Not answered")),
    "applying": Look(*BUSY, _("Applying")),
    "applied": Look(*GOOD, _("Applied")),
    "refused": Look("warning", "slash-circle-fill", _("Refused")),
    "undoing": Look(*BUSY, _("Undoing")),
    "undone": Look("secondary", "arrow-counterclockwise", _("Undone")),
    "putting-back": Look(*BUSY, _("Putting back")),
    "put-back": Look("warning", "arrow-counterclockwise", _("Failed and put back")),
    "interrupted": Look("warning", "pause-circle-fill", _("Interrupted")),
    "attention": Look(*BAD, _("Needs attention")),
    "damaged": Look(*BAD, _("Damaged")),
    "newer": Look(*WARN, _("Of a newer release")),
    "pending": Look("secondary", "circle", _("To do")),
    "started": Look(*BUSY, _("Running")),
    "done": Look(*GOOD, _("Done")),
    "skipped": Look(*QUIET, _("Skipped")),
    "failed": Look(*BAD, _("Failed")),
    # Verdicts.
    "helps": Look(*GOOD, _("Helps")),
    "little": Look("secondary", "dash-circle", _("Little gain")),
    "no": Look("secondary", "slash-circle", _("No gain")),
    "cannot-tell": Look("info", "hourglass-split", _("Cannot tell")),
    # Alerts, deliveries, and how asking a disk went.
    "new": Look("danger", "bell-fill", _("New")),
    "acknowledged": Look("secondary", "check2-circle", _("Acknowledged")),
    "recovered": Look(*GOOD, _("Over")),
    "read": Look(*GOOD, _("Answers")),
    "asleep": Look("secondary", "moon-fill", _("Asleep")),
    "unsupported": Look(*QUIET, _("Tells nothing")),
    # How a host stands with us.
    "host-never": Look(*WAITING, _("Not read yet")),
    "host-fresh": Look("secondary", "check-circle", _("Answers")),
    "host-failed": Look(*WARN, _("Last check failed")),
    "host-outdated": Look(*WARN, _("Reading is old")),
    "host-silent": Look(*BAD, _("Host silent")),
    # Power-loss protection.
    "confirmed": Look(*GOOD, _("Confirmed")),
    "likely": Look("info", "check-circle", _("Likely")),
    "unlikely": Look(*WARN, _("Unlikely")),
    "unknown": Look("secondary", "question-circle", _("Unknown")),
    # Levels of findings.
    Level.INFO.value: Look("info", "info-circle-fill", _("Note")),
    Level.WARNING.value: Look(*WARN, _("Warning")),
    Level.CRITICAL.value: Look(*BAD, _("Critical")),
}


def look_of_state(state: str) -> Look:
    """The look of a state; one that nobody knows is shown as it is, without a verdict."""
    return _LOOKS.get(state) or Look(*QUIET, state)
