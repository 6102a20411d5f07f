"""`nasadvisor doctor` and its checks."""

import socket
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import redis.exceptions
from click.testing import CliRunner

from nasadvisor.cli import doctor as checkup_module
from nasadvisor.cli import main
from nasadvisor.cli.doctor import SERVICES, CheckResult, checkup
from nasadvisor.cli.fleet import units
from nasadvisor.cli.fleet.units import STANDS_STILL_AFTER_S
from nasadvisor.cli.services import Services
from nasadvisor.domain.evidence.switched import CacheSwitching, SwitchedCache
from nasadvisor.domain.evidence.switching import Switching
from nasadvisor.domain.fleet.joining import ConsoleAccess
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.identity import DiskIdentity
from nasadvisor.domain.storage.inventory import Disk, Host, Pool
from nasadvisor.host.adapters.process import Tool
from nasadvisor.host.config import HostConfig
from nasadvisor.host.errors import CommandFailed, HostError
from nasadvisor.host.evidence.switch_records import SwitchRecords
from nasadvisor.host.evidence.switching import DIRECTORY
from nasadvisor.host.storage.machine import Machine
from nasadvisor.runtime import alive
from tests.unit.fakes import FakeRunner
from tests.unit.machines import TANK, home_server

SWITCHING = Switching("6f1ef6fe-3b8c-4c62-8c3e-7a1d7c0f9a11", 1_787_000_000)
AT = "2026-08-25T20:00:00+00:00"


class KnownHost:
    def __init__(self, host: Host) -> None:
        self.host = host

    def read(self) -> Host:
        return self.host


class KnownPools:
    """The pool tank of the home server, in order unless it is said to be otherwise."""

    def __init__(self, *others: Pool, **changes: object) -> None:
        (tank,) = (pool for pool in home_server().pools if pool.guid == TANK)
        self.pools = (replace(tank, **changes), *others)  # type: ignore[arg-type]

    def read(self) -> tuple[Pool, ...]:
        return self.pools


class UnreadablePools:
    def read(self) -> tuple[Pool, ...]:
        raise HostError("Install python3-libzfs or OpenZFS 2.3.")


class NoDisks:
    def identify(self, device_number: int) -> DiskIdentity:
        raise AssertionError(device_number)

    def read(self, pools: tuple[Pool, ...]) -> tuple[Disk, ...]:
        raise AssertionError(pools)


MONOTONIC_S = 10_000.0
"""The time for which the machine runs."""


@pytest.fixture(autouse=True)
def standing_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """What systemd told stays as old as it is."""
    monkeypatch.setattr(units, "monotonic", lambda: MONOTONIC_S)


def said_alive(seconds_ago: float, began: float = 9_000.0) -> str:
    """What systemd tells of a service that began and last said that it is alive so many seconds ago."""
    at = [int((MONOTONIC_S - ago) * 1e6) for ago in (began, seconds_ago)]
    return f"ActiveEnterTimestampMonotonic={at[0]}\nWatchdogTimestampMonotonic={at[1]}\n"


def told_by_systemd(**of_service: str) -> dict[str, str]:
    """What it tells of each service: that it has just said so, unless another answer is given."""
    alive = "systemctl show --property=ActiveEnterTimestampMonotonic,WatchdogTimestampMonotonic"
    again = "systemctl show --property=InactiveExitTimestampMonotonic,NRestarts"
    told = {name: of_service.get(name, said_alive(5)) for name in SERVICES}
    return {f"{ask} nasadvisor-{name}.service": told[name] for name in SERVICES for ask in (alive, again)}


RUNNER = FakeRunner(told_by_systemd())
HEALTHY = Machine(RUNNER, KnownHost(home_server().host), KnownPools(), NoDisks(), lambda: datetime.now(UTC))


@pytest.fixture
def config(tmp_path: Path) -> HostConfig:
    return HostConfig("nas", tmp_path / "host", tmp_path, f"redis+socket://{tmp_path}/redis.sock", "auto")


def problems(config: HostConfig, machine: Machine, settings: Mapping[str, str] = {}) -> list[CheckResult]:
    found = checkup(config, machine, settings, is_root=True, root=config.run_dir)
    return [finding for finding in found if not finding.ok]


def install(root: Path, running: tuple[str, ...] = SERVICES) -> None:
    """Files as on a host with the services installed and some of them running."""
    units = root / "etc/systemd/system"
    units.mkdir(parents=True)
    (units / "nasadvisor-web.service").touch()
    for name in SERVICES:
        group = root / f"sys/fs/cgroup/system.slice/nasadvisor-{name}.service"
        group.mkdir(parents=True)
        (group / "cgroup.events").write_text(f"populated {int(name in running)}\nfrozen 0\n")


def test_a_healthy_host_without_services_has_no_problem(config: HostConfig) -> None:
    assert problems(config, HEALTHY) == []


@pytest.mark.usefixtures("redis")
def test_a_healthy_host_with_all_services_has_no_problem(
    config: HostConfig, tmp_path: Path, pages: Mapping[str, str]
) -> None:
    install(tmp_path)
    assert problems(config, HEALTHY, pages) == []


@pytest.mark.usefixtures("redis")
def test_a_service_that_stands_still_does_not_count_as_one_that_runs(
    config: HostConfig, tmp_path: Path, pages: Mapping[str, str]
) -> None:
    install(tmp_path)
    machine = replace(HEALTHY, runner=FakeRunner(told_by_systemd(console=said_alive(75))))
    (finding,) = problems(config, machine, pages)
    assert finding.sentence.startswith("nasadvisor-console.service hangs: it last reported 75 s ago.")


def started(restarts: int, seconds_ago: float) -> str:
    """What systemd tells of a service that it started so many times again, and never saw become active."""
    at = int((MONOTONIC_S - seconds_ago) * 1e6)
    return f"ActiveEnterTimestampMonotonic=0\nInactiveExitTimestampMonotonic={at}\nNRestarts={restarts}\n"


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize(
    ("told", "says"),
    [
        (started(17, 3), "nasadvisor-web.service does not stay: systemd has started it again 17 ×, 3 s ago"),
        (started(1, 59), "nasadvisor-web.service does not stay: systemd has started it again 1 ×, 59 s ago"),
        (started(17, 60), None),  # it found what it needed and has run since
        (started(0, 3), None),  # its first start
    ],
)
def test_a_service_that_is_started_anew_does_not_count_as_one_that_runs(
    config: HostConfig, tmp_path: Path, pages: Mapping[str, str], told: str, says: str | None
) -> None:
    install(tmp_path)
    machine = replace(HEALTHY, runner=FakeRunner(told_by_systemd(web=told)))
    sentences = [finding.sentence for finding in problems(config, machine, pages)]
    assert [sentence.startswith(says) for sentence in sentences] == [True] if says else not sentences


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize(
    "told",
    [
        said_alive(100, began=100),  # a start on a small machine takes minutes
        "ActiveEnterTimestampMonotonic=5000000\nWatchdogTimestampMonotonic=0\n",  # nobody waits for it
        CommandFailed("systemctl", 1, "", mutates=False),
        "",
    ],
)
def test_a_service_that_has_not_said_anything_yet_is_not_called_one_that_stands_still(
    config: HostConfig, tmp_path: Path, pages: Mapping[str, str], told: str | HostError
) -> None:
    install(tmp_path)
    answers = {**told_by_systemd(), **dict.fromkeys(told_by_systemd(), told)}
    assert problems(config, replace(HEALTHY, runner=FakeRunner(answers)), pages) == []


def test_a_service_is_waited_for_as_long_as_it_may_be_silent() -> None:
    assert alive.EVERY_S * 3 == STANDS_STILL_AFTER_S
    assert alive.WITHIN_S == 3 * 60  # as the sentence says


@pytest.mark.usefixtures("redis")
def test_a_redis_for_other_machines_that_does_not_answer_is_a_problem(
    config: HostConfig, tmp_path: Path, pages: Mapping[str, str]
) -> None:
    install(tmp_path)
    with socket.socket(socket.AF_UNIX) as hangs:
        hangs.bind(str(tmp_path / "remote.sock"))
        hangs.listen()
        (finding,) = problems(config, HEALTHY, pages)
    assert "remote.sock does not answer: timed out." in finding.sentence
    assert finding.sentence.endswith("systemctl restart nasadvisor-remote-redis")


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize(("command", "is_in_the_way"), [("/usr/bin/redis-server *:8844", False), ("unifi", True)])
def test_what_has_the_port_for_hosts_on_other_machines_is_named(
    config: HostConfig, tmp_path: Path, pages: Mapping[str, str], command: str, is_in_the_way: bool
) -> None:
    install(tmp_path)
    settings = tmp_path / "var/lib/nasadvisor/console/remote/redis.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text("port 0\ntls-port 8844\n")
    (tmp_path / "proc/net").mkdir(parents=True)
    (tmp_path / "proc/net/tcp").write_text("head\n 0: 00000000:228C 00000000:0000 0A 0:0 00:0 0 0 0 77 1\n")
    (tmp_path / "proc/812/fd").mkdir(parents=True)
    (tmp_path / "proc/812/fd/6").symlink_to("socket:[77]")
    (tmp_path / "proc/812/comm").write_text("java\n")
    (tmp_path / "proc/812/cmdline").write_text(command)
    found = problems(config, HEALTHY, pages)
    assert ["java (process 812)" in each.sentence and "--port" in each.sentence for each in found] == (
        [True] if is_in_the_way else []
    )


ACCESS = ConsoleAccess("nas2", "console.example", 8844, "secret", "")


@pytest.mark.parametrize(("ahead", "words"), [(timedelta(hours=2), "2 h ahead"), (-timedelta(days=3), "3 d behind")])
def test_a_clock_that_is_not_that_of_the_console_is_a_problem_of_a_joined_host(
    config: HostConfig, monkeypatch: pytest.MonkeyPatch, ahead: timedelta, words: str
) -> None:
    monkeypatch.setattr(checkup_module, "sign_in", lambda _access: ahead)
    (finding,) = problems(replace(config, access=ACCESS), HEALTHY)
    assert finding.what == "Time"
    assert words in finding.sentence
    monkeypatch.setattr(checkup_module, "sign_in", lambda _access: timedelta(seconds=2))
    assert problems(replace(config, access=ACCESS), HEALTHY) == []


def test_a_certificate_that_is_not_valid_at_the_time_of_this_clock_leads_to_the_clock(
    config: HostConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_access: ConsoleAccess) -> timedelta:
        raise redis.exceptions.ConnectionError("certificate verify failed: certificate is not yet valid")

    monkeypatch.setattr(checkup_module, "sign_in", fail)
    assert [each.what for each in problems(replace(config, access=ACCESS), HEALTHY)] == ["Time", "Console"]


def switched(config: HostConfig, **changes: object) -> None:
    """A cache of this host that is being switched, as its record tells."""
    record = CacheSwitching(
        SWITCHING.seed,
        "nas",
        TANK,
        "tank",
        (SwitchedCache("1", "/dev/x"),),
        "anna",
        SWITCHING,
        **changes,  # type: ignore[arg-type]
    )
    SwitchRecords(config.state_dir / DIRECTORY).create(record)


def switching_found(config: HostConfig) -> list[CheckResult]:
    found = checkup(config, HEALTHY, {}, is_root=True, root=config.run_dir)
    return [each for each in found if each.what == "Switching"]


def test_a_cache_that_is_switched_without_the_service_is_a_problem(config: HostConfig, tmp_path: Path) -> None:
    switched(config)
    [alone] = switching_found(config)
    assert not alone.ok
    assert "nasadvisor-host.service does not run, so it may stay out of service" in alone.sentence
    assert "nasadvisor switching tank --stop" in alone.sentence
    install(tmp_path)
    [with_service] = switching_found(config)
    assert with_service.ok


def test_a_cache_that_could_not_be_put_back_is_a_problem_and_one_that_was_is_not(config: HostConfig) -> None:
    switched(config, over_at=AT, problem=Statement("why", "Its disk is gone."))
    [found] = switching_found(config)
    assert not found.ok
    assert "Its disk is gone." in found.sentence
    switched(config, over_at=AT, ended_at=AT)
    assert switching_found(config) == []


def test_a_record_of_switching_that_cannot_be_read_is_a_problem(config: HostConfig) -> None:
    switched(config)
    next((config.state_dir / DIRECTORY).iterdir()).write_text("{}")
    [found] = switching_found(config)
    assert not found.ok
    assert "cannot be read" in found.sentence


@pytest.mark.usefixtures("redis")
def test_a_stopped_service_is_named_with_where_to_look(
    config: HostConfig, tmp_path: Path, pages: Mapping[str, str]
) -> None:
    install(tmp_path, running=("redis", "web", "console"))
    (finding,) = problems(config, HEALTHY, pages)
    assert (
        finding.sentence == "nasadvisor-host.service does not run. See why with: journalctl -u nasadvisor-host.service"
    )


def test_a_silent_redis_is_a_problem_where_services_are_installed(
    config: HostConfig, tmp_path: Path, pages: Mapping[str, str]
) -> None:
    install(tmp_path)
    (finding,) = problems(config, HEALTHY, pages)
    assert finding.what == "Redis"
    assert "No such file" in finding.sentence


def test_a_missing_program_is_named_with_its_package(config: HostConfig) -> None:
    machine = replace(HEALTHY, runner=FakeRunner(missing=frozenset({Tool.SGDISK})))
    assert [finding.sentence for finding in problems(config, machine)] == [
        "sgdisk is missing. Install the package gdisk."
    ]


@pytest.mark.parametrize(
    ("userland", "kernel", "sentence"),
    [
        ("", "", "it is not installed"),
        ("2.3.9-1", "", "modprobe zfs"),
        ("2.3.9-1", "2.2.7-1", "a reboot brings them together"),
    ],
)
def test_openzfs_that_does_not_fit_together_is_a_problem(
    config: HostConfig, userland: str, kernel: str, sentence: str
) -> None:
    host = replace(home_server().host, zfs_userland=userland, zfs_kernel=kernel)
    (finding,) = problems(config, replace(HEALTHY, host=KnownHost(host)))
    assert sentence in finding.sentence


def test_pools_that_cannot_be_read_say_what_to_install(config: HostConfig) -> None:
    (finding,) = problems(config, replace(HEALTHY, pools=UnreadablePools()))
    assert "Install python3-libzfs" in finding.sentence


def pool_findings(config: HostConfig, pools: KnownPools) -> list[tuple[bool, str]]:
    findings = checkup(config, replace(HEALTHY, pools=pools), {}, is_root=True, root=config.run_dir)
    return [(finding.ok, finding.sentence) for finding in findings if finding.what == "Pools"]


def test_a_suspended_pool_is_a_problem_and_the_others_are_told_apart_from_it(config: HostConfig) -> None:
    well = replace(KnownPools().pools[0], name="well", guid="1")
    problem, rest = pool_findings(config, KnownPools(well, state="SUSPENDED", suspended=True))
    assert not problem[0]
    assert "Pool tank is suspended" in problem[1]
    assert rest == (True, "well: ONLINE.")


@pytest.mark.parametrize("state", ["DEGRADED", "FAULTED", "UNAVAIL"])
def test_a_pool_that_is_not_online_is_a_problem(config: HostConfig, state: str) -> None:
    ((ok, sentence),) = pool_findings(config, KnownPools(state=state))
    assert not ok
    assert f"tank is {state}" in sentence


def test_a_clock_that_went_back_is_a_problem(config: HostConfig) -> None:
    machine = replace(HEALTHY, clock=lambda: datetime.now(UTC) - timedelta(days=9999))
    (finding,) = problems(config, machine)
    assert finding.what == "Time"


def test_only_root_sees_everything(config: HostConfig) -> None:
    findings = list(checkup(config, HEALTHY, {}, is_root=False, root=config.run_dir))
    assert [finding.what for finding in findings if not finding.ok] == ["Rights"]


@pytest.mark.parametrize(("is_root", "code"), [(True, 0), (False, 5)])
def test_the_exit_code_tells_whether_there_are_problems(
    config: HostConfig, monkeypatch: pytest.MonkeyPatch, is_root: bool, code: int
) -> None:
    monkeypatch.setattr("nasadvisor.cli.doctor.UNIT_DIRECTORIES", ())
    services = Services(
        inventory=lambda: pytest.fail("the doctor reads no inventory"),
        run_host=lambda: pytest.fail("the doctor runs nothing"),
        config=lambda: config,
        machine=lambda: HEALTHY,
        report=lambda _: pytest.fail("the doctor runs nothing"),
        is_root=lambda: is_root,
        sampler=lambda: pytest.fail("the doctor watches nothing"),
        wait=lambda _: pytest.fail("the doctor waits for nothing"),
        measure_host=lambda: pytest.fail("the doctor measures nothing"),
        health=lambda: pytest.fail("the doctor asks no disk"),
        watch_waiting=lambda: pytest.fail("the doctor traces nothing"),
        curve=lambda: pytest.fail("the doctor traces nothing"),
        commits=lambda: pytest.fail("the doctor traces nothing"),
        blocks=lambda: pytest.fail("the doctor counts nothing"),
        platforms=lambda _: pytest.fail("the doctor asks no platform"),
        switch_host=lambda: pytest.fail("the doctor switches nothing"),
    )
    result = CliRunner().invoke(main, ["doctor"], obj=services, catch_exceptions=False)
    assert result.exit_code == code
    assert "OK       Programs: all required programs are installed." in result.stdout
    assert ("PROBLEM" in result.stdout) is (code != 0)
