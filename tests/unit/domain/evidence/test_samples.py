"""Samples add up to longer ones, and come back from the database as they went in."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.histogram import BUCKETS, EMPTY, Histogram
from nasadvisor.domain.evidence.samples import (
    ArcActivity,
    Busy,
    DatasetActivity,
    DiskActivity,
    Levels,
    PoolActivity,
    Sample,
    VdevActivity,
    merge,
)
from nasadvisor.stored.packing import NameTable, pack_activity, pack_latency, unpack_activity, unpack_latency

numbers = st.integers(0, 2**50)
histograms = st.lists(st.integers(0, 10**6), max_size=BUCKETS).map(Histogram.of)
some = histograms.filter(lambda each: bool(each.counts))
names = st.sampled_from(("tank", "tank/vms", "tank/with space"))
datasets = st.builds(DatasetActivity, names, *[numbers] * 14)
vdevs = st.builds(VdevActivity, st.sampled_from(("", "12", "18446744073709551615")), some, histograms, *[numbers] * 3)
disks = st.builds(DiskActivity, st.sampled_from(("sda", "nvme0n1")), st.integers(1, 99), *[numbers] * 5)


def unique(each: st.SearchStrategy[Any], key: str) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(each, max_size=3, unique_by=lambda one: getattr(one, key)).map(tuple)


samples = st.builds(
    Sample,
    pool_guid=st.just("1"),
    pool_name=st.just("tank"),
    at=st.integers(0, 2**31),
    seconds=st.just(10.0),
    datasets=unique(datasets, "name"),
    vdevs=unique(vdevs, "guid"),
    disks=unique(disks, "key"),
    pool=st.builds(PoolActivity, *[numbers] * 5),
    arc=st.builds(ArcActivity, *[numbers] * 10),
    levels=st.builds(Levels, *[numbers] * 5),
    txgs=histograms,
    busy=st.builds(Busy, st.just(10.0), numbers, numbers, st.just(4.5), st.just(0.25)),
)


@given(samples)
def test_a_sample_comes_back_as_it_was_packed(sample: Sample) -> None:
    table = NameTable([])
    activity, latency = pack_activity(sample, table), pack_latency(sample, table)
    empty = Sample("1", "tank", sample.at, sample.seconds, vdevs=unpack_latency(latency, table.names))
    assert unpack_activity(empty, activity, table.names) == sample


def test_what_was_not_packed_is_refused() -> None:
    with pytest.raises(ValueError, match="not what was packed"):
        unpack_latency(b"no", ())


@pytest.mark.slow
@given(st.lists(samples, min_size=1, max_size=4))
def test_nothing_is_lost_in_a_longer_sample(parts: list[Sample]) -> None:
    whole = merge(parts)
    assert whole.seconds == sum(part.seconds for part in parts)
    assert whole.commits == sum(part.commits for part in parts)
    assert whole.sync_bytes == sum(part.sync_bytes for part in parts)
    assert whole.busy.peak_bytes_per_s == max(part.busy.peak_bytes_per_s for part in parts)
    events = sum(vdev.writes.total for part in parts for vdev in part.vdevs)
    assert sum(vdev.writes.total for vdev in whole.vdevs) == events
    longest = max((vdev.reads.quantile_ns(1) for part in parts for vdev in part.vdevs), default=0)
    assert max((vdev.reads.quantile_ns(1) for vdev in whole.vdevs), default=0) == longest


@pytest.mark.slow
@given(st.lists(samples, min_size=2, max_size=4, unique_by=lambda one: one.at))
def test_an_hour_of_minutes_is_an_hour_of_samples(parts: list[Sample]) -> None:
    parts = sorted(parts, key=lambda part: part.at)
    step_by_step = merge([merge(parts[:1]), merge(parts[1:])])
    assert step_by_step.levels == merge(parts).levels
    assert step_by_step.txgs == merge(parts).txgs
    assert {each.name: each for each in step_by_step.datasets} == {each.name: each for each in merge(parts).datasets}


def test_what_was_quiet_stays_quiet_in_whatever_order_it_is_added() -> None:
    written = Histogram((0, 5))
    quiet = Sample("1", "tank", 9, 10.0, vdevs=(VdevActivity("1", writes=written, sync_writes=1),))
    waiting = replace(quiet, at=19, datasets=(DatasetActivity("tank", commits=100),)).with_busy()
    assert merge([quiet, quiet]).vdevs[0].quiet_writes == EMPTY
    for parts in ([quiet, quiet, waiting], [merge([quiet, quiet]), waiting], [quiet, merge([quiet, waiting])]):
        [vdev] = merge(parts).vdevs
        assert (vdev.quiet_writes, vdev.quiet_sync_writes) == (written + written, 2)
        assert vdev.writes.since(vdev.quiet_writes) == written


def test_paces_tell_the_busy_seconds_from_the_others() -> None:
    slow, quick = (
        Sample("1", "t", at, 10.0, (DatasetActivity("t", commits=commits),)).with_busy()
        for at, commits in ((9, 10), (19, 640))
    )
    busy = merge([slow, quick]).busy
    assert busy.commit_s_at.counts == (*(0,) * 4, 10, *(0,) * 5, 10)
    assert busy.commits_at.counts == (*(0,) * 4, 10, *(0,) * 5, 640)


def test_nothing_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match="nothing to merge"):
        merge([])
