"""What is said at the least and at the most holds near every threshold, and more waiting never makes it less."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.cache_verdict import judge_cache
from nasadvisor.domain.evidence.commits import KINDS, UNKNOWN_SSD, SsdTime, commits_of
from nasadvisor.domain.evidence.histogram import EMPTY, merged
from nasadvisor.domain.evidence.log_verdict import judge_log
from nasadvisor.domain.evidence.options import known_of, waits_of
from nasadvisor.domain.evidence.options_table import options_of
from nasadvisor.domain.evidence.pool_facts import LeafFacts, PoolFacts
from nasadvisor.domain.evidence.samples import DiskActivity, PoolActivity, Sample, VdevActivity, merge
from nasadvisor.domain.evidence.thresholds import HISTORY
from nasadvisor.domain.evidence.verdict import Answer, Verdict
from nasadvisor.domain.evidence.workload import commit_time_of, workload_of
from nasadvisor.domain.units import GIB, KIB, MIB
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
from tests.unit.domain.evidence.test_waiting import MS, at_ms, committing, told

BETTER = (Answer.NO, Answer.LITTLE, Answer.CANNOT_TELL, Answer.HELPS)
OLD = facts(zfs="2.2.2-0ubuntu9")


def log(sample: Sample, pool: PoolFacts | None = None, ssd: SsdTime = UNKNOWN_SSD) -> Verdict:
    return judge_log(workload_of(sample, pool or facts()), pool or facts(), HISTORY, ssd)


def cache(sample: Sample, pool: PoolFacts | None = None) -> Verdict:
    return judge_cache(workload_of(sample, pool or facts()), pool or facts(), HISTORY)


class TestLog:
    @pytest.mark.parametrize("commits_per_s", [60, 150, 300, 600, 1500])
    @pytest.mark.parametrize("ms", [6, 7, 8, 9, 12])
    def test_disks_that_are_waited_for_in_line_gain_no_less_than_those_that_are_not(
        self, ms: int, commits_per_s: float
    ) -> None:
        assert log(committing(0.3, commits_per_s, flush_ms=ms)).answer is Answer.HELPS

    @given(st.floats(0.3, 40), st.lists(st.floats(0.01, 2000), min_size=2, max_size=6))
    def test_more_commits_never_make_it_less(self, ms: float, paces: list[float]) -> None:
        answers = [BETTER.index(log(committing(ms, each)).answer) for each in sorted(paces)]
        assert all(before <= after for before, after in pairwise(answers))

    @given(st.floats(0.1, 40), st.floats(1, 800), st.lists(st.floats(0.02, 60), min_size=2, max_size=5))
    def test_a_slower_ssd_never_helps_more(self, ms: float, commits_per_s: float, times: list[float]) -> None:
        sample = committing(ms, commits_per_s)
        tested = [SsdTime(each / 2 * MS, each * MS, True, 2 * each * MS) for each in sorted(times)]
        answers = [BETTER.index(log(sample, ssd=each).answer) for each in tested]
        assert all(before >= after for before, after in pairwise(answers))

    @given(st.floats(0.2, 30), st.floats(1, 5), st.floats(1, 500))
    def test_a_log_that_is_no_quicker_than_the_disks_never_helps(
        self, ms: float, slower: float, commits_per_s: float
    ) -> None:
        sample = committing(ms, commits_per_s)
        [dataset] = sample.datasets
        own = VdevActivity("3", EMPTY, at_ms(ms * slower, dataset.commits), 0, dataset.commits)
        taken = replace(dataset, log_blocks=dataset.pool_blocks, pool_blocks=0)
        data = tuple(replace(each, sync_writes=10) for each in sample.vdevs)
        used = replace(sample, datasets=(taken,), vdevs=(*data, own))
        assert log(used, facts(*LEAVES, LOG_LEAF)).answer is not Answer.HELPS

    def test_a_tested_ssd_that_is_quicker_than_the_disks_at_its_slowest_helps(self) -> None:
        alone = log(committing(3, 100, flush_ms=4), ssd=SsdTime(MS, 3 * MS, True))
        assert told(alone) == (Answer.HELPS, "slow-commits")
        busy = log(committing(3, 400, flush_ms=4), ssd=SsdTime(MS, 3 * MS, True, 20 * MS))
        assert busy.answer is Answer.LITTLE
        assert "1.0–20 ms" in str(busy.rule)

    def test_what_an_ssd_takes_for_a_large_commit_is_its_size_by_its_pace(self) -> None:
        """1 MiB took 5.9 ms on the SSD that makes 4 KiB durable in 0.16 (Intel 710, 171 MB/s)."""
        quick = SsdTime(0.138 * MS, 0.21 * MS, True, 0.5 * MS, 171e6, 171e6)
        commits = commits_of(workload_of(committing(12, 60, flush_ms=2), facts()))
        large = commits_of(workload_of(sync_writers(60, commit_bytes=MIB, flush_ms=2), facts()))
        assert commits.relief(quick).at_best > 0.95
        assert large.relief(quick).at_best < 0.6

    def test_an_ssd_that_is_nearly_busy_with_what_it_has_to_take_promises_nothing(self) -> None:
        nearly = sync_writers(330, commit_bytes=MIB)
        assert workload_of(nearly, facts()).log_bytes_per_s < UNKNOWN_SSD.least_per_s
        assert told(log(nearly)) == (Answer.CANNOT_TELL, "bandwidth")
        assert log(sync_writers(330, commit_bytes=128 * KIB)).answer is Answer.HELPS

    def test_the_kind_of_ssd_that_takes_a_stream_is_told_from_the_one_that_does_not(self) -> None:
        commits = commits_of(workload_of(sync_writers(5000, commit_bytes=128 * KIB), facts()))
        nvme, sata, unprotected = (commits.relief_by(ssd) for _name, ssd in KINDS)
        assert nvme.low > 0.5 > sata.low == unprotected.low == 0

    def test_four_minutes_of_one_program_in_a_day_are_not_felt(self) -> None:
        short = merge([committing_for(240, 30), replace(async_writers(DAY - 240), at=int(DAY))])
        assert told(log(short)) == (Answer.LITTLE, "seldom")
        hour = merge([committing_for(3600, 30), replace(async_writers(DAY - 3600), at=int(DAY))])
        assert log(hour).answer is Answer.HELPS

    @pytest.mark.parametrize("all_day_per_s", [0.5, 4, 6, 8])
    def test_a_few_commits_all_day_hide_no_hour_of_waiting(self, all_day_per_s: float) -> None:
        hour, rest = committing_for(3600, 40), committing(2, all_day_per_s, flush_ms=4)
        shorter = replace(rest, seconds=DAY - 3600, at=int(DAY))
        assert log(merge([hour, shorter.with_busy()])).answer is Answer.HELPS
        assert log(rest).answer in (Answer.NO, Answer.LITTLE)

    def test_the_time_of_a_commit_is_that_of_the_hours_with_commits(self) -> None:
        """Beside a night of slow commits lies a day of quick writes and flushes that nobody waits for."""
        night, day = committing_for(3600, 40), committing_for(DAY - 3600, 1)
        quick = tuple(replace(each, writes=at_ms(0.15, 10**7)) for each in day.vdevs)
        flushes = tuple(DiskActivity(each.key, 10**6, 10**5) for each in day.disks)
        whole = merge([night, replace(day, vdevs=quick, disks=flushes, at=int(DAY))])
        alone, beside = (commit_time_of(each, LEAVES) for each in (night, whole))
        assert alone == beside
        assert log(whole).answer is Answer.HELPS

    def test_a_log_whose_flushes_nobody_counts_takes_longer_than_its_writes(self) -> None:
        sample = committing(4, 90, flush_ms=2)
        [dataset] = sample.datasets
        own = VdevActivity("3", EMPTY, at_ms(0.2, dataset.commits), 0, dataset.commits)
        taken = replace(dataset, log_blocks=dataset.pool_blocks, pool_blocks=0)
        data = tuple(replace(each, sync_writes=10) for each in sample.vdevs)
        used = replace(sample, datasets=(taken,), vdevs=(*data, own))
        hidden, known = (replace(LOG_LEAF, write_cache=each) for each in ("write back", "write through"))
        assert log(used, facts(*LEAVES, hidden)).answer is Answer.CANNOT_TELL
        assert told(log(used, facts(*LEAVES, known))) == (Answer.HELPS, "log-in-use")


def committing_for(seconds: float, commits_per_s: float) -> Sample:
    """Commits whose writes take 25 ms; too few of them are no busy time."""
    sample = sync_writers(commits_per_s, seconds)
    return replace(sample, vdevs=tuple(replace(each, writes=at_ms(25, each.sync_writes)) for each in sample.vdevs))


class TestReads:
    @pytest.mark.parametrize("all_day_per_s", [1, 9, 12])
    def test_a_few_misses_all_day_hide_no_hour_of_waiting(self, all_day_per_s: float) -> None:
        rest = readers(all_day_per_s, seconds=DAY - 3600)
        assert told(cache(merge([readers(200, seconds=3600), rest]))) == (Answer.HELPS, "ghosts")
        assert cache(readers(all_day_per_s)).answer in (Answer.NO, Answer.LITTLE)

    def test_where_some_reads_are_quick_and_some_slow_it_is_their_mean_that_is_waited(self) -> None:
        """Special vdevs answer 60 % in 0.15 ms, the disks 40 % in 9: the median says that nobody waits."""
        sample = readers(100)
        each = merged([at_ms(0.15, 30 * int(DAY)), at_ms(9, 20 * int(DAY))])
        mixed = replace(sample, vdevs=tuple(replace(vdev, reads=each) for vdev in sample.vdevs))
        workload = workload_of(mixed, facts())
        assert 3 * MS < workload.read_ns < 7 * MS
        assert cache(mixed).answer is Answer.HELPS
        waits = waits_of(workload).reads
        assert waits.low_s < 90 * DAY * 0.0037 < waits.high_s

    @pytest.mark.parametrize("own", [0.05, 0.1, 0.3])
    def test_ghosts_are_not_laid_to_a_pool_that_read_a_part_before_pools_counted_their_own(self, own: float) -> None:
        sample = replace(readers(300), pool=PoolActivity())
        reads = at_ms(9, int(300 * DAY * own / 2))
        part = replace(sample, vdevs=tuple(replace(each, reads=reads) for each in sample.vdevs))
        assert cache(part, OLD).answer is not Answer.HELPS
        assert told(cache(sample, OLD)) == (Answer.HELPS, "ghosts")

    def test_a_scrub_makes_no_misses(self) -> None:
        """Its reads are not synchronous; a pool that is scrubbed beside a busy one has none of the other's misses."""
        sample = replace(readers(300), pool=PoolActivity())
        scrubbed = tuple(replace(each, reads=at_ms(30, 400 * int(DAY)), sync_reads=700) for each in sample.vdevs)
        assert told(cache(replace(sample, vdevs=scrubbed), OLD)) == (Answer.NO, "other-pools")
        asked = tuple(replace(each, sync_reads=each.reads.total) for each in sample.vdevs)
        assert told(cache(replace(sample, vdevs=asked), OLD)) == (Answer.HELPS, "ghosts")

    def test_of_reads_between_those_of_a_scrub_it_is_open_how_long_they_took(self) -> None:
        sample = readers(10)
        each = merged([at_ms(7, 5 * int(DAY)), at_ms(30, 30 * int(DAY))])
        verdict = cache(replace(sample, vdevs=tuple(replace(vdev, reads=each) for vdev in sample.vdevs)))
        assert verdict.answer is Answer.CANNOT_TELL

    @pytest.mark.parametrize("served", [0.9, 0.99, 0.999])
    def test_what_its_cache_serves_is_read_by_this_pool(self, served: float) -> None:
        """The more a cache serves the less its disks read, and before OpenZFS 2.3 that is all that is known."""
        sample = replace(readers(200), pool=PoolActivity())
        misses = sample.arc.misses
        arc = replace(sample.arc, l2_hits=int(misses * served), l2_misses=int(misses * (1 - served)), l2_read_bytes=9)
        left = at_ms(9, int(misses * (1 - served) / 2))
        cached = replace(sample, arc=arc, vdevs=tuple(replace(each, reads=left) for each in sample.vdevs))
        pool = replace(OLD, leaves=(*LEAVES, CACHE_LEAF))
        assert told(cache(cached, pool)) == (Answer.HELPS, "cache-serves")

    def test_streams_beside_random_reads_do_not_decide_of_those(self) -> None:
        """OpenZFS 2.1 reads from the disks what is read ahead, but programs wait for what is not."""
        old = facts(zfs="2.1.15-1")
        assert told(cache(readers(400, prefetch_share=0.92, ghost_share=0.01), old)) == (Answer.NO, "streams")
        assert cache(readers(400, prefetch_share=0.75, ghost_share=0.01), old).answer is Answer.CANNOT_TELL
        assert told(cache(readers(400, prefetch_share=0.75, ghost_share=0.4), old)) == (Answer.HELPS, "ghosts")

    def test_of_a_part_of_the_misses_it_is_said_how_many_of_these_were_just_dropped(self) -> None:
        sample = readers(400, ghost_share=0.9)
        part = replace(sample, pool=PoolActivity(arc_reads=sample.pool.arc_reads // 5))
        assert "At least 50 % of misses" in str(cache(part).rule)

    def test_headers_of_another_pools_cache_shrink_the_arc_of_all(self) -> None:
        sample = readers()
        shrunk = replace(sample, levels=replace(sample.levels, l2_header_bytes=4 * GIB))
        assert "cache-headers" in {each.code for each in cache(shrunk).beside}
        assert "cache-headers" not in {each.code for each in cache(sample).beside}

    @given(st.floats(0, 500), st.floats(0, 1), st.sampled_from((LEAVES, FLASH)))
    def test_reads_that_take_no_time_need_no_cache(
        self, misses_per_s: float, ghosts: float, leaves: tuple[LeafFacts, ...]
    ) -> None:
        sample = readers(misses_per_s, ghosts)
        quick = tuple(replace(each, reads=at_ms(0.0001, each.reads.total)) for each in sample.vdevs)
        assert cache(replace(sample, vdevs=quick), facts(*leaves)).answer is Answer.NO

    @given(st.floats(0, 1), st.lists(st.floats(0, 2000), min_size=2, max_size=5))
    def test_more_misses_never_make_it_less(self, ghosts: float, paces: list[float]) -> None:
        """As far as the feed of a cache copies what is dropped: what it does not copy is never served."""
        unfed = [replace(each, arc=replace(each.arc, evicted_eligible_bytes=1)) for each in map(readers, sorted(paces))]
        samples = [replace(each, arc=replace(each.arc, ghost_hits=int(each.arc.misses * ghosts))) for each in unfed]
        answers = [BETTER.index(cache(each).answer) for each in samples]
        assert all(before <= after for before, after in pairwise(answers))


@given(
    st.floats(0.1, 1000),
    st.floats(0.05, 50),
    st.sampled_from((4, 128, 1024, 8192)),
    st.floats(0, 1000),
    st.floats(0, 1),
    st.sampled_from((facts(), facts(*FLASH), facts(*LEAVES, LOG_LEAF, CACHE_LEAF), OLD)),
)
def test_no_row_takes_away_more_than_is_waited_and_the_least_is_no_more_than_the_most(
    commits_per_s: float, ms: float, kib: int, misses_per_s: float, ghosts: float, pool: PoolFacts
) -> None:
    sample = sync_writers(commits_per_s, commit_bytes=kib * KIB)
    reading = readers(misses_per_s, ghosts)
    leaves = tuple(
        replace(vdev, writes=at_ms(ms, vdev.sync_writes), reads=other.reads)
        for vdev, other in zip(sample.vdevs, reading.vdevs, strict=True)
    )
    both = replace(sample, vdevs=leaves, arc=reading.arc, levels=reading.levels, pool=reading.pool).with_busy()
    for each in options_of(known_of(workload_of(both, pool), pool, HISTORY)).rows:
        for relief in (each.relief, *(kind.relief for kind in each.kinds)):
            assert relief is None or 0 <= relief.low <= relief.at_best <= 1
