"""The bar: an answer is read off how much is waited and how much of that goes, and off nothing else."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.commits import UNKNOWN_SSD, commits_of
from nasadvisor.domain.evidence.log_verdict import judge_log
from nasadvisor.domain.evidence.thresholds import HISTORY
from nasadvisor.domain.evidence.verdict import Answer, Demand, Relief, Waiting, read_off
from nasadvisor.domain.evidence.waited import Wait, Waited
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.units import DAY_S
from tests.unit.domain.evidence.pools import facts, sync_writers

ALL_DAY = Demand(1.0, 1.0, 1.0)
GOOD = {Waiting.COMMITS: Relief(Waiting.COMMITS, 0.5, 0.98), Waiting.READS: Relief(Waiting.READS, 0.5, None)}
BETTER = (Answer.NO, Answer.LITTLE, Answer.CANNOT_TELL, Answer.HELPS)

shares = st.floats(0, 1)
kinds = st.sampled_from(Waiting)


def relief(of: Waiting, one: float, other: float) -> Relief:
    return Relief(of, min(one, other), max(one, other))


@pytest.mark.parametrize("kind", Waiting)
@pytest.mark.parametrize(
    ("demand", "answer"),
    [
        (ALL_DAY, Answer.HELPS),
        (Demand(0.04, 0.04, 0.04), Answer.LITTLE),
        (Demand(0.0, 0.0, 7.0), Answer.LITTLE),
        (Demand(0.001, 0.001, 0.001), Answer.NO),
        (Demand(0.01, 3.0, 3.0), Answer.CANNOT_TELL),
    ],
    ids=["all day", "an hour in all", "a minute with seven at once", "a minute", "nobody knows how long"],
)
def test_who_waits_is_told_by_time(kind: Waiting, demand: Demand, answer: Answer) -> None:
    assert read_off(demand, GOOD[kind]) is answer


@pytest.mark.parametrize(
    ("taken", "answer"),
    [
        (Relief(Waiting.COMMITS, 0.0, 0.98), Answer.CANNOT_TELL),
        (Relief(Waiting.COMMITS, 0.2, 0.5), Answer.LITTLE),
        (Relief(Waiting.COMMITS, 0.0, 0.0), Answer.NO),
        (Relief(Waiting.READS, 0.1, None), Answer.CANNOT_TELL),
        (Relief(Waiting.READS, 0.0, 0.03), Answer.LITTLE),
        (Relief(Waiting.READS, 0.0, 0.0), Answer.NO),
    ],
)
def test_of_what_is_waited_counts_what_goes_for_certain_and_at_best(taken: Relief, answer: Answer) -> None:
    assert read_off(ALL_DAY, taken) is answer


@given(kinds, st.lists(st.floats(0, 3), min_size=2), shares, shares)
def test_more_waiting_never_makes_it_less(kind: Waiting, waiting: list[float], one: float, other: float) -> None:
    answers = [BETTER.index(read_off(Demand(each, each, each), relief(kind, one, other))) for each in sorted(waiting)]
    assert all(before <= after for before, after in pairwise(answers))


@given(kinds, st.floats(0, 3), shares, shares, shares)
def test_who_knows_less_says_no_more(kind: Waiting, waits: float, one: float, other: float, wider_by: float) -> None:
    demand, exact = Demand(waits, waits, waits), relief(kind, one, other)
    wider = Relief(kind, exact.low * (1 - wider_by), exact.at_best + (1 - exact.at_best) * wider_by)
    known, vague = read_off(demand, exact), read_off(demand, wider)
    assert vague is not Answer.HELPS or known is not Answer.NO
    assert known is not Answer.HELPS or vague in (Answer.HELPS, Answer.CANNOT_TELL)


@given(st.floats(0.01, 500), st.sampled_from(("fast", "slow")), st.integers(0, 20))
def test_the_verdict_on_a_log_is_what_the_table_says(commits_per_s: float, speed: str, flush_ms: int) -> None:
    workload = workload_of(sync_writers(commits_per_s, speed=speed, flush_ms=flush_ms), facts())
    commits = commits_of(workload)
    answer = judge_log(workload, facts(), HISTORY).answer
    assert answer is read_off(commits.demand, commits.relief(UNKNOWN_SSD))


def test_where_programs_were_traced_a_log_is_judged_by_how_long_they_waited() -> None:
    """The devices write in an eighth of a millisecond, but whoever commits waits twenty in line."""
    workload = workload_of(sync_writers(50, speed="fast", flush_ms=0), facts())
    whole = Wait(0.9 * DAY_S, DAY_S, 1.1 * DAY_S)
    traced = Waited(whole, (), DAY_S, 3000.0, 300, 0.004)
    assert judge_log(workload, facts(), HISTORY).answer is not Answer.HELPS
    assert judge_log(workload, facts(), HISTORY, waited=traced).answer is Answer.HELPS
