"""`nasadvisor doctor`: whether everything is in place, and what to do where it is not."""

import json
import os
import re
import socket
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click
import redis.exceptions

import nasadvisor
from nasadvisor.cli.errors import ExitCode, json_option
from nasadvisor.cli.fleet.units import ask_pages, restarts, runs, silent_for
from nasadvisor.cli.services import any_services
from nasadvisor.cli.tables import paragraph
from nasadvisor.domain.change.refusals import PoolSuspended, PoolUnreadable
from nasadvisor.domain.evidence.switch_words import not_back
from nasadvisor.domain.evidence.switched import CacheSwitching
from nasadvisor.domain.fleet.clocks import clock_findings
from nasadvisor.domain.fleet.joining import ConsoleAccess
from nasadvisor.domain.storage.inventory import Pool
from nasadvisor.domain.units import MIB, size_text
from nasadvisor.host.adapters.process import PACKAGES, Runner, Tool
from nasadvisor.host.adapters.procfs import listener_at, text_or_nothing
from nasadvisor.host.change.journal import FILE_NAME, run_ids
from nasadvisor.host.config import HostConfig, load_environment
from nasadvisor.host.errors import HostError
from nasadvisor.host.evidence.switch_records import SwitchRecords
from nasadvisor.host.evidence.switching import DIRECTORY
from nasadvisor.host.fleet.joining import sign_in
from nasadvisor.host.storage.machine import Machine


def switching_looks(directory: Path, service_runs: bool) -> Iterator[tuple[bool, str]]:
    """Whether each is all right, and what was found; nothing of those that have ended well.

    Without its service a cache could stay out of service for good.
    """
    records = SwitchRecords(directory)
    for record_id in sorted(records.ids()):
        try:
            found = _look(records.read(record_id), service_runs)
        except HostError as error:
            found = False, str(error)
        if found:
            yield found


def _look(record: CacheSwitching, service_runs: bool) -> tuple[bool, str] | None:
    finding = not_back(record)
    if finding:
        return False, str(finding)
    if record.ended_at:
        return None
    if not service_runs:
        return False, (
            f"the cache of pool {record.pool_name} is being switched, but nasadvisor-host.service does not run, so it "
            f"may stay out of service. To end it and put the cache back: nasadvisor switching {record.pool_name} --stop"
        )
    until = datetime.fromtimestamp(record.plan.end, UTC).strftime("%Y-%m-%d %H:%M")
    return True, f"the cache of pool {record.pool_name} is being switched until {until} UTC."


NEEDED: Final = (
    Tool.ZPOOL,
    Tool.ZFS,
    Tool.ZDB,
    Tool.SGDISK,
    Tool.PARTX,
    Tool.UDEVADM,
    Tool.BLKDISCARD,
    Tool.SMARTCTL,
)
"""The programs that planning, applying and undoing start, and the one that asks disks for their health."""

DIFFER: Final = (
    "After an update a reboot brings them together. If it does not, the module comes from another package than the "
    "programs, such as the kernel's; install both from one source."
)

SERVICES: Final = ("redis", "web", "console", "host")
SERVICES_OF_A_JOINED_HOST: Final = ("host",)
UNIT_DIRECTORIES: Final = (Path("etc/systemd/system"), Path("usr/lib/systemd/system"))
STARTED_ANEW: Final = "systemd restarts it after three minutes."
SET_CLOCK: Final = "Set the clock, for example, with chrony or systemd-timesyncd installed: timedatectl set-ntp true"
_OF_DATES: Final = re.compile("certificate (?:is not yet valid|has expired)")
LISTEN: Final = "/usr/lib/nasadvisor/manage listen --address NAME"
ENOUGH_BYTES: Final = 64 * MIB
"""Space for some hundred journals."""


@dataclass(frozen=True)
class CheckResult:
    """What was looked at, whether it is all right, and what was found or is to be done."""

    what: str
    ok: bool
    sentence: str


def checkup(
    config: HostConfig, machine: Machine, settings: Mapping[str, str], *, is_root: bool, root: Path = Path("/")
) -> Iterator[CheckResult]:
    """Every check in turn; `settings` are those of the pages, and `root` is where this system's files are."""
    rights = "this is root." if is_root else "only root can look at disks and change pools. Run this with sudo."
    yield CheckResult("Rights", is_root, rights)
    missing = [tool for tool in NEEDED if not machine.runner.has(tool)]
    for tool in missing:
        yield CheckResult("Programs", False, f"{tool} is missing. Install the package {PACKAGES[tool]}.")
    if not missing:
        yield CheckResult("Programs", True, "all required programs are installed.")
    yield from _openzfs(machine)
    yield from _state(config.state_dir)
    if is_root:
        looked = switching_looks(config.state_dir / DIRECTORY, runs(root, "nasadvisor-host.service"))
        yield from (CheckResult("Switching", ok, sentence) for ok, sentence in looked)
    yield from _services(machine.runner, root, SERVICES_OF_A_JOINED_HOST if config.access else SERVICES)
    if config.access:
        yield from _console(config.access)
    elif _is_installed(root):
        yield from _redis(config.redis_url)
        yield from _remote_redis(root, settings)
        pages = ask_pages(settings, machine.clock(), root / "proc")
        yield CheckResult("Pages", pages.ok, pages.sentence)
    yield _time(config, machine.clock())


def _openzfs(machine: Machine) -> Iterator[CheckResult]:
    try:
        host = machine.host.read()
    except HostError as error:
        yield CheckResult("OpenZFS", False, str(error))
        return
    if not host.zfs_userland:
        yield CheckResult("OpenZFS", False, "it is not installed. Install zfsutils-linux.")
        return
    if not host.zfs_kernel:
        yield CheckResult("OpenZFS", False, "its kernel module is not loaded. Try: modprobe zfs")
        return
    same = host.zfs_userland == host.zfs_kernel
    versions = f"programs {host.zfs_userland}, kernel module {host.zfs_kernel}"
    yield CheckResult("OpenZFS", same, f"{versions}." if same else f"{versions} differ. {DIFFER}")
    try:
        pools = machine.pools.read()
    except HostError as error:
        yield CheckResult("Pools", False, str(error))
    else:
        yield from _pools(pools)


def _pools(pools: tuple[Pool, ...]) -> Iterator[CheckResult]:
    """One for each pool that is not as it should be; the others together."""
    well = [pool.name for pool in pools if pool.state == "ONLINE" and not pool.suspended and not pool.problem]
    for pool in pools:
        if pool.problem:
            yield CheckResult("Pools", False, str(PoolUnreadable(pool)))
        elif pool.suspended:
            yield CheckResult("Pools", False, str(PoolSuspended(pool)))
        elif pool.state != "ONLINE":
            sentence = f"{pool.name} is {pool.state}. `zpool status {pool.name}` shows what is wrong and what to do."
            yield CheckResult("Pools", False, sentence)
    if well or not pools:
        yield CheckResult("Pools", True, f"{', '.join(well)}: ONLINE." if well else "none imported.")


def _state(directory: Path) -> Iterator[CheckResult]:
    """The directory for journals, or where it will be made."""
    place = next(path for path in (directory, *directory.parents) if path.is_dir())
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        yield CheckResult(
            "Journals", False, f"{place} cannot be written: {error.strerror}. Without journals, no run can start."
        )
        return
    status = os.statvfs(place)
    free_bytes = status.f_bavail * status.f_frsize
    if free_bytes < ENOUGH_BYTES:
        yield CheckResult("Journals", False, f"only {size_text(free_bytes)} are free in {place}. Free some space.")
    else:
        yield CheckResult("Journals", True, f"{place} is writable, {size_text(free_bytes)} are free.")


def _services(runner: Runner, root: Path, names: tuple[str, ...]) -> Iterator[CheckResult]:
    if not _is_installed(root):
        yield CheckResult("Services", True, "not installed; the command line works without them.")
        return
    troubles = [trouble for name in names if (trouble := _trouble_of(runner, root, f"nasadvisor-{name}.service"))]
    yield from (CheckResult("Services", False, trouble) for trouble in troubles)
    if not troubles:
        yield CheckResult("Services", True, "all run.")


def _trouble_of(runner: Runner, root: Path, unit: str) -> str:
    see = f"See why with: journalctl -u {unit}"
    if not runs(root, unit):
        return f"{unit} does not run. {see}"
    seconds = silent_for(runner, unit)
    if seconds:
        return f"{unit} hangs: it last reported {seconds} s ago. {STARTED_ANEW} {see}"
    count, seconds = restarts(runner, unit)
    if count:
        return f"{unit} does not stay: systemd has started it again {count} ×, {seconds} s ago the last time. {see}"
    return ""


def _is_installed(root: Path) -> bool:
    return any((root / directory / "nasadvisor-web.service").exists() for directory in UNIT_DIRECTORIES)


def _console(access: ConsoleAccess) -> Iterator[CheckResult]:
    """A console on another machine takes our password, and has our time."""
    try:
        ahead = sign_in(access)
    except (redis.exceptions.RedisError, OSError) as error:
        if _OF_DATES.search(str(error)):
            yield CheckResult(
                "Time", False, f"by this host's clock the console's certificate is not valid. {SET_CLOCK}"
            )
        sentence = f"{access.address} does not answer, or no longer accepts this host: {error}."
        yield CheckResult(
            "Console", False, f"{sentence} Runs continue without it. A new token lets this host join again."
        )
        return
    yield CheckResult("Console", True, f"{access.address} takes this host as {access.node}.")
    yield from (CheckResult("Time", False, f"{each} {each.why}") for each in clock_findings(access.node, ahead))


def _redis(url: str) -> Iterator[CheckResult]:
    """The one for this host, and where there are hosts on other machines theirs."""
    path = url.removeprefix("redis+socket://").partition("?")[0]
    if path == url:
        yield CheckResult("Redis", True, "elsewhere, not checked.")
        return
    yield _answers(path, "nasadvisor-redis")
    remote = Path(path).with_name("remote.sock")
    if remote.exists():
        yield _answers(str(remote), "nasadvisor-remote-redis")


def _remote_redis(root: Path, settings: Mapping[str, str]) -> Iterator[CheckResult]:
    """That another program has the port at which hosts on other machines reach this console."""
    state = root / (settings.get("NASADVISOR_CONSOLE_STATE") or "/var/lib/nasadvisor/console").lstrip("/")
    port = re.search(r"^tls-port (\d+)$", text_or_nothing(state / "remote/redis.conf"), re.MULTILINE)
    found = listener_at(int(port[1]), proc=root / "proc") if port else None
    if port and found and "redis" not in found.command and "valkey" not in found.command:
        sentence = f"port {port[1]} is taken by {found}, so hosts on other machines cannot reach this console."
        yield CheckResult("Redis", False, f"{sentence} Stop that program, or choose another port: {LISTEN} --port PORT")


def _answers(path: str, unit: str) -> CheckResult:
    """Redis answers PING; asked on the socket itself, so that nothing is retried and nothing is logged."""
    start = f"Try: systemctl restart {unit}"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(3)
            client.connect(path)
            client.sendall(b"PING\r\n")
            answer = client.recv(16)
    except OSError as error:
        return CheckResult("Redis", False, f"{path} does not answer: {error.strerror or error}. {start}")
    if answer.startswith(b"+PONG"):
        return CheckResult("Redis", True, f"answers at {path}.")
    return CheckResult("Redis", False, f"{path} answers, but not as Redis does. {start}")


def _time(config: HostConfig, now: datetime) -> CheckResult:
    """The clock is not before what is known to lie in the past."""
    journals = [config.journals / run_id / FILE_NAME for run_id in run_ids(config.journals)]
    past = max(path.stat().st_mtime for path in (Path(nasadvisor.__file__), *journals) if path.is_file())
    if now.timestamp() + 1 < past:
        known = datetime.fromtimestamp(past, UTC).isoformat(timespec="seconds")
        return CheckResult("Time", False, f"the clock says {now.isoformat()}, but it was {known} before. {SET_CLOCK}")
    return CheckResult("Time", True, f"{now.isoformat(timespec='seconds')}.")


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check this installation: OpenZFS, tools, services, space and time."""
    services = any_services(ctx)
    findings = tuple(checkup(services.config(), services.machine(), load_environment(), is_root=services.is_root()))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        for finding in findings:
            paragraph(f"{finding.what}: {finding.sentence}", "OK       " if finding.ok else "PROBLEM  ")
    ctx.exit(ExitCode.DONE if all(finding.ok for finding in findings) else ExitCode.ATTENTION)
