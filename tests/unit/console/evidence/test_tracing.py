"""Which programs wait, on the page of a pool: asked for by an operator, told by the host."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.evidence.models import ANSWER_WITHIN, StoredAnswer
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.domain.evidence.tracing import WaitingPrograms
from nasadvisor.host.errors import ToolMissing
from nasadvisor.host.simulated.evidence import simulated_waiting
from nasadvisor.stored.documents import DocumentError, Json, to_document
from tests.unit.console.conftest import Sent
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.evidence.test_evidence import page
from tests.unit.machines import TANK

POOL = f"/pools/{TANK}/evidence/"
TRACE = f"/evidence/{TANK}/trace/"
PART = f"/evidence/{TANK}/waiting/"


def told() -> Json:
    return to_document(simulated_waiting(timezone.now().isoformat(timespec="seconds")))


def test_an_operator_asks_and_sees_what_the_host_tells(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    assert "Trace for 20 seconds" in page(operator, POOL)
    assert operator.post(TRACE).status_code == 302
    assert [(each.task, each.queue) for each in sent] == [("host.watch_waiting", "host.nas")]
    assert "Tracing is running." in page(operator, PART)
    assert 'hx-trigger="every 2s"' in page(operator, PART)
    take_answer("nas", "waiting-programs", told())
    text = page(operator, PART)
    assert "hx-trigger" not in text
    assert "postgres" in text
    assert "4 processes, busiest 2300" in text
    assert "12 ms" in text
    assert "never: sync=disabled" in text
    assert "Trace again" in text


def test_a_viewer_sees_it_and_cannot_ask(viewer: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    assert "Trace for 20 seconds" not in page(viewer, POOL)
    assert viewer.post(TRACE).status_code == 403
    assert sent == []


def test_asking_is_no_link(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    assert operator.get(TRACE).status_code == 405
    assert sent == []


def test_why_there_is_none_is_said_and_what_was_known_stays(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(TRACE)
    take_answer("nas", "waiting-programs", told())
    operator.post(TRACE)
    missing = ToolMissing("bpftrace", "bpftrace", ("/usr/bin",)).statement
    take_error("nas", "watch_waiting", "", to_document(missing))
    text = page(operator, POOL)
    assert "Install the package bpftrace" in text
    assert "postgres" in text


def test_a_host_that_is_silent_is_told(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(TRACE)
    StoredAnswer.objects.update(asked_at=timezone.now() - ANSWER_WITHIN - timedelta(seconds=1))
    text = page(operator, PART)
    assert "The host did not respond" in text
    assert "hx-trigger" not in text


def test_nobody_waits(operator: Client, sent: list[Sent]) -> None:
    fill(hours=0.1)
    operator.post(TRACE)
    take_answer("nas", "waiting-programs", to_document(WaitingPrograms(timezone.now().isoformat(), 20, ())))
    assert "No program requested a synchronous write" in page(operator, PART)


def test_what_nobody_asked_for_and_what_is_none_is_not_kept(operator: Client) -> None:
    fill(hours=0.1)
    take_answer("nas", "waiting-programs", told())
    assert not StoredAnswer.objects.exists()
    StoredAnswer.objects.create(form="waiting-programs", node=Node.objects.get(), asked_at=timezone.now())
    for wrong in ({"programs": 3}, {**told(), "seconds": 0}, {**told(), "at": "soon"}, {**told(), "at": "2026-08-25"}):
        with pytest.raises(DocumentError):
            take_answer("nas", "waiting-programs", wrong)
    take_answer("other", "waiting-programs", told())
    assert StoredAnswer.objects.get().document is None
