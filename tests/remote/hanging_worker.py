"""A host's worker whose `zpool`, or a disk's SMART, hangs where not even SIGKILL ends it; seam, tasks, sweep and Celery
are the real ones.
"""

import os
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from nasadvisor.domain.evidence.measuring.measurement import Measurement
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.adapters import process, smartctl
from nasadvisor.host.adapters.process import Command, HostRunner, Tool
from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.config import load_config
from nasadvisor.host.console_link import celery_app
from nasadvisor.host.errors import MachineUnreadable
from nasadvisor.host.health.sweep import HealthServices, start_test, sweep
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.host.tasks import HostTasks
from tests.unit.host.health.test_sweep import machine
from tests.unit.machines import home_server

TIMEOUT_S = 3.0
"""Instead of a minute."""

process.DIRECTORIES = (os.environ["TOOLS"],)  # type: ignore[assignment,misc]
process.GRACE_S = 0.1  # type: ignore[misc]
smartctl.ask.__defaults__ = (TIMEOUT_S,)
os.killpg = lambda *_: None  # as for a process in uninterruptible sleep

config = load_config()
executor = SimulatedExecutor(replace(home_server(), host=replace(home_server().host, node=config.node)))
recorded = machine(executor.inventory(), HostRunner())


def look() -> Inventory:
    """Ask `zpool`, as each reading of a host does."""
    HostRunner().run(Command(Tool.ZPOOL, ("status", "-j", "-P", "-p"), TIMEOUT_S))
    return replace(executor.inventory(), read_at=now().isoformat(timespec="seconds"))


def now() -> datetime:
    """The time in UTC."""
    return datetime.now(UTC)


def not_here(*_: object) -> Measurement:
    """Nothing is measured."""
    raise MachineUnreadable("fio", "there is none")


def not_scrubbed(_guid: str) -> None:
    """Nothing is scrubbed."""


app = celery_app(config)
tasks = HostTasks(
    app,
    config.node,
    look,
    RunHost(config.node, config.journals, (config.lock_path,), lambda _: executor, now),
    Reading,
    not_here,
    HealthServices(partial(sweep, recorded), partial(start_test, recorded), not_scrubbed),
    lambda: WaitingPrograms(now().isoformat(timespec="seconds"), 1, ()),
)
tasks.register()
Path(os.environ["TOOLS"]).mkdir(exist_ok=True)
