"""What the commands work with. Tests put other services into the context's `obj`."""

import getpass
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from nasadvisor.cli.errors import Refusal
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.domain.fleet.joining import host_queue
from nasadvisor.domain.fleet.platforms import PlatformReport
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.build import health_of, machine_of, measure_host_of, run_host_of, this_platform
from nasadvisor.host.change.runs import RunHost
from nasadvisor.host.config import HostConfig, load_config
from nasadvisor.host.evidence.commits import CommitTracer
from nasadvisor.host.evidence.curve import CurveTracer
from nasadvisor.host.evidence.measuring.measure import MeasureHost
from nasadvisor.host.evidence.metadata import BlockCounter
from nasadvisor.host.evidence.sample import Sampler
from nasadvisor.host.evidence.switching import SwitchHost
from nasadvisor.host.evidence.tracing import watch_waiting
from nasadvisor.host.health.sweep import HealthServices
from nasadvisor.host.storage.machine import Machine, read_inventory

SOCKET_SCHEME: Final = "redis+socket://"
EXPIRES_S: Final = 600


def report_run(config: HostConfig, run_id: str) -> None:
    """Ask this host's worker to report a run to the console. Nothing happens where nobody can be reached.

    The console then follows the run by itself; the worker also reports every run whenever it starts.
    """
    is_here = config.access is None and config.redis_url.startswith(SOCKET_SCHEME)
    if is_here and not Path(config.redis_url.removeprefix(SOCKET_SCHEME).partition("?")[0]).exists():
        return
    from nasadvisor.domain.fleet.questions import REPORT_RUN  # noqa: PLC0415 - slow to load, and seldom needed
    from nasadvisor.host.console_link import UNREACHABLE, celery_app  # noqa: PLC0415

    app = celery_app(config)
    try:
        app.send_task(REPORT_RUN.task, [run_id], queue=host_queue(config.node), expires=EXPIRES_S, retry=False)
    except UNREACHABLE:
        return


@dataclass(frozen=True)
class Services:
    """The host services that the commands call.

    `report` tells the web console of a run, by its id; `wait` lets seconds pass; `platforms` is what the platforms of
    the host say; `watch_waiting` traces which programs wait, `curve` follows reads, `commits` what goes to the ZILs,
    `blocks` counts blocks, and `switch_host` is where caches are switched.
    """

    inventory: Callable[[], Inventory]
    run_host: Callable[[], RunHost]
    config: Callable[[], HostConfig]
    machine: Callable[[], Machine]
    report: Callable[[str], None]
    is_root: Callable[[], bool]
    sampler: Callable[[], Sampler]
    wait: Callable[[float], None]
    measure_host: Callable[[], MeasureHost]
    health: Callable[[], HealthServices]
    platforms: Callable[[Inventory], PlatformReport]
    watch_waiting: Callable[[], WaitingPrograms]
    curve: Callable[[], CurveTracer]
    commits: Callable[[], CommitTracer]
    blocks: Callable[[], BlockCounter]
    switch_host: Callable[[], SwitchHost]


THIS_HOST: Final = Services(
    inventory=lambda: read_inventory(machine_of(load_config())),
    run_host=lambda: run_host_of(load_config()),
    config=load_config,
    machine=lambda: machine_of(load_config()),
    report=lambda run_id: report_run(load_config(), run_id),
    is_root=lambda: os.geteuid() == 0,
    sampler=lambda: Sampler(machine_of(load_config())),
    wait=time.sleep,
    measure_host=lambda: measure_host_of(load_config()),
    health=lambda: health_of(load_config()),
    platforms=lambda inventory: this_platform().report(inventory),
    watch_waiting=lambda: watch_waiting(machine_of(load_config())),
    curve=lambda: CurveTracer(machine_of(load_config())),
    commits=lambda: CommitTracer(machine_of(load_config()), load_config().commits),
    blocks=lambda: BlockCounter(machine_of(load_config())),
    switch_host=lambda: SwitchHost(run_host_of(load_config())),
)


def services_for(ctx: click.Context) -> Services:
    """The services of this call.

    Raises:
        Refusal: only root can look at disks.
    """
    services = any_services(ctx)
    if not services.is_root():
        raise Refusal("Only root can look at disks and change pools. Run it again with sudo.")
    return services


def any_services(ctx: click.Context) -> Services:
    """The services of this call, for commands that say something to anybody."""
    return ctx.obj if isinstance(ctx.obj, Services) else THIS_HOST


def who() -> str:
    """Who is asking, for the record of a run."""
    return f"{os.environ.get('SUDO_USER') or getpass.getuser()} (command line)"
