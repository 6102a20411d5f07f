"""The worker of a host, a real process at a real Redis, and messages of somebody who has taken over the console."""

import base64
import bz2
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import redis

from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.fleet.joining import host_queue
from nasadvisor.domain.storage.inventory import Bus, Inventory
from nasadvisor.domain.units import GIB, MIB
from nasadvisor.stored.documents import from_json, to_document
from tests.remote.conftest import REDIS, START_S
from tests.remote.test_nodes_apart import MACHINE, WORKER
from tests.unit.machines import plan_for

NODE = from_json(Inventory, MACHINE.read_text()).host.node
QUEUE = host_queue(NODE)
EVIL = "evil"


@dataclass(frozen=True)
class Worker:
    """A host's worker, simulated but for everything that has to do with messages."""

    process: subprocess.Popen[bytes]
    service: redis.Redis
    root: Path

    def send(self, raw: bytes | str) -> None:
        self.service.lpush(QUEUE, raw)

    def answers(self) -> list[str]:
        """What it has answered since the last time, by the names of answers, once it has answered a last question.

        It does one thing after the other. There is no such run, which it says.
        """
        nothing = str(uuid.uuid4())
        self.send(message("host.keep", [nothing, "anna"]))
        told: list[str] = []
        deadline = time.monotonic() + 60
        while True:
            assert time.monotonic() < deadline, "the worker does not answer any more"
            assert self.process.poll() is None, "the worker has ended"
            found = self.service.brpop(["console"], timeout=1)
            envelope = json.loads(found[1]) if found else None
            if envelope:
                arguments = json.loads(base64.b64decode(envelope["body"]))[0]
                told.append(arguments[1])
                if nothing in arguments:
                    return told[:-1]

    @property
    def peak_bytes(self) -> int:
        """The most memory it ever had (VmHWM in proc(5))."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024


@contextmanager
def running(root: Path) -> Iterator[Worker]:
    assert REDIS
    socket = root / "redis.sock"
    settings = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(root)]
    environment = {
        **os.environ,
        "NASADVISOR_HOST_STATE": str(root / "host"),
        "NASADVISOR_RUN_DIR": str(root),
        "NASADVISOR_HOST_RUN_DIR": str(root / "locks"),
        "NASADVISOR_SIMULATED_MACHINE": str(MACHINE),
    }
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    with subprocess.Popen([REDIS, *settings], stdout=subprocess.DEVNULL) as server:
        deadline = time.monotonic() + START_S
        while not socket.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        command = [sys.executable, "-m", "celery", *WORKER]
        with (
            redis.Redis(unix_socket_path=str(socket)) as service,
            subprocess.Popen(command, env=environment) as process,
        ):
            worker = Worker(process, service, root)
            try:
                worker.answers()
                yield worker
            finally:
                process.terminate()
                process.wait(60)
                server.terminate()


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    if REDIS is None:
        pytest.skip("redis-server is not installed (Debian package redis-server)")
    with tempfile.TemporaryDirectory(prefix="nasadvisor-", dir="/tmp") as root, running(Path(root)) as worker:
        yield worker


def message(task: str, arguments: Any, further: Any = None, body: bytes | None = None, **headers: Any) -> str:
    """A message as Celery writes it; `further` is what it may bring along."""
    body = json.dumps([arguments, {}, further or {}]).encode() if body is None else body
    expires = (datetime.now(UTC) + timedelta(minutes=2)).isoformat()
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-encoding": "utf-8",
            "content-type": "application/json",
            "headers": {"lang": "py", "task": task, "id": str(uuid.uuid4()), "expires": expires, **headers},
            "properties": {
                "body_encoding": "base64",
                "correlation_id": "1",
                "reply_to": EVIL,
                "delivery_tag": str(uuid.uuid4()),
                "delivery_info": {"exchange": "", "routing_key": EVIL},
            },
        }
    )


@pytest.mark.parametrize(
    ("kind", "compress"), [("application/x-gzip", zlib.compress), ("application/x-bz2", bz2.compress)]
)
def test_a_message_that_unpacks_to_more_than_a_gigabyte_leaves_the_memory_flat(
    worker: Worker, kind: str, compress: Any
) -> None:
    bomb = compress(b'[["' + b"x" * (600 * MIB) + b'"], {}, {}]')
    before = worker.peak_bytes
    worker.send(message("host.report_run", [], body=bomb, compression=kind))
    worker.answers()
    assert worker.peak_bytes - before < 16 * MIB


def test_a_message_that_is_too_long_is_not_even_parsed(worker: Worker) -> None:
    before = worker.peak_bytes
    worker.send('{"body": [' + "[]," * (4 * MIB) + "[]]}")  # 12 MiB, which take 300 MiB once parsed
    worker.answers()
    assert worker.peak_bytes - before < 64 * MIB


FURTHER: dict[str, Any] = {"task": "console.further", "args": [], "kwargs": {}, "subtask_type": None, "immutable": True}
ELSEWHERE, HERE = ({**FURTHER, "options": {"queue": queue}} for queue in (EVIL, "console"))


@pytest.mark.parametrize("key", ["callbacks", "errbacks", "chain", "chord", "link", "link_error"])
def test_a_message_brings_no_further_tasks_along(worker: Worker, key: str) -> None:
    """Celery would publish each of these, as root and with the rights of this node."""
    for each in (ELSEWHERE, HERE):
        further = {key: each if key == "chord" else [each]}
        worker.send(message("host.report_runs", [], further))
        worker.send(message("host.report_runs", ["too", "many"], further, on_error=[each]))
    assert worker.answers() + worker.answers() == []
    assert worker.service.llen(EVIL) == 0


@pytest.mark.parametrize("task", ["map", "starmap", "chunks", "group", "chain", "chord", "chord_unlock"])
def test_no_task_of_celery_itself_can_be_asked_for(worker: Worker, task: str) -> None:
    sweep = {**FURTHER, "task": "host.smart_sweep"}
    worker.send(message(f"celery.{task}", [sweep, [[]]]))
    worker.send(message(f"celery.{task}", [[ELSEWHERE], [[]], 1]))
    assert worker.answers() + worker.answers() == []
    assert worker.service.llen(EVIL) == 0


def test_a_message_is_done_at_once_or_when_it_has_ended_not_at_all(worker: Worker) -> None:
    hour = timedelta(hours=1)
    worker.send(message("host.smart_sweep", [], eta=(datetime.now(UTC) + hour).isoformat()))
    assert "sweep-report" in worker.answers() + worker.answers()
    worker.send(message("host.smart_sweep", [], expires=(datetime.now(UTC) - hour).isoformat()))
    assert "sweep-report" not in worker.answers() + worker.answers()


@pytest.mark.parametrize(
    "expires", ["9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00", "soon", 5, {"a": 1}, [], "2" * 99]
)
def test_no_end_of_a_message_ends_the_worker(worker: Worker, expires: Any) -> None:
    worker.send(message("host.read_inventory", [], expires=expires))
    worker.answers()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b'{"body": 1}',
        b"[" * 1_000_000,
        message("host.read_inventory", [], id=[1]),
        message("host.read_inventory", [], timelimit=[0.001, 0.001], retries=10**9, group="1", shadow={"a": 1}),
        message("host.read_inventory", {"a": 1}),
        message("host.apply", [], body=b"[" * 1_000_000),
        message("host.apply", [], body=b'[[{"__type__": "bytes", "__value__": 5}], {}, {}]'),
        message("host.apply", [], body=b'[[{"__type__": "decimal", "__value__": "x"}], {}, {}]'),
        message("host.apply", [], body=b'[[{"__type__": "no", "__value__": "x"}], {}, {}]'),
        message("host.apply", [{}, {"x": 1}], body=b"[[" + b"[" * 900 + b"]" * 900 + b"], {}, {}]"),
        message("host.nothing", []),
        message("host.read_inventory", [], stamped_headers=["x"], stamps={"x": 1}, ignore_result=False),
    ],
)
def test_a_message_that_is_none_is_dropped_and_the_next_one_is_taken(worker: Worker, raw: str | bytes) -> None:
    worker.send(raw)
    worker.answers()
    assert not list((worker.root / "host").glob("runs/*"))


def test_what_lies_among_the_unacknowledged_is_not_done(worker: Worker) -> None:
    """Kombu would put it back into a queue of the sender's choice once it is old, looking every ten seconds."""
    worker.service.hset("unacked", "evil", json.dumps([json.loads(message("host.smart_sweep", [])), "", QUEUE]))
    worker.service.zadd("unacked_index", {"evil": 1})
    time.sleep(12)
    assert "sweep-report" not in worker.answers() + worker.answers()


def test_an_order_of_somebody_who_is_no_text_leaves_no_run_behind(worker: Worker) -> None:
    inventory = from_json(Inventory, MACHINE.read_text())
    ssd = next(disk for disk in inventory.disks if disk.bus is Bus.NVME)
    plan = plan_for(PlanRequest(inventory.pools[0].guid, (ssd.key,), GIB), inventory)
    for by in ({"x": 1}, 5, None, "", "a\nb", "\ud800", "x" * 100_000):
        worker.send(message("host.apply", [to_document(plan), 0, by]))
    worker.answers()
    assert not list((worker.root / "host").glob("runs/*"))
