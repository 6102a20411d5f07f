"""Which dataset each ZIL of a spell is of, without reading a structure of the kernel.

Tracing sees the address of a ZIL and how often it was called. OpenZFS counts the commits of each dataset
(`zil_commit_count` in /proc/spl/kstat/zfs/POOL/objset-*), read over and over while it is traced. What was counted
between two readings outside of the spell is the most that a dataset's ZIL can have been called, between two inside of
it the least. A ZIL that fits one dataset only is that dataset's. Two that are alike in one spell differ in the next:
what an address can be is remembered.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nasadvisor.domain.evidence.spells import ProgramWait, Spell

SUSPENDED: Final = 2
"""[policy] So many commits may be counted in a spell that are no calls: a snapshot makes one as it suspends the ZIL
(zil_suspend() calls zil_commit_impl(), module/zfs/zil.c)."""

MOST_REMEMBERED: Final = 4096

Candidates = Mapping[int, frozenset[str]]
"""By the address of a ZIL: the datasets that it can be of."""


@dataclass(frozen=True)
class ZilWait:
    """What the threads of one name waited for one ZIL in a spell; see `ProgramWait`."""

    zilog: int
    program: str
    waited_ns: int
    calls: int
    most: int


@dataclass(frozen=True)
class TracedSpell:
    """What tracing tells, between two moments of the clock that is never set. `cost_s` is its time of a processor."""

    from_ns: int
    until_ns: int
    waits: tuple[ZilWait, ...]
    cost_s: float

    @property
    def seconds(self) -> float:
        """How long it was."""
        return (self.until_ns - self.from_ns) / 1e9

    @property
    def calls(self) -> Mapping[int, int]:
        """How often each ZIL was called."""
        found = Counter[int]()
        for each in self.waits:
            found[each.zilog] += each.calls
        return found


@dataclass(frozen=True)
class CommitCounts:
    """The commits of each dataset since it was mounted, by its name, read between two moments of the same clock."""

    began_ns: int
    ended_ns: int
    commits: Mapping[str, int]


@dataclass(frozen=True)
class Bounds:
    """How many commits of a dataset were counted in a spell, at the least and at the most."""

    least: int
    most: int


def bounds_of(counts: Sequence[CommitCounts], from_ns: int, until_ns: int) -> dict[str, Bounds]:
    """By dataset, those that were there all the time; `counts` in the order of time."""
    before = [each for each in counts if each.ended_ns <= from_ns]
    after = [each for each in counts if each.began_ns >= until_ns]
    if not before or not after:
        return {}
    inside = [each for each in counts if each.began_ns >= from_ns and each.ended_ns <= until_ns]
    found = {}
    for name, first in before[-1].commits.items():
        last = after[0].commits.get(name, -1)
        if last >= first:  # else it was unmounted meanwhile, and its counter began anew
            within = [each.commits[name] for each in inside if name in each.commits]
            found[name] = Bounds(max(within[-1] - within[0], 0) if within else 0, last - first)
    return found


def candidates_of(calls: Mapping[int, int], bounds: Mapping[str, Bounds]) -> dict[int, frozenset[str]]:
    """The datasets that fit the calls of each ZIL. Of one with sync=disabled nothing is counted, so none fits."""
    return {
        zilog: frozenset(name for name, each in bounds.items() if each.least - SUSPENDED <= count <= each.most)
        for zilog, count in calls.items()
        if count
    }


def remembered(known: Candidates, found: Candidates) -> dict[int, frozenset[str]]:
    """What is known of each address now. Where nothing is left another dataset lies there, and it begins anew."""
    kept = dict(known) if len(known) + len(found) <= MOST_REMEMBERED else {}
    return kept | {zilog: kept.get(zilog, names) & names or names for zilog, names in found.items()}


def names_of(candidates: Candidates, bounds: Mapping[str, Bounds]) -> dict[int, str]:
    """The dataset of each ZIL of which only one is left, for each dataset has one ZIL.

    So too where a dataset that was certainly called fits one ZIL alone. Of two that fit one dataset alone, neither.
    """
    left, found = dict(candidates), dict[int, str]()
    while True:
        single = {zilog: next(iter(names)) for zilog, names in left.items() if len(names) == 1}
        for name in {name for name, each in bounds.items() if each.least > SUSPENDED} - set(found.values()):
            holders = [zilog for zilog, names in left.items() if name in names]
            if len(holders) == 1:
                single.setdefault(holders[0], name)
        wanted = Counter(single.values())
        sure = {zilog: name for zilog, name in single.items() if wanted[name] == 1}
        if not sure:
            return found
        found |= sure
        left = {zilog: names - set(sure.values()) for zilog, names in left.items() if zilog not in sure}


def spells_by_pool(
    traced: TracedSpell, candidates: Candidates, names: Mapping[int, str], pools: Iterable[str]
) -> dict[str, Spell]:
    """What was traced, by the name of the pool; each of them has a spell, also where nobody waited.

    Of a ZIL without a dataset the pool is still known where all datasets that fit are of one pool. Else it is left out,
    with its calls: the estimate is time for each commit, so it hardly changes (`waited`). Where no dataset fits any, as
    before OpenZFS 2.2, all of it is of the only pool; of several none has a spell.
    """
    waits: dict[str, list[ProgramWait]] = {name: [] for name in pools}
    only = set(waits) if traced.waits and not any(candidates.values()) else set[str]()
    if len(only) > 1:
        return {}
    for each in traced.waits:
        dataset = names.get(each.zilog, "")
        of = only or {_pool_of(name) for name in ([dataset] if dataset else candidates.get(each.zilog, ()))}
        if len(of) == 1 and (found := waits.get(next(iter(of)))) is not None:
            found.append(ProgramWait(each.program, dataset, each.waited_ns / 1e9, each.calls, each.most))
    return {
        name: Spell(traced.seconds, sum(each.calls for each in found), _by_program(found))
        for name, found in waits.items()
    }


def _by_program(waits: Iterable[ProgramWait]) -> tuple[ProgramWait, ...]:
    """Several ZILs without a dataset are one row."""
    found: dict[tuple[str, str], ProgramWait] = {}
    for each in waits:
        key = (each.program, each.dataset)
        past = found.get(key)
        found[key] = (
            ProgramWait(*key, past.waited_s + each.waited_s, past.calls + each.calls, past.most + each.most)
            if past
            else each
        )
    return tuple(found.values())


def _pool_of(dataset: str) -> str:
    return dataset.partition("/")[0]
