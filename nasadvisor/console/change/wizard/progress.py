"""The three steps at the top of the wizard."""

from dataclasses import dataclass
from enum import IntEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class WizardStep(IntEnum):
    """The steps in order."""

    DEVICES = 1
    REVIEW = 2
    RESULT = 3


_LABELS: dict[WizardStep, str | Promise] = {
    WizardStep.DEVICES: _("Devices and size"),
    WizardStep.REVIEW: _("Review"),
    WizardStep.RESULT: _("Result"),
}


@dataclass(frozen=True)
class ProgressItem:
    """A step as drawn; `url` is "" where one cannot go back to it."""

    number: int
    label: str | Promise
    is_current: bool
    is_done: bool
    url: str


def progress(current: WizardStep, urls: dict[WizardStep, str] | None = None) -> tuple[ProgressItem, ...]:
    """The steps, with addresses for those that can be visited again."""
    return tuple(
        ProgressItem(step.value, _LABELS[step], step is current, step < current, (urls or {}).get(step, ""))
        for step in WizardStep
    )
