"""What a console may ask of a host, as the host is set: to look always, and to do more in three groups of verbs.

The host tells it with its platforms' report, as vetoes, so that every console which knows vetoes shows it beforehand;
and refuses by itself what is not allowed, whoever asks.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.fleet.platforms import FORWARDS, PlatformReport, Veto
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.statements import gettext_noop as _

LOOK: Final = "look"
"""In a setting: nothing beyond looking. It may stand beside the others, and adds nothing to them."""


class Verbs(StrEnum):
    """What a console may ask beyond looking."""

    MEASURE = "measure"  # measurements that write, self-tests of disks, scrubs
    CHANGE = "change"  # apply a plan, finish a run, keep what is on trial
    UNDO = "undo"  # take a run back


ALL: Final = frozenset(Verbs)
NONE: Final[frozenset[Verbs]] = frozenset()


def permissions_of(setting: str) -> frozenset[Verbs]:
    """The groups that a setting names; all where it is empty. A word that is not understood allows nothing."""
    if not setting.strip():
        return ALL
    words = re.split(r"[\s,]+", setting.lower())
    return frozenset(group for group in Verbs if group in words)


def may_not(group: Verbs) -> Refused:
    """Why a console is refused."""
    return {Verbs.MEASURE: MayNotMeasure, Verbs.CHANGE: MayNotChange, Verbs.UNDO: MayNotUndo}[group]()


def MayNotMeasure() -> Refused:  # noqa: N802
    """The host's administrator has configured this: a measurement writes to a pool and wears an SSD slightly."""
    return Refused(
        "console-may-not-measure",
        _(
            "This host does not allow a console to run write benchmarks, disk self-tests or scrubs "
            "(NASADVISOR_CONSOLE_MAY in /etc/nasadvisor/environment there). Nothing was done. On the host, use "
            "`nasadvisor probe` to measure."
        ),
    )


def MayNotChange() -> Refused:  # noqa: N802
    """The host's administrator has configured this, so even a console that was taken over cannot change a pool."""
    return Refused(
        "console-may-not-change",
        _(
            "This host does not allow a console to change its pools (NASADVISOR_CONSOLE_MAY in "
            "/etc/nasadvisor/environment there). Nothing was changed. On the host, use `nasadvisor plan` and "
            "`nasadvisor apply`."
        ),
    )


def MayNotUndo() -> Refused:  # noqa: N802
    """The host's administrator has configured this. Trials still end automatically, because the
    host ends them itself.
    """
    return Refused(
        "console-may-not-undo",
        _(
            "This host does not allow a console to undo runs (NASADVISOR_CONSOLE_MAY in /etc/nasadvisor/environment "
            "there). Nothing was changed. On the host, use `nasadvisor undo`."
        ),
    )


CODES: Final = frozenset(may_not(group).code for group in Verbs)


def as_vetoes(allowed: frozenset[Verbs]) -> Iterator[Veto]:
    """What a host tells of it. To measure is no goal of a run, so that veto forbids none."""
    forbids = {Verbs.MEASURE: (), Verbs.CHANGE: FORWARDS, Verbs.UNDO: (Goal.UNDO,)}
    for group in Verbs:
        if group not in allowed:
            yield Veto(may_not(group), forbids=forbids[group])


def why_not(report: PlatformReport, group: Verbs) -> Refused | None:
    """Why a console may not ask this of a host, as the host told; None where it may."""
    code = may_not(group).code
    return next((veto.reason for veto in report.vetoes if veto.reason.code == code), None)
