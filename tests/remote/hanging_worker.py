"""A host's worker whose `zpool` hangs where not even SIGKILL ends it; seam, tasks and Celery are the real ones."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from nasadvisor.domain.evidence.measuring.measurement import Measurement
from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.adapters import process
from nasadvisor.host.adapters.process import Command, HostRunner, Tool
from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.config import load_config
from nasadvisor.host.errors import MachineUnreadable
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.host.simulated.smart import simulated_health
from nasadvisor.host.tasks import HostTasks, celery_app
from tests.unit.machines import home_server

TIMEOUT_S = 3.0
"""Instead of a minute."""

process.DIRECTORIES = (os.environ["TOOLS"],)  # type: ignore[assignment,misc]
process.GRACE_S = 0.1  # type: ignore[misc]
os.killpg = lambda *_: None  # as for a process in uninterruptible sleep

config = load_config()
executor = SimulatedExecutor(replace(home_server(), host=replace(home_server().host, node=config.node)))


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


app = celery_app(config)
tasks = HostTasks(
    app,
    config.node,
    look,
    RunHost(config.node, config.journals, (config.lock_path,), lambda _: executor, now),
    Reading,
    not_here,
    simulated_health(executor.inventory(), now()),
    lambda: WaitingPrograms(now().isoformat(timespec="seconds"), 1, ()),
)
tasks.register()
Path(os.environ["TOOLS"]).mkdir(exist_ok=True)
