"""Verdicts on workloads whose answer is known, and what must hold for every verdict."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.cache_verdict import judge_cache
from nasadvisor.domain.evidence.commits import SsdTime
from nasadvisor.domain.evidence.log_verdict import judge_log
from nasadvisor.domain.evidence.pool_facts import PoolFacts
from nasadvisor.domain.evidence.samples import (
    ArcActivity,
    DatasetActivity,
    Levels,
    PoolActivity,
    Sample,
    VdevActivity,
    merge,
)
from nasadvisor.domain.evidence.thresholds import HISTORY, SPOT, Span
from nasadvisor.domain.evidence.verdict import Answer, Verdict
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.units import GIB, MIB
from tests.unit.domain.evidence.pools import (
    CACHE_LEAF,
    DAY,
    FLASH,
    LEAVES,
    LOG_LEAF,
    async_writers,
    facts,
    readers,
    sync_writers,
)


def log(sample: Sample, pool: PoolFacts | None = None, span: Span = HISTORY) -> Verdict:
    return judge_log(workload_of(sample, pool or facts()), pool or facts(), span)


def cache(sample: Sample, pool: PoolFacts | None = None, span: Span = HISTORY) -> Verdict:
    return judge_cache(workload_of(sample, pool or facts()), pool or facts(), span)


def told(verdict: Verdict) -> tuple[Answer, str]:
    return verdict.answer, verdict.rule.code


class TestLog:
    def test_it_helps_many_small_synchronous_writers_on_hard_disks(self) -> None:
        assert told(log(sync_writers())) == (Answer.HELPS, "slow-commits")

    def test_it_does_nothing_for_an_asynchronous_stream(self) -> None:
        assert told(log(async_writers())) == (Answer.NO, "no-commits")
        assert "0 s" not in str(log(async_writers()).rule)

    def test_demand_with_sync_disabled_is_not_guessed(self) -> None:
        verdict = log(async_writers(), facts(sync="disabled"))
        assert told(verdict) == (Answer.NO, "sync-disabled")
        assert "tank/db" in str(verdict.rule)
        assert "is unknown" in str(verdict.rule)

    def test_datasets_with_logbias_throughput_never_use_one(self) -> None:
        assert told(log(sync_writers(), facts(logbias="throughput"))) == (Answer.NO, "logbias-throughput")

    def test_direct_io_goes_past_it(self) -> None:
        """Its records lie on the pool already (WR_INDIRECT); commits that carry their data use the log all the same."""
        sample = sync_writers()
        [dataset] = sample.datasets
        pool = PoolActivity(direct_written_bytes=dataset.written_bytes)
        indirect = replace(dataset, indirect_bytes=dataset.needcopy_bytes, needcopy_bytes=0)
        assert told(log(replace(sample, pool=pool, datasets=(indirect,)))) == (Answer.NO, "direct-io")
        assert told(log(replace(sample, pool=pool))) == (Answer.HELPS, "slow-commits")

    def test_a_flash_pool_gains_little(self) -> None:
        sample = sync_writers(1500, speed="fast", flush_ms=0)
        sample = replace(sample, disks=tuple(replace(each, flush_ms=each.flushes // 5) for each in sample.disks))
        assert told(log(sample, facts(*FLASH))) == (Answer.LITTLE, "little-faster")

    def test_of_a_flash_pool_that_a_faster_ssd_would_beat_nothing_is_told(self) -> None:
        """A quick SSD for consumers takes 1.1 ms for a flush, one with power-loss protection an eighth of that."""
        sample = sync_writers(400, speed="fast", flush_ms=1)
        assert told(log(sample, facts(*FLASH))) == (Answer.CANNOT_TELL, "slow-flash")

    def test_a_slow_flash_pool_promises_nothing_of_an_ssd_that_was_not_tested(self) -> None:
        """Its own SSDs are slow at this, so another may be as well; one that was tested is judged by its figures."""
        assert told(log(sync_writers(), facts(*FLASH))) == (Answer.CANNOT_TELL, "slow-flash")
        tested = judge_log(workload_of(sync_writers(), facts(*FLASH)), facts(*FLASH), HISTORY, SsdTime(1e5, 2e5, True))
        assert told(tested) == (Answer.HELPS, "slow-commits")

    def test_a_flash_pool_that_is_faster_than_the_measured_ssd_gains_nothing(self) -> None:
        workload = workload_of(sync_writers(500, speed="fast", flush_ms=0), facts(*FLASH))
        slow = SsdTime(900_000, 2_000_000, True)
        assert told(judge_log(workload, facts(*FLASH), HISTORY, slow)) == (Answer.NO, "pool-as-fast")

    def test_large_streams_gain_little(self) -> None:
        verdict = log(sync_writers(commits_per_s=10, commit_bytes=32 * MIB))
        assert told(verdict) == (Answer.LITTLE, "large-streams")

    def test_few_large_commits_are_no_sign_that_nobody_waits(self) -> None:
        """One program that made 8 MiB durable four times a second waited all the time: hardly anybody, it read."""
        assert told(log(sync_writers(commits_per_s=4, commit_bytes=8 * MIB))) == (Answer.LITTLE, "large-streams")
        assert told(log(sync_writers(commits_per_s=0.4))) == (Answer.NO, "no-commits")

    def test_short_waits_gain_little(self) -> None:
        assert told(log(sync_writers(commits_per_s=6, speed="fast", flush_ms=2))) == (Answer.LITTLE, "seldom")

    def test_who_waits_for_ten_minutes_in_a_day_is_as_good_as_nobody(self) -> None:
        """It is time that counts: few commits that take long and many that do not are alike."""
        assert told(log(sync_writers(commits_per_s=6, speed="fast", flush_ms=1))) == (Answer.NO, "no-commits")
        assert told(log(sync_writers(commits_per_s=0.4))) == (Answer.NO, "no-commits")

    def test_on_disks_of_middling_speed_it_depends_on_the_ssd(self) -> None:
        verdict = log(sync_writers(speed="fast", flush_ms=4))
        assert told(verdict) == (Answer.CANNOT_TELL, "depends-on-ssd")
        assert verdict.wait_s == 0

    def test_an_hour_is_too_short_for_no(self) -> None:
        verdict = log(async_writers(3600))
        assert told(verdict) == (Answer.CANNOT_TELL, "too-early")
        assert verdict.wait_s == DAY - 3600

    def test_an_hour_of_waiting_is_enough_for_yes(self) -> None:
        assert log(sync_writers(seconds=3600)).answer is Answer.HELPS

    def test_somebody_who_measures_on_purpose_gets_an_answer_at_once(self) -> None:
        assert log(sync_writers(seconds=60), span=SPOT).answer is Answer.HELPS
        assert log(async_writers(60), span=SPOT).answer is Answer.NO

    def test_a_short_burst_in_a_day_is_not_worth_a_log(self) -> None:
        day = merge([sync_writers(seconds=60), replace(async_writers(DAY - 60), at=int(DAY))])
        assert told(log(day)) == (Answer.LITTLE, "seldom")

    def test_one_that_is_there_is_judged_by_what_it_takes(self) -> None:
        pool = facts(*LEAVES, LOG_LEAF)
        sample = sync_writers()
        [dataset] = sample.datasets
        taken = replace(sample, datasets=(replace(dataset, log_blocks=dataset.pool_blocks, pool_blocks=0),))
        assert told(log(taken, pool)) == (Answer.HELPS, "log-in-use")
        assert told(log(sample, pool)) == (Answer.LITTLE, "log-bypassed")
        assert told(log(async_writers(), pool)) == (Answer.NO, "log-idle")


class TestCache:
    def test_it_helps_where_blocks_are_read_again_that_were_just_dropped(self) -> None:
        assert told(cache(readers())) == (Answer.HELPS, "ghosts")

    def test_it_does_nothing_where_the_arc_holds_all(self) -> None:
        assert told(cache(readers(misses_per_s=1))) == (Answer.NO, "arc-is-enough")

    def test_it_does_nothing_for_streams_where_they_are_never_read_from_it(self) -> None:
        sample = readers(misses_per_s=500, prefetch_share=0.9, ghost_share=0)
        for release in ("2.1.11-1+deb12u1", "2.2.0-rc4"):
            assert told(cache(sample, facts(zfs=release, l2arc_noprefetch=1))) == (Answer.NO, "streams")
            assert told(cache(sample, facts(zfs=release, l2arc_noprefetch=0))) == (Answer.CANNOT_TELL, "streams-again")

    def test_whether_streams_are_read_again_cannot_be_told(self) -> None:
        sample = readers(misses_per_s=500, prefetch_share=0.9, ghost_share=0)
        for release in ("2.2.2-0ubuntu9", "2.2.99-1", "2.3.0", "2.4.1-pve1", ""):
            assert told(cache(sample, facts(zfs=release))) == (Answer.CANNOT_TELL, "streams-again")

    def test_streams_that_are_read_again_at_once_gain_as_other_reads_do(self) -> None:
        assert told(cache(readers(misses_per_s=500, prefetch_share=0.9))) == (Answer.HELPS, "ghosts")

    def test_nothing_is_told_while_the_arc_fills(self) -> None:
        assert told(cache(readers(arc_bytes=4 * GIB))) == (Answer.CANNOT_TELL, "arc-fills")

    def test_of_a_set_far_larger_than_the_arc_no_hit_rate_is_guessed(self) -> None:
        verdict = cache(readers(ghost_share=0.15))
        assert told(verdict) == (Answer.CANNOT_TELL, "some-ghosts")
        assert "at least 15 %" in str(verdict.rule)

    def test_without_ghosts_one_of_the_arcs_size_serves_nothing_and_of_a_larger_one_nothing_is_known(self) -> None:
        verdict = cache(readers(ghost_share=0.01))
        assert told(verdict) == (Answer.CANNOT_TELL, "no-ghosts")
        assert "does not show" in str(verdict.rule)

    def test_ghosts_that_may_all_be_of_another_pool_promise_this_one_nothing(self) -> None:
        """It said "at least 0 % of misses"."""
        sample = readers(misses_per_s=500, ghost_share=0.09)
        other = replace(sample, arc=replace(sample.arc, demand_misses=50 * sample.arc.demand_misses))
        verdict = cache(other)
        assert "at least 0 %" not in str(verdict.rule)

    def test_a_flash_pool_gains_little(self) -> None:
        assert told(cache(readers(), facts(*FLASH))) == (Answer.LITTLE, "flash-pool")

    def test_misses_of_another_pool_are_not_this_ones(self) -> None:
        sample = readers()
        other = replace(sample, pool=PoolActivity(arc_reads=sample.pool.arc_reads // 50))
        assert told(cache(other)) == (Answer.NO, "other-pools")

    def test_a_limited_arc_is_to_be_raised_first(self) -> None:
        sample = readers()
        limited = replace(sample, levels=replace(sample.levels, arc_most_bytes=8 * GIB))
        assert [each.code for each in cache(limited, facts(memory_bytes=80 * GIB)).before] == ["raise-arc-limit"]
        assert [each.code for each in cache(sample).before] == ["memory-first"]

    def test_one_that_is_there_is_judged_by_what_it_serves(self) -> None:
        pool = facts(*LEAVES, CACHE_LEAF)
        sample = readers()
        serving = replace(sample.arc, l2_hits=50, l2_misses=50, l2_read_bytes=GIB, l2_written_bytes=MIB)
        wearing = replace(sample.arc, l2_hits=1, l2_misses=99, l2_read_bytes=MIB, l2_written_bytes=GIB)
        assert told(cache(replace(sample, arc=serving), pool)) == (Answer.HELPS, "cache-serves")
        assert told(cache(replace(sample, arc=wearing), pool)) == (Answer.LITTLE, "cache-wears")
        little = replace(wearing, l2_hits=9, l2_misses=91, l2_read_bytes=wearing.l2_written_bytes)
        assert told(cache(replace(sample, arc=little), pool)) == (Answer.LITTLE, "cache-serves-little")

    def test_without_arcstats_nothing_is_told(self) -> None:
        assert told(cache(async_writers())) == (Answer.CANNOT_TELL, "no-arcstats")


counts = st.integers(0, 10**7)
anything = st.builds(
    Sample,
    st.just("9"),
    st.just("tank"),
    st.just(100),
    st.floats(1, 10 * DAY),
    datasets=st.tuples(st.builds(DatasetActivity, st.just("tank/db"), *[counts] * 14)),
    vdevs=st.tuples(st.builds(VdevActivity, st.just("1"), sync_reads=counts, sync_writes=counts)),
    pool=st.builds(PoolActivity, *[counts] * 5),
    arc=st.builds(ArcActivity, *[counts] * 12),
    levels=st.builds(Levels, *[counts] * 5),
).map(Sample.with_busy)
pools = st.sampled_from((facts(), facts(*FLASH), facts(*LEAVES, LOG_LEAF, CACHE_LEAF)))


@given(anything, pools, st.sampled_from((SPOT, HISTORY)))
def test_every_verdict_says_why_and_with_what(sample: Sample, pool: PoolFacts, span: Span) -> None:
    for verdict in (log(sample, pool, span), cache(sample, pool, span)):
        assert "{" not in str(verdict.rule)
        assert verdict.evidence
        assert verdict.wait_s >= 0


@given(anything, st.sampled_from(("disabled", "standard")), st.sampled_from(("throughput", "latency")))
def test_a_new_log_is_never_praised_for_writes_that_it_would_not_get(sample: Sample, sync: str, logbias: str) -> None:
    verdict = log(sample, facts(sync=sync, logbias=logbias))
    if verdict.answer is Answer.HELPS:
        assert (sync, logbias) == ("standard", "latency")


@given(anything)
def test_a_new_cache_is_never_praised_without_ghosts(sample: Sample) -> None:
    if cache(sample).answer is Answer.HELPS:
        assert sample.arc.ghost_hits > 0


@given(st.floats(1, 10 * DAY))
def test_no_is_said_only_after_a_day(seconds: float) -> None:
    assert (log(async_writers(seconds)).answer is Answer.NO) == (seconds >= DAY)


@pytest.mark.parametrize("commits_per_s", [20, 60, 200, 1000])
def test_more_demand_never_makes_it_less(commits_per_s: int) -> None:
    assert log(sync_writers(commits_per_s=commits_per_s)).answer is Answer.HELPS
