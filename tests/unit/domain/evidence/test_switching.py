"""Proof by switching: the plan of the coins, and a test that neither the hour nor what went before can deceive."""

import random
from itertools import pairwise
from math import exp, log, pi, sin

import pytest

from nasadvisor.domain.evidence.switch_effect import FEWEST_PAIRS, SwitchEffect, effect_of, expected_precision
from nasadvisor.domain.evidence.switching import Period, Switching
from nasadvisor.domain.units import HOUR_S

PLAN = Switching("run-1", 1_700_000_000)


def load(plan: Switching, chance: random.Random, factor: float = 1.0) -> dict[Period, float]:
    """A day that rises and falls, hours that depend on those before (autocorrelation 0.8), and now and then a backup.

    `factor` is what the cache does to each period in which it is in service.
    """
    before, found = chance.gauss(0, 0.3), {}
    for period in plan.periods():
        before = 0.8 * before + chance.gauss(0, 0.18)
        day = 0.7 * sin(2 * pi * period.start / (24 * HOUR_S))
        backup = log(3) if chance.random() < 0.05 else 0.0
        found[period] = exp(day + before + backup) * (factor if period.in_service else 1.0)
    return found


def tried(seed: int, factor: float = 1.0) -> SwitchEffect:
    plan = Switching(f"run-{seed}", PLAN.start)
    found = effect_of(plan, load(plan, random.Random(seed), factor))
    assert found is not None
    return found


class TestPlan:
    def test_in_each_pair_the_cache_is_in_service_once(self) -> None:
        periods = list(PLAN.periods())
        assert [each.pair for each in periods] == [number // 2 for number in range(72)]
        for first, second in zip(periods[::2], periods[1::2], strict=True):
            assert {first.in_service, second.in_service} == {True, False}

    def test_periods_follow_each_other_for_three_days(self) -> None:
        periods = list(PLAN.periods())
        assert all(before.end == after.start for before, after in pairwise(periods))
        assert (periods[0].start, periods[-1].end) == (PLAN.start, PLAN.end)
        assert PLAN.end - PLAN.start == 72 * HOUR_S
        assert all(each.counts_from - each.start == HOUR_S // 3 for each in periods)

    def test_the_same_seed_throws_the_same_coins_and_another_does_not(self) -> None:
        assert list(PLAN.periods()) == list(Switching("run-1", PLAN.start).periods())
        assert list(PLAN.periods()) != list(Switching("run-2", PLAN.start).periods())

    def test_coins_are_fair(self) -> None:
        firsts = [next(iter(Switching(f"run-{seed}", 0).periods())).in_service for seed in range(2000)]
        assert 900 < sum(firsts) < 1100

    def test_before_and_after_it_the_cache_is_in_service(self) -> None:
        assert PLAN.in_service_at(PLAN.start - 1)
        assert PLAN.in_service_at(PLAN.end)
        away = next(each for each in PLAN.periods() if not each.in_service)
        assert not PLAN.in_service_at(away.start)
        assert 36 <= PLAN.switches <= 73

    @pytest.mark.parametrize("wrong", [{"pairs": 0}, {"period_s": 1200}, {"settle_s": -1}])
    def test_a_plan_of_which_nothing_counts_is_none(self, wrong: dict[str, int]) -> None:
        with pytest.raises(ValueError, match="plan of switches"):
            Switching("run-1", 0, **wrong)


class TestEffect:
    def test_an_effect_of_30_percent_is_found(self) -> None:
        found = [tried(seed, 0.7) for seed in range(20)]
        assert all(each.is_found and each.factor < 1 for each in found)
        assert sum(each.low <= 0.7 <= each.high for each in found) >= 17

    def test_where_there_is_none_none_is_found_more_often_than_chance_may(self) -> None:
        """Of 200 with no effect 10 may be found; 20 and more would happen once in 300 times if it were so."""
        assert sum(tried(seed).is_found for seed in range(100, 300)) < 20

    def test_the_interval_holds_the_truth(self) -> None:
        found = [tried(seed, 0.85) for seed in range(1000, 1100)]
        assert sum(each.low <= 0.85 <= each.high for each in found) >= 88

    def test_the_interval_and_the_probability_say_the_same(self) -> None:
        for seed in range(15):
            each = tried(seed, 0.9)
            assert each.is_found == (not each.low <= 1 <= each.high)

    def test_a_load_that_falls_all_the_time_is_no_effect(self) -> None:
        """Before and after would call this a gain of 90 %."""
        falling = {each: exp(-0.03 * number) for number, each in enumerate(PLAN.periods())}
        found = effect_of(PLAN, falling)
        assert found is not None
        assert not found.is_found

    def test_few_pairs_are_counted_out_exactly(self) -> None:
        plan = Switching("few", 0, pairs=FEWEST_PAIRS)
        always = {each: 0.5 if each.in_service else 1.0 for each in plan.periods()}
        found = effect_of(plan, always)
        assert found is not None
        assert (found.pairs, found.factor, found.probability) == (8, 0.5, 2 / 2**8)

    def test_a_pair_with_a_gap_does_not_count_and_too_few_tell_nothing(self) -> None:
        values = load(PLAN, random.Random(1), 0.7)
        [*_, last] = PLAN.periods()
        del values[last]
        found = effect_of(PLAN, values)
        assert found is not None
        assert found.pairs == 35
        few = {each: value for each, value in values.items() if each.pair < 7}
        assert effect_of(PLAN, few) is None
        assert expected_precision(PLAN, few) is None

    def test_before_it_begins_the_days_before_tell_how_exact_it_will_be(self) -> None:
        expected = expected_precision(PLAN, load(PLAN, random.Random(2)))
        assert expected is not None
        real = tried(3, 0.7)
        assert 0.5 < expected / ((real.high / real.low) ** 0.5 - 1) < 2
