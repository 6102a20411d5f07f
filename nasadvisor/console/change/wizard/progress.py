"""The six steps at the top of the wizard."""

from dataclasses import dataclass
from enum import IntEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class WizardStep(IntEnum):
    """The steps in order."""

    POOL = 1
    DEVICES = 2
    LAYOUT = 3
    PREVIEW = 4
    APPLY = 5
    PROOF = 6


_LABELS: dict[WizardStep, str | Promise] = {
    WizardStep.POOL: _("Pool"),
    WizardStep.DEVICES: _("Devices"),
    WizardStep.LAYOUT: _("Layout"),
    WizardStep.PREVIEW: _("Preview"),
    WizardStep.APPLY: _("Apply"),
    WizardStep.PROOF: _("Proof"),
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
