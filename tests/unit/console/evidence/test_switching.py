"""Proof by switching on the pages: offered with how exact it will be, begun and stopped with a password, and shown."""

from dataclasses import replace

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone

from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.evidence.models import StoredAnswer
from nasadvisor.console.evidence.report import report_of
from nasadvisor.console.evidence.switch_shown import switch_charts
from nasadvisor.console.evidence.trials import verdict_of
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.domain.evidence.switched import CacheSwitching, PeriodSeen, SwitchOrder
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import from_document, to_document
from tests.unit.console.conftest import PASSWORD, Sent
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.evidence.test_evidence import applied_run, page
from tests.unit.console.evidence.test_switch_store import RECORD
from tests.unit.machines import TANK, with_cache, with_pool

POOL = f"/pools/{TANK}/evidence/"
PART = f"/evidence/{TANK}/switching/"
START, STOP = f"{PART}start/", f"{PART}stop/"
ENDED = "2026-08-25T20:00:00+00:00"


def watched(hours: float = 0.1) -> None:
    """A pool with a cache that was watched for so long."""
    fill(hours=hours)
    node = Node.objects.get()
    read_at = timezone.now().replace(microsecond=0).isoformat()
    take_answer(node.name, "inventory", to_document(replace(with_cache(), read_at=read_at)))


def counted(pairs: int = 36, factor: float = 0.5) -> CacheSwitching:
    """A record of which so many pairs were counted."""
    seen = tuple(
        PeriodSeen(number, 1000, 1e9 * (1 + number % 7 / 20) * (factor if period.in_service else 1.0))
        for number, period in enumerate(RECORD.plan.periods())
        if number < 2 * pairs
    )
    return replace(RECORD, seen=seen, seq=2 + pairs)


def test_it_is_offered_where_there_is_a_cache_and_begun_with_the_password(operator: Client, sent: list[Sent]) -> None:
    watched()
    assert START in page(operator, POOL)
    form = page(operator, START)
    assert "Half of the time, reads are as slow as without a cache" in form
    operator.post(START, {"pairs": "12", "password": "wrong"})
    assert sent == []
    assert operator.post(START, {"pairs": "12", "password": PASSWORD}).status_code == 302
    [asked] = sent
    assert asked.task == "host.start_switching"
    order, by = from_document(SwitchOrder, asked.args[0]), asked.args[1]
    assert (order.pool_guid, order.pairs, order.is_possible, by) == (TANK, 12, True, "operator")
    assert AuditEntry.objects.filter(act="switch").exists()
    waiting = page(operator, PART)
    assert "Waiting for the host." in waiting
    assert START not in waiting


def test_without_a_cache_there_is_nothing_to_offer(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    assert "Randomised cache test" not in page(operator, POOL)
    assert operator.get(START).status_code == 302
    assert operator.post(STOP, {"password": PASSWORD}).status_code == 302
    assert sent == []


def test_it_is_not_offered_for_a_pool_that_its_host_would_leave_alone(operator: Client, sent: list[Sent]) -> None:
    watched()
    node = Node.objects.get()
    degraded = replace(with_pool(with_cache(), state="DEGRADED"), read_at=timezone.now().isoformat())
    take_answer(node.name, "inventory", to_document(degraded))
    text = page(operator, POOL)
    assert START not in text
    assert "is DEGRADED" in text.partition("Randomised cache test")[2]
    assert operator.post(START, {"pairs": "12", "password": PASSWORD}).status_code == 302
    assert sent == []


def test_what_a_form_of_ours_does_not_have_is_refused_and_a_strange_length_is_three_days(
    operator: Client, sent: list[Sent]
) -> None:
    watched()
    assert operator.post(START, {"period_s": "1", "password": PASSWORD}).status_code == 400
    operator.post(START, {"pairs": "100000", "password": PASSWORD})
    assert from_document(SwitchOrder, sent[0].args[0]).pairs == 36


def test_a_viewer_sees_it_and_cannot_ask(viewer: Client, sent: list[Sent]) -> None:
    watched()
    take_answer("nas", "cache-switching", to_document(counted()))
    text = page(viewer, POOL)
    assert "The cache helps" in text
    assert STOP not in text
    for address in (START, STOP):
        assert viewer.post(address, {"password": PASSWORD}).status_code == 403
    assert sent == []


def test_nothing_is_said_of_how_exact_it_will_be_before_enough_is_recorded(operator: Client) -> None:
    watched()
    text = page(operator, START)
    assert "±" not in text
    assert text.count("not enough data yet to predict the precision") == 3


def test_how_exact_it_will_be_comes_from_the_recorded_hours(operator: Client) -> None:
    watched(hours=26)
    text = page(operator, START)
    assert text.count("expected precision ±") == 1, "of a day; of three and of seven too little is recorded"
    assert text.count("not enough data yet to predict the precision") == 2


def test_while_it_goes_on_it_can_be_stopped_at_any_time(operator: Client, sent: list[Sent]) -> None:
    watched()
    take_answer("nas", "cache-switching", to_document(counted(pairs=3)))
    text = page(operator, POOL)
    assert "Running until" in text
    assert "6 of 72 periods were counted, 3 complete pairs." in text
    assert "Not enough data: " in text
    assert START not in text
    assert "stays there" in page(operator, STOP)
    operator.post(STOP, {"password": "wrong"})
    assert sent == []
    operator.post(STOP, {"password": PASSWORD})
    assert [(each.task, each.args) for each in sent] == [("host.stop_switching", [TANK, "operator"])]
    assert AuditEntry.objects.filter(act="switch-stop").exists()


def test_the_answer_is_said_in_words_with_its_probability_and_drawn(operator: Client) -> None:
    watched()
    why = Statement("switching-done", "The test ran to completion.")
    take_answer("nas", "cache-switching", to_document(replace(counted(), over_at=ENDED, ended_at=ENDED, why_over=why)))
    text = page(operator, POOL)
    assert "The cache helps: with it, the devices take 50" in text
    assert "chance alone would show as much one time in 1000" in text
    assert text.count('class="with"') == text.count('class="without"') == 72
    assert "The test ran to completion." in text
    assert START in text


def test_a_cache_that_could_not_be_put_back_is_said(operator: Client) -> None:
    watched()
    problem = Statement("pool-away", "Pool tank is not imported.")
    take_answer("nas", "cache-switching", to_document(replace(counted(), over_at=ENDED, problem=problem)))
    text = page(operator, POOL)
    assert "The randomised test left a cache of pool tank out of service" in text
    assert "Pool tank is not imported." in text
    assert STOP in text


def test_why_its_host_did_not_begin_is_said(operator: Client, sent: list[Sent]) -> None:
    watched()
    operator.post(START, {"password": PASSWORD})
    take_error("nas", "start_switching", TANK, to_document(Statement("no", "Pool tank has a checkpoint.")))
    text = page(operator, POOL)
    assert "Pool tank has a checkpoint." in text
    assert START in text


@pytest.mark.parametrize("is_later", [True, False])
def test_the_report_of_a_run_that_gave_the_cache_shows_it_too(operator: Client, is_later: bool) -> None:
    """And only what was switched while that cache was there."""
    watched(hours=30)
    stored = cached_run()
    start = int(timezone.now().timestamp()) - (9 if is_later else 200) * 3600
    StoredAnswer.objects.update(document=to_document(replace(counted(), plan=replace(RECORD.plan, start=start))))
    found = report_of(stored, timezone.now())
    assert found is not None
    assert (found.switching is not None) == is_later
    assert ("The cache helps" in page(operator, f"/evidence/{TANK}/report/{stored.pk}/")) == is_later


def cached_run() -> StoredRun:
    """A run of a day ago that gave the pool its cache, which was switched since."""
    stored = applied_run(20)
    stored.document["plan"]["request"]["cache_disks"] = ["0x5000000000000001"]
    stored.save()
    start = int(timezone.now().timestamp()) - 10 * 3600
    take_answer("nas", "cache-switching", to_document(replace(counted(), plan=replace(RECORD.plan, start=start))))
    return StoredRun.objects.get()


def test_on_paper_it_is_drawn_once_with_its_own_colours(operator: Client) -> None:
    watched(hours=30)
    report = report_of(cached_run(), timezone.now())
    html = render_to_string("evidence/_report.html", {"report": report, "is_printed": True})
    assert "Randomised cache test" in html
    assert html.count('class="wear-chart') == 1
    assert ".without { fill: none;" in html


def test_a_trial_of_a_cache_is_judged_by_its_switches(operator: Client) -> None:
    """And not by synchronous writes, on which a cache has no effect."""
    watched(hours=30)
    verdict = verdict_of(report_of(cached_run(), timezone.now()))
    assert verdict.code == "switch-helps"


def test_the_picture_sets_periods_with_the_cache_below_where_it_helps() -> None:
    wide, narrow = switch_charts(counted())
    assert len(wide.with_cache) == len(wide.without) == 36
    assert wide.mean_with > wide.mean_without, "the lower on the picture, the shorter"
    assert wide.width > narrow.width
    for chart in (wide, narrow):
        for mark in (*chart.with_cache, *chart.without):
            assert chart.left <= mark.at <= chart.right
            assert chart.top <= mark.height <= chart.bottom
    assert switch_charts(None) == ()
    assert switch_charts(replace(counted(), seen=counted().seen[:1])) == ()


def test_in_german_no_word_of_it_is_left_in_english(operator: Client) -> None:
    watched()
    operator.cookies["nasadvisor_language"] = "de"
    assert "Dauer" in page(operator, START)
    take_answer("nas", "cache-switching", to_document(counted()))
    text = page(operator, PART)
    assert "Der Cache hilft: Mit ihm brauchen die Geräte je Lesevorgang 50" in text
    assert "einmal in 1000 Fällen" in text
    assert "Beenden und den Cache wieder in Betrieb nehmen" in text
    assert not any(word in text for word in (" the ", " of ", " reads ", " would "))
