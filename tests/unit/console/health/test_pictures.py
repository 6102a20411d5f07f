"""What is written into the pictures of figures over time: moments below them, and roles in that of the wear."""

from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise

import pytest

from nasadvisor.console.charts.svg import time_labels
from nasadvisor.console.health.disks.wear_chart import ROW_HEIGHT, role_marks

END = datetime(2026, 11, 23, 4, 46, tzinfo=UTC)
WIDE, NARROW = 684, 284


def months(begin: datetime, end: datetime) -> int:
    return (end.year - begin.year) * 12 + end.month - begin.month


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("hours", [1.5, 20, 47, 24 * 5, 24 * 30, 24 * 90, 24 * 250])
def test_hours_and_days_below_a_picture_are_equally_far_apart(hours: float, width: int) -> None:
    found = [moment for moment, _ in time_labels(END - timedelta(hours=hours), END, width)]
    assert 1 <= len(found) <= width // 90
    in_months = all(moment.day == 1 for moment in found)
    steps = {months(one, other) if in_months else other - one for one, other in pairwise(found)}
    assert len(steps) <= 1


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("days", [300, 365, 700, 365 * 3, 365 * 10, 365 * 11])
def test_months_and_years_below_a_picture_are_equally_far_apart(days: int, width: int) -> None:
    begin = END - timedelta(days=days)
    found = [moment for moment, _ in time_labels(begin, END, width)]
    assert 1 <= len(found) <= width // 90
    assert len({months(one, other) for one, other in pairwise(found)}) <= 1
    assert all(moment.day == 1 for moment in found)
    assert max(found) <= END - (END - begin) * 28 / width, "its words would be cut off"


@pytest.mark.parametrize("apart", [1, 20, 60, 100])
def test_words_of_roles_cover_neither_each_other_nor_leave_the_picture(apart: int) -> None:
    begin, right = END, 748.0
    roles = [("log+cache", "cache", "")[number % 3] for number in range(8)]
    points = [(begin + timedelta(days=number * apart), role) for number, role in enumerate(roles)]
    marks = role_marks(points, lambda moment: 48.0 + (moment - begin).days, right)
    boxes = []
    for mark in (each for each in marks if each.label):
        wide = 7 * (len(mark.label) + 2 * mark.label.count("+"))
        left = mark.at - wide if mark.is_before else mark.at
        assert left + wide <= right
        boxes.append((left, left + wide, mark.y))
    assert len(marks) == 7
    assert len(boxes) >= 3
    for one, other in combinations(boxes, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or abs(one[2] - other[2]) >= ROW_HEIGHT
