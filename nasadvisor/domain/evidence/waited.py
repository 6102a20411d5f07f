"""How long programs wait for commits in a day, estimated from spells, with the sampling error.

The combined ratio estimator for a stratified sample (W. G. Cochran, "Sampling Techniques", 3rd edition, 6.11 and
6.12). In each stratum the spells say how much was waited and how many commits there were; each stratum counts as much
as it lasted. The quotient is what was waited for each commit. OpenZFS counted all commits, so that times their number
is what was waited: it wavers far less than what was waited in single spells does, for that follows the commits.

Its variance is that of what is left in each spell once its commits are accounted for, its range that of Student's t
with the degrees of freedom of Satterthwaite ("An approximate distribution of estimates of variance components", 1946).
It is laid around the logarithm, for what is waited is never below zero and its errors are factors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from statistics import NormalDist
from typing import Final

from nasadvisor.domain.evidence.spells import PoolSpells, SpellSums, WaitSums
from nasadvisor.domain.units import DAY_S

CONFIDENCE: Final = 0.90
"""How many of the ranges hold what was really waited."""

FEWEST_SPELLS: Final = 12
FEWEST_WITH_COMMITS: Final = 8
"""[policy] With fewer, or fewer that saw commits, the range itself is a guess."""

FEWEST_SHARE: Final = 0.5
"""[policy] Spells must have been possible for half of what was watched, or half a day."""


LEAST_S: Final = 1e-6
"""What is less is nothing: no commit is as quick."""

WIDEST: Final = 10.0
"""The logarithm of the widest range that is said, a factor of 22,000."""


@dataclass(frozen=True)
class Wait:
    """How many seconds programs wait for one thing in a day: what is likely, and between which bounds it lies. Those of
    several programs that wait at once add up, so a day can have more than 86,400.
    """

    low_s: float
    likely_s: float
    high_s: float


NO_WAIT: Final = Wait(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class ProgramWaits:
    """How long a program waits in a day for commits of one dataset, "" where that is not known.

    `most` is how many of its commits were under way at once. `program` is "" of all that have no row of their own.
    """

    program: str
    dataset: str
    wait: Wait
    most: int


@dataclass(frozen=True)
class Waited:
    """What spells tell of one pool: all programs together, and each, those that wait most first.

    It was watched for `seconds`, of which so many were traced; `cost_share` is what that took of one processor.
    """

    total: Wait
    programs: tuple[ProgramWaits, ...]
    seconds: float
    traced_s: float
    spells: int
    cost_share: float

    @property
    def named(self) -> tuple[ProgramWaits, ...]:
        """Without the rest."""
        return tuple(each for each in self.programs if each.program)

    def is_enough_for(self, watched_s: float) -> bool:
        """Whether they speak for so long a time."""
        return self.seconds >= FEWEST_SHARE * min(watched_s, DAY_S)


def waited_of(found: PoolSpells | None) -> Waited | None:
    """None where the spells are too few to say anything."""
    if found is None:
        return None
    whole = found.busy + found.quiet
    if not whole.seconds or whole.spells < FEWEST_SPELLS:
        return None
    if whole.counted and whole.spells_with_commits < FEWEST_WITH_COMMITS:
        return None
    strata = [each for each in (found.busy, found.quiet) if each.seconds > 0]
    if any(each.spells < 2 for each in strata):
        strata = [whole]
    rows = (
        ProgramWaits(each.program, each.dataset, _estimate(strata, _row_of(each)), each.most) for each in whole.programs
    )
    return Waited(
        total=_estimate(strata, lambda stratum: stratum.total),
        programs=tuple(sorted(rows, key=lambda each: (not each.program, -each.wait.likely_s))),
        seconds=whole.seconds,
        traced_s=whole.traced_s,
        spells=whole.spells,
        cost_share=found.cost_s / whole.seconds,
    )


def _row_of(row: WaitSums) -> Callable[[SpellSums], WaitSums]:
    """What finds the same program and dataset in a stratum."""
    key = (row.program, row.dataset)
    return lambda stratum: next(
        (each for each in stratum.programs if (each.program, each.dataset) == key), WaitSums(*key)
    )


def _estimate(strata: Sequence[SpellSums], row: Callable[[SpellSums], WaitSums]) -> Wait:
    """Of one row of each stratum. Each stratum has two spells at least."""
    each_s = [stratum.seconds / stratum.traced_s for stratum in strata]  # what a traced second stands for
    waited = sum(scale * row(stratum).waited_s for scale, stratum in zip(each_s, strata, strict=True))
    commits = sum(scale * stratum.commits for scale, stratum in zip(each_s, strata, strict=True))
    if waited < LEAST_S:
        return NO_WAIT
    counted = sum(stratum.counted for stratum in strata)
    grown = counted / commits if counted and commits else 1.0  # without either, time is all there is to go by
    for_each = waited / commits if counted and commits else 0.0
    variances = [
        (grown * scale) ** 2 * stratum.spells * _variance(stratum, row(stratum), for_each) * (1 - 1 / max(scale, 1.0))
        for scale, stratum in zip(each_s, strata, strict=True)
    ]
    error, likely = sqrt(sum(variances)), waited * grown
    freedom = _freedom(variances, [max(stratum.spells_with_commits - 1, 1) for stratum in strata])
    factor = exp(min(student_t(freedom) * error / likely, WIDEST))
    days = sum(stratum.seconds for stratum in strata) / DAY_S
    seen = sum(row(stratum).waited_s for stratum in strata)
    return Wait(min(max(likely / factor, seen), likely) / days, likely / days, likely * factor / days)


def _variance(stratum: SpellSums, row: WaitSums, for_each: float) -> float:
    """Of what was waited in a spell beyond what its commits explain."""
    rest = row.waited_s - for_each * stratum.commits
    squares = row.waited_squared - 2 * for_each * row.waited_commits + for_each**2 * stratum.commits_squared
    return max(squares - rest**2 / stratum.spells, 0.0) / (stratum.spells - 1)


def _freedom(variances: Sequence[float], freedoms: Sequence[int]) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances."""
    parts = sum(each**2 / freedom for each, freedom in zip(variances, freedoms, strict=True))
    return sum(variances) ** 2 / parts if parts else float(sum(freedoms))


def student_t(freedom: float) -> float:
    """Where Student's t ends that holds 90 %: by the first terms of its expansion around the normal distribution
    (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5), right within 1 % from three degrees on.
    """
    x = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / freedom**power for power, term in enumerate(terms, 1))
