"""How figures are written on pages: the unit that fits, and no more than is known."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone, translation

from nasadvisor.console.templatetags.nasadvisor import (
    ahead,
    breakable,
    day,
    gigabytes,
    of_rating,
    sentence,
    terabytes,
    years,
)
from nasadvisor.domain.health.wear.forecast import Spread
from nasadvisor.domain.statements import Statement


def parted(text: str) -> str:
    """With a plain space before the unit."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("spread", "said"),
    [
        (Spread(11, 15, 20), "10+ years"),
        (Spread(0.25, 0.5, 0.75), "3 – 9 months, about 6"),
        (Spread(4, 12, 30), "10+ years (at least 4.0)"),
        (Spread(1, 2.5, 4), "2.5 years (1.0 – 4.0)"),
        (Spread(3, 8, 14), "8.0 years (3.0 – 10+)"),
    ],
)
def test_a_range_of_years_looks_no_further_than_ten(spread: Spread, said: str) -> None:
    assert years(spread) == said


@pytest.mark.parametrize(
    ("count", "said"),
    [(None, "–"), (0, "0.0 GB"), (99_000_000, "99.0 MB"), (108_700_000_000, "108.7 GB"), (1_500_000_000_000, "1.5 TB")],
)
def test_bytes_a_day_are_written_in_the_unit_that_fits(count: int | None, said: str) -> None:
    assert parted(gigabytes(count)) == said


def test_what_is_written_is_rounded_and_not_cut_off() -> None:
    assert parted(terabytes(22_660_000_000_000)) == "22.7 TB"


def test_no_line_ends_between_a_number_and_its_unit() -> None:
    shown = sentence(Statement("wait", "About {time} for each of 36 commits: `sleep 24 s`", {"time": "24 ms"}))
    assert shown == "About 24\N{NO-BREAK SPACE}ms for each of 36 commits: <code>sleep 24 s</code>"
    assert " " not in gigabytes(1_000_000_000)


def test_a_share_of_the_rating_is_said_only_where_both_are_known() -> None:
    assert parted(of_rating(60 * 10**12, 600)) == "10 %"
    assert of_rating(None, 600) == of_rating(10**12, None) == ""


@pytest.mark.parametrize(("language", "said"), [("en", "3 Oct 2026"), ("de", "3. Okt 2026")])
def test_a_date_is_written_as_its_language_does(language: str, said: str) -> None:
    with translation.override(language):
        assert day(date(2026, 10, 3)) == said
        assert day(datetime(2026, 10, 3, 12, tzinfo=UTC)) == said


def test_a_moment_ahead_is_said_by_how_far_it_is() -> None:
    assert ahead(None) == "–"
    assert "in less than a minute" in ahead(timezone.now() + timedelta(seconds=20))
    assert "in 2" in ahead(timezone.now() + timedelta(hours=2, minutes=30))


def test_a_name_may_break_after_its_underscores_and_is_escaped() -> None:
    assert breakable("Current_Pending_<Sector>") == "Current_<wbr>Pending_<wbr>&lt;Sector&gt;"
