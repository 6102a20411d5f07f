"""The commits of a pool on the page that measures: asked for by an operator, told part by part, replayed on an SSD."""

from dataclasses import replace
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.evidence.models import StoredAnswer
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.quotas import LARGEST_RUN, size_of
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.domain.evidence.log_blocks import MOST_BLOCKS, LogBlocks, replayed
from nasadvisor.host.errors import ToolMissing
from nasadvisor.host.simulated.evidence import simulated_commits
from nasadvisor.stored.documents import DocumentError, Json, to_document
from tests.unit.console.conftest import Sent
from tests.unit.console.evidence.test_evidence import page
from tests.unit.console.evidence.test_measuring import URL, load, measured, store
from tests.unit.host.evidence.test_commits import TRACE
from tests.unit.machines import TANK

PART = f"/evidence/{TANK}/commits/"
START, STOP = f"{PART}start/", f"{PART}stop/"


def told(*, is_done: bool = True) -> Json:
    at = timezone.now().isoformat(timespec="seconds")
    return to_document(simulated_commits(TANK, "tank", at, 3600, is_done=is_done))


def test_an_operator_asks_and_sees_what_is_committed(operator: Client, sent: list[Sent]) -> None:
    load()
    assert "Not traced yet" in page(operator, URL)
    assert operator.post(START, {"seconds": "28800"}).status_code == 302
    [asked] = sent
    assert (asked.task, asked.args, asked.queue) == ("host.trace_commits", [TANK, 28800], "host.nas")
    assert "Tracing commits for another 8 h" in page(operator, PART)
    take_answer("nas", "commit-trace", told(is_done=False))
    assert "hx-trigger" in page(operator, PART)
    take_answer("nas", "commit-trace", told())
    done = page(operator, URL)
    assert "hx-trigger" not in page(operator, PART)
    assert "34.7 TB a year at this rate" in done
    assert "3000 blocks of the busiest part" in done


def test_too_little_is_said_so(operator: Client, sent: list[Sent]) -> None:
    load()
    operator.post(START)
    take_answer("nas", "commit-trace", to_document(TRACE))
    assert "too little to replay" in page(operator, PART)


def test_it_is_stopped_on_the_host(operator: Client, sent: list[Sent]) -> None:
    load()
    operator.post(START)
    assert "Stop after this part" in page(operator, PART)
    assert operator.post(STOP).status_code == 302
    assert sent[-1].task == "host.stop_commits"


def test_a_viewer_may_not(viewer: Client, sent: list[Sent]) -> None:
    load()
    assert {viewer.post(START).status_code, viewer.post(STOP).status_code, viewer.get(PART).status_code} == {403}
    assert sent == []


def test_why_there_is_none_is_said_and_what_was_known_stays(operator: Client, sent: list[Sent]) -> None:
    load()
    operator.post(START)
    take_answer("nas", "commit-trace", told())
    operator.post(START)
    take_error("nas", "trace_commits", TANK, to_document(ToolMissing("bpftrace", "bpftrace", ("/usr/bin",)).statement))
    text = page(operator, PART)
    assert "Install the package bpftrace" in text
    assert "34.7 TB a year at this rate" in text


def test_what_nobody_asked_for_and_what_is_none_is_not_kept(operator: Client) -> None:
    load()
    take_answer("nas", "commit-trace", told())
    assert not StoredAnswer.objects.exists()
    StoredAnswer.objects.create(
        form="commit-trace", node=Node.objects.get(), pool_guid=TANK, asked_at=timezone.now(), seconds=60
    )
    with pytest.raises(DocumentError):
        take_answer("nas", "commit-trace", {**told(), "blocks": "many"})
    take_answer("other", "commit-trace", told())
    assert StoredAnswer.objects.get().document is None


def test_the_longest_trace_is_far_smaller_than_a_run_may_be() -> None:
    blocks = LogBlocks((999_999,) * MOST_BLOCKS, (131_072,) * MOST_BLOCKS, (999_999,) * MOST_BLOCKS)
    assert size_of(to_document(replace(TRACE, busiest=blocks))) < LARGEST_RUN / 2


def test_what_the_ssd_made_of_them_stands_beside_the_figures(operator: Client) -> None:
    load()
    found = measured(str(uuid4()), 80, 5, had_log=False)
    assert found.candidate
    store(found)
    assert "Your commits, replayed" not in page(operator, URL)
    trace = simulated_commits(TANK, "tank", timezone.now().isoformat(), 3600)
    again = replayed(trace, [700_000] * 2990 + [9_000_000] * 10, trace.busiest.seconds)
    other = measured(str(uuid4()), 80, 5, had_log=False)
    assert other.candidate
    store(replace(other, candidate=replace(other.candidate, replayed=again)))
    text = page(operator, URL)
    assert "Your commits, replayed on this SSD" in text
    assert "0.7" in text
    assert "The SSD kept up even with its fast cache full." in text
    assert "34.7 TB of writes per year at this rate" in text
