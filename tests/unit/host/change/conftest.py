"""A simulated host whose runs can be cut off anywhere."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from nasadvisor.domain.change.plan import Plan, PlanIds, PlanRequest, make_plan
from nasadvisor.domain.change.runs import Run
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import GIB
from nasadvisor.host.change.chain import chained_line, payload_of
from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.simulated.executor import SimulatedExecutor
from tests.unit.machines import NVME1, NVME2, TANK, home_server

WISH = PlanRequest(TANK, (NVME1, NVME2), 4 * GIB, (NVME1, NVME2), 100 * GIB)


class Killed(BaseException):
    """Stands for SIGKILL: no handler of the product may catch it."""


@dataclass
class Bench:
    """A run host in a temporary directory over one simulated executor."""

    root: Path
    executor: SimulatedExecutor
    seen: list[Run] = field(default_factory=list)

    @property
    def host(self) -> RunHost:
        ticks = count()
        start = datetime(2026, 8, 25, 20, tzinfo=UTC)
        return RunHost(
            node="nas",
            journals=self.root / "runs",
            locks=(self.root / "host.lock",),
            executor=lambda _: self.executor,
            clock=lambda: start + timedelta(seconds=next(ticks)),
        )

    def plan(self, wish: PlanRequest = WISH, plan_id: str = "run-1") -> Plan:
        uuids = tuple(f"10000000-0000-4000-8000-{number:012d}" for number in range(20))
        plan = make_plan(wish, self.executor.inventory(), PlanIds(plan_id, "2026-08-25T20:00:00+00:00", uuids))
        assert isinstance(plan, Plan), plan
        return plan

    def watch(self, run: Run) -> None:
        self.seen.append(run)


def killer(after_records: int) -> Callable[[Run], None]:
    """An observer that ends everything once so many records are durable."""

    def observe(run: Run) -> None:
        if run.seq >= after_records:
            raise Killed

    return observe


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, SimulatedExecutor(home_server()))


def rechained(text: str) -> bytes:
    """A journal of the same JSON, with digests that fit, as if it had been written so; given with them or without."""
    journal = b""
    for line in text.encode().splitlines():
        payload = line if line.startswith(b"{") else payload_of(line)
        journal += chained_line(journal, payload.decode())
    return journal


def shape(inventory: Inventory) -> str:
    """What must be the same before a run and after its undo."""
    return inventory.fingerprint
