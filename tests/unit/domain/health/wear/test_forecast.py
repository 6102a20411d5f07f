"""Forecasts of made-up drives: what follows from the numbers, and what must not be claimed."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.domain.health.wear.calibration import Steadiness, smooth_spread, stepped_spread
from nasadvisor.domain.health.wear.forecast import Exhaustion, Forecast, forecast, percents_at
from nasadvisor.domain.health.wear.history import History, Phase, RoleChange, history_of
from nasadvisor.stored.documents import from_document, to_document
from tests.unit.domain.health.wear.histories import DAY, TB, history, snapshot

STEADY = [(300, 9, 30), (400, 12, 40), (500, 15, 50), (600, 18, 60)]
"""A tenth of a terabyte and 0.03 points a day."""


def codes(found: Forecast) -> list[str]:
    return [finding.code for finding in found.findings]


def exhaustion(found: Forecast, percent: int) -> Exhaustion:
    return next(one for one in found.exhaustion if one.percent == percent)


def test_a_steady_drive_goes_on() -> None:
    found = forecast(history(STEADY), 100)
    assert found.bytes_per_day is not None
    assert found.percent_at is not None
    assert found.bytes_per_day.middle == pytest.approx(0.1 * TB, rel=0.1)
    assert (found.percent_used, found.percent_at.middle) == (18, 21)
    assert found.percent_at.low >= 19


def test_its_rating_has_a_date_range_that_holds_the_straight_line() -> None:
    reached = exhaustion(forecast(history(STEADY), 0), 100)
    straight = (100 - 18) / 0.03
    assert reached.earliest_days is not None
    assert reached.expected_days is not None
    assert reached.earliest_days < reached.expected_days
    assert reached.earliest_days < straight


def test_uneven_writing_makes_the_range_wider() -> None:
    uneven = [(300, 9, 30), (400, 10, 32), (600, 18, 60)]
    steady, other = (forecast(history(points), 100).percent_at for points in (STEADY, uneven))
    assert steady is not None
    assert other is not None
    assert other.high - other.low > steady.high - steady.low


def test_wear_never_goes_down() -> None:
    found = forecast(history([(300, 9, 30), (400, 9, 30.1), (500, 9, 30.2)]), 60)
    assert found.percent_at is not None
    assert found.percent_at.low == found.percent_at.middle == 9


def test_one_reading_is_not_enough_for_a_date() -> None:
    found = forecast(history([(600, 18, 60)]), 90)
    assert codes(found) == ["not-enough-history"]
    assert (found.exhaustion, found.enough_history) == ((), False)
    assert found.bytes_per_day is not None


def test_two_weeks_are_enough_and_so_are_two_steps() -> None:
    assert not forecast(history([(600, 18, 60), (607, 19, 61)]), 90).enough_history
    assert forecast(history([(600, 18, 60), (614, 18, 61)]), 90).enough_history
    assert forecast(history([(600, 18, 60), (603, 20, 66)]), 90).enough_history


def test_without_a_reading_nothing_is_known() -> None:
    found = forecast(history_of([]), 90)
    assert (found.percent_used, found.percent_at, found.bytes_per_day) == (None, None, None)
    assert codes(found) == ["wear-unknown"]


def test_a_change_of_role_begins_anew() -> None:
    points = [*STEADY, (610, 21, 70), (630, 27, 90)]
    before = forecast(history(points), 30)
    after = forecast(history(points, [RoleChange(605 * DAY, "log")]), 30)
    assert before.bytes_per_day is not None
    assert after.bytes_per_day is not None
    assert after.bytes_per_day.middle > before.bytes_per_day.middle
    assert after.bytes_per_day.middle == pytest.approx(TB, rel=0.2)


def test_right_after_a_change_of_role_there_is_not_enough_history() -> None:
    found = forecast(history(STEADY, [RoleChange(599 * DAY, "cache")]), 30)
    assert codes(found) == ["not-enough-history"]


def test_a_drive_that_stopped_counting_at_100_says_so() -> None:
    found = forecast(history([(500, 100, 100), (600, 100, 110), (700, 100, 120)]), 90)
    assert codes(found) == ["wear-stopped-counting"]


def test_a_percentage_that_falls_is_a_conflict() -> None:
    assert "indicator-conflict" in codes(forecast(history([(300, 20, 30), (400, 9, 40), (500, 12, 50)]), 90))


def test_readings_every_six_hours_say_the_same_as_readings_every_month() -> None:
    days = [day / 4 for day in range(4 * 300, 4 * 600 + 1)]
    busy_mornings = [0.4 * (number // 4) + 0.39 * (number % 4 > 0) for number in range(len(days))]
    dense = [(day, int(0.03 * day), 120 + written) for day, written in zip(days, busy_mornings, strict=True)]
    often, seldom = (forecast(history(points), 100) for points in (dense, dense[::120]))
    assert often.bytes_per_day is not None
    assert seldom.bytes_per_day is not None
    assert often.bytes_per_day.middle == pytest.approx(seldom.bytes_per_day.middle, rel=0.05)
    assert often.percent_at == seldom.percent_at


def test_a_new_drive_wears_as_usual_until_it_shows_its_own_wear() -> None:
    terabytes_a_day, terabytes_a_rewrite = 0.01, 0.96
    usual = terabytes_a_day / terabytes_a_rewrite * 365.25 / 500 * 100
    new, proven = (
        forecast(history([(day, 0, day * terabytes_a_day) for day in days]), 0).percent_per_year
        for days in ((1, 20), (1, 2000))
    )
    assert new is not None
    assert proven is not None
    assert new.middle == pytest.approx(usual, rel=0.3)
    assert proven.middle < usual / 4


def test_readings_of_the_drive_before_do_not_count() -> None:
    old, new = [(300, 50, 300), (400, 60, 400)], [(401, 0, 0.1), (420, 0, 2)]
    snapshots = [snapshot(*point) for point in [*old, *new]]
    renamed = [
        replace(one, reading=replace(one.reading, identity=replace(one.reading.identity, serial=serial)))
        for one, serial in zip(snapshots, "AABB", strict=True)
    ]
    assert [point.percent for point in history_of(renamed).points] == [0, 0]


def test_what_is_reached_is_reached_today() -> None:
    found = forecast(history([(300, 70, 30), (400, 93, 40), (500, 97, 50)]), 0)
    assert exhaustion(found, 90).latest_days == 0


def test_beyond_ten_years_is_none() -> None:
    found = forecast(history([(300, 0, 1), (400, 0, 1.1), (500, 0, 1.2)]), 0)
    assert exhaustion(found, 100).expected_days is None


def test_a_forecast_is_a_document() -> None:
    found = forecast(history(STEADY), 100)
    assert from_document(Forecast, to_document(found)) == found


@st.composite
def any_history(draw: st.DrawFn) -> History:
    """A drive that ages, wears and writes, read up to six times."""
    steps = draw(
        st.lists(st.tuples(st.floats(0.3, 400), st.integers(0, 40), st.floats(0, 200)), min_size=1, max_size=6)
    )
    day, percent, terabytes = 1.0, 0, 0.01
    points = []
    for days, points_worn, written in steps:
        day, percent, terabytes = day + days, min(percent + points_worn, 255), terabytes + written
        points.append((day, percent, terabytes))
    return history(points)


@given(any_history(), st.floats(0, 4000))
def test_ranges_are_in_order_and_never_below_now(watched: History, days: float) -> None:
    found = forecast(watched, days)
    assert found.percent_at is not None
    assert found.percent_used is not None
    ends = (found.percent_used, found.percent_at.low, found.percent_at.middle, found.percent_at.high)
    assert all(one <= other for one, other in pairwise(ends))


@given(any_history())
def test_dates_are_in_order(watched: History) -> None:
    for reached in forecast(watched, 0).exhaustion:
        ends = [3653.1 if d is None else d for d in (reached.earliest_days, reached.expected_days, reached.latest_days)]
        assert all(one <= other for one, other in pairwise(ends))


@given(any_history(), st.lists(st.floats(-10, 5000), max_size=4))
def test_several_horizons_at_once_say_what_each_says_by_itself(watched: History, horizons: list[float]) -> None:
    alone = [forecast(watched, days).percent_at for days in horizons]
    assert list(percents_at(watched, horizons)) == [each for each in alone if each]


def test_a_drive_whose_work_changed_may_wear_several_times_what_was_expected() -> None:
    """An SSD of a family that was not known: 1.46 points were expected within 154 days, and 6 came."""
    low, middle, high = stepped_spread(1.46, Phase(0.0, 1.0), Steadiness.UNSTEADY)
    assert low <= 1 <= middle <= 6 <= high <= 10
    assert stepped_spread(1.46, Phase(0.0, 1.0), Steadiness.STEADY)[2] <= 3


def test_the_high_end_rises_with_the_gain_and_never_falls_below_the_usual_slope() -> None:
    gains = [0.0, 0.01, 0.1, 1.0, 5.0, 20.0, 50.0, 200.0]
    for steady in Steadiness:
        highs = [smooth_spread(gain, steady)[2] for gain in gains]
        assert highs == sorted(highs)
        assert all(high >= 1.3 * gain for gain, high in zip(gains, highs, strict=True))
