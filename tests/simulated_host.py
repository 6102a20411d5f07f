"""A host worker without a machine and without a message service: it answers tasks by storing what it would publish."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nasadvisor.console.fleet import hosts
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.change.plan import Plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.runs import RunHost, apply_plan, finish_run, undo_run
from nasadvisor.host.change.trials import TrialWatch, end_trial, keep_run
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.stored.documents import from_document, to_document
from nasadvisor.stored.kinds import own_schema_versions


class Killed(BaseException):
    """Stands for SIGKILL: no handler of the product may catch it."""


@dataclass
class SimulatedHost:
    """The recorded machine of one node.

    `ahead` is how far its clock is ahead of ours. `after_each` runs whenever a record was published; the worker dies
    once so many records are, at `kill_at`.
    """

    root: Path
    executor: SimulatedExecutor
    kill_at: int = 0
    ahead: timedelta = timedelta()
    after_each: Callable[[], None] = lambda: None
    published: list[Run] = field(default_factory=list)

    @property
    def node(self) -> str:
        """Its name."""
        return self.executor.state.host.node

    def publish_inventory(self) -> None:
        """Tell the console which release this is, and how the machine is now."""
        hosts.store_schema_versions(
            self.node, own_schema_versions(self.node), to_document(own_schema_versions(self.node))
        )
        inventory = replace(self.executor.state, read_at=datetime.now(UTC).isoformat(timespec="seconds"))
        take_answer(self.node, "inventory", to_document(inventory))

    def answer(self, task: str, args: list[object]) -> None:
        """Do what a task asks for."""
        match task, args:
            case "host.apply", [document, int(trial_s), str(by)]:
                apply_plan(self._host, from_document(Plan, document), by, self._publish, trial_s)
            case "host.keep", [str(run_id), str(by)]:
                self._publish(keep_run(self._host, run_id, by))
            case "host.undo", [str(run_id), str(by)]:
                undo_run(self._host, run_id, by, self._publish)
            case "host.finish", [str(run_id), str(by)]:
                finish_run(self._host, run_id, by, self._publish)
            case _:
                pass
        self.publish_inventory()

    def end_trials(self) -> None:
        """Do what the host's own clock asks for."""
        for run_id in TrialWatch(self._host).due():
            end_trial(self._host, run_id, self._publish)
        self.publish_inventory()

    @property
    def _host(self) -> RunHost:
        return RunHost(
            node=self.node,
            journals=self.root / "runs",
            locks=(self.root / "host.lock",),
            executor=lambda _descriptors: self.executor,
            clock=lambda: datetime.now(UTC) + self.ahead,
        )

    def _publish(self, run: Run) -> None:
        self.published.append(run)
        take_answer(self.node, "run", to_document(run))
        if self.kill_at and run.seq >= self.kill_at:
            raise Killed
        self.after_each()


def simulated_host(root: Path, inventory: Inventory) -> SimulatedHost:
    """A host that starts out with this inventory and has told the console about it."""
    host = SimulatedHost(root, SimulatedExecutor(inventory))
    host.publish_inventory()
    return host
