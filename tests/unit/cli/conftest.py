"""The command line over a simulated host."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nasadvisor.cli import main
from nasadvisor.cli.services import Services
from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.config import HostConfig
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.host.simulated.smart import simulated_health
from tests.unit.machines import home_server


@dataclass
class Shell:
    """Runs `nasadvisor …` on a simulated host whose files are below `root`."""

    root: Path
    executor: SimulatedExecutor
    is_root: bool = True
    reported: list[str] = field(default_factory=list)
    sampler: Any = None
    measure_host: Any = None
    watch_waiting: Any = None
    curve: Any = None
    blocks: Any = None
    platforms: PlatformReport | None = None
    waited: list[float] = field(default_factory=list)

    @property
    def inventory(self) -> Inventory:
        return self.executor.inventory()

    @property
    def run_host(self) -> RunHost:
        return RunHost(
            node="nas",
            journals=self.root / "runs",
            locks=(self.root / "host.lock",),
            executor=lambda _: self.executor,
            clock=lambda: datetime.now(UTC),
        )

    def run(self, *args: str | Path, stdin: str = "") -> Result:
        services = Services(
            inventory=lambda: self.inventory,
            run_host=lambda: self.run_host,
            config=lambda: HostConfig("nas", self.root, self.root, "redis+socket:///nowhere", "auto"),
            machine=lambda: pytest.fail("this command needs no machine"),
            report=self.reported.append,
            is_root=lambda: self.is_root,
            sampler=lambda: self.sampler() if callable(self.sampler) else self.sampler,
            wait=self.waited.append,
            measure_host=lambda: self.measure_host,
            platforms=lambda inventory: self.platforms or PlatformReport(inventory.host.node, inventory.read_at),
            watch_waiting=self.watch_waiting,
            curve=lambda: self.curve,
            blocks=lambda: self.blocks,
            health=lambda: simulated_health(self.inventory, datetime.now(UTC)),
        )
        return CliRunner().invoke(main, [str(arg) for arg in args], input=stdin, obj=services, catch_exceptions=False)

    def json(self, *args: str | Path) -> Any:
        result = self.run(*args, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def plan_file(self, options: Sequence[str]) -> Path:
        path = self.root / "plan.json"
        result = self.run("plan", *options, "--output", path)
        assert result.exit_code == 0, result.output
        return path


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, SimulatedExecutor(home_server()))
