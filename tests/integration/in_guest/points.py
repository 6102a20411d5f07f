"""The points at which a run can be stopped, generated from its plan: after any record, and after any action."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from nasadvisor.domain.actions import Action, Slice, UndoAction
from nasadvisor.domain.inventory import Disk, Inventory
from nasadvisor.domain.lifecycle import CommandRan, DiskImage, Run
from nasadvisor.domain.plan import Plan
from nasadvisor.host.executor import Executor
from nasadvisor.host.runs import RunHost

Stop = Callable[[], None]


@dataclass
class StopsAfterActing:
    """An executor that stops when the host has changed and no record says so yet."""

    inner: Executor
    countdown: int
    stop: Stop

    def inventory(self) -> Inventory:
        return self.inner.inventory()

    def table_image(self, disk: Disk) -> DiskImage:
        return self.inner.table_image(disk)

    def hidden_content(self, piece: Slice) -> str:
        return self.inner.hidden_content(piece)

    def clear_traces(self, action: Action, inventory: Inventory, image: DiskImage | None) -> None:
        self.inner.clear_traces(action, inventory, image)

    def do(self, action: Action, inventory: Inventory) -> tuple[CommandRan, ...]:
        return self._counted(self.inner.do(action, inventory))

    def undo(self, action: UndoAction, inventory: Inventory, image: DiskImage | None) -> tuple[CommandRan, ...]:
        return self._counted(self.inner.undo(action, inventory, image))

    def _counted(self, ran: tuple[CommandRan, ...]) -> tuple[CommandRan, ...]:
        self.countdown -= 1
        if self.countdown == 0:
            self.stop()
        return ran


@dataclass(frozen=True)
class Point:
    """Stop once so many records are durable, or right after so many actions have changed the host."""

    name: str
    records: int = 0
    actions: int = 0

    def host(self, host: RunHost, stop: Stop) -> RunHost:
        """The run host with an executor that stops here."""
        if not self.actions:
            return host
        return replace(host, executor=lambda held: StopsAfterActing(host.executor(held), self.actions, stop))

    def observer(self, stop: Stop) -> Callable[[Run], None]:
        """An observer that stops here."""

        def observe(run: Run) -> None:
            if self.records and run.seq >= self.records:
                stop()

        return observe


def apply_points(plan: Plan) -> list[Point]:
    """Every point of applying a plan: each step has an intent, an action and a result."""
    records = [Point(f"apply-record-{n}", records=n) for n in range(1, 2 * len(plan.actions) + 2)]
    return records + [Point(f"apply-action-{n}", actions=n) for n in range(1, len(plan.actions) + 1)]


def undo_points(seq: int, steps: int) -> list[Point]:
    """Every point of undoing a run that has so many records, in so many steps."""
    records = [Point(f"undo-record-{n}", records=seq + n) for n in range(1, 2 * steps + 2)]
    return records + [Point(f"undo-action-{n}", actions=n) for n in range(1, steps + 1)]
