"""Whose writing wears a drive, what another role would add, and the warranty's clock."""

import pytest

from nasadvisor.domain.health.wear.forecast import erase_clock, forecast, tbw_clock
from nasadvisor.domain.health.wear.roles import RoleBytes, attribute, with_added
from nasadvisor.domain.units import MIB
from tests.unit.domain.health.wear.histories import TB, history

STEADY = history([(300, 9, 30), (400, 12, 40), (500, 15, 50), (600, 18, 60)])


def test_each_role_has_its_share_and_the_rest_is_named() -> None:
    shares = attribute(100, [RoleBytes("log", 20), RoleBytes("cache", 50)], percent_per_year=10.0).shares
    assert [(one.role, one.share, one.percent_per_year) for one in shares] == [
        ("cache", 0.5, 5.0),
        ("other", 0.3, 3.0),
        ("log", 0.2, 2.0),
    ]


def test_two_slices_of_one_role_are_one_share() -> None:
    assert attribute(None, [RoleBytes("log", 20), RoleBytes("log", 20)], None).shares[0].bytes_written == 40


def test_nothing_written_has_no_shares() -> None:
    assert attribute(0, [RoleBytes("log", 0)], 1.0).shares == ()


def test_roles_that_claim_more_than_the_drive_counted_are_a_finding() -> None:
    found = attribute(10 * 10**9, [RoleBytes("cache", 100 * 10**9)], 1.0)
    assert [finding.code for finding in found.findings] == ["role-bytes-exceed-drive"]
    assert sum(share.share for share in found.shares) == 1.0


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
