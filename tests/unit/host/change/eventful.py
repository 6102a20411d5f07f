"""A simulated host to which things happen between the steps of a run, and what its journal says afterwards."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nasadvisor.domain.change.device_scan import DeviceScan, Signature, SliceLabel, Step
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.change.runs import CommandRan, Done, Failed, Goal, Intent, Record, Skipped
from nasadvisor.domain.change.table_area import Area
from nasadvisor.domain.change.tables import OwnTable, disk_key_of
from nasadvisor.domain.fleet.platforms import Veto
from nasadvisor.domain.statements import Refused
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB
from nasadvisor.host.change.gate import Permit
from nasadvisor.host.change.journal import Journal
from nasadvisor.host.errors import CommandFailed
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.unit.host.change.conftest import Bench, rechained
from tests.unit.machines import NVME1, TANK

LOG = PlanRequest(TANK, (NVME1,), 4 * GIB)
"""Three steps: a table, a slice, a log."""

GONE = CommandFailed("zpool status", 1, "no such device", mutates=False)

Change = Callable[[Inventory], Inventory]


@dataclass
class Host(SimulatedExecutor):
    """A simulated host that keeps what it was asked and did, and to which things happen.

    `after` changes it once a step of a sort is done; `unreadable` ends its reading after so many readings. `found` and
    `labels` are what is seen in what a step of a sort would write on, `areas` the tables by disk. `fails` are sorts of
    steps that do nothing but fail.
    """

    after: dict[type, Change] = field(default_factory=dict)
    unreadable: int | None = None
    readings: int = 0
    looked: list[tuple[Step, Inventory, OwnTable | None]] = field(default_factory=list)
    found: dict[type, Signature] = field(default_factory=dict)
    labels: tuple[tuple[str, SliceLabel], ...] = ()
    areas: dict[str, Area] = field(default_factory=dict)
    fails: set[type] = field(default_factory=set)
    did: list[Step] = field(default_factory=list)

    def inventory(self) -> Inventory:
        self.readings += 1
        if self.unreadable is not None and self.readings > self.unreadable:
            raise GONE
        return super().inventory()

    def look(self, step: Step, inventory: Inventory, own: OwnTable | None) -> DeviceScan:
        self.looked.append((step, inventory, own))
        seen = super().look(step, inventory, own)
        found = self.found.get(type(step))
        return replace(
            seen,
            signatures=(found,) if found else (),
            labels=self.labels,
            table=self.areas.get(disk_key_of(step), seen.table),
        )

    def do(self, permit: Permit) -> tuple[CommandRan, ...]:
        if type(permit.step) in self.fails:
            raise GONE
        ran = super().do(permit)
        self.did.append(permit.step)
        if type(permit.step) in self.after:
            self.state = self.after[type(permit.step)](self.state)
        return ran


def host_of(bench: Bench) -> Host:
    """The host of a bench that has an eventful one."""
    assert isinstance(bench.executor, Host)
    return bench.executor


def records(bench: Bench, run_id: str = "run-1") -> tuple[Record, ...]:
    """What the journal of a run holds."""
    return Journal(bench.host.journals / run_id).read()


def told(bench: Bench) -> list[tuple[str, Goal, int]]:
    """Sort, goal and number of each record of a step."""
    return [
        (type(record).__name__, record.goal, record.step)
        for record in records(bench)
        if isinstance(record, Intent | Done | Failed | Skipped)
    ]


def cut_to(bench: Bench, count: int) -> None:
    """The journal lost all records but the first ones, as after a loss of power."""
    path = bench.host.journals / "run-1" / "journal.jsonl"
    path.write_bytes(rechained("".join(path.read_text().splitlines(keepends=True)[:count])))


def vetoes(reason: Refused, goal: Goal, asked: list[Inventory]) -> Callable[[Inventory], tuple[Veto, ...]]:
    """A platform that forbids one thing; `asked` takes the hosts that it was shown."""

    def ask(inventory: Inventory) -> tuple[Veto, ...]:
        asked.append(inventory)
        return (Veto(reason, "", (goal,)),)

    return ask
