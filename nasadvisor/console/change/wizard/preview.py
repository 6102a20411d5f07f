"""What choices come to.

The first step shows each SSD to scale, what a cache costs in memory, and what speaks against it. The review shows the
pool before and after, every command, the way back, and what may go wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nasadvisor.console.change.plans import plan_for
from nasadvisor.console.change.wizard.acceptance import Risk, risks_in
from nasadvisor.console.change.wizard.draft import Draft
from nasadvisor.console.health.inventory import known_protection
from nasadvisor.console.storage.diagrams import (
    DiskDrawing,
    PoolDrawing,
    Segment,
    SegmentKind,
    draw_disk,
    draw_pool,
    segment,
)
from nasadvisor.console.storage.disk_uses import Index
from nasadvisor.domain.change.actions import Action, Argv, Role, UndoAction
from nasadvisor.domain.change.consequences import DeviceLoss, losses_of
from nasadvisor.domain.change.plan import Plan, PlanRequest, reserve_start, room_on
from nasadvisor.domain.change.undo import cannot_be_undone, undo_steps
from nasadvisor.domain.change.warnings import warnings_for
from nasadvisor.domain.statements import Finding, Level, Refused
from nasadvisor.domain.storage.gaps import Extent, free_extents
from nasadvisor.domain.storage.inventory import Disk, Inventory, VdevClass
from nasadvisor.domain.storage.sizing import HeaderMemory, header_memory
from nasadvisor.domain.units import GIB, MIB

LARGEST_USEFUL_LOG_BYTES = 16 * GIB
"""Twice zfs_wrlog_data_max at the default tuning of a machine with 40 GiB of memory or more (zfs(4)): the most that
can ever wait in a log. More may be typed."""

COARSE_SLIDER_FROM_BYTES = 8 * GIB
"""From here on a slider moves by gibibytes, below it by 64 MiB."""


@dataclass(frozen=True)
class Layout:
    """The answer to the choices. `plan` is None if they are refused."""

    plan: Plan | None
    refusals: tuple[Refused, ...]
    warnings: tuple[Finding, ...]
    drawings: tuple[DiskDrawing, ...]
    memory: HeaderMemory | None

    @property
    def serious(self) -> tuple[Finding, ...]:
        """What is worth a second thought, or more."""
        return tuple(finding for finding in self.warnings if finding.level is not Level.INFO)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What is good to know."""
        return tuple(finding for finding in self.warnings if finding.level is Level.INFO)


@dataclass(frozen=True)
class Slider:
    """A range input: whole numbers of `unit` ("G" or "M")."""

    unit: str
    smallest: int
    largest: int
    step: int


def layout_of(draft: Draft, inventory: Inventory) -> Layout:
    """What the choices come to."""
    request = draft.request()
    answer = plan_for(request, inventory)
    plan = answer if isinstance(answer, Plan) else None
    cache_bytes = sum(piece.size_bytes for piece in plan.slices if piece.role is Role.CACHE) if plan else 0
    return Layout(
        plan=plan,
        refusals=() if isinstance(answer, Plan) else answer.refusals,
        warnings=warnings_for(plan, inventory, known_protection(inventory)) if plan else (),
        drawings=draw_disks(request, plan, inventory),
        memory=header_memory(cache_bytes) if cache_bytes else None,
    )


def draw_disks(request: PlanRequest, plan: Plan | None, inventory: Inventory) -> tuple[DiskDrawing, ...]:
    """The chosen disks as the plan leaves them, or as they are if there is none."""
    after = plan.after(inventory) if plan else inventory
    new = {(piece.disk_key, piece.number) for piece in plan.slices} if plan else set()
    index = Index(after)
    return tuple(_draw(disk, index, new, request) for disk in map(after.disk, request.disks) if disk)


def slider_for(keys: tuple[str, ...], draft: Draft, inventory: Inventory, most_bytes: int | None = None) -> Slider:
    """The range in which a size is worth choosing on all of these disks."""
    disks = filter(None, map(inventory.disk, keys))
    rooms = [room_on(disk, inventory.host, draft.reserve_percent).size_bytes for disk in disks]
    room_bytes = min([*rooms, *([most_bytes] if most_bytes else [])], default=GIB)
    if room_bytes >= COARSE_SLIDER_FROM_BYTES:
        return Slider("G", 1, room_bytes // GIB, 1)
    return Slider("M", 64, max(room_bytes // MIB // 64 * 64, 64), 64)


def _draw(disk: Disk, index: Index, new: set[tuple[str, int]], request: PlanRequest) -> DiskDrawing:
    taken = (
        replace(each, is_new=(disk.key, each.number) in new)
        for each in draw_disk(disk, index).segments
        if each.kind is not SegmentKind.FREE
    )
    start = reserve_start(disk, index.inventory.host, request.reserve_percent)
    free = (piece for extent in free_extents(disk) for piece in _free(disk, extent, start))
    return DiskDrawing.of(disk, (*taken, *free))


def _free(disk: Disk, extent: Extent, reserve_start_bytes: int) -> Iterator[Segment]:
    """A free extent; what of it lies in the reserve is called so."""
    middle = min(max(reserve_start_bytes, extent.start_bytes), extent.end_bytes)
    if middle > extent.start_bytes:
        yield segment(disk, SegmentKind.FREE, extent.start_bytes, middle - extent.start_bytes)
    if extent.end_bytes > middle:
        yield segment(disk, SegmentKind.RESERVE, middle, extent.end_bytes - middle)


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
