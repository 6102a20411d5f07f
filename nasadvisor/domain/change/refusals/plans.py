"""Refusals about what was asked for, and plans that no longer fit."""
# ruff: noqa: N802

from nasadvisor.domain.change.actions import Role
from nasadvisor.domain.statements import Refused, Statement
from nasadvisor.domain.statements import gettext_noop as _


def DiskTwice(key: str, role: Role) -> Refused:
    """Each SSD carries one slice for a role. Two sides of a log on one SSD would die together, and two caches on
    one gain nothing over a larger one.
    """
    return Refused(
        "disk-twice",
        _("The disk {key} is named more than once for the {role}. Name each SSD once."),
        {"key": key, "role": str(role)},
    )


def ImpossibleReserve(percent: int, highest: int) -> Refused:
    """The reserve is the share of an SSD that stays unwritten behind the slices. The SSD uses it to move blocks
    about, which keeps it fast under steady writes and makes it wear more slowly.
    """
    return Refused(
        "impossible-reserve",
        _("A reserve of {percent} % is not possible. Choose 0 to {highest} %."),
        {"percent": str(percent), "highest": str(highest)},
    )


def OfflineAlone() -> Refused:
    """What a cache does for a pool shows only while nothing else of the pool is changed."""
    return Refused(
        "offline-alone",
        _("A cache is taken out of service by itself. Plan the new log or cache separately."),
    )


def OneSideForAttach() -> Refused:
    """A log that is alone becomes a mirror when one more device is attached to it, and a plan attaches one."""
    return Refused("one-side-for-attach", _("To mirror an existing log, name exactly one SSD for the new side."))


def NothingToDo(pool_name: str) -> Refused:
    """A plan adds a log, a cache or both, and each of them needs an SSD; or it takes out a dead log, or a cache out of
    service.
    """
    return Refused(
        "nothing-to-do",
        _("No SSD is named for pool {pool}. Choose at least one for the log or the cache."),
        {"pool": pool_name},
    )


def PlanOutdated(pool_name: str) -> Refused:
    """A plan carries a fingerprint of the pool and the SSDs that it is about, and the host compares it with what it
    reads right before it begins. What changes by itself (usage, counters, kernel names) is left out, so this is a
    real change: a device, a size, a partition or a state.
    """
    return Refused(
        "plan-outdated",
        _(
            "The pool {pool} or its chosen SSDs changed since this plan was made. Nothing was changed. Look at the host again and make a new plan."
        ),
        {"pool": pool_name},
    )


def PlanForeign() -> Refused:
    """The host makes every plan again from the request in it and takes only one that comes out the same, command
    for command. This one does not: it was edited, damaged, or made by another release of NAS Advisor.
    """
    return Refused(
        "plan-foreign",
        _(
            "This plan is not the one that NAS Advisor makes for its own request, so it was changed on the way. Nothing was done. Make a new plan."
        ),
    )


def HostUnreadable(why: Statement) -> Refused:
    """What uses a disk and what a pool has is read right before anything is changed. What cannot be seen is not
    touched; the sentence says what could not be read.
    """
    return Refused("host-unreadable", _("The host could not be examined, so nothing was changed. {why}"), {"why": why})


def StateUnknown(why: Statement) -> Refused:
    """A step failed or was cut off, and then the host could not be read. Nothing more is done, since nobody can tell
    what is there. An undo begins by reading the host again.
    """
    return Refused(
        "state-unknown",
        _(
            "The host could no longer be examined, so this run stops here and what it did until then "
            "stays. {why} Once that is mended, undo the run: it looks at the host first."
        ),
        {"why": why},
    )


def StepNotThere(step: Statement) -> Refused:
    """At its end a run is looked at once more as a whole, so that “applied” is said only of what is there. Somebody
    took a part of it away while it ran.
    """
    return Refused(
        "step-not-there",
        _(
            "The host no longer shows what a step of this run did (“{step}”): somebody took it back "
            "meanwhile. The rest of the run is in place. Undo the run to take back what is left of it, and "
            "make a new plan."
        ),
        {"step": step},
    )
