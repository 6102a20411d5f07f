"""Several processes that take what hosts tell, on a real PostgreSQL and a real Redis: as an installation runs them."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab.instance import free_port
from tests.remote.conftest import REDIS, START_S

ROOT = Path(__file__).parents[2]
HOSTS, PROCESSES = 12, 3
PATIENCE_S = 180
"""Beside guests and other tests; alone it takes a few seconds."""

TELL = f"""
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.remote.listening import client
from nasadvisor.domain.fleet.joining import console_queue
from benchmarks.many_hosts import _inventories, message
names = [f"nas{{number:03d}}" for number in range({HOSTS})]
Node.objects.bulk_create([Node(name=name, access_digest="0" * 64) for name in names], ignore_conflicts=True)
with client() as service:
    for name in names:
        for task, document in _inventories(name):
            service.lpush(console_queue(name), message(task, name, document))
"""
STORED = """
from nasadvisor.console.fleet.models import Node
print(Node.objects.exclude(inventory_document=None).count())
"""


@dataclass
class Installed:
    """A console whose processes are started one by one."""

    environment: dict[str, str]
    log: Path

    def manage(self, *words: str) -> str:
        argv = [sys.executable, str(ROOT / "manage.py"), *words]
        done = subprocess.run(argv, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def shell(self, program: str) -> str:
        return self.manage("shell", "--no-imports", "--command", program)

    @contextmanager
    def receiving(self) -> Iterator["subprocess.Popen[bytes]"]:
        """`manage receive`, once all of its processes are there."""
        argv = [sys.executable, str(ROOT / "manage.py"), "receive"]
        with self.log.open("wb") as log, subprocess.Popen(argv, env=self.environment, stderr=log) as process:
            try:
                until(lambda: process.poll() is not None or len(others(process)) == PROCESSES - 1)
                yield process
            finally:
                process.kill()


@pytest.fixture
def installed(database: str, tmp_path: Path) -> Iterator[Installed]:
    assert REDIS
    run = Path(tempfile.mkdtemp(prefix="nasadvisor-test-", dir="/tmp"))  # short: it is part of a socket's path
    environment = {
        **os.environ,
        "NASADVISOR_DATABASE_URL": database,
        "NASADVISOR_CONSOLE_STATE": str(tmp_path),
        "NASADVISOR_RUN_DIR": str(run),
        "NASADVISOR_RECEIVERS": str(PROCESSES),
        "DJANGO_SETTINGS_MODULE": "nasadvisor.settings",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
    }
    made = Installed(environment, tmp_path / "receive.log")
    made.manage("prepare")
    made.manage("listen", "--address", "127.0.0.1", "--port", str(free_port()))
    argv = [REDIS, str(tmp_path / "remote/redis.conf"), "--logfile", str(tmp_path / "redis.log")]
    with subprocess.Popen(argv) as redis:
        try:
            until((run / "remote.sock").exists, START_S)
            yield made
        finally:
            redis.kill()
    shutil.rmtree(run)


def until(true: Callable[[], object], seconds: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def others(process: "subprocess.Popen[bytes]") -> list[int]:
    """The processes that it has started, and that have not ended."""
    return [int(each) for each in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_each_takes_from_its_share_and_together_they_store_all(installed: Installed) -> None:
    """Proves: with three processes all that all hosts tell is stored, and they end in order when they are told to."""
    installed.shell(TELL)
    with installed.receiving() as process:
        until(lambda: installed.shell(STORED) == str(HOSTS))
        started = others(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    assert len(started) == PROCESSES - 1
    assert not any(map(is_running, started))
    assert "Traceback" not in installed.log.read_text()


def test_where_one_ends_all_end_and_say_so(installed: Installed) -> None:
    """Proves: hosts of one share are not left unheard while the others go on."""
    with installed.receiving() as process:
        first, second = others(process)
        os.kill(first, signal.SIGKILL)
        assert process.wait(PATIENCE_S) == 1
    assert not is_running(second)
    assert "A process that takes what hosts tell has ended (receiver" in installed.log.read_text()


def test_none_outlives_the_first(installed: Installed) -> None:
    with installed.receiving() as process:
        started = others(process)
        process.kill()
        until(lambda: not any(map(is_running, started)))


def test_sqlite_has_one(installed: Installed, tmp_path: Path) -> None:
    del installed.environment["NASADVISOR_DATABASE_URL"]
    installed.manage("prepare")
    installed.shell(TELL)
    argv = [sys.executable, str(ROOT / "manage.py"), "receive"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(argv, env=installed.environment, stderr=log) as process,
    ):
        try:
            until(lambda: installed.shell(STORED) == str(HOSTS))
            assert not others(process)
        finally:
            process.kill()
    assert "SQLite lets one process write at a time" in (tmp_path / "log").read_text()
