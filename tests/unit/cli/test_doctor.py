"""`nasadvisor doctor` and its checks."""

import hashlib
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from nasadvisor import serving
from nasadvisor.certificates import SELF_SIGNED_VALID
from nasadvisor.cli import main
from nasadvisor.cli.checkup import SERVICES, Finding, checkup
from nasadvisor.cli.fleet.pages import ask_pages
from nasadvisor.cli.services import Services
from nasadvisor.domain.storage.inventory import Disk, DiskIdentity, Host, Pool
from nasadvisor.host.adapters.process import Tool
from nasadvisor.host.config import HostConfig
from nasadvisor.host.errors import HostError
from nasadvisor.host.storage.machine import Machine
from tests.lab.instance import free_port
from tests.unit.fakes import FakeRunner
from tests.unit.machines import TANK, home_server


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


HEALTHY = Machine(FakeRunner(), KnownHost(home_server().host), KnownPools(), NoDisks(), lambda: datetime.now(UTC))


@pytest.fixture
def config(tmp_path: Path) -> HostConfig:
    return HostConfig("nas", tmp_path / "host", tmp_path, f"redis+socket://{tmp_path}/redis.sock", "auto")


def problems(config: HostConfig, machine: Machine, settings: Mapping[str, str] = {}) -> list[Finding]:
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


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[None]:
    """Something that answers PING once."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "redis.sock"))
        server.listen()

        def answer() -> None:
            client, _ = server.accept()
            with client:
                client.recv(16)
                client.sendall(b"+PONG\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield


def answering(server: socket.socket, context: ssl.SSLContext | None) -> Iterator[Mapping[str, str]]:
    """Pages at a port of their own, as the settings say; without a context they speak HTTP as it was."""

    def answer() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with client:
                try:
                    if context:
                        context.wrap_socket(client, server_side=True).close()
                    else:
                        client.recv(1000)
                        client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                except OSError:
                    continue

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    yield {"UVICORN_PORT": str(server.getsockname()[1])}
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(5)


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """The pages with a certificate that was made here now."""
    own = serving.own_certificate(tmp_path / "tls")
    serving.make_own(own, ["nas", "127.0.0.1"], datetime.now(UTC))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.chain, own.key)
    yield from answering(socket.create_server(("127.0.0.1", 0)), context)


@pytest.fixture
def plain_pages() -> Iterator[Mapping[str, str]]:
    yield from answering(socket.create_server(("127.0.0.1", 0)), None)


def test_a_healthy_host_without_services_has_no_problem(config: HostConfig) -> None:
    assert problems(config, HEALTHY) == []


@pytest.mark.usefixtures("redis")
def test_a_healthy_host_with_all_services_has_no_problem(
    config: HostConfig, tmp_path: Path, pages: Mapping[str, str]
) -> None:
    install(tmp_path)
    assert problems(config, HEALTHY, pages) == []


def test_the_address_of_the_pages_is_told_with_the_fingerprint_that_the_browser_shows(
    tmp_path: Path, pages: Mapping[str, str]
) -> None:
    certificate = ssl.PEM_cert_to_DER_cert((tmp_path / "tls/certificate.pem").read_text())
    told = ask_pages(pages, datetime.now(UTC))
    assert told.ok
    assert f":{pages['UVICORN_PORT']}, certificate made here, good until 20" in told.sentence
    assert hashlib.sha256(certificate).digest().hex(":").upper() in told.sentence


def test_a_certificate_that_was_not_renewed_is_a_problem(pages: Mapping[str, str]) -> None:
    told = ask_pages(pages, datetime.now(UTC) + SELF_SIGNED_VALID - timedelta(days=13))
    assert not told.ok
    assert "ends soon or has ended" in told.sentence


def test_pages_without_tls_are_a_problem_unless_a_setting_asks_for_that(plain_pages: Mapping[str, str]) -> None:
    told = ask_pages(plain_pages, datetime.now(UTC))
    assert not told.ok
    assert "without TLS, and no setting asks for that" in told.sentence
    for setting in ({"NASADVISOR_TLS": "no"}, {"NASADVISOR_HTTPS": "yes"}):
        (name,) = setting
        told = ask_pages({**plain_pages, **setting}, datetime.now(UTC))
        assert told.ok
        assert f"for {name}={setting[name]} is set" in told.sentence


def test_pages_that_do_not_answer_are_a_problem() -> None:
    told = ask_pages({"UVICORN_PORT": str(free_port())}, datetime.now(UTC))
    assert not told.ok
    assert "do not answer at 127.0.0.1" in told.sentence


@pytest.mark.usefixtures("redis")
def test_a_stopped_service_is_named_with_where_to_look(
    config: HostConfig, tmp_path: Path, pages: Mapping[str, str]
) -> None:
    install(tmp_path, running=("redis", "web", "console", "beat"))
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
    monkeypatch.setattr("nasadvisor.cli.checkup.UNIT_DIRECTORIES", ())
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
        blocks=lambda: pytest.fail("the doctor counts nothing"),
        platforms=lambda _: pytest.fail("the doctor asks no platform"),
    )
    result = CliRunner().invoke(main, ["doctor"], obj=services, catch_exceptions=False)
    assert result.exit_code == code
    assert "OK       Programs: all that are needed are installed." in result.stdout
    assert ("PROBLEM" in result.stdout) is (code != 0)
