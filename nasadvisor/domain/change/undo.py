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
                "OpenZFS stores the commands that changed a pool in the pool itself, where they cannot be deleted."
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
            "Data in the unpartitioned space of the SSDs is overwritten. Right before that, the disk itself is "
            "searched for anything that libblkid recognises: where each slice begins, at every MiB of its first GiB "
            "and in 1,024 places of the rest. Other data is searched for at both ends of the free space and in 64 "
            "places in between. Anything elsewhere is not seen."
        ),
        {},
        Level.INFO,
        explanation=_("A partition deleted by mistake can be recovered only until something is written in its place."),
    )


def _sides_that_stay_out(plan: Plan) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            "broken-side-stays-out",
            _(
                "The failed side {path} stays out of the log of pool {pool}, which then consists of {existing} alone, "
                "as it does now."
            ),
            {"pool": plan.pool_name, "path": drop.vdev_path or drop.vdev_guid, "existing": attach.existing_path},
            Level.INFO,
            explanation=_(
                "An undo does not put a failed side back: it would only fail again. To have a mirror afterwards, add "
                "a side on another SSD."
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
                    "The configuration of pool {pool} keeps an empty entry (a hole) in place of the log as long as "
                    "the pool exists. Each log that is added and removed leaves another."
                ),
                {"pool": plan.pool_name},
                explanation=_(
                    "OpenZFS does that for every removed log: spa_vdev_add() gives a new device the next number, "
                    "never an earlier one. A hole contains no data and needs no space; `zdb -C` shows it."
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
            "A slice of this run was on {disk}, which is not connected to this host now, so the slice could not be "
            "deleted. If you plug that SSD in again, undo this run once more."
        ),
        {"disk": path},
        Level.WARNING,
        _(
            "An undo removes a slice from the pool before it deletes the slice, so no data is waiting there. If you "
            "plug the SSD in again, it shows an unused slice."
        ),
    )


def _no_slice_left(path: str) -> Finding:
    return Finding(
        "no-slice-left",
        _("No slice is left, but the partition table of {disk} is not the original one."),
        {"disk": path},
        explanation=_(
            "Its old sectors were not restored: the table or the disk has changed since the run, or the journal has "
            "no valid copy of them. The space of the slices is free again."
        ),
    )


def _ssds_as_before() -> Finding:
    return Finding(
        "ssds-as-before",
        _("No slice is left. The partition tables of the SSDs that this run wrote to are byte for byte as before."),
        explanation=_("This was read from the SSDs after the undo, not inferred from its commands."),
    )
