"""Refusals about what was asked for, and plans that no longer fit."""
# ruff: noqa: N802

from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _


def DiskTwice(key: str, role: Role) -> Refused:
    return Refused(
        "disk-twice",
        _("The disk {key} is named more than once for the {role}. Name each SSD once."),
        {"key": key, "role": str(role)},
    )


def ImpossibleReserve(percent: int, highest: int) -> Refused:
    return Refused(
        "impossible-reserve",
        _("A reserve of {percent} % is not possible. Choose 0 to {highest} %."),
        {"percent": str(percent), "highest": str(highest)},
    )


def OneLegForAttach() -> Refused:
    return Refused("one-leg-for-attach", _("To mirror an existing log, name exactly one SSD for the new side."))


def NothingToDo(pool_name: str) -> Refused:
    return Refused(
        "nothing-to-do",
        _("No SSD is named for pool {pool}. Choose at least one for the log or the cache."),
        {"pool": pool_name},
    )


def PlanOutdated(pool_name: str) -> Refused:
    return Refused(
        "plan-outdated",
        _(
            "The pool {pool} or its chosen SSDs changed since this plan was made. Nothing was changed. Look at the host again and make a new plan."
        ),
        {"pool": pool_name},
    )


def PlanForeign() -> Refused:
    return Refused(
        "plan-foreign",
        _(
            "This plan is not the one that NAS Advisor makes for its own request, so it was changed on the way. Nothing was done. Make a new plan."
        ),
    )


def HostUnreadable(why: Statement) -> Refused:
    return Refused("host-unreadable", _("The host could not be examined, so nothing was changed. {why}"), {"why": why})


def StepNotThere(step: Statement) -> Refused:
    return Refused(
        "step-not-there",
        _(
            "The host does not show any more what a step of this run did (“{step}”): somebody took it back meanwhile. The rest of the run is in place. Undo the run to take back what is left of it, and make a new plan."
        ),
        {"step": step},
    )
