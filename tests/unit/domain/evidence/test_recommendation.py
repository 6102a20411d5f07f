"""Sizes with their reasons."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.histogram import Histogram
from nasadvisor.domain.evidence.recommendation import Recommendation, recommend_cache, recommend_log
from nasadvisor.domain.evidence.samples import Levels
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.storage.sizing import header_memory_bytes
from nasadvisor.domain.units import GIB, KIB, MIB, align_up, parse_size
from tests.unit.domain.evidence.pools import async_writers, facts, readers, sync_writers


def log(commits_per_s: float, commit_bytes: int, wrlog: int = 8 * GIB, txgs: Histogram | None = None) -> Recommendation:
    pool = facts(wrlog_data_max_bytes=wrlog)
    workload = workload_of(sync_writers(commits_per_s, 3600, commit_bytes), pool)
    return recommend_log(replace(workload, txgs=txgs) if txgs else workload, pool)


def test_a_log_holds_what_comes_in_during_five_transaction_groups_twice() -> None:
    found = log(1000, 40 * KIB)  # 50 MiB/s as blocks, for 5 x 7.5 s, twice
    assert 3 * GIB <= found.size_bytes <= 5 * GIB
    assert found.because.code == "measured-log"


@given(st.floats(5, 300), st.integers(4 * KIB, 128 * KIB), st.integers(1, 99))
def test_the_sum_that_is_said_of_a_log_is_right(commits_per_s: float, commit_bytes: int, slow: int) -> None:
    from_8_to_34_s = Histogram.of((*(0,) * 33, 99, slow))
    found = log(commits_per_s, commit_bytes, txgs=from_8_to_34_s)
    if found.because.code == "measured-log":
        ingest, txg, held = (str(found.because.values[name]).split()[:2] for name in ("ingest", "txg", "held"))
        said = parse_size(" ".join(ingest)) * 5 * float(txg[0]) * 2
        held_bytes = parse_size(" ".join(held))
        assert abs(said - held_bytes) <= 0.011 * held_bytes
        assert found.size_bytes == max(align_up(held_bytes, GIB), GIB) or held_bytes % GIB == 0


def test_a_log_is_never_larger_than_what_openzfs_lets_wait_in_it() -> None:
    found = log(10_000, 128 * KIB)
    assert found.size_bytes == 16 * GIB
    assert found.because.code == "most-log"


def test_without_synchronous_writes_the_usual_size_is_named_as_such() -> None:
    found = recommend_log(workload_of(async_writers(), facts()), facts())
    assert (found.size_bytes, found.is_measured) == (4 * GIB, False)


@given(st.floats(5, 10**5), st.integers(512, 16 * MIB), st.integers(GIB, 8 * GIB))
def test_a_log_stays_within_its_bounds(commits_per_s: float, commit_bytes: int, wrlog: int) -> None:
    found = log(commits_per_s, commit_bytes, wrlog)
    assert GIB <= found.size_bytes <= 2 * wrlog + GIB
    assert found.size_bytes % GIB == 0
    assert "{" not in str(found.because)


def test_a_cache_is_five_arcs_where_memory_allows_it() -> None:
    found = recommend_cache(workload_of(readers(), facts()))
    assert found
    assert (found.size_bytes, found.because.code) == (40 * GIB, "measured-cache")


@given(st.integers(GIB, 200 * GIB), st.integers(4, 1024))
def test_the_headers_of_a_cache_take_a_tenth_of_the_arc_at_the_most(arc: int, block_kib: int) -> None:
    sample = replace(readers(), levels=Levels(arc, arc, arc))
    reads = replace(sample.pool, arc_read_bytes=sample.pool.arc_reads * block_kib * KIB)
    found = recommend_cache(workload_of(replace(sample, pool=reads), facts()))
    assert found
    assert found.size_bytes <= 5 * arc
    assert header_memory_bytes(found.size_bytes, block_kib * KIB) <= arc // 10 or found.size_bytes == GIB


def test_without_arcstats_no_cache_size_is_made_up() -> None:
    assert recommend_cache(workload_of(async_writers(), facts())) is None
