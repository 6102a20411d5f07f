"""Measuring by writing from the pages: only with consent, and told as it was measured."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.evidence.models import StoredMeasurement
from nasadvisor.console.evidence.told import expire_measurements
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.worker.answers import take_answer, take_error
from nasadvisor.domain.evidence.measuring.measurement import Measurement, MeasureOrder, MeasureProgress, Stage
from nasadvisor.domain.evidence.measuring.probing import ProbeResult
from nasadvisor.domain.health.smart.power_loss import Protection, ProtectionEvidence
from nasadvisor.domain.health.smart.reading import decode
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import from_document, to_document
from tests.unit.console.conftest import PASSWORD, Sent
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.evidence.test_evidence import applied_run, page
from tests.unit.domain.health.smart.drives import nvme
from tests.unit.host.evidence.test_measuring import fio, ssd
from tests.unit.machines import ARCHIVE, NVME1, SHARED_SSD, TANK, USB_STICK, home_server, with_pool

URL = f"/evidence/{TANK}/measure/"


def load(inventory: Inventory | None = None) -> None:
    found = inventory or with_pool(home_server(), allocated_bytes=0)
    take_answer("nas", "inventory", to_document(replace(found, read_at=timezone.now().isoformat())))


def measured(order_id: str, per_s: float, minutes_ago: float, *, had_log: bool) -> Measurement:
    at = (timezone.now() - timedelta(minutes=minutes_ago)).isoformat(timespec="seconds")
    figures = (fio(4, 1, per_s, 0.1, 1000 / per_s), fio(4, 4, per_s * 2, 0.1, 2000 / per_s))
    probe = ProbeResult(order_id, TANK, "tank", at, had_log, figures)
    candidate = None if had_log else ssd(0.1, 0.5)
    return Measurement(MeasureOrder(order_id, TANK, NVME1), probe, candidate)


def store(found: Measurement) -> None:
    node = Node.objects.get()
    StoredMeasurement.objects.create(
        id=UUID(found.order.id), node=node, pool_guid=TANK, requested_by="me", requested_at=timezone.now()
    )
    take_answer("nas", "measurement", to_document(found))


def tell_health(evidence: tuple[ProtectionEvidence, ...]) -> None:
    """The tested SSD has told how it is."""
    reading = to_document(replace(decode(nvme(units=3)), power_loss=evidence))
    read = {"read_at": timezone.now(), "percent_used": 7.0, "bytes_written": 12_300_000_000_000}
    StoredDisk.objects.filter(key=NVME1).update(reading_document=reading, **read)


def test_a_viewer_may_not_measure(viewer: Client, sent: list[Sent]) -> None:
    load()
    assert viewer.get(URL).status_code == 403
    assert viewer.post(URL, {"password": PASSWORD}).status_code == 403
    assert sent == []


def test_it_offers_only_blank_ssds(operator: Client) -> None:
    load()
    text = page(operator, URL)
    assert NVME1 in text
    assert SHARED_SSD not in text
    assert USB_STICK not in text


def test_without_the_password_nothing_is_ordered(operator: Client, sent: list[Sent]) -> None:
    load()
    assert "Wrong password" in operator.post(URL, {"password": "wrong"}).content.decode()
    assert operator.post(URL, {"password": PASSWORD, "disk": SHARED_SSD}).status_code == 200
    assert sent == []


def test_foreign_fields_are_refused(operator: Client, sent: list[Sent]) -> None:
    load()
    assert operator.post(URL, {"password": PASSWORD, "disk": NVME1, "seconds": "300"}).status_code == 400
    assert sent == []


def test_with_consent_the_host_is_asked_once(operator: Client, sent: list[Sent]) -> None:
    load()
    assert operator.post(URL, {"password": PASSWORD, "disk": NVME1}).status_code == 302
    [order] = sent
    assert (order.task, order.queue) == ("host.measure", "host.nas")
    assert from_document(MeasureOrder, order.args[0]).disk_key == NVME1
    assert "Running." in page(operator, URL)


def test_a_pool_that_must_not_be_probed_offers_no_button(operator: Client, sent: list[Sent]) -> None:
    load()
    text = page(operator, f"/evidence/{ARCHIVE}/measure/")
    assert "DEGRADED" in text
    operator.post(f"/evidence/{ARCHIVE}/measure/", {"password": PASSWORD})
    assert sent == []


def test_the_evidence_of_such_a_pool_says_why_not_beside_the_way_to_measuring(operator: Client) -> None:
    """It offered to measure, and only the page behind that said that it would not."""
    load()
    text = page(operator, f"/pools/{ARCHIVE}/evidence/")
    assert "Write performance cannot be measured now" in text
    assert "/explain/probe-not-online/" in text
    assert "Write performance cannot be measured now" not in page(operator, f"/pools/{TANK}/evidence/")


def test_it_shows_what_was_measured_and_what_is_expected(operator: Client) -> None:
    load()
    store(measured(str(uuid4()), 80, 5, had_log=False))
    text = page(operator, URL)
    assert "The pool, without a log" in text
    assert "Expected with a log on this SSD" in text
    assert "suitable as a log for hard disks" in text


def test_it_shows_why_nothing_was_measured(operator: Client) -> None:
    load()
    operator.post(URL, {"password": PASSWORD})
    order = str(StoredMeasurement.objects.get().pk)
    take_error("nas", "measure", order, to_document(Statement("busy", "Pool tank is busy.")))
    assert "Pool tank is busy." in page(operator, URL)


def test_an_order_without_an_answer_is_given_up(operator: Client) -> None:
    load()
    operator.post(URL, {"password": PASSWORD})
    expire_measurements(timezone.now() + timedelta(hours=1))
    assert "did not respond" in page(operator, URL)


def test_a_second_answer_does_not_replace_the_first(operator: Client) -> None:
    load()
    order = str(uuid4())
    store(measured(order, 80, 5, had_log=False))
    take_answer("nas", "measurement", to_document(measured(order, 999, 1, had_log=False)))
    found = StoredMeasurement.objects.get().measurement
    assert found
    assert found.probe.figures[0].operations_per_s == 80


@pytest.mark.usefixtures("viewer")
def test_the_report_shows_predicted_beside_measured(client: Client) -> None:
    fill(3)
    run = applied_run(1)
    store(measured(str(uuid4()), 80, 90, had_log=False))
    store(measured(str(uuid4()), 320, 30, had_log=True))
    text = page(client, f"/evidence/{TANK}/report/{run.id}/")
    assert "Measured write performance, before and after" in text
    assert "× 4.0" in text


def test_a_tested_ssd_is_what_the_verdict_compares_with(operator: Client) -> None:
    fill(1)
    assert "Untested SSD, assumed" in page(operator, f"/pools/{TANK}/evidence/")
    found = measured(str(uuid4()), 80, 5, had_log=False)
    store(found)
    StoredMeasurement.objects.update(disk_key=NVME1)
    assert "SSD, measured" in page(operator, f"/pools/{TANK}/evidence/")


def test_while_it_is_measured_the_page_tells_what_is_done_and_how_long_it_will_take(operator: Client) -> None:
    load()
    operator.post(URL, {"password": PASSWORD})
    order = str(StoredMeasurement.objects.get().pk)
    assert "Waiting for the host." in page(operator, URL)
    at = (timezone.now() - timedelta(seconds=10)).isoformat()
    take_answer("nas", "measure-progress", to_document(MeasureProgress(order, Stage.TEST, 3, 8, at, 310, 600)))
    text = page(operator, URL)
    assert "Writing a log workload to the SSD: load 3 of 8." in text
    assert "about 5 min left" in text
    assert 'hx-trigger="every 2s"' in text
    assert "load 3 of 8" in page(operator, f"/evidence/{TANK}/measured/")
    take_answer("nas", "measurement", to_document(measured(order, 80, 0, had_log=False)))
    assert "hx-trigger" not in page(operator, f"/evidence/{TANK}/measured/")


def test_progress_that_arrives_late_or_from_elsewhere_changes_nothing(operator: Client) -> None:
    load()
    order = str(uuid4())
    store(measured(order, 80, 5, had_log=False))
    late = to_document(MeasureProgress(order, Stage.LOOK, 1, 1, timezone.now().isoformat(), 55, 55))
    take_answer("nas", "measure-progress", late)
    operator.post(URL, {"password": PASSWORD})
    asked = str(StoredMeasurement.objects.get(document__isnull=True).pk)
    take_answer("other", "measure-progress", {**late, "order_id": asked})
    assert not StoredMeasurement.objects.filter(progress_document__isnull=False).exists()
    assert "Waiting for the host." in page(operator, URL)


def test_a_viewer_does_not_follow_a_measurement(viewer: Client) -> None:
    load()
    assert viewer.get(f"/evidence/{TANK}/measured/").status_code == 403


def test_beside_a_tested_ssd_stand_its_power_loss_protection_and_its_wear(operator: Client) -> None:
    load()
    store(measured(str(uuid4()), 80, 5, had_log=False))
    assert "Its health has not been read yet" in page(operator, URL)
    likely = (ProtectionEvidence("NVMe controller: no volatile write cache", Protection.LIKELY),)
    tell_health(likely)
    text = page(operator, URL)
    assert "Likely" in text
    assert "no volatile write cache" in text
    assert "7 %" in text
    assert "12.3 TB" in text
    tell_health(())
    assert "The SSD does not report this; check its data sheet." in page(operator, URL)
