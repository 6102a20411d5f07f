"""500 hosts at one console: all sweep, read themselves and their counters; what storing that takes, and asking them.

Redis is a real one with TLS, and each host has its own user there; what hosts tell is put into their queues at once,
as after a console that was off. Disks are simulated, twelve a host.
"""

import json
import os
import resource
import secrets
import shutil
import subprocess
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from benchmarks.console import console_folder, p95_ms, signed_in
from benchmarks.figure import Figure, Skipped

HOSTS: Final = int(os.environ.get("BENCH_HOSTS", "500"))
DISKS: Final = 12
STORE_S: Final = 3600.0
"""A sweep comes every six hours; what a console cannot store in one of them would pile up with the rest of its work."""
INVENTORIES_S: Final = 10.0
"""Each host reads itself every minute; a sixth of that may go into storing what all have read."""
ASK_S: Final = 2.0
"""All are asked for their counters every ten seconds."""
MEMORY_MIB: Final = 200


def figures() -> Iterator[Figure]:
    """Let them join, sweep all at once, and be asked."""
    server = shutil.which("redis-server")
    if server is None:
        raise Skipped("redis-server is not installed")
    folder = console_folder()
    os.environ["NASADVISOR_RUN_DIR"] = str(folder)
    from django.conf import settings  # noqa: PLC0415

    settings.RUN_DIR = folder
    from nasadvisor.console.fleet.remote import listening  # noqa: PLC0415
    from tests.lab.instance import free_port  # noqa: PLC0415

    listening.listen(listening.Listening(("127.0.0.1",), free_port()), datetime.now(UTC))
    log = folder / "redis.log"
    with subprocess.Popen([server, listening.folder() / "redis.conf", "--logfile", log]) as process:
        try:
            while not listening.socket_path().exists():
                time.sleep(0.1)
            yield from _measured()
        finally:
            process.terminate()


def _measured() -> Iterator[Figure]:
    from nasadvisor.console.fleet import hosts  # noqa: PLC0415
    from nasadvisor.console.fleet.models import Node  # noqa: PLC0415
    from nasadvisor.console.fleet.remote.listening import client  # noqa: PLC0415
    from nasadvisor.console.worker import inbox as inboxes  # noqa: PLC0415
    from nasadvisor.console.worker import tasks  # noqa: PLC0415
    from nasadvisor.console.worker.enrolment import Enrolment  # noqa: PLC0415
    from nasadvisor.domain.fleet.questions import SAMPLE  # noqa: PLC0415

    names = [f"nas{number:03d}" for number in range(HOSTS)]
    Node.objects.bulk_create([Node(name=name, access_digest=secrets.token_hex(32)) for name in names])
    with client() as service:
        inbox = inboxes.Inbox(service)
        yield Figure(f"making the users of {HOSTS} hosts", "", f"{_seconds(Enrolment(service).look_around):.1f} s")
        inbox.look_around()
        before = _peak_mib()
        for what, messages, budget in (
            ("first inventories", _inventories, STORE_S),
            ("inventories, as each minute", _inventories, INVENTORIES_S),
            ("sweeps", _sweeps, STORE_S),
        ):
            sizes = _put(service, names, messages)
            began = time.process_time()
            seconds = _seconds(lambda: _take_all(inbox))
            yield Figure(
                f"storing {HOSTS} {what} ({sizes / 2**20:.0f} MiB)",
                f"{budget:.0f} s",
                f"{seconds:.1f} s ({time.process_time() - began:.1f} s CPU)",
                met=seconds <= budget,
            )
        peak = _peak_mib()
        yield Figure("largest memory of this process", f"{MEMORY_MIB} MiB", f"{peak:.0f} MiB", met=peak <= MEMORY_MIB)
        yield Figure("of that before anything was stored", "", f"{before:.0f} MiB")
        used = int(service.info("memory")["used_memory_peak"]) / 2**20
        yield Figure("largest memory of Redis", "512 MiB", f"{used:.0f} MiB", met=used <= 512)
        asked = _seconds(tasks.take_samples)
        yield Figure(f"asking {HOSTS} hosts for their counters", f"{ASK_S:.0f} s", f"{asked:.1f} s", met=asked <= ASK_S)
    node = Node.objects.defer("inventory_document").get(name=names[0])
    yield Figure("asking one", "", f"{_seconds(lambda: hosts.ask(node, SAMPLE, by=None)) * 1000:.1f} ms")
    for path in ("/", "/settings/"):
        p95, cpu = p95_ms(signed_in(), path)
        yield Figure(f"p95 of {path}, one client", "", f"{p95:.0f} ms ({cpu:.0f} ms CPU)")


def _inventories(name: str) -> list[tuple[str, Any]]:
    from nasadvisor.stored.documents import to_document  # noqa: PLC0415

    return [("inventory", to_document(machine(name)))]


def _sweeps(name: str) -> list[tuple[str, Any]]:
    from nasadvisor.domain.health.sweep import Answers  # noqa: PLC0415
    from nasadvisor.host.simulated.smart import simulated_answer  # noqa: PLC0415
    from nasadvisor.stored.documents import to_document  # noqa: PLC0415

    answers = tuple(simulated_answer(disk, datetime.now(UTC)) for disk in machine(name).disks)
    return [("answers", to_document(Answers(name, answers)))]


def machine(name: str) -> Any:
    """A host of simulated SSDs, in no pool; its name is "nas" and a number."""
    from tests.unit.machines import home_server, ssd  # noqa: PLC0415

    number = int(name.removeprefix("nas"))
    disks = tuple(
        ssd(f"eui.{number:08x}{disk:08x}", "KIOXIA KCM7XVUG3T20", f"B{number:03d}{disk:02d}", 3_200_631_791_616)
        for disk in range(DISKS)
    )
    base = home_server()
    read_at = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(base, host=replace(base.host, node=name), disks=disks, pools=(), read_at=read_at)


def _put(service: Any, names: list[str], messages: Callable[[str], list[tuple[str, Any]]]) -> int:
    """Lay messages into the queues as the hosts' Celery would; their bytes."""
    from nasadvisor.domain.fleet.joining import console_queue  # noqa: PLC0415

    total = 0
    for name in names:
        for answer, document in messages(name):
            raw = message(answer, name, document)
            service.lpush(console_queue(name), raw)
            total += len(raw)
    return total


def message(answer: str, name: str, document: Any) -> str:
    """What a host's Celery would lay into its queue."""
    body = b64encode(json.dumps([[name, answer, document], {}, {}]).encode()).decode()
    return json.dumps(
        {
            "body": body,
            "content-encoding": "utf-8",
            "content-type": "application/json",
            "headers": {"task": "console.answer"},
            "properties": {"body_encoding": "base64"},
        }
    )


def _take_all(inbox: Any) -> None:
    while inbox.one_round():
        pass


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
