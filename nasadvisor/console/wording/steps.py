"""Where a finding leads: the page on which somebody goes about it."""

from dataclasses import dataclass
from typing import Final

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from nasadvisor.domain.statements import Finding, NextStep

_WORDS: Final[dict[NextStep, str | Promise]] = {
    NextStep.LOOK_AT_POOL: _("Look at the pool"),
    NextStep.LOOK_AT_DISK: _("View disk"),
    NextStep.ADD_LOG_OR_CACHE: _("Add log or cache"),
    NextStep.MIRROR_LOG: _("Give the log a second side"),
    NextStep.REPLACE_LOG_SIDE: _("Replace this side of the log"),
    NextStep.REPLACE_DEAD_LOG: _("Replace the dead log"),
}

_OPERATORS_ONLY: Final = frozenset(
    {NextStep.ADD_LOG_OR_CACHE, NextStep.MIRROR_LOG, NextStep.REPLACE_LOG_SIDE, NextStep.REPLACE_DEAD_LOG}
)


@dataclass(frozen=True)
class Lead:
    """A link and what it says."""

    url: str
    words: str | Promise


def lead_from(finding: Finding, may_change: bool) -> Lead | None:
    """The next step, None where there is none. Who may change nothing is led to a page to look at."""
    if finding.step is None or not finding.place:
        return None
    is_closed = finding.step in _OPERATORS_ONLY and not may_change
    step = NextStep.LOOK_AT_POOL if is_closed else finding.step
    return Lead(_url(step, finding.place), _WORDS[step])


def _url(step: NextStep, place: str) -> str:
    match step:
        case NextStep.LOOK_AT_DISK:
            return reverse("disk", args=[place])
        case NextStep.ADD_LOG_OR_CACHE:
            return reverse("wizard-start", args=[place])
        case NextStep.MIRROR_LOG:
            return f"{reverse('wizard-start', args=[place])}?goal=mirror"
        case NextStep.REPLACE_LOG_SIDE:
            return f"{reverse('wizard-start', args=[place])}?goal=replace"
        case NextStep.REPLACE_DEAD_LOG:
            return f"{reverse('wizard-start', args=[place])}?goal=instead"
        case NextStep.LOOK_AT_POOL:
            return reverse("pool", args=[place])
