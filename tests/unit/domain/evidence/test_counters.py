"""From readings to samples: resets, imports, renamed pools, missed readings."""

from dataclasses import replace

from nasadvisor.domain.evidence.counters import Counters, PoolCounters, Txg, VdevCounters, samples_between
from nasadvisor.domain.evidence.histogram import EMPTY, Histogram
from nasadvisor.domain.evidence.samples import DatasetActivity, DiskActivity


def pool(name: str = "tank", guid: str = "1", commits: int = 0, writes: tuple[int, ...] = ()) -> PoolCounters:
    return PoolCounters(
        guid=guid,
        name=name,
        datasets=(DatasetActivity(f"{name}/db", commits=commits, needcopy_bytes=commits * 4096),),
        vdevs=(VdevCounters("", EMPTY, Histogram(writes), EMPTY, Histogram(writes)),),
        disks=frozenset({"sda"}),
    )


def reading(at: int, *pools: PoolCounters, flush_ms: int = 0) -> Counters:
    return Counters(at, float(at), pools, {"sda": DiskActivity("sda", flushes=flush_ms // 10, flush_ms=flush_ms)})


def test_a_sample_is_the_difference_of_two_readings() -> None:
    before = reading(100, pool(commits=1000, writes=(0, 7)), flush_ms=50)
    [sample] = samples_between(before, reading(110, pool(commits=1500, writes=(0, 9, 1)), flush_ms=150))
    assert (sample.at, sample.seconds, sample.commits, sample.sync_bytes) == (110, 10.0, 500, 500 * 4096)
    assert sample.vdevs[0].writes == Histogram((0, 2, 1))
    assert sample.vdevs[0].sync_writes == 3
    assert sample.disks[0].flush_ms == 100
    assert sample.busy.peak_commits_per_s == 50


def test_counters_of_a_dataset_that_was_mounted_again_count_from_zero() -> None:
    [sample] = samples_between(reading(0, pool(commits=1000)), reading(10, pool(commits=30)))
    assert sample.commits == 30


def test_histograms_of_an_imported_pool_count_from_zero() -> None:
    [sample] = samples_between(reading(0, pool(writes=(0, 500))), reading(10, pool(writes=(0, 4))))
    assert sample.vdevs[0].writes == Histogram((0, 4))


def test_a_renamed_pool_goes_on() -> None:
    [sample] = samples_between(reading(0, pool("tank", commits=5)), reading(10, pool("pond", commits=8)))
    assert (sample.pool_name, sample.commits) == ("pond", 3)


def test_another_pool_of_the_same_name_starts_anew() -> None:
    assert samples_between(reading(0, pool(guid="1", commits=5)), reading(10, pool(guid="2", commits=9))) == ()


def test_a_missed_reading_makes_one_longer_sample() -> None:
    [sample] = samples_between(reading(0, pool(commits=0)), reading(30, pool(commits=300)))
    assert (sample.seconds, sample.commits) == (30.0, 300)


def test_readings_far_apart_make_no_sample() -> None:
    assert samples_between(reading(0, pool()), reading(3600, pool(commits=9))) == ()
    assert samples_between(reading(10, pool()), reading(10, pool())) == ()


def test_a_clock_that_was_set_back_changes_no_rate() -> None:
    after = replace(reading(110, pool(commits=100)), at=50)
    [sample] = samples_between(reading(100, pool(commits=0)), after)
    assert (sample.at, sample.seconds) == (50, 10.0)


def test_a_dataset_that_appears_counts_from_its_second_reading_on() -> None:
    without = replace(pool(), datasets=())
    [sample] = samples_between(reading(0, without), reading(10, pool(commits=10**6)))
    assert sample.datasets == ()


def test_each_transaction_group_is_counted_once() -> None:
    old = replace(pool(), txgs=(Txg(4, 10**9), Txg(5, 10**9)))
    new = replace(pool(), txgs=(Txg(5, 10**9), Txg(6, 5 * 10**9)))
    [sample] = samples_between(reading(0, old), reading(10, new))
    assert sample.txgs == Histogram.single(5 * 10**9)


def test_somebody_waits_only_where_commits_are_frequent() -> None:
    [sample] = samples_between(reading(0, pool(commits=0)), reading(10, pool(commits=20)))
    assert sample.busy.seconds == 0
