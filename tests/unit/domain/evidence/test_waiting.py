"""Who waits is told by time: what people met on pools that are slower, larger, shared or equipped already."""

from dataclasses import replace

import pytest

from nasadvisor.domain.evidence.cache_verdict import judge_cache
from nasadvisor.domain.evidence.histogram import EMPTY, Histogram, merged
from nasadvisor.domain.evidence.log_verdict import judge_log
from nasadvisor.domain.evidence.options import Known, Option, OptionsTable, known_of, waited_s, waits_of
from nasadvisor.domain.evidence.options_table import options_of
from nasadvisor.domain.evidence.pool_facts import DatasetFacts, PoolFacts
from nasadvisor.domain.evidence.recommendation import mean_block_bytes, recommend_log
from nasadvisor.domain.evidence.samples import DatasetActivity, DiskActivity, PoolActivity, Sample, VdevActivity, merge
from nasadvisor.domain.evidence.shopping import shopping_of
from nasadvisor.domain.evidence.thresholds import HISTORY
from nasadvisor.domain.evidence.verdict import Answer, Verdict, Waiting
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.units import GIB, KIB, MIB
from tests.unit.domain.evidence.pools import CACHE_LEAF, DAY, FLASH, LEAVES, LOG_LEAF, facts, readers, sync_writers

MS = 1_000_000


def at_ms(ms: float, count: int) -> Histogram:
    return Histogram((*(0,) * (int(ms * MS).bit_length() - 1), count))


def committing(ms: float, commits_per_s: float, flush_ms: int = 0) -> Sample:
    """Commits whose writes take so long on both disks."""
    sample = sync_writers(commits_per_s, flush_ms=flush_ms)
    vdevs = tuple(replace(each, writes=at_ms(ms, each.sync_writes)) for each in sample.vdevs)
    return replace(sample, vdevs=vdevs)


def without_blocks(sample: Sample) -> Sample:
    """Its commits found nothing to write."""
    return replace(sample, datasets=tuple(replace(each, pool_blocks=0, pool_bytes=0) for each in sample.datasets))


def log(sample: Sample, pool: PoolFacts | None = None) -> Verdict:
    return judge_log(workload_of(sample, pool or facts()), pool or facts(), HISTORY)


def cache(sample: Sample, pool: PoolFacts | None = None) -> Verdict:
    return judge_cache(workload_of(sample, pool or facts()), pool or facts(), HISTORY)


def known(sample: Sample, pool: PoolFacts | None = None) -> Known:
    pool = pool or facts()
    return known_of(workload_of(sample, pool), pool, HISTORY)


def table(sample: Sample, pool: PoolFacts | None = None) -> OptionsTable:
    return options_of(known(sample, pool))


def told(verdict: Verdict) -> tuple[Answer, str]:
    return verdict.answer, verdict.rule.code


@pytest.mark.parametrize(("ms", "commits_per_s"), [(2000, 0.4), (250, 3)])
def test_a_slow_pool_keeps_a_program_waiting_with_few_commits(ms: float, commits_per_s: float) -> None:
    assert told(log(committing(ms, commits_per_s))) == (Answer.HELPS, "slow-commits")


def test_who_waits_four_percent_of_the_time_feels_no_log() -> None:
    assert told(log(committing(6, 6))) == (Answer.LITTLE, "seldom")


def test_an_fsync_that_writes_nothing_keeps_nobody_waiting() -> None:
    sample = sync_writers(100, commit_bytes=0)
    clean = without_blocks(sample)
    assert told(log(clean)) == (Answer.NO, "clean-commits")
    few = replace(sample, datasets=tuple(replace(each, pool_blocks=each.commits // 500) for each in sample.datasets))
    assert log(few).answer is not Answer.HELPS


def test_what_is_waited_is_told_of_writing_commits_only() -> None:
    sample = sync_writers(100, commit_bytes=0)
    clean = without_blocks(sample)
    assert table(clean).waits.of(Waiting.COMMITS) == 0
    assert table(sample).waits.of(Waiting.COMMITS) > 0


def test_writes_that_nobody_waits_for_do_not_make_a_quick_pool_slow() -> None:
    """Backups queue writes of 8 ms beside commits that the same SSDs take in a fifth of a millisecond."""
    sample = committing(0.15, 400)
    beside = at_ms(8, 1500 * int(DAY))
    vdevs = tuple(replace(each, writes=merged([each.writes, beside])) for each in sample.vdevs)
    beside_backups = replace(sample, vdevs=vdevs)
    assert log(beside_backups, facts(*FLASH)).answer in (Answer.NO, Answer.LITTLE)
    commit = workload_of(beside_backups, facts(*FLASH)).commit_time
    assert commit
    assert commit.likely_ns < 0.3 * MS


def test_disks_whose_flushes_nobody_counts_do_not_commit_in_no_time() -> None:
    """Behind an encryption of disks the kernel counts none, and a disk takes 0.15 ms into its cache."""
    write_back = tuple(replace(each, write_cache="write back") for each in LEAVES)
    sample = committing(0.15, 60)
    uncounted = replace(sample, disks=tuple(replace(each, flushes=0, flush_ms=0) for each in sample.disks))
    assert told(log(uncounted, facts(*write_back))) == (Answer.CANNOT_TELL, "flush-unknown")
    slow = replace(uncounted, vdevs=tuple(replace(each, writes=at_ms(9, each.sync_writes)) for each in sample.vdevs))
    assert log(slow, facts(*write_back)).answer is Answer.HELPS


def test_what_no_ssd_on_sata_takes_is_asked_of_the_ssd_first() -> None:
    large = sync_writers(8000, commit_bytes=128 * KIB)
    assert told(log(large)) == (Answer.CANNOT_TELL, "bandwidth")
    relief = table(large).row(Option.LOG).relief
    assert relief
    assert relief.low == 0
    [needed] = [each for each in shopping_of(known(large), table(large)) if each.option is Option.LOG]
    stream = next(need for need in needed.needs if need.what.code == "need-stream")
    assert "1.22 GiB/s for as long as programs write" in str(stream.what)
    [small] = [each for each in shopping_of(known(sync_writers()), table(sync_writers())) if each.option is Option.LOG]
    assert "need-stream" not in {need.what.code for need in small.needs}


class TestALogThatIsThere:
    def used(self, log_ms: float, disk_ms: float, log_flush_ms: int = 0) -> Sample:
        sample = committing(disk_ms, 90)
        [dataset] = sample.datasets
        vdev = VdevActivity("3", EMPTY, at_ms(log_ms, dataset.commits), 0, dataset.commits)
        disk = DiskActivity("nvme0n1", dataset.commits, dataset.commits * log_flush_ms)
        taken = replace(dataset, log_blocks=dataset.pool_blocks, pool_blocks=0)
        data = tuple(replace(each, sync_writes=10) for each in sample.vdevs)
        return replace(sample, datasets=(taken,), vdevs=(*data, vdev), disks=(*sample.disks, disk))

    def test_it_helps_if_it_is_quicker_than_the_disks(self) -> None:
        assert told(log(self.used(0.2, 8), facts(*LEAVES, LOG_LEAF))) == (Answer.HELPS, "log-in-use")

    def test_one_that_is_slower_than_the_disks_is_used_and_no_help(self) -> None:
        assert told(log(self.used(1, 4, log_flush_ms=9), facts(*LEAVES, LOG_LEAF))) == (Answer.LITTLE, "log-slow")

    def test_commits_that_wait_for_the_disks_all_the_same_gain_little(self) -> None:
        pool = facts(*LEAVES, LOG_LEAF, logbias="throughput")
        assert told(log(self.used(0.2, 8), pool)) == (Answer.LITTLE, "log-throughput")


def test_who_lies_to_their_programs_is_named_beside_those_who_wait() -> None:
    sample = sync_writers()
    vm = DatasetActivity("tank/vm", writes=10**6, written_bytes=10**6 * MIB)
    pool = facts()
    pool = replace(pool, datasets=(*pool.datasets, DatasetFacts("tank/vm", False, "disabled", "latency", 128 * KIB)))
    verdict = log(replace(sample, datasets=(*sample.datasets, vm)), pool)
    assert told(verdict) == (Answer.HELPS, "slow-commits")
    [said] = [each for each in verdict.beside if each.code == "sync-disabled-too"]
    assert said.values["datasets"] == "tank/vm"
    slow = committing(2000, 0.4)
    assert told(log(replace(slow, datasets=(*slow.datasets, vm)), pool)) == (Answer.HELPS, "slow-commits")


def test_a_stream_of_one_program_hides_no_small_commits_of_another() -> None:
    sample = sync_writers(30)
    stream = DatasetActivity("tank/video", commits=30 * int(DAY), needcopy_bytes=30 * int(DAY) * 16 * MIB)
    both = replace(sample, datasets=(*sample.datasets, stream))
    assert workload_of(both, facts()).bytes_per_commit > 4 * MIB
    assert log(both).rule.code != "large-streams"


def test_half_of_the_commits_past_a_log_leave_those_that_wait_for_it() -> None:
    sample = sync_writers(40)
    past = replace(sample.datasets[0], name="tank/vm")
    vm = DatasetFacts("tank/vm", False, "standard", "throughput", 8192)
    pool = replace(facts(), datasets=(*facts().datasets, vm))
    assert told(log(replace(sample, datasets=(*sample.datasets, past)), pool)) == (Answer.HELPS, "slow-commits")


def test_no_ssd_is_named_for_what_none_lasts() -> None:
    worn = replace(known(sync_writers(1300, commit_bytes=MIB)), log_bytes_per_day=146e12)
    lists = shopping_of(worn, options_of(worn))
    [needed] = [each for each in lists if each.option is Option.LOG]
    assert "need-too-much-endurance" in {need.what.code for need in needed.needs}


class TestReads:
    def test_misses_of_others_are_bounded_by_what_the_disks_read(self) -> None:
        """Before OpenZFS 2.3 no pool counts its own; its disks cannot have read what was never asked of them."""
        sample = replace(readers(300), pool=PoolActivity())
        reads = Histogram((*(0,) * 23, 700))
        idle = replace(sample, vdevs=tuple(replace(each, reads=reads) for each in sample.vdevs))
        assert told(cache(idle, facts(zfs="2.2.2-0ubuntu9"))) == (Answer.NO, "other-pools")
        assert told(cache(sample, facts(zfs="2.2.2-0ubuntu9"))) == (Answer.HELPS, "ghosts")

    def test_ghosts_of_the_host_are_not_those_of_a_pool_with_a_part_of_the_misses(self) -> None:
        sample = readers(400, ghost_share=0.45)
        part = replace(sample, pool=PoolActivity(arc_reads=sample.pool.arc_reads // 5))
        assert told(cache(part)) == (Answer.CANNOT_TELL, "ghosts-of-all")
        assert told(cache(sample)) == (Answer.HELPS, "ghosts")

    @pytest.mark.parametrize("hits_a_miss", [5, 500])
    def test_few_misses_all_day_are_not_felt_however_many_reads_the_arc_answers(self, hits_a_miss: int) -> None:
        sample = readers(9)
        hits = replace(sample, arc=replace(sample.arc, demand_hits=sample.arc.misses * hits_a_miss))
        assert told(cache(hits)) == (Answer.LITTLE, "arc-is-enough")

    @pytest.mark.parametrize("hits_a_miss", [0, 10_000])
    def test_an_hour_of_waiting_is_felt_however_many_reads_the_arc_answers_all_day(self, hits_a_miss: int) -> None:
        hour, rest = readers(200, seconds=3600), readers(0.1, seconds=DAY - 3600)
        arc = replace(rest.arc, demand_hits=hour.arc.misses * hits_a_miss)
        assert told(cache(merge([hour, replace(rest, arc=arc)]))) == (Answer.HELPS, "ghosts")

    def test_two_minutes_of_it_are_not(self) -> None:
        short = merge([readers(200, seconds=120), readers(0.1, seconds=DAY - 120)])
        assert cache(short).answer in (Answer.NO, Answer.LITTLE)

    def test_the_time_of_a_read_is_not_that_of_a_scrub(self) -> None:
        sample = readers(20)
        scrub = at_ms(30, 400 * int(DAY))
        vdevs = tuple(replace(each, reads=merged([each.reads, scrub])) for each in sample.vdevs)
        assert workload_of(replace(sample, vdevs=vdevs), facts()).read_ns < 10 * MS

    def test_a_cache_before_ssds_serves_what_they_would_serve_as_soon(self) -> None:
        sample = readers()
        arc = replace(sample.arc, l2_hits=50, l2_misses=50, l2_read_bytes=9, l2_written_bytes=3)
        levels = replace(sample.levels, l2_header_bytes=4 * GIB)
        verdict = cache(replace(sample, arc=arc, levels=levels), facts(*FLASH, CACHE_LEAF))
        assert told(verdict) == (Answer.LITTLE, "cache-slow")
        assert "cache-headers" in {each.code for each in verdict.beside}

    def test_a_cache_is_held_against_the_disks_by_its_own_time(self) -> None:
        sample = readers()
        arc = replace(sample.arc, l2_hits=50, l2_misses=50, l2_read_bytes=9, l2_written_bytes=3)
        quick, slow = (VdevActivity(CACHE_LEAF.guid, at_ms(ms, 1000), EMPTY) for ms in (0.1, 12))
        pool = facts(*LEAVES, CACHE_LEAF)
        with_cache = {own: replace(sample, arc=arc, vdevs=(*sample.vdevs, own)) for own in (quick, slow)}
        assert told(cache(with_cache[quick], pool)) == (Answer.HELPS, "cache-serves")
        assert told(cache(with_cache[slow], pool)) == (Answer.LITTLE, "cache-slow")

    def test_what_all_caches_of_a_host_serve_is_not_said_of_one_pool(self) -> None:
        sample = readers(200)
        arc = replace(sample.arc, l2_hits=50, l2_misses=50, l2_read_bytes=9, l2_written_bytes=3)
        part = replace(sample, arc=arc, pool=PoolActivity(arc_reads=sample.pool.arc_reads // 5))
        assert told(cache(part, facts(*LEAVES, CACHE_LEAF))) == (Answer.CANNOT_TELL, "caches-of-all")

    def test_what_is_never_copied_to_a_cache_is_never_read_from_it(self) -> None:
        sample = readers(3000, ghost_share=0.4)
        old = facts(zfs="2.2.2-0ubuntu9")
        dropped = replace(sample.arc, evicted_eligible_bytes=int(400 * MIB * DAY))
        relief = table(replace(sample, arc=dropped), old).row(Option.CACHE).relief
        assert relief is None or relief.low < 0.05
        assert table(sample, facts()).row(Option.CACHE).relief

    def test_an_arc_that_was_pushed_back_is_looked_into_first(self) -> None:
        sample = readers(arc_bytes=2 * GIB)
        shrunk = replace(sample, levels=replace(sample.levels, arc_target_bytes=2 * GIB))
        assert "arc-shrunk" in {each.code for each in cache(shrunk).beside}
        assert "arc-shrunk" not in {each.code for each in cache(readers()).beside}

    def test_the_headers_of_small_blocks_are_reckoned_before_a_pool_counts_its_reads(self) -> None:
        sample = replace(
            readers(), pool=PoolActivity(), datasets=(DatasetActivity("tank/db", reads=9, read_bytes=9 * MIB),)
        )
        pool = replace(facts(), datasets=(DatasetFacts("tank/db", True, "standard", "latency", 8 * KIB),))
        assert mean_block_bytes(workload_of(sample, pool)) == 8 * KIB


def test_a_transaction_group_that_ends_by_the_timeout_takes_that_long() -> None:
    """Five seconds lie in a bucket that ends at 8.6: the log was sized 1.7 times too large for it."""
    said = recommend_log(workload_of(sync_writers(), facts()), facts()).because
    assert said.values["txg"] == "5 s"
    slow = replace(sync_writers(), txgs=Histogram.single(20 * 10**9))
    assert recommend_log(workload_of(slow, facts()), facts()).because.values["txg"] != "5 s"


def test_an_hour_is_waited_as_long_as_its_commits_take_by_the_trace_else_by_the_counters() -> None:
    hour = workload_of(replace(committing(8, 20), seconds=3600), facts())
    counted, traced = waited_s(hour, None), waited_s(hour, 2.0 * MS)
    assert counted == pytest.approx(waits_of(hour).total_s / 24)
    reads = waits_of(hour).of(Waiting.READS) / 24
    assert traced - reads == pytest.approx(hour.commits * hour.writing_share * 0.002)
    assert traced < counted
