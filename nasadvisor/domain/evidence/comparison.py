"""Before and after: did it help, and is the difference more than chance?

Only times in which somebody waited for synchronous writes are compared, and only hours of the day that were seen on
both sides: a morning says nothing about a night. Blocks of samples are ranked within each hour of the day and the ranks
are tested (van Elteren's stratified Wilcoxon test), so neither outliers nor a change in the mix of hours
decides. Blocks that follow each other are not fully independent; the level is strict because of that.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Final

from nasadvisor.domain.evidence.histogram import merged
from nasadvisor.domain.evidence.pool_facts import LeafFacts, PoolFacts
from nasadvisor.domain.evidence.samples import Sample, merge
from nasadvisor.domain.evidence.workload import DATA, CommitTime, workload_of, zil_leaves
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import DAY_S

LOW_SHARE: Final = 0.05
HIGH_SHARE: Final = 0.95
"""[policy] Nine of ten pairs lie between them: how much the gain varies, not how sure its middle is."""

Timed = tuple[int, float]
"""The hour of the day of a block, and how long a commit took in it, in ns."""


@dataclass(frozen=True)
class Gain:
    """How many times as fast it became; below 1 it became slower. Nine of ten pairs lie between `low` and `high`."""

    low: float
    middle: float
    high: float


def gain_between(before: Sequence[Timed], after: Sequence[Timed]) -> Gain | None:
    """Of every block before with every block after of the same hour of the day, the ratio of their times.

    The middle is the median of all pairs, as Hodges and Lehmann estimate a shift (1963), here of logarithms. None where
    no hour has both.
    """
    ratios = sorted(
        old / new for hour in {hour for hour, _ in before} for old in _of(before, hour) for new in _of(after, hour)
    )
    if not ratios:
        return None
    return Gain(_quantile(ratios, LOW_SHARE), _quantile(ratios, 0.5), _quantile(ratios, HIGH_SHARE))


def _of(blocks: Sequence[Timed], hour: int) -> list[float]:
    return [time for at, time in blocks if at == hour and time > 0]


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


BLOCKS_NEEDED: Final = 6
"""[policy] Fewer on either side tell nothing: with six each, chance alone gives a perfect split once in 924 times."""

LEVEL: Final = 0.01
"""[policy] The two-sided probability below which a difference counts as real."""


class Difference(StrEnum):
    """What the comparison says."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no-difference"
    TOO_EARLY = "too-early"
    OTHER_HOURS = "other-hours"


@dataclass(frozen=True)
class Figures:
    """One side of a comparison. Times are of the devices that take synchronous writes, without flush, in ns.

    `commit_ns` has the flush in it (`counts_flush`) where it is known on both sides, else on neither.
    `waited_s_per_day` is how many seconds programs waited so in a day like the hours that are compared.
    """

    seconds: float
    commits_per_s: float
    sync_bytes_per_s: float
    commit_ns: float
    write_p50_ns: float
    write_p95_ns: float
    write_p99_ns: float
    flush_ns: float
    read_p50_ns: float
    read_p95_ns: float
    counts_flush: bool = True
    waited_s_per_day: float = 0.0


@dataclass(frozen=True)
class Comparison:
    """Both sides and the test. `probability` is that of such a difference by chance; 1 where nothing was tested.

    `gain` is None where nothing was tested.
    """

    outcome: Difference
    before: Figures | None
    after: Figures | None
    hours: tuple[int, ...]
    blocks: tuple[int, int]
    probability: float
    gain: Gain | None = None

    @property
    def taken_away(self) -> float | None:
        """The share of the waiting for commits that is gone at the same load, below 0 if there is more; None where that
        was not compared.
        """
        if self.gain is None or self.before is None or self.after is None or not self.before.commit_ns:
            return None
        return 1 - self.after.commit_ns / self.before.commit_ns


Block = tuple[int, Sample]
"""The hour of the day and what happened in a block of that hour."""


def compare(
    before: list[Sample], after: list[Sample], facts: PoolFacts, block_s: int, hour_of: Callable[[int], int]
) -> Comparison:
    """Compare samples from before and since a change; `hour_of` tells the local hour of the day of a time."""
    facts = with_departed(facts, [*before, *after])
    olds, news = (_blocks(samples, block_s, hour_of) for samples in (before, after))
    flush = _flush_is_known(olds, facts) and _flush_is_known(news, facts)
    hours = tuple(sorted({hour for hour, _ in olds} & {hour for hour, _ in news}))
    if not hours:
        outcome = Difference.OTHER_HOURS if olds and news else Difference.TOO_EARLY
        sides = _figures(olds, facts, flush, _seconds(before)), _figures(news, facts, flush, _seconds(after))
        return Comparison(outcome, *sides, (), (len(olds), len(news)), 1.0)
    before, after = (
        [each for each in samples if hour_of((each.at - 1) // block_s * block_s) in hours]
        for samples in (before, after)
    )
    olds, news = ([block for block in blocks if block[0] in hours] for blocks in (olds, news))
    sides = _figures(olds, facts, flush, _seconds(before)), _figures(news, facts, flush, _seconds(after))
    counts = (len(olds), len(news))
    if min(counts) < BLOCKS_NEEDED:
        return Comparison(Difference.TOO_EARLY, *sides, hours, counts, 1.0)
    times = [
        [(hour, _time_of(workload_of(block, facts).commit_time, flush)) for hour, block in blocks]
        for blocks in (olds, news)
    ]
    z = rank_test(*times)
    probability = math.erfc(abs(z) / math.sqrt(2))
    outcome = Difference.NO_DIFFERENCE
    if probability < LEVEL:
        outcome = Difference.FASTER if z < 0 else Difference.SLOWER
    return Comparison(outcome, *sides, hours, counts, probability, gain_between(*times))


def rank_test(before: list[tuple[int, float]], after: list[tuple[int, float]]) -> float:
    """van Elteren's statistic as a standard normal deviate: below zero if the values after are smaller.

    Each value comes with its stratum. Ties share their mean rank. 0 where nothing can be told.
    """
    numerator = variance = 0.0
    for stratum in {key for key, _ in before} & {key for key, _ in after}:
        old = [value for key, value in before if key == stratum]
        new = [value for key, value in after if key == stratum]
        both = len(old) + len(new)
        ranks = _ranks(old + new)
        mean = (both + 1) / 2
        spread = sum((rank - mean) ** 2 for rank in ranks) / (both - 1)
        weight = 1 / (both + 1)
        numerator += weight * (sum(ranks[len(old) :]) - len(new) * mean)
        variance += weight**2 * len(old) * len(new) / both * spread
    return numerator / math.sqrt(variance) if variance else 0.0


def _ranks(values: list[float]) -> list[float]:
    """The rank of each value, from 1; equal ones share their mean rank."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    place = 0
    for _, group in groupby(order, key=values.__getitem__):
        members = list(group)
        for member in members:
            ranks[member] = place + (len(members) + 1) / 2
        place += len(members)
    return ranks


def _seconds(samples: Iterable[Sample]) -> float:
    return sum(each.seconds for each in samples)


def _blocks(samples: Iterable[Sample], block_s: int, hour_of: Callable[[int], int]) -> list[Block]:
    """The blocks in which somebody waited."""
    ordered = sorted((each for each in samples if each.busy.seconds), key=lambda each: each.at)
    groups = groupby(ordered, key=lambda each: (each.at - 1) // block_s)
    return [(hour_of(number * block_s), merge(group)) for number, group in groups]


def with_departed(facts: PoolFacts, samples: list[Sample]) -> PoolFacts:
    """Leaves that wrote synchronously but have left the pool can only have been those of a log."""
    known = {leaf.guid for leaf in facts.leaves}
    gone = {vdev.guid for sample in samples for vdev in sample.vdevs if vdev.guid not in known and vdev.sync_writes}
    departed = tuple(LeafFacts(guid, VdevClass.LOG, "", "", False) for guid in sorted(gone))
    return replace(facts, leaves=(*facts.leaves, *departed))


def _flush_is_known(blocks: list[Block], facts: PoolFacts) -> bool:
    """Whether a side tells what flushes cost; to compare it with one that does not would praise the latter."""
    commit = workload_of(merge(block for _, block in blocks), facts).commit_time if blocks else None
    return commit is None or commit.flush_is_known


def _time_of(commit: CommitTime | None, flush: bool) -> float:
    if commit is None:
        return 0.0
    return commit.likely_ns if flush else commit.write_ns


def _figures(blocks: list[Block], facts: PoolFacts, flush: bool, watched_s: float) -> Figures | None:
    """What the blocks of one side say, which are the busy ones of so many seconds."""
    if not blocks:
        return None
    sample = merge(block for _, block in blocks)
    guids = {leaf.guid for leaf in zil_leaves(sample, facts)}
    writes = merged([each.writes for each in sample.vdevs if each.guid in guids])
    data = {leaf.guid for leaf in facts.leaves_of(*DATA)}
    reads = merged([each.reads for each in sample.vdevs if each.guid in data])
    workload, busy = workload_of(sample, facts), sample.busy
    commit, writing = workload.commit_time, workload.commits * workload.writing_share
    return Figures(
        seconds=busy.seconds,
        commits_per_s=busy.commits / busy.seconds,
        sync_bytes_per_s=busy.sync_bytes / busy.seconds,
        commit_ns=_time_of(commit, flush),
        write_p50_ns=writes.quantile_ns(0.5),
        write_p95_ns=writes.quantile_ns(0.95),
        write_p99_ns=writes.quantile_ns(0.99),
        flush_ns=commit.flush_ns if commit else 0.0,
        read_p50_ns=reads.quantile_ns(0.5),
        read_p95_ns=reads.quantile_ns(0.95),
        counts_flush=flush,
        waited_s_per_day=writing * _time_of(commit, flush) / 1e9 / watched_s * DAY_S,
    )
