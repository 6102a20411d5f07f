"""What is answered of a log or a cache, and how it is read off the table.

An answer follows from two things: how much of the time somebody waits, and how much of that a choice takes away, for
certain and at best. The bar between helps, little and no is here and nowhere else.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from nasadvisor.domain.figures import duration
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.domain.units import DAY_S, MINUTE_S

FELT_SHARE: Final = 0.10
"""[policy] Who waits for so much of the time (2.4 hours of a day) feels it. Six commits a second of 7 ms each are 4 %,
and whoever was asked about such hosts said: leave it."""

LEAST_WAITED: Final = 10 * MINUTE_S / DAY_S
"""[policy] Less than ten minutes in a day is as good as no waiting at all."""

BUSY_SHARE: Final = 0.002
"""[policy] Busy times are felt if they are at least this share of what was watched: three minutes a day."""

LEAST_SHARE: Final = 0.05
"""[policy] Whoever takes away less of the waiting takes away as good as nothing."""

HELPS_SHARE: Final = 0.30
"""[policy] A cache or memory helps that takes away so much of the waiting for reads, and so does what is there."""

GOOD_LOG_SHARE: Final = 2 / 3
"""[policy] A log helps that may make commits three times as fast; what is less is hard to feel."""


class Device(StrEnum):
    """What is asked about."""

    LOG = "log"
    CACHE = "cache"


class Answer(StrEnum):
    """What is answered."""

    HELPS = "helps"
    LITTLE = "little"
    NO = "no"
    CANNOT_TELL = "cannot-tell"


class Waiting(StrEnum):
    """What programs wait for."""

    COMMITS = "commits"
    READS = "reads"


@dataclass(frozen=True)
class Relief:
    """The share of one kind of waiting that would be gone. `high` is None where at least `low` is all that is known.

    Of reads, it is the share that no longer goes to the data disks: what memory or an SSD takes for them is left out.
    """

    of: Waiting
    low: float
    high: float | None

    @property
    def at_best(self) -> float:
        """All of it, where nobody knows."""
        return 1.0 if self.high is None else self.high


@dataclass(frozen=True)
class Pace:
    """How often somebody waits in a second: of all that was watched, and of its busy times. `levels` are the busiest
    times, more and more of them: how often in a second, and what share of all they are.
    """

    all_day: float
    busy: float
    levels: tuple[tuple[float, float], ...] = ()

    def felt(self, each_s: float) -> float:
        """How much of the time somebody waits who waits for so long each time, in times that last and add up."""
        shares = ((per_s * each_s, share) for per_s, share in self.levels if share >= BUSY_SHARE)
        return max(self.all_day * each_s, *(waits for waits, share in shares if waits * share >= LEAST_WAITED), 0.0)

    def ever(self, each_s: float) -> float:
        """The same at any time, however short."""
        return max(self.all_day, self.busy) * each_s


@dataclass(frozen=True)
class Demand:
    """How much of the time somebody waits (more than 1 if several do), as far as a device may change it.

    `likely` and `most` are of times long enough to be felt; `ever` is the most at any time, however short that is.
    """

    likely: float
    most: float
    ever: float

    @property
    def is_felt(self) -> bool:
        """Whether somebody feels it, as far as is known."""
        return self.likely >= FELT_SHARE


@dataclass(frozen=True)
class Bar:
    """A choice helps if it takes away `certain` at the least; little if at best it takes away less than `best`."""

    certain: float
    best: float


BARS: Final = {Waiting.COMMITS: Bar(LEAST_SHARE, GOOD_LOG_SHARE), Waiting.READS: Bar(HELPS_SHARE, LEAST_SHARE)}
"""What a log takes away at the least is of a slow SSD on a bad day, at best of a good one: for whoever chooses the SSD
the latter counts, as long as the former is something. Of reads both are of the same cache."""


def read_off(demand: Demand, relief: Relief) -> Answer:
    """The answer by how much is waited, and how much of that goes for certain and at best."""
    bar = BARS[relief.of]
    if demand.ever < LEAST_WAITED or not relief.at_best:
        return Answer.NO
    if demand.most < FELT_SHARE or relief.at_best < bar.best:
        return Answer.LITTLE
    if demand.is_felt and relief.low >= bar.certain:
        return Answer.HELPS
    return Answer.CANNOT_TELL


def read_off_one(demand: Demand, relief: Relief) -> Answer:
    """The same of one thing of a given size and time, and not of all that could be chosen: what may not reach the bar
    is little.
    """
    answer = read_off(demand, relief)
    return Answer.LITTLE if answer is Answer.CANNOT_TELL and relief.at_best < HELPS_SHARE else answer


@dataclass(frozen=True)
class Evidence:
    """One thing that was measured: what it is, its value with unit, and where it comes from."""

    what: Statement
    value: str
    source: str


def measured(what: str, value: str, source: str = "") -> Evidence:
    """One line of evidence; `what` is a template without values."""
    return Evidence(Statement("evidence", what), value, source)


@dataclass(frozen=True)
class Verdict:
    """The answer for one pool and one kind of device.

    `wait_s` is how much longer must be watched before there can be an answer, 0 where that is not what is missing.
    `before` are cheaper things to do first, `beside` what is to be known whatever the answer is.
    """

    device: Device
    answer: Answer
    rule: Statement
    evidence: tuple[Evidence, ...]
    seconds: float
    wait_s: float = 0.0
    before: tuple[Statement, ...] = ()
    beside: tuple[Statement, ...] = ()


class Judged(NamedTuple):
    """An answer with its reason. `wait_s` is how much longer must be watched before there can be one, see `Verdict`."""

    answer: Answer
    because: Statement
    wait_s: float = 0.0


def in_time(answer: Answer, because: Statement, seconds: float, missing_s: float) -> Judged:
    """The answer, or that it is too early for one after so many seconds."""
    if missing_s <= 0 or answer is Answer.CANNOT_TELL:
        return Judged(answer, because)
    template = (
        _("Not enough data yet ({seen} of activity). So far it points to a benefit.")
        if answer is Answer.HELPS
        else _("Not enough data yet ({seen} of activity). So far it points to no benefit.")
    )
    return Judged(Answer.CANNOT_TELL, Statement("too-early", template, {"seen": duration(seconds)}), missing_s)
