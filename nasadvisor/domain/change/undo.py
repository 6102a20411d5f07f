"""How each step is taken back, and what cannot be.

Undo is data derived from the plan and from what each step really did (its outcome), last step first. So the cache goes
before the log, vdevs before slices, slices before tables.
"""

from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.change.actions import (
    Argv,
    AttachLog,
    DropLog,
    DropLogSide,
    RemoveVdev,
    Role,
    UndoAction,
)
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.statements import gettext_noop as _

GONE_WITH_DISK: Final = "gone-with-disk"
"""The code of what is said where a slice could not be deleted because its disk is not on the host."""


@dataclass(frozen=True)
class Left:
    """What an undo left: the paths of disks that are not on the host, and of those whose old table it did not write."""

    away: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


NOTHING_LEFT: Final = Left()


def undo_steps(plan: Plan) -> tuple[UndoAction, ...]:
    """The undo as far as it is known before the run, in the order in which its steps would run."""
    return tuple(step for action in reversed(plan.actions) for step in action.undo(action.planned_outcome()))


def undo_preview(plan: Plan) -> tuple[Argv, ...]:
    """The commands of that."""
    return tuple(argv for step in undo_steps(plan) for argv in step.commands())


def cannot_be_undone(plan: Plan) -> tuple[Finding, ...]:
    """What stays different after an undo; said before anything is done."""
    findings = [finding for action in plan.actions for finding in action.never_undone()]
    findings.extend(_sides_that_stay_out(plan))
    findings.append(
        Finding(
            "history-stays",
            _("The commands stay in `zpool history {pool}`."),
            {"pool": plan.pool_name},
            Level.INFO,
            explanation=_(
                "OpenZFS keeps the commands that changed a pool in the pool itself, and nobody can delete them."
            ),
        )
    )
    if plan.request.disks:
        findings.append(_free_space_overwritten())
    return tuple(findings)


def _free_space_overwritten() -> Finding:
    return Finding(
        "free-space-overwritten",
        _(
            "What lay in the unpartitioned space of the SSDs is overwritten. Right before, the disk itself is "
            "searched for anything that libblkid recognises, where each slice begins, at every MiB of its first "
            "GiB and in 1,024 places of the rest; what begins elsewhere is not seen."
        ),
        {},
        Level.INFO,
        explanation=_(
            "A partition that was deleted by mistake can be brought back only until something is written in its place."
        ),
    )


def _sides_that_stay_out(plan: Plan) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            "broken-side-stays-out",
            _(
                "The broken side {path} stays out of the log of pool {pool}, which then stands on {existing} alone, as "
                "it does now."
            ),
            {"pool": plan.pool_name, "path": drop.vdev_path or drop.vdev_guid, "existing": attach.existing_path},
            Level.INFO,
            explanation=_(
                "A side that is broken is not put back by an undo: it would only be broken again."
                " To have a mirror afterwards, add a side on another SSD."
            ),
        )
        for drop in plan.actions
        for attach in plan.actions
        if isinstance(drop, DropLogSide) and isinstance(attach, AttachLog)
    )


def stays_after_undo(plan: Plan, undone: tuple[UndoAction, ...], left: Left = NOTHING_LEFT) -> tuple[Finding, ...]:
    """What to tell when an undo has succeeded: how the SSDs are, and what the pool keeps.

    `undone` is what was taken back: a run that ended before its log was added left no hole.
    """
    findings = [*map(_gone_with_disk, left.away), *map(_no_slice_left, left.tables)]
    if plan.request.disks and not findings:
        findings.append(_ssds_as_before())
    if any(isinstance(action, RemoveVdev) and action.role is Role.LOG for action in undone):
        findings.append(
            Finding(
                "hole-stays",
                _(
                    "The configuration of pool {pool} keeps an empty place (a hole) where the log was, for as long as "
                    "the pool lives. Each log that comes and goes leaves one more."
                ),
                {"pool": plan.pool_name},
                explanation=_(
                    "OpenZFS does that for every removed log: spa_vdev_add() gives a new device the next number and "
                    "no earlier one. A hole holds no data and needs no space; `zdb -C` shows it."
                ),
            )
        )
    findings.extend(_sides_that_stay_out(plan))
    for action in plan.actions:
        if isinstance(action, DropLog):
            findings.extend(action.never_undone())
    return tuple(findings)


def _gone_with_disk(path: str) -> Finding:
    return Finding(
        GONE_WITH_DISK,
        _(
            "A slice of this run was on {disk}, which is not on this host now, so the slice could not be deleted. "
            "If that SSD is plugged in again, undo this run once more."
        ),
        {"disk": path},
        Level.WARNING,
        _(
            "An undo makes the pool let go of a slice before it deletes it, so no data waits there. Plugged in again, "
            "it shows as a slice that nobody uses."
        ),
    )


def _no_slice_left(path: str) -> Finding:
    return Finding(
        "no-slice-left",
        _("No slice is left, but the partition table of {disk} is not the old one."),
        {"disk": path},
        explanation=_(
            "Its old sectors were not written back: somebody else has changed the table since the run, or its journal "
            "holds no copy of them. The space of the slices is free again."
        ),
    )


def _ssds_as_before() -> Finding:
    return Finding(
        "ssds-as-before",
        _("No slice is left. The partition tables of the SSDs that this run wrote on are byte for byte as before it."),
        explanation=_("That was read off the SSDs after the undo, not concluded from its commands."),
    )
