"""What the review shows: the pool before and after, every command, the way back, and what may go wrong."""

from dataclasses import dataclass

from nasadvisor.console.change.wizard.acceptance import Risk, risks_in
from nasadvisor.console.change.wizard.layout import draw_disks
from nasadvisor.console.health.inventory import known_protection
from nasadvisor.console.storage.diagrams import DiskDrawing, PoolDrawing, draw_pool
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.domain.change.actions import Action, Argv, UndoAction
from nasadvisor.domain.change.consequences import DeviceLoss, losses_of
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.undo import cannot_be_undone, undo_steps
from nasadvisor.domain.change.warnings import warnings_for
from nasadvisor.domain.statements import Finding, Level
from nasadvisor.domain.storage.inventory import Inventory, VdevClass


@dataclass(frozen=True)
class PlannedStep:
    """One action and its commands; none where only the partition table is saved."""

    action: Action | UndoAction
    commands: tuple[Argv, ...]


@dataclass(frozen=True)
class Loss:
    """What happens if any one of these devices dies."""

    devices: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Preview:
    """A plan against the inventory it was made for."""

    plan: Plan
    before: PoolDrawing
    after: PoolDrawing
    drawings: tuple[DiskDrawing, ...]
    steps: tuple[PlannedStep, ...]
    undo: tuple[PlannedStep, ...]
    stays: tuple[Finding, ...]
    losses: tuple[Loss, ...]
    warnings: tuple[Finding, ...]

    @property
    def changed(self) -> frozenset[VdevClass]:
        """The classes in which the pool gets or loses something; the others stay as they are."""
        before = {group.vdev_class: group.vdevs for group in self.before.groups}
        return frozenset(
            group.vdev_class for group in self.after.groups if group.vdevs != before.get(group.vdev_class, ())
        )

    @property
    def risks(self) -> tuple[Risk, ...]:
        """What is to be accepted before it is applied."""
        return risks_in(self.warnings)

    @property
    def cautions(self) -> tuple[Finding, ...]:
        """What is worth a second thought."""
        return tuple(finding for finding in self.warnings if finding.level is Level.WARNING)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What is good to know."""
        return tuple(finding for finding in self.warnings if finding.level is Level.INFO)

    @property
    def commands(self) -> tuple[Argv, ...]:
        """All commands in order."""
        return tuple(argv for step in self.steps for argv in step.commands)


def preview_of(plan: Plan, inventory: Inventory, cautions: tuple[Finding, ...]) -> Preview | None:
    """The preview, with what the platform wants read first; None if the pool is gone."""
    after = plan.after(inventory)
    pool_before, pool_after = inventory.pool(plan.request.pool_guid), after.pool(plan.request.pool_guid)
    if pool_before is None or pool_after is None:
        return None
    return Preview(
        plan=plan,
        before=draw_pool(pool_before, Index(inventory)),
        after=draw_pool(pool_after, Index(after)),
        drawings=draw_disks(plan.request, plan, inventory),
        steps=tuple(PlannedStep(action, action.commands()) for action in plan.actions),
        undo=tuple(PlannedStep(step, step.commands()) for step in undo_steps(plan)),
        stays=cannot_be_undone(plan),
        losses=_grouped(losses_of(plan, inventory)),
        warnings=(*cautions, *warnings_for(plan, inventory, known_protection(inventory))),
    )


def _grouped(losses: tuple[DeviceLoss, ...]) -> tuple[Loss, ...]:
    """Devices whose death means the same, together."""
    meanings = list({tuple(map(str, loss.findings)): loss.findings for loss in losses}.values())
    return tuple(
        Loss(tuple(loss.device for loss in losses if loss.findings == findings), findings) for findings in meanings
    )
