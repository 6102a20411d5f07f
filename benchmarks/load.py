"""`python -m benchmarks.load --minutes 10`: 100 people look at 1,000 disks while 500 hosts tell, one of them hostile.

What runs is what an installation runs: PostgreSQL, both message services, pages, worker and receiver, each with
the arguments of its unit; pages come over plain HTTP, as behind a proxy. Nothing but this machine's own load is between
clients and pages, so on one that does other work the times say little; errors and memory say as much.
"""

import argparse
import json
import logging
import multiprocessing
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import redis

from benchmarks.__main__ import show
from benchmarks.clients import browse
from benchmarks.figure import Figure, Skipped
from benchmarks.many_hosts import machine, message
from benchmarks.pages import SETTLE_S, of_pages, with_a_year
from benchmarks.stack import Stack, stack, start_console

GROWTH = 1.1
"""Memory is flat if it ends at most so much above the middle of the time: in the first half caches fill."""

READ_AT, AT = "2001-01-01T00:00:00+00:00", 1_000_000_001
"""Stand for the time in the messages, which are made once."""


@dataclass(frozen=True)
class Wish:
    """How much of everything."""

    minutes: float
    clients: int
    hosts: int
    disks: int


def main() -> None:
    """Read the arguments, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--disks", type=int, default=1000, help="of the machine that is looked at, with a year each")
    try:
        show(figures(Wish(**vars(parser.parse_args()))))
    except Skipped as reason:
        print(f"skipped: {reason}")


def figures(wish: Wish = Wish(10, 100, 500, 1000)) -> Iterator[Figure]:
    """Make the stack and the year, then let clients and hosts at them."""
    with stack() as made:
        logging.disable(logging.INFO)  # that somebody has signed in
        names = [f"nas{number:03d}" for number in range(wish.hosts)]
        cookies, paths = with_a_year(wish.disks, wish.clients)
        let_in(names)
        start_console(made)
        time.sleep(SETTLE_S)
        hosts = Hosts(names)
        memory = [made.memory()]
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            asked = pool.apply_async(browse, (made.port, cookies, paths, wish.minutes * 60))
            hosts.start()
            for _ in range(2):
                time.sleep(wish.minutes * 30)
                memory.append(made.memory())
            answers = asked.get()
        hosts.stop()
        yield from of_pages(answers)
        yield from _of_hosts(made, hosts)
        yield from _of_memory(memory)


def let_in(names: list[str]) -> None:
    """Hosts that have joined, as far as the database knows."""
    from nasadvisor.console.fleet.models import Node  # noqa: PLC0415 - Django is set up by now

    Node.objects.bulk_create([Node(name=name, access_digest=secrets.token_hex(32)) for name in names])


class Hosts:
    """Tells what hosts tell: counters every ten seconds, themselves every minute, their disks every six hours.

    The first of them is hostile: it sends what it may not and more than it may, and makes the queue of what it is asked
    something else; its user at the message service has the right to all of that.
    """

    def __init__(self, names: list[str]) -> None:
        self.hostile, *self.orderly = names
        self.told = 0
        self.failed = ""
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._until_over, args=[each]) for each in (self._tell, self._attack)]
        self._messages = {name: messages_of(name) for name in self.orderly}

    def start(self) -> None:
        """Begin, in threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """No more."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def waiting(self) -> int:
        """Messages of orderly hosts that are not stored yet."""
        from nasadvisor.console.fleet.remote.listening import client  # noqa: PLC0415
        from nasadvisor.domain.fleet.joining import console_queue  # noqa: PLC0415

        with client() as service:
            return sum(int(service.llen(console_queue(name))) for name in self.orderly)

    def _until_over(self, round_of: Any) -> None:
        from nasadvisor.console.fleet.remote.listening import client  # noqa: PLC0415

        number = 0
        try:
            with client() as service:
                while not self._over.is_set():
                    round_of(service, number)
                    number += 1
        except Exception as error:
            self.failed = repr(error)
            raise

    def _tell(self, service: Any, number: int) -> None:
        """A tenth of the hosts in each second, so that each has its turn every ten."""
        from nasadvisor.domain.fleet.joining import console_queue, host_queue  # noqa: PLC0415

        began = time.monotonic()
        now = datetime.now(UTC).replace(microsecond=0)
        for index in range(number % 10, len(self.orderly), 10):
            name = self.orderly[index]
            reading, inventory, sweep = self._messages[name]
            documents = [("reading", reading)]
            if (number // 10 + index // 10) % 6 == 0:
                documents.append(("inventory", inventory))
            if (number // 10 + index) % 2160 == 0:
                documents.append(("answers", sweep))
            for answer, text in documents:
                told = text.replace(READ_AT, now.isoformat()).replace(str(AT), str(int(now.timestamp())))
                service.lpush(console_queue(name), message(answer, name, json.loads(told)))
                self.told += 1
            service.delete(host_queue(name))  # it takes what it was asked for
        self._over.wait(max(0.0, 1 - (time.monotonic() - began)))

    def _attack(self, service: Any, number: int) -> None:
        from nasadvisor.domain.fleet.joining import console_queue, host_queue  # noqa: PLC0415

        queue, asked = console_queue(self.hostile), host_queue(self.hostile)
        nonsense = message("inventory", self.hostile, {"kind": "inventory", "disks": [[]] * 1000})
        with suppress(redis.ResponseError):  # where there is no room for so much
            match number % 4:
                case 0:
                    service.lpush(queue, *[b"\xff" * 1000] * 200)
                case 1:
                    service.lpush(queue, *[message("sweep-report", self.orderly[0], {})] * 200)
                case 2:
                    service.lpush(queue, *[nonsense] * 200, "x" * 3 * 2**20)
                case 3:
                    service.delete(asked)
                    service.set(asked, "no list")
        self._over.wait(1)


def messages_of(name: str) -> tuple[str, str, str]:
    """A reading, an inventory and the answers of a sweep, as text in which only the time is to be put right."""
    from nasadvisor.domain.evidence.reading import Reading  # noqa: PLC0415
    from nasadvisor.domain.health.sweep import Answers  # noqa: PLC0415
    from nasadvisor.host.simulated.evidence import simulated_sample  # noqa: PLC0415
    from nasadvisor.host.simulated.smart import simulated_answer  # noqa: PLC0415
    from nasadvisor.stored.documents import to_document  # noqa: PLC0415
    from tests.unit.machines import home_server  # noqa: PLC0415

    host = replace(machine(name), pools=home_server().pools[:1], read_at=READ_AT)
    answers = Answers(name, tuple(simulated_answer(disk, datetime.fromisoformat(READ_AT)) for disk in host.disks))
    reading = Reading((simulated_sample(host.pools[0], AT),))
    told = json.dumps(to_document(reading)), json.dumps(to_document(host)), json.dumps(to_document(answers))
    return told[0], told[1], told[2]


def _of_hosts(made: Stack, hosts: Hosts) -> Iterator[Figure]:
    time.sleep(2)
    waiting = hosts.waiting()
    yield Figure("messages told by orderly hosts", "", f"{hosts.told:,} {hosts.failed}")
    yield Figure("of these not stored two seconds later", "0", str(waiting), met=not waiting)
    for name in made.processes:
        found = made.log(name).read_text(errors="replace").count("Traceback")
        if found and name == "receiver":
            yield Figure("documents of the hostile host that were told to be none", "", str(found))
        elif found:
            yield Figure(f"errors that {name} wrote down", "0", str(found), met=False)
    ended = [name for name, process in made.processes.items() if process.poll() is not None]
    yield Figure("processes that ended", "0", ", ".join(ended) or "0", met=not ended)


def _of_memory(memory: list[dict[str, float]]) -> Iterator[Figure]:
    """At the start, in the middle, and at the end."""
    for name in memory[0]:
        begin, middle, end = (each[name] for each in memory)
        text = f"{begin:.0f} → {middle:.0f} → {end:.0f} MiB"
        yield Figure(f"memory of {name}", "flat from the middle on", text, met=end <= middle * GROWTH)


if __name__ == "__main__":
    main()
