"""A console that listens, with a real Redis behind TLS; every certificate is made in the test."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis
from django.contrib.auth.models import User
from django.test import override_settings
from django.utils import timezone

from nasadvisor.console.fleet.remote.access import new_token
from nasadvisor.console.fleet.remote.listening import Listening, client, folder, listen, socket_path
from nasadvisor.console.worker.enrolment import Enrolment
from nasadvisor.console.worker.inbox import Inbox
from nasadvisor.domain.fleet.joining import ConsoleAccess, Token, user_of
from nasadvisor.host.fleet.joining import ConsoleAddress, Joined, join
from tests.lab.instance import free_port
from tests.postgresql import programs, server

REDIS = shutil.which("redis-server")
START_S = 20


@dataclass
class Console:
    """The message service for other hosts, and the part of the console that listens to it."""

    port: int
    root: Path
    _process: subprocess.Popen[bytes] | None = None
    _inbox: Inbox | None = None
    _enrolment: Enrolment | None = None

    @property
    def place(self) -> ConsoleAddress:
        return ConsoleAddress("127.0.0.1", self.port)

    def start(self) -> None:
        assert REDIS
        self._process = subprocess.Popen([REDIS, folder() / "redis.conf", "--logfile", self.root / "redis.log"])
        deadline = time.monotonic() + START_S
        while not socket_path().exists():
            assert time.monotonic() < deadline, (self.root / "redis.log").read_text()
            time.sleep(0.02)

    def stop(self) -> None:
        assert self._process
        self._process.kill()
        self._process.wait()
        socket_path().unlink(missing_ok=True)

    @property
    def inbox(self) -> Inbox:
        if self._inbox is None:
            self._inbox = Inbox(client())
        return self._inbox

    @property
    def enrolment(self) -> Enrolment:
        if self._enrolment is None:
            self._enrolment = Enrolment(client())
        return self._enrolment

    def look(self) -> None:
        """What the console does every two seconds."""
        self.enrolment._looked_at = self.inbox._looked_at = float("-inf")
        self.enrolment.look_around()
        self.inbox.look_around()

    def take_all(self) -> None:
        """Store what hosts have told."""
        self.look()
        while self.inbox.one_round():
            pass

    def token(self, node: str) -> Token:
        user, _ = User.objects.get_or_create(username="anna")
        return new_token(node, user, timezone.now())

    def join(self, node: str, token: Token | None = None, place: ConsoleAddress | None = None) -> ConsoleAccess:
        """A host joins; it waits for its answer in a thread of its own."""
        path = self.root / f"{node}.json"
        said = token or self.token(node)
        return self.while_looking(lambda: join(place or self.place, said, f"{node}.example", path)).access

    def while_looking(self, work: Callable[[], Joined]) -> Joined:
        with ThreadPoolExecutor(1) as host:
            answer = host.submit(work)
            while not answer.done():
                self.look()
                time.sleep(0.02)
            return answer.result()


def as_node(access: ConsoleAccess) -> redis.Redis:
    """What somebody can do who has taken over that host."""
    return redis.Redis(
        host=access.address,
        port=access.port,
        username=user_of(access.node),
        password=access.password,
        ssl=True,
        ssl_ca_data=access.authority,
        ssl_check_hostname=True,
        socket_timeout=5,
    )


@pytest.fixture
def console(db: None) -> Iterator[Console]:
    """A console that listens at a free port of this machine."""
    del db
    if REDIS is None:
        pytest.skip("redis-server is not installed (Debian package redis-server)")
    root = Path(tempfile.mkdtemp(prefix="nasadvisor-", dir="/tmp"))  # a short path: it is that of a socket
    with override_settings(STATE_DIR=root, RUN_DIR=root):
        console = Console(free_port(), root)
        listen(Listening(("127.0.0.1",), console.port), timezone.now())
        console.start()
        try:
            yield console
        finally:
            console.stop()
            shutil.rmtree(root)


@pytest.fixture
def database() -> Iterator[str]:
    """The URL of a fresh database that only this test knows."""
    where = programs()
    if isinstance(where, str):
        pytest.skip(where)
    with server(where) as url:
        yield url
