"""Metadata on the page of a pool: counted when an operator asks, and said what for and what was not looked at."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone, translation

from nasadvisor.console.evidence.metadata import metadata_of
from nasadvisor.console.evidence.models import ANSWER_WITHIN, StoredAnswer
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.host.evidence.metadata import CountUnfinished
from nasadvisor.host.simulated.evidence import simulated_count
from nasadvisor.stored.documents import DocumentError, Json, to_document
from tests.unit.console.conftest import Sent
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.evidence.test_evidence import page
from tests.unit.domain.evidence.counts import counted
from tests.unit.domain.evidence.test_metadata import known
from tests.unit.machines import TANK

POOL = f"/pools/{TANK}/evidence/"
PART = f"/evidence/{TANK}/metadata/"
START = f"{PART}count/"


def told() -> Json:
    return to_document(simulated_count(TANK, "tank", timezone.now().isoformat(timespec="seconds")))


def test_an_operator_is_told_what_a_count_costs_and_asks_for_it(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    before = page(operator, POOL)
    assert "zdb reads all metadata of the pool at the lowest priority" in before
    assert "Count for at most 8 hours" in before
    assert operator.post(START, {"seconds": "28800"}).status_code == 302
    [asked] = sent
    assert (asked.task, asked.args, asked.queue) == ("host.count_blocks", [TANK, 28800], "host.nas")
    under_way = page(operator, PART)
    assert "The host is counting the blocks of the pool" in under_way
    assert 'hx-trigger="every 10s"' in under_way
    assert "Count for at most" not in under_way
    take_answer("nas", "block-count", told())
    done = page(operator, PART)
    assert "hx-trigger" not in done
    assert "Location of the data" in done
    assert "Space that small data blocks would add" in done


def test_a_length_that_nobody_offers_is_an_hour(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(START, {"seconds": "99999999"})
    assert sent[0].args == [TANK, 3600]


def test_a_viewer_sees_it_and_cannot_ask(viewer: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    assert "Count for at most 1 hour" not in page(viewer, POOL)
    assert viewer.post(START).status_code == 403
    assert sent == []


def test_why_there_is_no_count_is_said_and_what_was_known_stays(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(START)
    take_answer("nas", "block-count", told())
    operator.post(START)
    take_error("nas", "count_blocks", TANK, to_document(CountUnfinished("tank", 3600).statement))
    text = page(operator, POOL)
    assert "did not finish reading the metadata of pool tank within 60 min" in text
    assert "Location of the data" in text


def test_a_host_that_falls_silent_is_told_only_after_its_time(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(START)
    StoredAnswer.objects.update(asked_at=timezone.now() - ANSWER_WITHIN - timedelta(seconds=1))
    assert "The host is counting the blocks" in page(operator, PART)
    StoredAnswer.objects.update(asked_at=timezone.now() - ANSWER_WITHIN - timedelta(seconds=3601))
    text = page(operator, PART)
    assert "The host has stopped responding" in text
    assert "hx-trigger" not in text


def test_what_nobody_asked_for_and_what_is_none_is_not_kept(operator: Client) -> None:
    fill(hours=0.1)
    take_answer("nas", "block-count", told())
    assert not StoredAnswer.objects.exists()
    StoredAnswer.objects.create(
        form="block-count", node=Node.objects.get(), pool_guid=TANK, asked_at=timezone.now(), seconds=60
    )
    for wrong in ({"kinds": 3}, {**told(), "seconds": "many"}):
        with pytest.raises(DocumentError):
            take_answer("nas", "block-count", wrong)
    take_answer("other", "block-count", told())
    assert StoredAnswer.objects.get().document is None


def test_a_count_of_another_release_is_as_none(operator: Client) -> None:
    fill(hours=0.1)
    now = timezone.now()
    node = Node.objects.get()
    StoredAnswer.objects.create(
        form="block-count", node=node, pool_guid=TANK, asked_at=now, told_at=now, seconds=60, document={"a": 1}
    )
    assert "Not analysed: how much metadata the pool holds." in page(operator, PART)


def test_bars_are_parts_of_what_special_vdevs_would_hold_and_one_cut_off_is_advised() -> None:
    part = metadata_of(None, known(found=counted()), timezone.now())
    assert part.choice == "Metadata-only cache"
    assert sum(each.width for each in part.kinds) == pytest.approx(100, abs=0.1)
    assert [each.cut.block_bytes for each in part.cuts if each.is_advised] == [32768]
    none_fits = replace(counted(), size=replace(counted().size, cut_off=0))
    part = metadata_of(None, known(found=none_fits), timezone.now())
    assert [each.cut.block_bytes for each in part.cuts if each.is_advised] == [0]


def test_in_german_no_word_of_it_is_left_in_english(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.cookies["nasadvisor_language"] = "de"
    assert "Höchstens 8 Stunden zählen" in page(operator, PART)
    operator.post(START)
    assert "Der Host zählt die Blöcke" in page(operator, PART)
    take_answer("nas", "block-count", told())
    text = page(operator, PART)
    assert "Wo die Daten liegen" in text
    assert not any(word in text for word in (" the ", " of ", " reads ", " would "))
    translation.activate("en")
