"""`nasadvisor support`: what belongs to a bug report, in one file without names."""

import json
import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Final

import click

from nasadvisor import __version__
from nasadvisor.cli.doctor import checkup
from nasadvisor.cli.errors import Refusal, json_option
from nasadvisor.cli.fleet.backup import ConsoleFiles, here
from nasadvisor.cli.fleet.console_files import KEYS, as_user, refuse_open_place
from nasadvisor.cli.services import Services, services_for
from nasadvisor.cli.tables import table
from nasadvisor.domain.fleet.known_names import KnownName, NameKind
from nasadvisor.domain.health.sweep import DiskAnswer
from nasadvisor.domain.units import size_text
from nasadvisor.host.adapters.process import Command, Tool
from nasadvisor.host.change.runs import list_runs
from nasadvisor.host.config import load_environment
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.measuring.records import kept_measurements
from nasadvisor.runtime.own_names import own_names
from nasadvisor.runtime.private_files import new_private
from nasadvisor.stored.documents import DocumentError
from nasadvisor.stored.kinds import own_schema_versions
from nasadvisor.stored.support_bundle import (
    LOOK_FIRST,
    SupportFile,
    of_answer,
    shown_settings,
    without_output,
    write_bundle,
)

LOGS: Final = ("nasadvisor-web.service", "nasadvisor-console.service", "nasadvisor-host.service")
LOG_S: Final = 30.0
ELSEWHERE: Final = (
    "The console of this host is on another machine, so history, alerts and samples are not in it. There, an "
    "administrator can download them under Settings, About."
)
NO_CONSOLE: Final = "There is no console on this host, so history, alerts and samples are not in it."


@dataclass(frozen=True)
class Collected:
    """What goes into the bundle, names that are known beside it, and what is to be said of it."""

    files: tuple[SupportFile, ...]
    known: tuple[KnownName, ...]
    said: str = ""


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@json_option
@click.pass_context
def support(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Write what belongs to a bug report into FILE (.tar.gz), with pseudonyms instead of names and serial numbers."""
    services = services_for(ctx)
    now = services.run_host().clock()
    try:
        with new_private(file) as target:
            console = of_console(here(), services, now)
            host = of_host(services, has_console=bool(console.files))
            written = write_bundle(target, host.files + console.files, host.known + console.known, now)
    except OSError as error:
        raise Refusal(f"{error}. No bundle was written.") from error
    if as_json:
        click.echo(json.dumps({"files": [asdict(each) for each in written], "said": console.said}))
        return
    table(("FILE", "SIZE"), ((each.name, size_text(each.size_bytes)) for each in written), "<>")
    if console.said:
        click.echo(console.said)
    click.echo(f"{file} has {len(written)} files, {size_text(file.stat().st_size)}. {LOOK_FIRST}")


def of_host(services: Services, *, has_console: bool) -> Collected:
    """What this host says of itself now; of its disks only where no console knows them."""
    config, inventory = services.config(), cache(services.inventory)
    files = [*_told("doctor.json", lambda: _doctor(services)), *_logs(services)]
    if not has_console:
        versions = {"nasadvisor": __version__, "python": platform.python_version(), "host": own_schema_versions()}
        files += [
            SupportFile("versions.json", versions),
            SupportFile("settings.json", {"environment": shown_settings(load_environment())}),
            *_told("measurements.json", lambda: kept_measurements(config.measurements)),
            *_disks(services),
        ]
    files += [
        *_told("host/inventory.json", inventory),
        *_told("host/platform.json", lambda: services.platforms(inventory())),
        *_told("host/runs.json", lambda: _runs(services)),
    ]
    names = {config.node, *own_names(platform.node()), *([config.access.address] if config.access else ())}
    return Collected(tuple(files), tuple(KnownName(NameKind.HOST, name) for name in sorted(names)))


def of_console(place: ConsoleFiles, services: Services, now: datetime) -> Collected:
    """What the console of this host has stored of it, read with the rights of the console's user."""
    config = services.config()
    if config.access:
        return Collected((), (), ELSEWHERE)
    if not (place.state / KEYS[0]).exists():
        return Collected((), (), NO_CONSOLE)
    refuse_open_place(place.state)
    for name, value in load_environment().items():
        os.environ.setdefault(name, value)  # the console's settings are read from there
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nasadvisor.settings")
    import django  # noqa: PLC0415 - slow to load, and no other command needs it

    with as_user(*place.owner):
        django.setup()
        from nasadvisor.console.home.support import all_of  # noqa: PLC0415 - needs what is set up above

        try:
            files, known = all_of(config.node, now)
        except django.db.Error as error:
            said = "The console's database cannot be read, so history, alerts and samples are not in it"
            return Collected((), (), f"{said}: {error}".strip())
        finally:
            django.db.connections.close_all()
    return Collected(files, known)


def _told(name: str, read: Callable[[], object]) -> Iterator[SupportFile]:
    """What was read, or why it cannot be: a host that is ill has a bundle all the same."""
    try:
        yield SupportFile(name, read())
    except (HostError, DocumentError, OSError) as error:
        yield SupportFile(name, {"not readable": str(error)})


def _doctor(services: Services) -> list[dict[str, object]]:
    found = checkup(services.config(), services.machine(), load_environment(), is_root=services.is_root())
    return [asdict(each) for each in found]


def _runs(services: Services) -> dict[str, object]:
    found = list_runs(services.run_host())
    return {"runs": [without_output(run) for run in found.runs], "unreadable": found.unreadable}


def _disks(services: Services) -> list[SupportFile]:
    """What smartctl and nvme say now; a disk that sleeps is left asleep."""
    answers: list[DiskAnswer] = []
    swept = list(_told("disks/sweep.json", lambda: services.health().sweep(answers.extend)))
    return [*swept, *(SupportFile(f"disks/{each.disk_key}.json", of_answer(each)) for each in answers)]


def _logs(services: Services) -> Iterator[SupportFile]:
    """The last lines of our services in the journal of systemd."""
    for unit in LOGS:
        yield from _told(f"log/{unit.removesuffix('.service')}.txt", partial(_log, services, unit))


def _log(services: Services, unit: str) -> str:
    options = ("--no-pager", "--no-hostname", "--output=short-iso", "--since=-7d", "--lines=2000", f"--unit={unit}")
    return services.machine().runner.run(Command(Tool.JOURNALCTL, options, LOG_S)).stdout
