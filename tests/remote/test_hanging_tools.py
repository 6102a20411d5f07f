"""A `zpool` that hangs in the kernel, at a real worker: nothing piles up, others are answered, and it heals."""

import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from nasadvisor.domain.fleet.joining import host_queue
from tests.remote.conftest import REDIS, START_S
from tests.remote.test_host_worker import message

NODE = "nas"
QUEUE = host_queue(NODE)
ASKED = 60
"""An hour of a console's asking, each minute."""

PATIENCE_S = 120
HANGS = "#!/bin/sh\necho $$ >> {root}/begun\nexec sleep 3600\n"
WORKER = ("worker", "--pool", "threads", "--concurrency", "3", "--loglevel", "WARNING")
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


class Host:
    """The worker, its message service, and its `zpool`."""

    def __init__(self, root: Path, service: redis.Redis) -> None:
        self.root, self.service = root, service

    @property
    def begun(self) -> list[int]:
        """The processes that were begun."""
        path = self.root / "begun"
        return [int(pid) for pid in path.read_text().split()] if path.exists() else []

    def put(self, script: str) -> None:
        tool = self.root / "tools/zpool"
        tool.with_suffix(".new").write_text(script)
        tool.with_suffix(".new").chmod(0o755)
        tool.with_suffix(".new").replace(tool)

    def ask(self, task: str, *arguments: object) -> None:
        self.service.lpush(QUEUE, message(task, list(arguments)))

    def answer(self, task: str) -> Any:
        """The next answer of this kind; others are dropped."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            found: Any = self.service.brpop(["console"], timeout=1)
            envelope = json.loads(found[1]) if found else None
            if envelope and envelope["headers"]["task"] == task:
                return json.loads(base64.b64decode(envelope["body"]))[0]
        raise AssertionError(f"no {task} within {PATIENCE_S} s")


@pytest.fixture
def host() -> Iterator[Host]:
    if REDIS is None:
        pytest.skip("redis-server is not installed (Debian package redis-server)")
    with tempfile.TemporaryDirectory(prefix="nasadvisor-", dir="/tmp") as folder:
        root = Path(folder)
        (root / "tools").mkdir()
        socket = root / "redis.sock"
        settings = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", folder]
        environment = {
            **os.environ,
            "NASADVISOR_NODE": NODE,
            "NASADVISOR_HOST_STATE": str(root / "host"),
            "NASADVISOR_RUN_DIR": folder,
            "NASADVISOR_HOST_RUN_DIR": str(root / "locks"),
            "TOOLS": str(root / "tools"),
        }
        command = [sys.executable, "-m", "celery", "--quiet", "--app", "tests.remote.hanging_worker", *WORKER, *QUIET]
        with subprocess.Popen([REDIS, *settings], stdout=subprocess.DEVNULL) as server:
            deadline = time.monotonic() + START_S
            while not socket.exists():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            host = Host(root, redis.Redis(unix_socket_path=str(socket)))
            host.put(HANGS.format(root=root))
            with subprocess.Popen(command, env=environment) as process:
                try:
                    yield host
                finally:
                    for pid in host.begun:
                        if Path(f"/proc/{pid}/cmdline").exists():
                            os.kill(pid, signal.SIGKILL)
                    process.kill()
                    process.wait(60)
                    host.service.close()
                    server.terminate()


def test_a_zpool_that_hangs_is_begun_once_keeps_nobody_waiting_and_heals(host: Host) -> None:
    host.ask("host.read_inventory")
    node, first = host.answer("console.store_inventory_error")
    assert (node, first["code"]) == (NODE, "command-timed-out")
    for _ in range(ASKED):
        host.ask("host.read_inventory")
    _, again = host.answer("console.store_inventory_error")
    assert again["code"] == "command-hangs"
    assert again["values"]["since"].endswith(" UTC")
    host.ask("host.keep", "no-such-run", "anna")
    assert host.answer("console.store_run_error")[1] == "no-such-run"
    assert host.service.llen(QUEUE) == 0
    (hanging,) = host.begun
    host.put("#!/bin/sh\n")
    os.kill(hanging, signal.SIGKILL)  # the device answers again, or is gone
    host.ask("host.read_inventory")
    assert host.answer("console.store_inventory")[0] == NODE
