"""How fast caches are fed, by release and by parameters."""

from dataclasses import replace

import pytest

from nasadvisor.domain.evidence.cache_verdict import judge_cache
from nasadvisor.domain.evidence.feed import feed_notes, feed_of
from nasadvisor.domain.evidence.pool_facts import PoolFacts, Tunables
from nasadvisor.domain.evidence.samples import Sample
from nasadvisor.domain.evidence.thresholds import HISTORY
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.health.wear.ingest import ingest_of
from nasadvisor.domain.units import DAY_S, GIB, MIB, TIB
from tests.unit.domain.evidence.pools import CACHE_LEAF, DAY, LEAVES, facts, readers

ARC = 16 * GIB
OLD = Tunables(l2arc_write_max_bytes=32 * MIB, zfs_version="2.4.4-1")
NEW = replace(OLD, l2arc_dwpd_limit=100, zfs_version="2.4.99-1")


def dropping(bytes_per_s: int) -> Sample:
    sample = readers()
    return replace(sample, arc=replace(sample.arc, evicted_eligible_bytes=bytes_per_s * int(DAY)))


def pool_of(tunables: Tunables, size: int = 0, disk: int = 0) -> PoolFacts:
    leaf = replace(CACHE_LEAF, size_bytes=size, disk_bytes=disk)
    return replace(facts(), leaves=(*LEAVES, leaf) if size else LEAVES, tunables=tunables)


def test_the_one_thread_of_releases_up_to_2_4_writes_five_times_a_second_while_there_is_enough() -> None:
    feed = feed_of(OLD, ARC, [400 * GIB])
    assert feed.steady == feed.filling == 160 * MIB
    assert round(feed.steady * DAY_S / TIB, 1) == 13.2
    assert feed_of(OLD, ARC, [400 * GIB] * 2, others=2).steady == 40 * MIB
    assert feed_of(replace(OLD, l2arc_feed_again=0), ARC, [400 * GIB]).steady == 32 * MIB
    assert feed_of(replace(OLD, l2arc_feed_min_ms=500), ARC, [400 * GIB]).steady == 64 * MIB
    assert feed_of(replace(OLD, l2arc_feed_again=0, l2arc_feed_secs=4), ARC, [400 * GIB]).steady == 8 * MIB


@pytest.mark.parametrize(("release", "usual"), [("2.2.6-1", 8), ("2.2.7-pve2", 32), ("2.2.99-1", 32), ("", 32)])
def test_where_the_parameter_was_not_read_the_release_says_what_is_usual(release: str, usual: int) -> None:
    tunables = Tunables(zfs_version=release, l2arc_feed_again=0)
    assert feed_of(tunables, ARC, [GIB]).steady == usual * MIB


def test_what_is_expected_is_not_cut_at_a_fifth_of_what_can_be() -> None:
    pool = pool_of(OLD)
    ingest = ingest_of(workload_of(dropping(100 * MIB), pool), pool, [400 * GIB])
    assert ingest.cache == pytest.approx(100 * MIB * DAY)
    assert ingest.cache_limit == 160 * MIB * DAY
    assert ingest.cache_fills_s == pytest.approx(4096)
    most = ingest_of(workload_of(dropping(500 * MIB), pool), pool, [400 * GIB])
    assert most.cache == most.cache_limit


def test_with_a_budget_each_cache_is_written_its_own_size_a_day_once_it_is_full() -> None:
    feed = feed_of(NEW, ARC, [100 * GIB, 100 * GIB])
    assert (feed.filling, feed.steady * DAY_S, feed.budget_percent) == (32 * MIB, 100 * GIB, 100)
    assert feed_of(replace(NEW, l2arc_dwpd_limit=30), ARC, [100 * GIB]).steady * DAY_S == 30 * GIB
    assert feed_of(replace(NEW, l2arc_dwpd_limit=0), ARC, [100 * GIB]).steady == 32 * MIB
    assert feed_of(NEW, ARC, [100 * TIB]).steady == 32 * MIB


def test_caches_below_two_arcs_have_no_budget_and_no_turbo() -> None:
    assert feed_of(NEW, ARC, [31 * GIB]).steady == 32 * MIB
    assert feed_of(NEW, ARC, [16 * GIB, 16 * GIB]).steady * DAY_S == 16 * GIB
    assert feed_of(NEW, ARC, [0]).budget_percent == 0


def test_warm_up_and_wear_follow_the_budget() -> None:
    pool = pool_of(NEW)
    ingest = ingest_of(workload_of(dropping(20 * MIB), pool), pool, [100 * GIB])
    assert ingest.cache == pytest.approx(100 * GIB)
    assert ingest.cache_fills_s == pytest.approx(100 * 1024 / 20)


def test_for_a_small_slice_it_is_said_what_to_set() -> None:
    pool = pool_of(NEW, 100 * GIB, 800 * GIB)
    verdict = judge_cache(workload_of(dropping(20 * MIB), pool), pool, HISTORY)
    [note] = [each for each in verdict.beside if each.code == "slice-budget"]
    assert "l2arc_dwpd_limit=800" in str(note)
    assert "at most 100 GiB a day" in str(note)
    quiet = judge_cache(workload_of(dropping(MIB), pool), pool, HISTORY)
    assert quiet.beside == ()


def test_where_no_budget_holds_and_the_ssd_would_be_written_more_than_once_a_day_that_is_said() -> None:
    feed = feed_of(NEW, ARC, [20 * GIB])
    [note] = feed_notes(feed, NEW, 30 * MIB, 20 * GIB, 400 * GIB)
    assert note.code == "no-budget"
    assert list(feed_notes(feed, NEW, MIB, 20 * GIB, 400 * GIB)) == []
    assert list(feed_notes(feed_of(OLD, ARC, [20 * GIB]), OLD, 30 * MIB, 20 * GIB, 400 * GIB)) == []
