"""The report, as a page and as a PDF: what is judged, what was not looked at, and what it lists."""

import io
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pypdf import PdfReader
from weasyprint import HTML  # looks for its libraries when it is loaded, and no test may

from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import StoredAlert, StoredReport
from nasadvisor.console.health.models import DiskOutcome, PoolDay, SmartDay, StoredDisk
from nasadvisor.console.health.reports import reports
from nasadvisor.console.worker.tasks import roll_up_samples, send_reports
from nasadvisor.domain.evidence.options import PoolWaiting, Waits
from nasadvisor.domain.evidence.waited import NO_WAIT, Wait
from nasadvisor.domain.statements import Finding, Level, NextStep
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import large, typical
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.evidence.test_evidence import applied_run
from tests.unit.console.health.health_data import watched
from tests.unit.console.test_pages import load, page

NOW = "/reports/now/"
assert HTML


def dying() -> StoredDisk:
    """A disk of the typical machine's second mirror says that it is failing."""
    watched(typical(), days=0)
    disk = StoredDisk.objects.filter(vdev_name="mirror-1").order_by("serial")[0]
    said = Finding(
        "disk-failing",
        "The disk {disk} reports that it is failing (SMART status FAILED). Replace it as soon as possible.",
        {"disk": disk.label},
        Level.CRITICAL,
        subject=str(disk.pk),
        step=NextStep.LOOK_AT_DISK,
        place=disk.key,
    )
    StoredDisk.objects.filter(pk=disk.pk).update(finding_documents=[to_document(said)], worst_level="critical")
    return disk


def verdict(text: str) -> str:
    """The first line of a report's page."""
    line = text.partition('class="report-verdict-words"')[2].partition("</p>")[0]
    return line.partition("</svg>")[2].partition("</span>")[0].strip()


def pdf(language: str = "en") -> bytes:
    return reports.report_pdf(language, timezone.now())


def printed(language: str = "en") -> str:
    """The words of the PDF, one line."""
    pages = PdfReader(io.BytesIO(pdf(language))).pages
    return " ".join(" ".join(each.extract_text() for each in pages).split())


def test_the_report_begins_with_the_dying_disk_on_its_page_and_in_the_pdf(viewer: Client) -> None:
    disk = dying()
    said = f"1 disk is failing: {disk.model} {disk.serial} in tank, mirror-1"
    assert verdict(page(viewer, NOW)) == said
    assert said in printed()
    assert f"1 Platte meldet Ausfall: {disk.model} {disk.serial}" in printed("de")


def test_the_message_that_brings_the_report_has_its_verdict() -> None:
    disk = dying()
    assert f"failing: {disk.model} {disk.serial}" in reports.report_message(timezone.now()).text.partition("\n")[0]


def test_everything_is_all_right_only_where_everything_was_looked_at(viewer: Client) -> None:
    load(typical())
    watched(typical(), days=0)
    StoredDisk.objects.update(finding_documents=[], worst_level="")
    StoredAlert.objects.all().delete()
    assert verdict(page(viewer, NOW)) == "Everything is OK"
    StoredDisk.objects.filter(is_rotational=True).update(outcome=DiskOutcome.ASLEEP)
    assert verdict(page(viewer, NOW)) == "No open alerts, but some checks are incomplete"


def test_where_no_pool_is_imported_the_report_says_so_as_home_does(viewer: Client) -> None:
    bare = replace(typical(), pools=())
    load(bare)
    watched(bare, days=0)
    StoredDisk.objects.update(finding_documents=[], worst_level="")
    StoredAlert.objects.all().delete()
    assert verdict(page(viewer, NOW)) == "No pool is imported"


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (DiskOutcome.NEVER, "1 disk was not checked"),
        (DiskOutcome.ASLEEP, "1 disk was asleep and was not woken"),
        (DiskOutcome.UNSUPPORTED, "1 disk reports no health data"),
    ],
)
def test_a_disk_that_was_not_asked_is_said_to_be_not_asked(viewer: Client, outcome: DiskOutcome, said: str) -> None:
    watched(typical(), days=0)
    disk = StoredDisk.objects.filter(is_rotational=True).order_by("serial")[0]
    StoredDisk.objects.filter(pk=disk.pk).update(outcome=outcome)
    assert f"{said}: {disk.label}" in page(viewer, NOW)
    assert verdict(page(viewer, NOW)) != "Everything is OK"
    assert f"{said}: {disk.label}" in printed()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"last_contact": timezone.now() - timedelta(days=1)}, "The host is not reporting; its data is from"),
        ({"inventory_error_document": {"code": "x"}}, "The host&#x27;s last reading is old"),
        ({"inventory_read_at": timezone.now() - timedelta(days=1)}, "The host&#x27;s last reading is old"),
        ({"last_contact": None}, "The host has not reported yet."),
    ],
)
def test_what_a_host_told_long_ago_is_not_taken_for_how_it_is(
    viewer: Client, changes: dict[str, object], said: str
) -> None:
    watched(typical(), days=0)
    Node.objects.update(**changes)
    assert said in page(viewer, NOW)
    assert verdict(page(viewer, NOW)) != "Everything is OK"


def test_of_many_disks_that_did_not_answer_the_first_are_named_and_the_others_counted(viewer: Client) -> None:
    watched(typical(), days=0)
    StoredDisk.objects.update(outcome=DiskOutcome.FAILED)
    assert re.search(r"10 disks did not respond: [^<]+ and 6 more", page(viewer, NOW))


def test_disks_that_were_never_asked_are_counted_instead_of_listed(viewer: Client) -> None:
    """A host of a thousand disks had a hundred rows that said so, each."""
    load(typical())
    text = page(viewer, NOW)
    assert "disks have never been checked, so they are not listed." in text
    assert "No hard disk has been read yet." in text
    assert "Not checked yet" not in text


def test_before_the_first_sweep_it_says_that_no_disk_was_asked(viewer: Client) -> None:
    load(typical())
    text = page(viewer, NOW)
    assert "Its disks have not been checked yet." in text
    assert "disks never checked" in text


def test_before_any_host_has_told_anything_the_report_says_so(viewer: Client) -> None:
    assert verdict(page(viewer, NOW)) == "No host has reported yet"


def test_every_hard_disk_is_there_with_what_it_counts_and_what_was_added(viewer: Client) -> None:
    watched(typical(), days=0)
    disk = StoredDisk.objects.filter(is_rotational=True).order_by("serial")[0]
    StoredDisk.objects.filter(pk=disk.pk).update(reallocated=1208, pending=4, power_on_hours=43210)
    day = timezone.localtime().date() - timedelta(days=12)
    SmartDay.objects.create(disk=disk, day=day, counts={"5": 1200, "197": 4})
    text = page(viewer, NOW)
    row = text.partition('<h2 class="h5">Hard disks')[2].partition(disk.serial)[2].partition("</tr>")[0]
    assert "<strong>1,208</strong>" in row
    assert "+ 8" in row
    assert "<strong>4</strong>" in row
    assert "43,210" in row
    for serial in StoredDisk.objects.filter(is_rotational=True).values_list("serial", flat=True):
        assert serial in text
    assert "1.208" in printed("de")


def test_a_pool_has_its_trend_its_last_scrub_and_its_picture(viewer: Client) -> None:
    watched(typical(), days=0)
    [pool] = typical().pools
    day = timezone.localtime().date() - timedelta(days=20)
    sizes = {"allocated_bytes": pool.allocated_bytes - 512 * 1024**3, "size_bytes": pool.size_bytes}
    for age in range(20):
        PoolDay.objects.create(node=Node.objects.get(), guid=pool.guid, day=day + timedelta(days=age), **sizes)
    text = page(viewer, NOW).partition('<h2 class="h5">Pools')[2].partition("SSDs</h2>")[0]
    assert "+ 512 GiB" in text
    assert f"since {day}" in text
    assert "history-chart" in text


def test_a_pool_says_how_long_programs_wait_in_a_day(viewer: Client) -> None:
    watched(typical(), days=0)
    [pool] = typical().pools
    kept = to_document(PoolWaiting(Waits(Wait(60, 3000, 6000), NO_WAIT), None, None))
    SampledPool.objects.create(node=Node.objects.get(), guid=pool.guid, name=pool.name, waiting_document=kept)
    text = page(viewer, NOW).partition('<h2 class="h5">Pools')[2].partition("SSDs</h2>")[0]
    assert "50 min a day" in text


def test_a_log_is_listed_with_what_it_takes_and_what_it_brought(viewer: Client) -> None:
    fill(40, log_hours_ago=15)
    applied_run(15)
    roll_up_samples()
    assert SampledPool.objects.exists()
    text = page(viewer, NOW).partition("Logs and caches")[2].partition('<h2 class="h5">Pools')[0]
    assert "Log (SLOG)" in text
    assert "Commits are faster than before" in text
    assert "times as fast as before" in text
    assert "latency-pair" in text
    assert "times as fast as before" in printed()


def test_marks_are_told_apart_without_colour_and_explained(viewer: Client) -> None:
    dying()
    text = page(viewer, NOW)
    shapes = {text.partition(word)[0].rpartition("<svg")[2] for word in (" Critical</span>", " ONLINE</span>")}
    assert len(shapes) == 2
    assert "Marks and units" in text


def test_legends_stand_on_the_page_of_what_they_explain() -> None:
    """On paper nobody scrolls back: what is said of hard disks and of SSDs stands where some of them are listed."""
    watched(typical(), days=0)
    texts = [" ".join(each.extract_text().split()) for each in PdfReader(io.BytesIO(pdf())).pages]
    for is_rotational, words in (
        (True, "Sectors the disk cannot read"),
        (False, "its rated endurance used, as reported by the SSD"),
    ):
        serials = StoredDisk.objects.filter(is_rotational=is_rotational).values_list("serial", flat=True)
        [of_legend] = [text for text in texts if words in text]
        assert any(serial in of_legend for serial in serials)


def test_a_report_whose_worker_was_killed_does_not_count_as_being_made_for_ever() -> None:
    """A message that was taken is not delivered a second time, so nobody comes back to it."""
    now = timezone.now()
    lost = StoredReport.objects.create(requested_at=now - timedelta(minutes=31))
    made = StoredReport.objects.create(requested_at=now - timedelta(minutes=29))
    of_schedule = StoredReport.objects.create(requested_at=now - timedelta(days=1), day=now.date())
    send_reports()
    found = dict(StoredReport.objects.values_list("pk", "state"))
    assert found == {lost.pk: "failed", made.pk: "requested", of_schedule.pk: "requested"}


def test_a_disk_that_its_pool_has_given_up_is_not_called_all_right_in_the_report(viewer: Client) -> None:
    watched(large(), days=0)
    rows = page(viewer, NOW).partition('<h2 class="h5">Hard disks')[2]
    given_up = rows.partition("8CG00004")[2].partition("</tr>")[0]
    assert "FAULTED" in given_up
    assert "Healthy" not in given_up
    assert "12 I/O errors" in rows.partition("8CG00007")[2].partition("</tr>")[0]
    assert rows.index("8CG00004") < rows.index("Healthy")
