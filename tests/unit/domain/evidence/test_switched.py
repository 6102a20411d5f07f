"""The record of a cache that is switched: what counts of a period, what is said of all, and what is expected before."""

import random
from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest

from nasadvisor.domain.evidence.histogram import Histogram
from nasadvisor.domain.evidence.samples import DatasetActivity, Sample, VdevActivity
from nasadvisor.domain.evidence.switch_forecast import expected_within
from nasadvisor.domain.evidence.switch_words import result_of, whole_pairs
from nasadvisor.domain.evidence.switched import (
    FEWEST_READS,
    CacheSwitching,
    PeriodSeen,
    SwitchedCache,
    SwitchOrder,
    period_seen,
    run_id,
    run_ids_of,
)
from nasadvisor.domain.evidence.switching import Switching
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.units import HOUR_S
from tests.unit.machines import CACHE_GUID, TANK, with_cache, with_pool

ID = "6f1ef6fe-3b8c-4c62-8c3e-7a1d7c0f9a11"
PLAN = Switching(ID, 1_700_000_000)
RECORD = CacheSwitching(ID, "nas", TANK, "tank", (SwitchedCache(CACHE_GUID, "/dev/x"),), "anna", PLAN)


def sample(reads: int = 1000, bucket: int = 23, at: int = 0) -> Sample:
    """An hour in which programs read so often, and the devices took a time of one bucket for each."""
    vdevs = (VdevActivity("1", Histogram((*(0,) * bucket, reads))), VdevActivity("2"))
    return Sample(TANK, "tank", at, HOUR_S, datasets=(DatasetActivity("tank", reads=reads),), vdevs=vdevs)


def with_values(with_cache: float, without: float, chance: random.Random | None = None) -> CacheSwitching:
    def value(in_service: bool) -> float:
        return (with_cache if in_service else without) * (chance.uniform(0.8, 1.25) if chance else 1.0)

    periods = enumerate(PLAN.periods())
    return replace(
        RECORD, seen=tuple(PeriodSeen(number, 1000, 1e6 * value(each.in_service)) for number, each in periods)
    )


class TestPeriod:
    def test_what_counts_is_how_long_the_devices_read_for_one_read_of_a_program(self) -> None:
        seen = period_seen(3, sample(reads=2000, bucket=23))
        assert seen is not None
        assert (seen.number, seen.reads, seen.value) == (3, 2000, 1.5 * 2**23)

    @pytest.mark.parametrize("nothing", [sample(reads=FEWEST_READS - 1), replace(sample(), vdevs=())])
    def test_one_in_which_hardly_anybody_read_says_nothing(self, nothing: Sample) -> None:
        assert period_seen(0, nothing) is None

    def test_it_is_as_planned_only_where_the_host_shows_every_cache_so(self) -> None:
        out, there = with_cache("OFFLINE"), with_cache()
        for period in list(PLAN.periods())[:2]:
            assert RECORD.is_as_planned(period, there) == period.in_service
            assert RECORD.is_as_planned(period, out) != period.in_service
            assert not RECORD.is_as_planned(period, replace(there, pools=()))

    def test_a_cache_is_lost_only_where_its_pool_is_there_without_it(self) -> None:
        assert not RECORD.is_lost(with_cache())
        assert not RECORD.is_lost(replace(with_cache(), pools=()))
        assert RECORD.is_lost(with_pool(with_cache(), caches=()))


class TestRecord:
    def test_runs_of_one_record_are_told_from_those_of_another_and_never_change(self) -> None:
        ids = [each for _place, each in run_ids_of(ID, 2, 72)]
        assert len(set(ids)) == 144
        assert all(str(UUID(each)) == each for each in ids)
        assert run_id(ID, 5, 1) in ids
        assert run_id(ID.replace("6f", "7f"), 5, 1) not in ids

    def test_once_over_nothing_wants_it_out_and_why_it_was_over_first_stays(self) -> None:
        away = next(each for each in PLAN.periods() if not each.in_service)
        assert RECORD.wants_out(away.start)
        over = RECORD.over("2026-01-01T00:00:00+00:00", Statement("a", "A."))
        assert not over.wants_out(away.start)
        assert over.over("2027-01-01T00:00:00+00:00", Statement("b", "B.")) == over

    @pytest.mark.parametrize(
        "wrong",
        [
            {"id": "x"},
            {"caches": ()},
            {"caches": RECORD.caches * 17},
            {"plan": replace(PLAN, pairs=241)},
            {"plan": replace(PLAN, period_s=30, settle_s=0)},
            {"seen": (PeriodSeen(72, 100, 1.0),)},
            {"seen": (PeriodSeen(1, 100, 1.0),) * 2},
        ],
    )
    def test_one_that_no_host_would_make_is_none(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ValueError, match=r"switched in this way|not in its plan"):
            replace(RECORD, **wrong)  # type: ignore[arg-type]

    @pytest.mark.parametrize(("reads", "device_ns"), [(0, 1.0), (1, 0.0), (-1, -1.0)])
    def test_a_period_without_reads_is_none(self, reads: int, device_ns: float) -> None:
        with pytest.raises(ValueError, match="nobody read"):
            PeriodSeen(0, reads, device_ns)

    def test_the_usual_order_is_possible(self) -> None:
        assert SwitchOrder(ID, TANK).is_possible
        assert SwitchOrder(ID, TANK).plan(5) == replace(PLAN, start=5)


class TestWords:
    def test_what_helps_is_said_with_how_often_accident_would_show_as_much(self) -> None:
        effect, words = result_of(with_values(0.5, 1.0, random.Random(1)))
        assert effect is not None
        assert effect.probability == 0.001
        assert words.code == "switch-helps"
        assert "chance alone would show as much one time in 1000" in str(words)
        assert "less time per read (between" in str(words)

    def test_what_harms_is_said_as_plainly(self) -> None:
        _effect, words = result_of(with_values(1.5, 1.0, random.Random(2)))
        assert words.code == "switch-harms"
        assert "more time per read (between" in str(words)

    def test_what_could_be_accident_is_said_to_be_that_with_what_it_may_still_be(self) -> None:
        effect, words = result_of(with_values(1.0, 1.0, random.Random(3)))
        assert effect is not None
        assert not effect.is_found
        assert str(words).startswith("No statistically significant difference")
        assert " less time and " in str(words)

    def test_too_few_pairs_are_said_to_be_too_few(self) -> None:
        few = replace(RECORD, seen=tuple(PeriodSeen(number, 100, 1.0) for number in range(15)))
        assert whole_pairs(few) == 7
        effect, words = result_of(few)
        assert (effect, words.code) == (None, "switch-too-few")
        assert "7 pairs" in str(words)


def hours(count: int, chance: random.Random) -> Iterator[Sample]:
    """So many recorded hours, in which reads take now more and now less."""
    for number in range(1, count + 1):
        yield sample(reads=chance.randrange(500, 1500), bucket=chance.choice((20, 21, 22, 23)), at=number * HOUR_S)


class TestForecast:
    def test_it_is_what_chance_shows_in_the_recorded_hours(self) -> None:
        """Of hours that waver as widely, in which a cache does nothing, the answer then is about as wide."""
        expected = expected_within(TANK, 36, hours(100, random.Random(4)))
        assert expected is not None
        chance = random.Random(5)
        values = [PeriodSeen(number, 1000, 1.5 * 2 ** chance.choice((20, 21, 22, 23))) for number in range(72)]
        effect, _words = result_of(replace(RECORD, seen=tuple(values)))
        assert effect is not None
        assert 0.5 < expected / ((effect.high / effect.low) ** 0.5 - 1) < 2.5

    def test_of_hours_that_are_all_alike_it_is_exact(self) -> None:
        alike = (sample(at=number * HOUR_S) for number in range(1, 100))
        assert expected_within(TANK, 36, alike) == pytest.approx(0.0, abs=1e-9)

    def test_fewer_than_three_in_four_of_the_hours_tell_nothing(self) -> None:
        assert expected_within(TANK, 36, ()) is None
        assert expected_within(TANK, 36, hours(53, random.Random(6))) is None
        assert expected_within(TANK, 36, hours(54, random.Random(6))) is not None
        assert expected_within(TANK, 12, hours(53, random.Random(6))) is not None
        quiet = (sample(reads=5, at=number * HOUR_S) for number in range(1, 100))
        assert expected_within(TANK, 36, quiet) is None

    def test_longer_is_more_exact(self) -> None:
        recorded = list(hours(200, random.Random(7)))
        short, usual, long = (expected_within(TANK, pairs, recorded) for pairs in (12, 36, 84))
        assert short is not None
        assert usual is not None
        assert long is not None
        assert short > usual > long
