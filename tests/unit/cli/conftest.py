"""The command line over a simulated host, and services for the doctor to ask."""

import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
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
from nasadvisor.host.evidence.switching import SwitchHost
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.host.simulated.smart import simulated_health
from nasadvisor.runtime import serving
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
    commits: Any = None
    blocks: Any = None
    platforms: PlatformReport | None = None
    machine: Any = None
    waited: list[float] = field(default_factory=list)

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)

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
            machine=lambda: self.machine or pytest.fail("this command needs no machine"),
            report=self.reported.append,
            is_root=lambda: self.is_root,
            sampler=lambda: self.sampler() if callable(self.sampler) else self.sampler,
            wait=self.wait,
            measure_host=lambda: self.measure_host,
            platforms=lambda inventory: self.platforms or PlatformReport(inventory.host.node, inventory.read_at),
            watch_waiting=self.watch_waiting,
            curve=lambda: self.curve,
            commits=lambda: self.commits,
            blocks=lambda: self.blocks,
            switch_host=lambda: SwitchHost(self.run_host),
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
