"""The points at which a run can be stopped, generated from its plan: after any record, and after any action."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from nasadvisor.domain.change.actions import CreateSlice, CreateTable
from nasadvisor.domain.change.device_scan import DeviceScan, Step
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.change.tables import OwnTable
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.gate import Executor, Permit, Ran
from nasadvisor.host.change.runs import RunHost

Stop = Callable[[], None]


@dataclass
class StopsAfterActing:
    """An executor that stops when the host has changed and no record says so yet."""

    inner: Executor
    countdown: int
    stop: Stop

    def inventory(self) -> Inventory:
        return self.inner.inventory()

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        return self.inner.look(step, inventory, own)

    def do(self, permit: Permit) -> Ran:
        return self._counted(self.inner.do(permit))

    def _counted(self, ran: Ran) -> Ran:
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
    """Every point of applying a plan: each step has an intent, an action, a result, and some a table that they left."""
    tables = sum(isinstance(action, CreateTable | CreateSlice) for action in plan.actions)
    records = [Point(f"apply-record-{n}", records=n) for n in range(1, 2 * len(plan.actions) + tables + 2)]
    return records + [Point(f"apply-action-{n}", actions=n) for n in range(1, len(plan.actions) + 1)]


def undo_points(seq: int, steps: int) -> list[Point]:
    """Every point of undoing a run that has so many records, in so many steps."""
    records = [Point(f"undo-record-{n}", records=seq + n) for n in range(1, 2 * steps + 2)]
    return records + [Point(f"undo-action-{n}", actions=n) for n in range(1, steps + 1)]
