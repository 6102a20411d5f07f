"""Which programs wait for synchronous writes, and how long: what tracing the kernel for a while tells.

The counters of OpenZFS know datasets and no programs, and they do not know how long a commit takes.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class ProcessCalls:
    """What one process did. `fsyncs` are its calls that reached a ZFS file system, `commits` those of a ZIL.

    `ended` are the commits whose end was seen, `waited_ns` how long these took together.
    """

    pid: int
    program: str
    fsyncs: int = 0
    commits: int = 0
    ended: int = 0
    waited_ns: int = 0


@dataclass(frozen=True)
class WaitingProgram:
    """All processes of one name. `pid` is the one of them that asked most often."""

    program: str
    processes: int
    pid: int
    fsyncs: int
    commits: int
    ended: int
    waited_ns: int

    @property
    def mean_wait_ns(self) -> float | None:
        """How long a commit took; None if the end of none was seen."""
        return self.waited_ns / self.ended if self.ended else None

    @property
    def is_not_obeyed(self) -> bool:
        """Whether it asks and never waits: with `sync=disabled`, zfs_fsync() (zfs_vnops.c) does nothing."""
        return self.fsyncs > 0 and self.commits == 0


@dataclass(frozen=True)
class WaitingPrograms:
    """The programs of a whole host, all pools together, those that asked most often first.

    `at` is the end, in ISO 8601 with its offset from UTC.

    Raises:
        ValueError: `at` is not such a time, or `seconds` is not above zero.
    """

    at: str
    seconds: int
    programs: tuple[WaitingProgram, ...]

    def __post_init__(self) -> None:
        if datetime.fromisoformat(self.at).tzinfo is None:
            raise ValueError("the time of a trace must say its offset from UTC")
        if self.seconds <= 0:
            raise ValueError("a trace must take longer than no time")

    def per_second(self, count: int) -> float:
        """How many of what was counted came in a second."""
        return count / self.seconds


def by_program(calls: Iterable[ProcessCalls]) -> tuple[WaitingProgram, ...]:
    """Processes of one name together, most calls first."""
    named: dict[str, list[ProcessCalls]] = defaultdict(list)
    for each in calls:
        named[each.program].append(each)
    found = [
        WaitingProgram(
            program=name,
            processes=len(group),
            pid=max(group, key=_asked).pid,
            fsyncs=sum(each.fsyncs for each in group),
            commits=sum(each.commits for each in group),
            ended=sum(each.ended for each in group),
            waited_ns=sum(each.waited_ns for each in group),
        )
        for name, group in named.items()
    ]
    return tuple(sorted(found, key=_asked, reverse=True))


def _asked(each: ProcessCalls | WaitingProgram) -> tuple[int, int]:
    return max(each.fsyncs, each.commits), each.pid
