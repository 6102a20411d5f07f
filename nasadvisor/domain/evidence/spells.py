"""Spells: what programs waited for commits in some seconds at random moments, and the sums of them over hours and days.

The counters of OpenZFS know datasets, neither programs nor how long a commit takes. Tracing tells both and costs too
much to be done all day. So it is done for moments that chance chose. While commits are seen there are more of them:
such busy times and the others are strata, summed apart, for a spell stands for more time where there are fewer of
them.

Sums are all that an estimate and its sampling error need (`waited`): of each program what it waited, its square, and
its product with the commits of the pool in the same spell.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from math import sqrt
from typing import Final

from nasadvisor.domain.units import HOUR_S

MOST_PROGRAMS: Final = 20
"""[policy] Of programs that wait more than the others; these are one more row, without a name."""

LONGEST_NAME: Final = 255
"""ZFS_MAX_DATASET_NAME_LEN with its zero is 256 (include/sys/fs/zfs.h), the name of a thread has 15 characters."""

LARGEST_SUM: Final = 1e30
"""What is larger could not be squared any more."""

SHORTEST_S: Final = 0.1
"""No spell is shorter."""

LARGEST_OF_AN_HOUR: Final = 1e15
LONGEST_HOUR_S: Final = 2 * HOUR_S
"""[policy] No host has more in an hour, its square included, and none has longer hours."""


class Stratum(StrEnum):
    """Whether commits were seen in the interval before."""

    BUSY = "busy"
    QUIET = "quiet"


@dataclass(frozen=True)
class ProgramWait:
    """What the threads of one name waited in a spell, all of them together, for commits of one dataset.

    `dataset` is "" where it is not known. `calls` are the commits that began in it, `most` how many were under way at
    once.
    """

    program: str
    dataset: str
    waited_s: float
    calls: int
    most: int


@dataclass(frozen=True)
class Spell:
    """What was traced of one pool in so many seconds. `commits` are those that OpenZFS counts too."""

    seconds: float
    commits: int = 0
    waits: tuple[ProgramWait, ...] = ()


def _no_sum_below_zero(sums: "WaitSums | SpellSums") -> None:
    values = (getattr(sums, each.name) for each in fields(sums))
    if not all(0 <= value <= LARGEST_SUM for value in values if isinstance(value, int | float)):
        raise ValueError("no sum can be below zero, or that large")


@dataclass(frozen=True)
class WaitSums:
    """The same of one program on one dataset, summed over spells.

    `waited_squared` is the sum of the squares of what each spell had, `waited_commits` that of its products with the
    commits of the pool. `program` and `dataset` are "" of the rest that has no row of its own, and of all together.

    Raises:
        ValueError: a name is longer than any, or a sum below zero.
    """

    program: str = ""
    dataset: str = ""
    waited_s: float = 0.0
    waited_squared: float = 0.0
    waited_commits: float = 0.0
    calls: int = 0
    most: int = 0

    def __post_init__(self) -> None:
        if max(len(self.program), len(self.dataset)) > LONGEST_NAME:
            raise ValueError("no program and no dataset has such a long name")
        _no_sum_below_zero(self)

    def __add__(self, other: "WaitSums") -> "WaitSums":
        """Both, of different spells."""
        return replace(
            self,
            waited_s=self.waited_s + other.waited_s,
            waited_squared=self.waited_squared + other.waited_squared,
            waited_commits=self.waited_commits + other.waited_commits,
            calls=self.calls + other.calls,
            most=max(self.most, other.most),
        )

    def beside(self, other: "WaitSums") -> "WaitSums":
        """Both, of the same spells, as one row without a name.

        The square of their sum is not known any more: it is taken for the most that it can be (Cauchy and Schwarz).
        """
        squared = (sqrt(self.waited_squared) + sqrt(other.waited_squared)) ** 2
        return replace(self + other, program="", dataset="", waited_squared=squared, most=self.most + other.most)


@dataclass(frozen=True)
class SpellSums:
    """The spells of one pool in one stratum: it was busy, or it was not.

    It lasted for `seconds`, in which OpenZFS counted so many commits of the pool; `traced_s` of it were traced, in so
    many spells, some of them with commits. `total` is what all programs together waited.

    Raises:
        ValueError: a sum is below zero, there are more programs than there may be, or spells took no time.
    """

    seconds: float = 0.0
    counted: int = 0
    spells: int = 0
    spells_with_commits: int = 0
    traced_s: float = 0.0
    commits: int = 0
    commits_squared: float = 0.0
    total: WaitSums = WaitSums()
    programs: tuple[WaitSums, ...] = ()

    def __post_init__(self) -> None:
        if len(self.programs) > MOST_PROGRAMS + 1:
            raise ValueError("there are more programs than are kept")
        if self.traced_s < self.spells * SHORTEST_S:
            raise ValueError("what was traced took longer than no time")
        _no_sum_below_zero(self)

    def __add__(self, other: "SpellSums") -> "SpellSums":
        return SpellSums(
            seconds=self.seconds + other.seconds,
            counted=self.counted + other.counted,
            spells=self.spells + other.spells,
            spells_with_commits=self.spells_with_commits + other.spells_with_commits,
            traced_s=self.traced_s + other.traced_s,
            commits=self.commits + other.commits,
            commits_squared=self.commits_squared + other.commits_squared,
            total=self.total + other.total,
            programs=_most_waiting((*self.programs, *other.programs)),
        )

    def with_spell(self, spell: Spell) -> "SpellSums":
        """With one more."""
        waited = sum(each.waited_s for each in spell.waits)
        everybody = ProgramWait(
            "", "", waited, sum(each.calls for each in spell.waits), sum(each.most for each in spell.waits)
        )
        one = SpellSums(
            spells=1,
            spells_with_commits=int(spell.commits > 0),
            traced_s=spell.seconds,
            commits=spell.commits,
            commits_squared=float(spell.commits**2),
            total=_sums_of(everybody, spell.commits),
            programs=_most_waiting(_sums_of(each, spell.commits) for each in spell.waits),
        )
        return self + one


@dataclass(frozen=True)
class PoolSpells:
    """The spells of one pool in an hour or less of the clock; `began` and `until` are in seconds since 1970 (UTC).

    `cost_s` is what they cost this host together in seconds of a processor, as the kernel counted it.

    Raises:
        ValueError: it ends before it begins, or a cost is below zero.
    """

    pool_guid: str
    began: int
    until: int
    busy: SpellSums = SpellSums()
    quiet: SpellSums = SpellSums()
    cost_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.began <= self.until or not 0 <= self.cost_s <= LARGEST_SUM:
            raise ValueError("spells end after they have begun, and cost no less than nothing")

    @property
    def seconds(self) -> float:
        """For how long it was watched."""
        return self.busy.seconds + self.quiet.seconds

    def sums(self, stratum: Stratum) -> SpellSums:
        """Those of one stratum."""
        return self.busy if stratum is Stratum.BUSY else self.quiet

    def with_sums(self, stratum: Stratum, sums: SpellSums) -> "PoolSpells":
        """With others of one stratum."""
        return replace(self, busy=sums) if stratum is Stratum.BUSY else replace(self, quiet=sums)

    @property
    def is_an_hour(self) -> bool:
        """Whether it can be what a host summed up in an hour."""
        sums = (self.busy, self.quiet, self.busy.total, self.quiet.total)
        values = [getattr(each, name.name) for each in sums for name in fields(each)]
        most = max(value for value in values if isinstance(value, int | float))
        return most <= LARGEST_OF_AN_HOUR and max(self.seconds, self.until - self.began) <= LONGEST_HOUR_S


def added(spells: Iterable[PoolSpells]) -> PoolSpells | None:
    """Hours of one pool as one; None where there are none."""
    ordered = sorted(spells, key=lambda each: each.began)
    if not ordered:
        return None
    whole = ordered[0]
    for each in ordered[1:]:
        whole = replace(
            whole,
            until=max(whole.until, each.until),
            busy=whole.busy + each.busy,
            quiet=whole.quiet + each.quiet,
            cost_s=whole.cost_s + each.cost_s,
        )
    return whole


def _sums_of(wait: ProgramWait, commits: int) -> WaitSums:
    return WaitSums(
        program=wait.program,
        dataset=wait.dataset,
        waited_s=wait.waited_s,
        waited_squared=wait.waited_s**2,
        waited_commits=wait.waited_s * commits,
        calls=wait.calls,
        most=wait.most,
    )


def _most_waiting(sums: Iterable[WaitSums]) -> tuple[WaitSums, ...]:
    """One for each program and dataset, those that wait most first; what is beyond the number is the rest."""
    found: dict[tuple[str, str], WaitSums] = {}
    for each in sums:
        key = (each.program, each.dataset)
        found[key] = found[key] + each if key in found else each
    rest = found.pop(("", ""), None)
    ordered = sorted(found.values(), key=lambda each: (-each.waited_s, each.program, each.dataset))
    for each in ordered[MOST_PROGRAMS:]:
        rest = rest.beside(each) if rest else each.beside(WaitSums())
    return (*ordered[:MOST_PROGRAMS], *((rest,) if rest else ()))
