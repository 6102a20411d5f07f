"""Refusals about what was asked for, and plans that no longer fit."""
# ruff: noqa: N802

from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _


def DiskTwice(key: str, role: Role) -> Refused:
    """Each SSD holds one slice per role. Two sides of a log on one SSD would fail together, and two caches on one SSD
    gain nothing over one larger cache.
    """
    return Refused(
        "disk-twice",
        _("The disk {key} is specified more than once for the {role}. Specify each SSD once."),
        {"key": key, "role": str(role)},
    )


def ImpossibleReserve(percent: int, highest: int) -> Refused:
    """The reserve is the share of an SSD that stays unwritten behind the slices. The SSD uses it to move blocks, which
    keeps sustained writes fast and slows down wear.
    """
    return Refused(
        "impossible-reserve",
        _("A reserve of {percent} % is not possible. Choose from 0 to {highest} %."),
        {"percent": str(percent), "highest": str(highest)},
    )


def OfflineAlone() -> Refused:
    """The effect of a cache on a pool shows only while nothing else in the pool is changed."""
    return Refused(
        "offline-alone",
        _("Taking a cache out of service needs a plan of its own. Plan the new log or cache separately."),
    )


def OneSideForAttach() -> Refused:
    """A single log becomes a mirror when one more device is attached to it, and a plan attaches exactly one."""
    return Refused("one-side-for-attach", _("To mirror an existing log, specify exactly one SSD for the new side."))


def NothingToDo(pool_name: str) -> Refused:
    """A plan adds a log, a cache or both, each of which needs an SSD; or it removes a failed log, or takes a cache out
    of service.
    """
    return Refused(
        "nothing-to-do",
        _("No SSD is specified for pool {pool}. Choose at least one for the log or the cache."),
        {"pool": pool_name},
    )


def PlanOutdated(pool_name: str) -> Refused:
    """A plan contains a fingerprint of its pool and SSDs, and the host compares it with a fresh reading immediately
    before it begins. Values that change on their own (usage, counters, kernel names) are left out, so this is a real
    change: a device, a size, a partition or a state.
    """
    return Refused(
        "plan-outdated",
        _(
            "Pool {pool} or its chosen SSDs have changed since this plan was created. Nothing was changed by the "
            "plan. Read the host again and create a new plan."
        ),
        {"pool": pool_name},
    )


def PlanForeign() -> Refused:
    """The host recreates every plan from its request and accepts only one that comes out identical, command for
    command. This one does not: it was edited, damaged, or created by another release of NAS Advisor.
    """
    return Refused(
        "plan-foreign",
        _(
            "This plan differs from the one that NAS Advisor creates for the same request. Nothing was done. Create a "
            "new plan."
        ),
    )


def HostUnreadable(why: Statement) -> Refused:
    """The users of a disk and the devices of a pool are read immediately before any change. Anything that cannot be
    read is left untouched; the message shows what could not be read.
    """
    return Refused("host-unreadable", _("The host could not be examined, so nothing was changed. {why}"), {"why": why})


def StateUnknown(why: Statement) -> Refused:
    """A step failed or was interrupted, and then the host could not be read. Nothing more is done, because the state of
    the host is unknown. An undo begins by reading the host again.
    """
    return Refused(
        "state-unknown",
        _(
            "The host could no longer be examined, so this run stops here, and its changes so far stay. {why} Once "
            "that is fixed, undo the run: the undo examines the host first."
        ),
        {"why": why},
    )


def StepNotThere(step: Statement) -> Refused:
    """At its end, a run is checked once more as a whole, so that “applied” is reported only if everything is in place.
    Someone removed a part of it while it ran.
    """
    return Refused(
        "step-not-there",
        _(
            "The host no longer shows the result of a step of this run (“{step}”): someone has undone it since. The "
            "rest of the run is in place. Undo the run to remove this rest, and create a new plan."
        ),
        {"step": step},
    )
