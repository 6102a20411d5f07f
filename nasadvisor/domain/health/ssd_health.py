"""The health of an SSD in the plain values that a proposal goes by."""

from collections.abc import Iterable
from typing import Final

from nasadvisor.domain.change.proposal import SsdHealth
from nasadvisor.domain.health.urgency import worst_first
from nasadvisor.domain.statements import Finding, Level

NO_FAULT: Final = frozenset({"indicator-conflict"})
"""Warnings that say something about the figures of a disk and nothing about how it is."""


def ssd_health(findings: Iterable[Finding], percent_used: float | None, power_loss: str) -> SsdHealth:
    """How an SSD is; whatever is worth a warning about it speaks against it, the worst first."""
    told = worst_first(each for each in findings if each.level is not Level.INFO and each.code not in NO_FAULT)
    return SsdHealth(told[0].plain if told else None, percent_used, power_loss)
