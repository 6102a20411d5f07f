"""A `zpool` or a disk's SMART that hangs in the kernel, at a real worker: nothing piles up, and it heals."""

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
from nasadvisor.domain.storage.inventory import Bus
from tests.remote.conftest import REDIS, START_S
from tests.remote.test_host_worker import message
from tests.unit.machines import SATA_SSD, home_server

NODE = "nas"
QUEUE = host_queue(NODE)
ASKED = 60
"""An hour of a console's asking, each minute."""

ANSWERING = sum(disk.bus is not Bus.VIRTIO for disk in home_server().disks)
"""Disks that have health to tell of."""

PATIENCE_S = 120
HANGS = "#!/bin/sh\necho $$ >> {root}/begun\nexec sleep 3600\n"
ANSWERS = """#!/bin/sh
echo '{"smartctl": {}}'
"""
HANGS_AT_ONE = """#!/bin/sh
case "$*" in *{disk}) echo $$ >> {root}/begun; exec sleep 3600;; esac
echo '{{"smartctl": {{}}}}'
"""
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

    def put(self, script: str, name: str = "zpool") -> None:
        tool = self.root / "tools" / name
        tool.with_suffix(".new").write_text(script)
        tool.with_suffix(".new").chmod(0o755)
        tool.with_suffix(".new").replace(tool)

    def ask(self, task: str, *arguments: object) -> None:
        self.service.lpush(QUEUE, message(task, list(arguments)))

    def answer(self, name: str) -> Any:
        """The next answer of this name, or what was said of the question of this verb; others are dropped."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            found: Any = self.service.brpop(["console"], timeout=1)
            envelope = json.loads(found[1]) if found else None
            if envelope:
                node, told, *rest = json.loads(base64.b64decode(envelope["body"]))[0]
                if told == name:
                    return [node, *rest]
        raise AssertionError(f"no {name} within {PATIENCE_S} s")


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


def let_go(pid: int) -> None:
    """The device of a hanging process answers again, or is gone: it ends, and its parent can see that."""
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_zpool_that_hangs_is_begun_once_keeps_nobody_waiting_and_heals(host: Host) -> None:
    host.ask("host.read_inventory")
    node, _about, first = host.answer("read_inventory")
    assert (node, first["code"]) == (NODE, "command-timed-out")
    for _ in range(ASKED):
        host.ask("host.read_inventory")
    *_, again = host.answer("read_inventory")
    assert again["code"] == "command-hangs"
    assert again["values"]["since"].endswith(" UTC")
    host.ask("host.keep", "no-such-run", "anna")
    assert host.answer("keep")[1] == "no-such-run"
    assert host.service.llen(QUEUE) == 0
    (hanging,) = host.begun
    host.put("#!/bin/sh\n")
    let_go(hanging)
    host.ask("host.read_inventory")
    assert host.answer("inventory")[0] == NODE


def test_a_disk_whose_smart_hangs_is_asked_once_holds_up_no_other_and_heals(host: Host) -> None:
    disk = home_server().disk(SATA_SSD)
    assert disk
    host.put(HANGS_AT_ONE.format(root=host.root, disk=disk.path), "smartctl")
    for _ in range(3):
        host.ask("host.smart_sweep")
        _node, report = host.answer("sweep-report")
        assert (report["failed"], report["read"]) == (1, ANSWERING - 1)
    (hanging,) = host.begun
    host.put(ANSWERS, "smartctl")
    let_go(hanging)
    host.ask("host.smart_sweep")
    _node, report = host.answer("sweep-report")
    assert (report["failed"], report["read"]) == (0, ANSWERING)
