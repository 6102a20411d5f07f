"""A minute of what 500 hosts tell, stored by one, two and four processes on PostgreSQL.

All of it lies in the queues before they begin: they are stopped meanwhile, and what is measured is from their going on
until the queues are empty. Receivers and PostgreSQL share this machine's processors, so more processes than it has
bring nothing here; what each message takes of a processor says what they would bring elsewhere.
"""

import json
import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.figure import Figure
from benchmarks.load import AT, READ_AT, let_in, messages_of
from benchmarks.many_hosts import message
from benchmarks.stack import Stack, command_of, family, stack

HOSTS: Final = int(os.environ.get("BENCH_HOSTS", "500"))
READINGS: Final = 6
PROCESSES: Final = {1: 1.0, 2: 1.8, 4: 3.0}
"""How many, and how many times as fast as one they are to be."""

IDLE_S: Final = 5.0
"""After the start, until nothing is left to do but to wait for messages."""

LOOK_S: Final = 0.1
TICKS: Final = os.sysconf("SC_CLK_TCK")


def figures() -> Iterator[Figure]:
    """The same minute, again and again, with more processes each time."""
    with stack() as made:
        names = [f"nas{number:05d}" for number in range(HOSTS)]
        let_in(names)
        templates = {name: messages_of(name)[:2] for name in names}
        began, alone = time.time() - 3000, 0.0
        for turn, (processes, wanted) in enumerate({0: 1.0, **PROCESSES}.items()):
            told = _minute(templates, began + 60 * turn)
            # The first time tables are made larger and everything is new: it is not told.
            seconds, receivers_s, database_s = _store(made, max(processes, 1), told)
            if not processes:
                continue
            alone = alone or seconds
            cpu = f"{receivers_s:.1f} s of processors for receivers, {database_s:.1f} s for PostgreSQL"
            yield Figure(f"a minute of {HOSTS} hosts, {processes} processes", "60 s", f"{seconds:.1f} s ({cpu})")
            if processes > 1:
                times = alone / seconds
                yield Figure("as fast as one process", f"{wanted} ×", f"{times:.2f} ×", met=times >= wanted)
            else:
                part = (receivers_s + database_s) / HOSTS
                yield Figure("hosts for each processor of the machine", "", f"{60 / part:,.0f}")


def _minute(templates: dict[str, tuple[str, str]], began: float) -> list[tuple[str, str]]:
    """What each host tells within a minute, as queue and message."""
    from nasadvisor.domain.fleet.joining import console_queue  # noqa: PLC0415 - Django is set up by now

    read_at = datetime.fromtimestamp(began, UTC).isoformat(timespec="seconds")
    told = []
    for name, (reading, inventory) in templates.items():
        for number in range(READINGS):
            at = str(int(began) + number * 10)
            told.append((console_queue(name), message("reading", name, json.loads(reading.replace(str(AT), at)))))
        document = json.loads(inventory.replace(READ_AT, read_at))
        told.append((console_queue(name), message("inventory", name, document)))
    return told


def _store(made: Stack, processes: int, told: list[tuple[str, str]]) -> tuple[float, float, float]:
    """Seconds by the clock, and of processors for the receivers and for PostgreSQL."""
    from nasadvisor.console.fleet.remote.listening import client  # noqa: PLC0415

    os.environ["NASADVISOR_RECEIVERS"] = str(processes)
    made.start("receiver", command_of("remote"))
    pid = made.processes["receiver"].pid
    made.wait_for("receiver", lambda: len(family(pid)) == processes)
    time.sleep(IDLE_S)
    _signal(pid, signal.SIGSTOP)
    with client() as service:
        _put(service, told)
        before = _cpu_s(pid), _cpu_s(made.database)
        began = time.perf_counter()
        _signal(pid, signal.SIGCONT)
        queues = sorted({queue for queue, _ in told})
        while _waiting(service, queues):
            time.sleep(LOOK_S)
        seconds = time.perf_counter() - began
    after = _cpu_s(pid), _cpu_s(made.database)
    made.processes["receiver"].terminate()
    made.processes["receiver"].wait()
    return seconds, after[0] - before[0], after[1] - before[1]


def _put(service: Any, told: list[tuple[str, str]]) -> None:
    with service.pipeline(transaction=False) as pipe:
        for queue, text in told:
            pipe.lpush(queue, text)
        pipe.execute()


def _waiting(service: Any, queues: list[str]) -> int:
    with service.pipeline(transaction=False) as pipe:
        for queue in queues:
            pipe.llen(queue)
        return sum(pipe.execute())


def _signal(pid: int, number: signal.Signals) -> None:
    for each in family(pid):
        os.kill(each, number)


def _cpu_s(pid: int) -> float:
    """What a process and those that it has started have used of processors (proc(5), stat: utime and stime)."""
    stats = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in family(pid)]
    return sum(int(each[11]) + int(each[12]) for each in stats) / TICKS
