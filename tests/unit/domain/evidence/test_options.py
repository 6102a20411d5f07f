"""The table of options: a view of the verdicts that never says anything else than they do."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.evidence.commits import UNKNOWN_SSD, WAITS_ALONE, WAITS_IN_LINE, SsdTime, commits_of
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.evidence.options import Known, Option, OptionRow, known_of
from nasadvisor.domain.evidence.options_table import options_of
from nasadvisor.domain.evidence.pool_facts import LeafFacts, PoolFacts, Served
from nasadvisor.domain.evidence.reads import SHORTFALL
from nasadvisor.domain.evidence.samples import ArcActivity, Levels, Sample
from nasadvisor.domain.evidence.thresholds import HISTORY, SLOW_SSD_IN_LINE_NS, SPOT, Span
from nasadvisor.domain.evidence.verdict import Answer, Waiting
from nasadvisor.domain.evidence.waited import Wait, Waited
from nasadvisor.domain.evidence.workload import workload_of
from nasadvisor.domain.storage.inventory import VdevClass
from nasadvisor.domain.units import DAY_S, GIB
from tests.unit.domain.evidence.pools import (
    CACHE_LEAF,
    FLASH,
    LEAVES,
    LOG_LEAF,
    async_writers,
    facts,
    readers,
    sync_writers,
)
from tests.unit.domain.evidence.test_curve import CLIFF, flat
from tests.unit.domain.evidence.test_verdicts import anything

SPECIAL = LeafFacts("5", VdevClass.SPECIAL, "nvme0n1p3", "nvme0n1", False)


def known(
    sample: Sample,
    pool: PoolFacts | None = None,
    span: Span = HISTORY,
    curve: CacheCurve | None = None,
    ssd: SsdTime = UNKNOWN_SSD,
    has_raidz: bool = False,
) -> Known:
    pool = pool or facts()
    found = known_of(workload_of(sample, pool), pool, span, ssd, curve)
    return replace(found, log_bytes_per_day=100e9, cache_bytes_per_day=200e9, has_raidz=has_raidz)


def row(option: Option, found: Known) -> OptionRow:
    return options_of(found).row(option)


class TestNothing:
    def test_it_says_how_long_programs_wait_today(self) -> None:
        waits = options_of(known(sync_writers())).waits
        assert waits.of(Waiting.COMMITS) == pytest.approx(60 * 0.0166 * DAY_S, rel=0.05)
        assert waits.of(Waiting.READS) == 0
        assert str(row(Option.NOTHING, known(sync_writers())).because).startswith("Programs wait ")

    def test_reads_of_other_pools_are_no_waits_of_this_one(self) -> None:
        sample = readers()
        whole = options_of(known(sample)).waits.of(Waiting.READS)
        half = replace(sample, pool=replace(sample.pool, arc_reads=sample.pool.arc_reads // 2))
        assert options_of(known(half)).waits.of(Waiting.READS) == pytest.approx(whole / 2)

    @given(anything)
    def test_what_is_likely_lies_between_its_bounds(self, sample: Sample) -> None:
        waits = options_of(known(sample)).waits
        for each in (waits.commits, waits.reads):
            assert each is None or 0 <= each.low_s <= each.likely_s <= each.high_s

    def test_the_risk_of_guests_stands_beside_doing_nothing(self) -> None:
        pool = facts()
        served = replace(pool, datasets=(replace(pool.datasets[0], is_volume=True, served=Served.BLOCK),))
        assert row(Option.NOTHING, known(async_writers(), served)).lost.code == "guests-at-risk"
        assert row(Option.PROPERTY, known(async_writers(), served)).because.code == "guests-at-risk"
        assert row(Option.NOTHING, known(async_writers())).lost.code == "option-as-today"


class TestProperty:
    def test_what_the_verdicts_name_is_named_again(self) -> None:
        found = row(Option.PROPERTY, known(sync_writers(), facts(logbias="throughput")))
        assert (found.answer, found.because.code) == (Answer.CANNOT_TELL, "logbias-throughput")
        assert found.relief is None

    def test_raising_the_limit_of_the_arc_gives_what_more_memory_would(self) -> None:
        sample = readers()
        limited = replace(sample, levels=replace(sample.levels, arc_most_bytes=8 * GIB))
        found = known(limited, facts(memory_bytes=80 * GIB))
        setting, memory = row(Option.PROPERTY, found), row(Option.MEMORY, found)
        assert setting.because.code == "raise-arc-limit"
        assert (setting.answer, setting.relief) == (memory.answer, memory.relief) == (Answer.HELPS, memory.relief)

    def test_where_nothing_is_in_the_way_it_says_what_was_looked_at(self) -> None:
        found = row(Option.PROPERTY, known(sync_writers()))
        assert (found.answer, found.because.code) == (Answer.NO, "option-no-setting")
        assert row(Option.PROPERTY, known(async_writers(3600))).answer is Answer.CANNOT_TELL


class TestMemory:
    def test_the_ghost_lists_tell_of_one_more_arc_and_no_more(self) -> None:
        found = row(Option.MEMORY, known(readers()))
        assert (found.answer, found.because.code) == (Answer.HELPS, "option-memory")
        assert found.relief is not None
        assert (found.relief.of, found.relief.low, found.relief.high) == (Waiting.READS, 0.5, None)
        assert found.cost is not None
        assert found.cost.memory_bytes == 8 * GIB

    def test_a_curve_tells_how_much_would_do_what_the_best_cache_does(self) -> None:
        found = row(Option.MEMORY, known(readers(), curve=CLIFF))
        assert found.because.code == "option-memory-curve"
        assert str(found.because).startswith("100 GiB more for the ARC would serve about 40 % (38 % to 42 %)")

    def test_where_the_ghost_lists_end_it_says_no_more_than_they_do(self) -> None:
        found = row(Option.MEMORY, known(readers(ghost_share=0.1)))
        assert (found.answer, [each.code for each in found.missing]) == (Answer.CANNOT_TELL, ["option-follow-reads"])
        assert found.relief is not None
        assert found.relief.low == 0.1

    def test_little_is_said_only_after_a_day(self) -> None:
        little = replace(CLIFF, memory=CLIFF.memory[:1])
        assert row(Option.MEMORY, known(readers(), curve=little)).answer is Answer.LITTLE
        early = row(Option.MEMORY, known(readers(seconds=3600), curve=little))
        assert (early.answer, early.relief) == (Answer.CANNOT_TELL, None)
        assert [each.code for each in early.missing] == ["option-watch"]


class TestLog:
    def test_it_takes_away_what_an_ssd_is_faster_by(self) -> None:
        found = row(Option.LOG, known(sync_writers()))
        assert (found.answer, found.because.code) == (Answer.HELPS, "slow-commits")
        assert found.relief is not None
        assert found.relief.high is not None
        assert 0.5 < found.relief.low < found.relief.high < 1
        assert found.cost is not None
        assert found.cost.ssds == 2
        assert found.cost.written_bytes_per_year == pytest.approx(36.525e12)

    def test_whoever_commits_beside_others_may_wait_longer_for_the_same_ssd(self) -> None:
        """The waiting of eight programs went by 75 % where 94 to 96 % had been said, that of one by 87 %."""
        tested = SsdTime(UNKNOWN_SSD.low_ns, UNKNOWN_SSD.high_ns, True)
        alone, beside_others = (
            row(Option.LOG, known(sync_writers(commits_per_s=each), ssd=tested)).relief for each in (10, 600)
        )
        assert alone is not None
        assert beside_others is not None
        assert beside_others.low < alone.low < 1 - WAITS_ALONE * UNKNOWN_SSD.high_ns / 50e6
        assert beside_others.high == alone.high

    @pytest.mark.parametrize(
        ("commits_per_s", "slow_end", "gone"),
        [(10, 0.07, 0.88), (10, 0.055, 0.87), (600, 0.0655, 0.72), (600, 0.0525, 0.75), (600, 0.055, 0.66)],
        ids=["one program", "one program again", "four over NFS", "a volume, four at once", "four over NFS again"],
    )
    def test_what_went_in_the_lab_is_in_what_would_have_been_said(
        self, commits_per_s: int, slow_end: float, gone: float
    ) -> None:
        """docs/explanation/evidence.md; `slow_end` is the most that the tested SSD needs, as a share of a commit."""
        sample = sync_writers(commits_per_s=commits_per_s)
        commit = known(sample).workload.commit_time
        assert commit is not None
        ssd = SsdTime(commit.likely_ns * slow_end / 10, commit.likely_ns * slow_end, True)
        relief = row(Option.LOG, known(sample, ssd=ssd)).relief
        assert relief is not None
        assert relief.high is not None
        assert relief.low <= gone <= relief.high

    def test_of_an_ssd_that_was_not_tested_no_line_is_reckoned_where_none_is_of_the_disks(self) -> None:
        """Whoever commits beside others waits in line for the disks as well: what they take for one is no more than one
        of several has to wait. A trace tells what was waited, line and all."""
        several = known(sync_writers(commits_per_s=600))
        commit, relief = several.workload.commit_time, row(Option.LOG, several).relief
        assert commit is not None
        assert relief is not None
        most = WAITS_ALONE * UNKNOWN_SSD.high_ns / commit.likely_ns
        assert relief.low == pytest.approx(several.workload.reachable_commits_share * (1 - most))
        waited_s = commit.likely_ns / 1e9 * 600 * DAY_S
        traced = commits_of(several.workload, Waited(Wait(waited_s, waited_s, waited_s), (), DAY_S, 3000.0, 300, 0.004))
        assert traced.relief(UNKNOWN_SSD).low == pytest.approx(1 - SLOW_SSD_IN_LINE_NS / commit.likely_ns)

    @pytest.mark.parametrize(
        ("many_share", "most_share"),
        [(0.4, 0.4), (0.01, 0.05 * WAITS_ALONE), (None, 0.05 * WAITS_IN_LINE)],
        ids=["tested by many writers", "faster by many than by one", "tested by one"],
    )
    def test_beside_others_the_ssd_is_as_slow_as_it_was_tested_by_many(
        self, many_share: float | None, most_share: float
    ) -> None:
        sample = sync_writers(commits_per_s=600)
        facts_known = known(sample)
        commit = facts_known.workload.commit_time
        assert commit is not None
        many_ns = None if many_share is None else commit.likely_ns * many_share
        ssd = SsdTime(commit.likely_ns * 0.02, commit.likely_ns * 0.05, True, many_ns)
        relief = row(Option.LOG, known(sample, ssd=ssd)).relief
        assert relief is not None
        assert relief.low == pytest.approx(facts_known.workload.reachable_commits_share * (1 - most_share))

    def test_where_it_hangs_on_the_ssd_the_test_is_named(self) -> None:
        found = row(Option.LOG, known(sync_writers(speed="fast", flush_ms=4)))
        assert (found.answer, found.because.code) == (Answer.CANNOT_TELL, "depends-on-ssd")
        assert [each.code for each in found.missing] == ["option-test-ssd"]

    def test_one_that_is_there_promises_nothing_more(self) -> None:
        found = row(Option.LOG, known(sync_writers(), facts(*LEAVES, LOG_LEAF)))
        assert (found.is_there, found.relief, found.cost) == (True, None, None)


class TestCache:
    def test_the_ghost_lists_say_at_least_so_much(self) -> None:
        found = row(Option.CACHE, known(readers()))
        assert (found.answer, found.because.code) == (Answer.HELPS, "ghosts")
        assert found.relief is not None
        assert (found.relief.low, found.relief.high) == (0.5, None)
        assert found.cost is not None
        assert found.cost.ssd_bytes == 40 * GIB
        assert found.cost.written_bytes_per_year == pytest.approx(73.05e12)

    def test_where_the_counters_end_the_curve_goes_on(self) -> None:
        without = row(Option.CACHE, known(readers(ghost_share=0.01)))
        assert (without.answer, without.relief) == (Answer.CANNOT_TELL, None)
        assert [each.code for each in without.missing] == ["option-follow-reads"]
        big = replace(CLIFF, block_bytes=1024 * CLIFF.block_bytes)
        found = row(Option.CACHE, known(readers(ghost_share=0.01), curve=big))
        assert (found.answer, found.because.code) == (Answer.CANNOT_TELL, "no-ghosts")
        assert [each.code for each in found.beside] == ["curve-knee"]
        assert found.relief is not None
        assert found.relief.low == pytest.approx(0.39 - SHORTFALL)
        assert (found.relief.high, found.missing) == (0.43, ())
        assert found.cost is not None
        assert found.cost.ssd_bytes == 200 * GIB

    def test_of_a_curve_of_a_minute_the_row_says_what_it_says_of_the_size_the_counters_tell(self) -> None:
        minute = replace(CLIFF, traced=replace(CLIFF.traced, seconds=60))
        found = row(Option.CACHE, known(readers(ghost_share=0.01), curve=minute))
        assert [each.code for each in found.missing] == ["option-follow-reads"]
        assert found.cost is not None
        assert found.cost.ssd_bytes == 40 * GIB
        assert found.relief is not None
        assert found.relief.high == CLIFF.points[0].high

    def test_a_curve_that_finds_nothing_is_told_and_nothing_is_drawn(self) -> None:
        found = row(Option.CACHE, known(readers(ghost_share=0.15), curve=flat(0.04)))
        assert [each.code for each in found.beside] == ["curve-nothing"]
        assert found.relief is None


class TestMetadataAndSpecial:
    def test_a_cache_for_metadata_answers_metadata_at_the_most(self) -> None:
        sample = readers()
        some = replace(sample, arc=replace(sample.arc, metadata_misses=sample.arc.demand_misses // 2))
        found = row(Option.METADATA, known(some))
        assert (found.answer, found.because.code) == (Answer.CANNOT_TELL, "option-metadata")
        assert found.relief is not None
        assert found.relief.low == 0
        assert found.relief.high == pytest.approx(0.45, abs=0.01)
        assert row(Option.METADATA, known(sample)).because.code == "option-little-metadata"

    def test_a_curve_tells_how_much_metadata_comes_again(self) -> None:
        found = row(Option.METADATA, known(readers(), curve=CLIFF))
        assert found.because.code == "option-metadata-curve"
        assert found.relief is not None
        assert (found.relief.low, found.relief.high) == (0.0, 0.2)

    @pytest.mark.parametrize("has_raidz", [True, False])
    def test_that_special_cannot_leave_a_raidz_pool_is_said(self, has_raidz: bool) -> None:
        found = row(Option.SPECIAL, known(readers(), curve=CLIFF, has_raidz=has_raidz))
        assert found.back
        assert found.back.code.startswith("option-special-")
        assert "cannot be removed from a raidz pool" in str(found.back)
        assert not found.is_reversible
        assert "Danger: the whole pool" in str(found.lost)

    def test_one_that_is_there_is_not_advised_again(self) -> None:
        found = row(Option.SPECIAL, known(sync_writers(), facts(*LEAVES, SPECIAL, zfs="2.4.1")))
        assert (found.is_there, found.answer, found.relief) == (True, None, None)
        assert [each.code for each in found.beside] == ["special-takes-zil"]


def test_of_a_limit_that_was_read_where_the_counters_were_not_it_is_said_how_its_gain_would_show() -> None:
    """A row that cannot tell says what is missing, whatever it took its answer from."""
    at_limit = replace(readers(), arc=ArcActivity(*[0] * 12), levels=Levels(0, 1, 1, 0, 0))
    found = row(Option.PROPERTY, known(at_limit))
    assert (found.because.code, found.answer, found.relief) == ("raise-arc-limit", Answer.CANNOT_TELL, None)
    assert [each.code for each in found.missing] == ["option-set-and-see"]


def test_where_no_dropped_block_can_be_of_this_pool_nothing_is_said_of_more_memory() -> None:
    sample = readers(200)
    of_others = replace(sample, pool=replace(sample.pool, arc_reads=sample.pool.arc_reads // 5))
    found = row(Option.MEMORY, known(of_others))
    assert (found.answer, found.because.code) == (Answer.CANNOT_TELL, "option-memory-open")
    assert (found.relief, found.cost) == (None, None)
    assert [each.code for each in found.missing] == ["option-follow-reads"]


def test_an_ssd_that_was_not_tested_is_told_by_its_kind() -> None:
    found = row(Option.LOG, known(sync_writers()))
    assert [str(each.name) for each in found.kinds] == [
        "NVMe with power-loss protection",
        "SATA or SAS with power-loss protection",
        "without power-loss protection",
    ]
    lows = [each.relief.low for each in found.kinds]
    assert lows == sorted(lows, reverse=True)
    assert found.relief
    assert found.kinds[0].relief.low > found.relief.low
    assert row(Option.LOG, known(sync_writers(), ssd=SsdTime(1e5, 2e5, True))).kinds == ()


curves = st.sampled_from((None, CLIFF, flat(0.04), replace(CLIFF, missed=40_000)))
machines = st.sampled_from((facts(), facts(*FLASH), facts(*LEAVES, LOG_LEAF, CACHE_LEAF), facts(*LEAVES, SPECIAL)))
whatever = st.one_of(
    anything,
    st.builds(readers, st.floats(0, 500), st.floats(0, 1), st.floats(0, 1), seconds=st.floats(1, 1e6)),
    st.builds(sync_writers, st.floats(0, 500), st.floats(1, 1e6), speed=st.sampled_from(("fast", "slow"))),
)


@given(whatever, machines, st.sampled_from((HISTORY, SPOT)), curves, st.booleans())
def test_the_table_never_contradicts_a_verdict(
    sample: Sample, pool: PoolFacts, span: Span, curve: CacheCurve | None, has_raidz: bool
) -> None:
    found = known(sample, pool, span, curve, has_raidz=has_raidz)
    table = options_of(found)
    assert [each.option for each in table.rows] == list(Option)
    for option, verdict in ((Option.LOG, found.log), (Option.CACHE, found.cache)):
        shown = table.row(option)
        assert (shown.answer, shown.because) == (verdict.answer, verdict.rule)
        if verdict.answer is Answer.HELPS:
            assert shown.relief or shown.is_there or found.readable_curve
        if verdict.answer in (Answer.NO, Answer.LITTLE) or verdict.wait_s:
            assert shown.relief is None
        if verdict.wait_s:
            assert "option-watch" in {each.code for each in shown.missing}
    if found.cache.rule.code in {"arc-is-enough", "other-pools", "no-arcstats"}:
        for option in (Option.MEMORY, Option.METADATA):
            assert table.row(option).answer is found.cache.answer
            assert table.row(option).relief is None
    assert all(_is_sound(each) for each in table.rows), table


def _is_sound(shown: OptionRow) -> bool:
    """Every sentence can be said, every share is one, and what cannot be told says what is missing."""
    said = (shown.because, shown.lost, *shown.beside, *shown.missing, *((shown.back,) if shown.back else ()))
    relief = shown.relief
    shares = [each for each in (relief.low, relief.high) if each is not None] if relief else []
    no_counters = shown.because.code in {"no-arcstats", "no-latency"}
    return (
        all("{" not in str(each) for each in said)
        and shares == sorted(shares)
        and all(0 <= each <= 1 for each in shares)
        and (shown.answer is not Answer.NO or relief is None)
        and (shown.answer is not Answer.CANNOT_TELL or bool(shown.missing or relief or no_counters or shown.beside))
    )
