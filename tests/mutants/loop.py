"""A plugin of pytest that runs the tests against one mutant after the other, each in a process of its own.

The tests are collected once, and run once without a mutant: that tells which of them reach which function, and how long
they take. Then a copy of this process is made for each mutant (a fork, so nothing is imported or collected again). It
runs the tests that reach the mutant's function until one fails: first those that ended another mutant of the same
function, then the quickest. What became of each mutant is added to RESULTS as it ends.
"""

import gc
import json
import os
import re
import resource
import select
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state

from tests.mutants.results import KILLED, MUTANTS, NO_TESTS, RESULTS, SURVIVED, TIME

PATIENCE: Final = 10
WHILE_CPU_S: Final = 20
"""A mutant is ended after ten times as much of a processor as its tests take, and a while."""

ASLEEP_S: Final = 20
"""Or if all its threads sleep for so long. What only waits for a processor does not: a busy machine is no proof."""

_EXIT_SURVIVED, _EXIT_KILLED = 0, 1
_ENDS: Final = {
    _EXIT_SURVIVED: SURVIVED,
    _EXIT_KILLED: KILLED,
    -signal.SIGSEGV: KILLED,  # a library in C that is called wrongly takes the tests with it
    -signal.SIGABRT: KILLED,
    -signal.SIGXCPU: TIME,
    -signal.SIGKILL: TIME,
}


_SLEEPING: Final = re.compile(r"\) S ")
"""In /proc/PID/task/TID/stat (proc_pid_stat(5)), behind the name of the program."""


@dataclass(frozen=True)
class _Test:
    """A test, and how much of a processor it took without a mutant."""

    item: pytest.Item
    cpu_s: float


@dataclass(frozen=True)
class _Mutant:
    """A mutant as its module and the name that mutmut gave it."""

    module: str
    name: str

    @property
    def function(self) -> str:
        return f"{self.module}.{self.name.rpartition('__mutmut_')[0]}"


@dataclass
class _Running:
    """The process of a mutant. `killer` is the end of a pipe that tells which of the tests failed.

    `threads` is what was last seen of its threads, `since_s` since when.
    """

    mutant: _Mutant
    pid: int
    killer: int
    threads: tuple[str, ...] = ()
    since_s: float = 0.0


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """In place of running each test once. Raises Interrupted if a test fails without a mutant, or cannot be read."""
    if session.testsfailed:
        raise session.Interrupted("tests could not be collected")
    names: dict[str, list[str]] = json.loads(Path(MUTANTS).read_text(encoding="utf-8"))
    mutants = [_Mutant(module, name) for module in names for name in names[module]]
    reaching = _reaching(session.items)
    set_mutant_under_test("")
    gc.freeze()  # the copies share what was made until now
    _Loop(reaching).run(mutants)
    return True


def _reaching(items: list[pytest.Item]) -> dict[str, list[_Test]]:
    """By function: the tests that reach it. Raises Interrupted if one fails without a mutant."""
    set_mutant_under_test("stats")
    found: dict[str, list[_Test]] = defaultdict(list)
    for item, following in zip(items, [*items[1:], None], strict=True):
        reached: set[str] = state()._stats  # where mutmut keeps what was called
        reached.clear()
        began_s = time.process_time()
        if not _passes(item, following):
            raise pytest.Session.Interrupted(f"{item.nodeid} fails without a mutant")
        test = _Test(item, time.process_time() - began_s)
        for function in reached:
            found[function].append(test)
    return found


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    before = item.session.testsfailed
    item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
    return item.session.testsfailed == before


class _Loop:
    """Keeps as many mutants running as the process may use cores."""

    def __init__(self, reaching: dict[str, list[_Test]]) -> None:
        self._reaching = reaching
        self._killers: dict[str, Counter[str]] = defaultdict(Counter)
        self._running: list[_Running] = []

    def run(self, mutants: list[_Mutant]) -> None:
        """Try each of them."""
        for mutant in mutants:
            while len(self._running) >= len(os.sched_getaffinity(0)):
                self._wait()
            tests = self._in_order(mutant)
            if tests:
                self._start(mutant, tests)
            else:
                _tell(mutant, NO_TESTS)
        while self._running:
            self._wait()

    def _in_order(self, mutant: _Mutant) -> list[_Test]:
        killers = self._killers[mutant.function]
        tests = self._reaching.get(mutant.function, [])
        return sorted(tests, key=lambda test: (-killers[test.item.nodeid], test.cpu_s))

    def _start(self, mutant: _Mutant, tests: list[_Test]) -> None:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            _try(mutant, tests, writer)
        os.close(writer)
        self._running.append(_Running(mutant, pid, reader))

    def _wait(self) -> None:
        """Until one ends, or for a second."""
        ready, _, _ = select.select([each.killer for each in self._running], [], [], 1)
        for running in list(self._running):
            if running.killer in ready:
                self._end(running)
            else:
                _end_if_asleep(running)

    def _end(self, running: _Running) -> None:
        self._running.remove(running)
        with os.fdopen(running.killer, encoding="utf-8") as said:
            killer = said.read()
        _, status = os.waitpid(running.pid, 0)
        if killer:
            self._killers[running.mutant.function][killer] += 1
        code = os.waitstatus_to_exitcode(status)
        _tell(running.mutant, _ENDS.get(code, f"exit code {code}"), killer)


def _end_if_asleep(running: _Running) -> None:
    threads = tuple(_threads(running.pid))
    if threads != running.threads or not all(map(_SLEEPING.search, threads)):
        running.threads, running.since_s = threads, time.monotonic()
    elif time.monotonic() - running.since_s > ASLEEP_S:
        os.kill(running.pid, signal.SIGKILL)


def _threads(pid: int) -> Iterator[str]:
    """What is told of each: its number, its state, what it used of a processor."""
    for file in sorted(Path(f"/proc/{pid}/task").glob("*/stat")):
        with suppress(OSError):  # it has ended meanwhile
            yield file.read_text(encoding="utf-8")


def _try(mutant: _Mutant, tests: list[_Test], killer: int) -> None:
    """In the copy of the process: run the tests until one fails, and end the copy."""
    silence = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silence, descriptor)
    cpu_s = int(PATIENCE * sum(test.cpu_s for test in tests)) + WHILE_CPU_S
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    set_mutant_under_test(f"{mutant.module}.{mutant.name}")
    code = 3
    try:
        code = _exit_code(tests, killer)
    finally:
        os._exit(code)


def _exit_code(tests: list[_Test], killer: int) -> int:
    for test, following in zip(tests, [*(each.item for each in tests[1:]), None], strict=True):
        if not _passes(test.item, following):
            os.write(killer, test.item.nodeid.encode())
            return _EXIT_KILLED
    return _EXIT_SURVIVED


def _tell(mutant: _Mutant, end: str, killer: str = "") -> None:
    with Path(RESULTS).open("a", encoding="utf-8") as results:
        results.write(json.dumps({"module": mutant.module, "name": mutant.name, "end": end, "by": killer}) + "\n")
