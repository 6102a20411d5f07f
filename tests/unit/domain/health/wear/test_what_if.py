"""What another role would add to the wear of a drive, how long it lasts without one, and the warranty's clock."""

import pytest

from nasadvisor.domain.health.wear.bill import BillLine, Payee, bill_of
from nasadvisor.domain.health.wear.forecast import erase_clock, forecast, tbw_clock
from nasadvisor.domain.health.wear.what_if import cost_per_year, part_of, weighed, with_added, years_without
from nasadvisor.domain.units import MIB
from tests.unit.domain.health.wear.histories import TB, history

STEADY = history([(300, 9, 30), (400, 12, 40), (500, 15, 50), (600, 18, 60)])


def test_a_log_adds_what_is_written_synchronously() -> None:
    weighed = with_added(forecast(STEADY, 0), "log", 0.1 * TB)
    assert weighed.added_percent_per_year is not None
    assert weighed.added_percent_per_year.middle == pytest.approx(0.9 * 0.03 * 365.25, rel=0.1)
    assert weighed.added_percent_per_year.low < weighed.added_percent_per_year.middle


def test_a_cache_at_its_feed_limit_writes_all_day() -> None:
    weighed = with_added(forecast(STEADY, 0), "cache", 8 * MIB * 86_400)
    assert weighed.added_bytes_per_day == 8 * MIB * 86_400
    assert weighed.years_left is not None
    assert weighed.years_left.low < weighed.years_left.middle < weighed.years_left.high


def test_what_is_unknown_stays_unknown_in_another_role() -> None:
    weighed = with_added(forecast(history([]), 0), "log", TB)
    assert (weighed.added_percent_per_year, weighed.years_left) == (None, None)


def test_without_who_writes_two_thirds_a_drive_lasts_three_times_as_long() -> None:
    now = forecast(STEADY, 0)
    whole, rest, part = years_without(now, 0.0), years_without(now, 2 / 3), part_of(now, 2 / 3)
    assert whole
    assert rest
    assert rest.middle == pytest.approx(3 * whole.middle)
    assert part
    assert now.percent_per_year
    assert part.middle == pytest.approx(now.percent_per_year.middle * 2 / 3)
    assert 0 < part.low < part.middle < part.high


def test_without_its_only_writer_nothing_wears_a_drive_and_the_unknown_stays_unknown() -> None:
    assert years_without(forecast(STEADY, 0), 1.0) is None
    assert years_without(forecast(history([]), 0), 0.5) is None
    assert part_of(forecast(history([]), 0), 0.5) is None


def test_a_year_costs_what_it_wears_else_what_the_rating_pays_for() -> None:
    now = forecast(STEADY, 0)
    assert now.percent_per_year
    assert cost_per_year(200, now, None, 0) == pytest.approx(2 * now.percent_per_year.middle)
    assert cost_per_year(120, None, 600, 60e12) == pytest.approx(12)
    assert cost_per_year(120, None, None, 60e12) is None
    assert cost_per_year(None, now, 600, 60e12) is None


def test_the_lines_of_a_bill_share_wear_and_cost() -> None:
    lines = [BillLine(Payee.GUEST, "VM 101", 300), BillLine(Payee.CACHE, "", 100)]
    guest, cache = weighed(bill_of(None, lines), 43_200, forecast(STEADY, 0), 8.0)
    assert (guest.share, guest.bytes_per_day, guest.cost, cache.cost) == (0.75, 600.0, 6.0, 2.0)
    assert guest.percent_per_year
    assert cache.percent_per_year
    assert guest.percent_per_year.middle == pytest.approx(3 * cache.percent_per_year.middle)
    assert guest.years_without
    assert cache.years_without
    assert guest.years_without.middle == pytest.approx(3 * cache.years_without.middle)
    [unknown, _cache] = weighed(bill_of(None, lines), 0, None, None)
    assert (unknown.percent_per_year, unknown.years_without, unknown.cost) == (None, None, None)


def test_a_rating_is_in_decimal_terabytes() -> None:
    clock = tbw_clock(600, 60 * TB, forecast(STEADY, 0).bytes_per_day)
    assert clock.used_percent == 10
    assert clock.days_left is not None
    assert clock.days_left.middle == pytest.approx(5400, rel=0.1)


def test_erases_are_divided_by_write_amplification() -> None:
    assert erase_clock(120 * 10**9, 4000, 2.0, 24 * TB, None).used_percent == 10


def test_a_rating_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="above zero"):
        tbw_clock(0, 1, None)
    with pytest.raises(ValueError, match="above zero"):
        erase_clock(1, 0, 1.0, 1, None)
