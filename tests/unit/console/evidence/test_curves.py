"""The cache curve on the page of a pool: asked for by an operator, told part by part, drawn."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone, translation

from nasadvisor.console.charts.svg import NARROW, WIDE
from nasadvisor.console.evidence.curves import curve_chart, curve_charts
from nasadvisor.console.evidence.models import PART_WITHIN, StoredAnswer
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.domain.evidence.curve import CacheCurve
from nasadvisor.domain.units import GIB, HOUR_S
from nasadvisor.host.errors import ToolMissing
from nasadvisor.host.simulated.evidence import simulated_curve
from nasadvisor.stored.documents import DocumentError, Json, to_document
from tests.unit.console.conftest import Sent
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.evidence.test_evidence import page
from tests.unit.domain.evidence.test_curve import CLIFF
from tests.unit.machines import TANK

POOL = f"/pools/{TANK}/evidence/"
PART = f"/evidence/{TANK}/curve/"
START, STOP = f"{PART}start/", f"{PART}stop/"


def told(*, is_done: bool = True) -> Json:
    at = timezone.now().isoformat(timespec="seconds")
    return to_document(simulated_curve(TANK, "tank", at, 3600, is_done=is_done))


def test_an_operator_asks_and_sees_the_curve_grow(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    before = page(operator, POOL)
    assert "Trace reads for 8 hours" in before
    assert "nothing about larger ones" in before
    assert operator.post(START, {"seconds": "28800"}).status_code == 302
    [asked] = sent
    assert (asked.task, asked.args, asked.queue) == ("host.trace_curve", [TANK, 28800], "host.nas")
    assert "Tracing reads for another 8 h" in page(operator, PART)
    assert 'hx-trigger="every 10s"' in page(operator, PART)
    take_answer("nas", "cache-curve", told(is_done=False))
    growing = page(operator, PART)
    assert "A cache of 200 GiB would serve about" in growing
    assert "hx-trigger" in growing
    take_answer("nas", "cache-curve", told())
    done = page(operator, PART)
    assert "hx-trigger" not in done
    assert "This is a prediction" in done
    assert "Trace reads for 1 hour" in done


def test_a_length_that_nobody_offers_is_an_hour(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(START, {"seconds": "99999999"})
    assert sent[0].args == [TANK, 3600]


def test_it_is_stopped_on_the_host(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(START)
    assert "Stop after this part" in page(operator, PART)
    assert operator.post(STOP).status_code == 302
    assert sent[-1].task == "host.stop_curve"


def test_a_viewer_sees_it_and_cannot_ask(viewer: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    assert "Trace reads for 1 hour" not in page(viewer, POOL)
    assert viewer.post(START).status_code == 403
    assert viewer.post(STOP).status_code == 403
    assert sent == []


def test_why_there_is_none_is_said_and_what_was_known_stays(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(START)
    take_answer("nas", "cache-curve", told())
    operator.post(START)
    missing = ToolMissing("bpftrace", "bpftrace", ("/usr/bin",)).statement
    take_error("nas", "trace_curve", TANK, to_document(missing))
    text = page(operator, POOL)
    assert "Install the package bpftrace" in text
    assert "A cache of 200 GiB would serve about" in text


def card_of_cache(operator: Client) -> str:
    return page(operator, POOL).partition('<li class="choice option-cache">')[2].partition("</details></li>")[0]


def test_the_verdict_names_the_size_that_the_curve_does(operator: Client, sent: list[Sent]) -> None:
    fill(26)
    operator.post(START)
    take_answer("nas", "cache-curve", told())
    assert ">200 GiB</span>, because a larger one gains less per GiB, by the cache curve." in card_of_cache(operator)


def test_a_curve_that_leaves_no_doubt_decides_for_a_week(operator: Client, sent: list[Sent]) -> None:
    fill(26)
    operator.post(START)
    curve = simulated_curve(TANK, "tank", timezone.now().isoformat(timespec="seconds"), 3600)
    cliff = curve.knee
    assert cliff is not None
    up = {name: getattr(cliff, name) + 0.3 for name in ("served", "low", "high")}
    higher = replace(curve, points=tuple(replace(each, **up) if each.served > 0.4 else each for each in curve.points))
    take_answer("nas", "cache-curve", to_document(higher))
    assert "shows that a cache of 200 GiB would serve at least" in card_of_cache(operator)
    old = (timezone.now() - timedelta(days=8)).isoformat(timespec="seconds")
    StoredAnswer.objects.update(document=to_document(replace(higher, traced=replace(higher.traced, at=old))))
    assert "OpenZFS does not show" in card_of_cache(operator)


def test_a_host_that_falls_silent_is_told(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(START)
    take_answer("nas", "cache-curve", told(is_done=False))
    long_ago = timezone.now() - PART_WITHIN - timedelta(seconds=1)
    StoredAnswer.objects.update(asked_at=long_ago, told_at=long_ago)
    text = page(operator, PART)
    assert "The host has stopped responding" in text
    assert "hx-trigger" not in text


def test_what_nobody_asked_for_and_what_is_none_is_not_kept(operator: Client) -> None:
    fill(hours=0.1)
    take_answer("nas", "cache-curve", told())
    assert not StoredAnswer.objects.exists()
    StoredAnswer.objects.create(
        form="cache-curve", node=Node.objects.get(), pool_guid=TANK, asked_at=timezone.now(), seconds=60
    )
    for wrong in ({"points": 3}, {**told(), "missed": "many"}):
        with pytest.raises(DocumentError):
            take_answer("nas", "cache-curve", wrong)
    take_answer("other", "cache-curve", told())
    assert StoredAnswer.objects.get().document is None


def all_day(hours: float, ago: timedelta = timedelta()) -> Json:
    at = (timezone.now() - ago).isoformat(timespec="seconds")
    curve = simulated_curve(TANK, "tank", at, int(hours * HOUR_S))
    return to_document(replace(curve, traced=replace(curve.traced, is_all_day=True)))


def hours_kept() -> float:
    stored = StoredAnswer.objects.get().found(CacheCurve)
    return stored.traced.seconds / HOUR_S if stored else 0


def test_a_curve_of_reads_that_are_followed_all_day_is_kept_though_nobody_asked(operator: Client) -> None:
    take_answer("nas", "cache-curve", all_day(2))
    assert not StoredAnswer.objects.exists()  # no such pool is watched
    fill(hours=0.1)
    for hours in (2, 3):
        take_answer("nas", "cache-curve", all_day(hours))
    assert hours_kept() == 3
    text = page(operator, PART)
    assert "Traced all day, for 3 h so" in " ".join(text.split())
    assert "hx-trigger" not in text
    assert "in 90 % of cases" in " ".join(text.split())


def test_after_a_start_of_the_host_the_curve_of_a_longer_trace_stays_for_a_day(operator: Client) -> None:
    fill(hours=0.1)
    take_answer("nas", "cache-curve", all_day(50, ago=timedelta(hours=20)))
    take_answer("nas", "cache-curve", all_day(2))
    assert hours_kept() == 50
    take_answer("nas", "cache-curve", all_day(51, ago=timedelta(hours=25)))
    take_answer("nas", "cache-curve", all_day(2))
    assert hours_kept() == 2


def test_a_trace_that_is_under_way_is_not_lost_to_one_that_nobody_asked_for(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(START, {"seconds": "28800"})
    take_answer("nas", "cache-curve", told(is_done=False))
    take_answer("nas", "cache-curve", all_day(30))
    assert hours_kept() == 1
    assert "hx-trigger" in page(operator, PART)
    take_answer("nas", "cache-curve", told())
    take_answer("nas", "cache-curve", all_day(30))
    assert hours_kept() == 30


def test_a_curve_of_another_release_is_as_none(operator: Client) -> None:
    fill(hours=0.1)
    now = timezone.now()
    node = Node.objects.get()
    StoredAnswer.objects.create(
        form="cache-curve", node=node, pool_guid=TANK, asked_at=now, told_at=now, seconds=60, document={"a": 1}
    )
    assert "nothing about larger ones" in page(operator, PART)


def test_in_german_no_word_of_it_is_left_in_english(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.cookies["nasadvisor_language"] = "de"
    assert "Lesevorgänge 8 Stunden aufzeichnen" in page(operator, PART)
    operator.post(START)
    assert "Die Lesevorgänge werden noch" in page(operator, PART)
    take_answer("nas", "cache-curve", told())
    text = page(operator, PART)
    assert "Ein Cache von 200 GiB würde etwa" in text
    assert not any(word in text for word in (" the ", " of ", " reads ", " would "))
    translation.activate("en")


def test_the_picture_keeps_what_it_draws_within_its_frame() -> None:
    for width in (WIDE, NARROW):
        chart = curve_chart(CLIFF, width)
        assert [each.size_bytes for each in chart.sizes][-1] == 1000 * GIB
        assert chart.left < chart.sizes[0].at < chart.sizes[-1].at <= chart.right < width
        assert chart.top <= chart.levels[-1].at < chart.levels[0].at == chart.bottom < chart.height
        assert chart.knee_at == pytest.approx(chart.left + 30 + (chart.right - chart.left - 30) * 0.463, abs=2)
        assert len(chart.sizes) <= 8


def test_of_too_little_there_is_no_picture() -> None:
    assert curve_charts(None) == ()
    assert curve_charts(replace(CLIFF, missed=0)) == ()
    assert len(curve_charts(CLIFF)) == 2
