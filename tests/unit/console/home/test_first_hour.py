"""The first steps on Home are done when what they ask for is really there, and stay away once they were put away."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import Channel, FirstHour
from nasadvisor.console.health.models import SelfTestResult, StoredDisk
from nasadvisor.console.home import first_hour
from nasadvisor.console.home.first_hour import ChecklistState, first_steps
from nasadvisor.domain.fleet.platforms import Platform, PlatformReport
from nasadvisor.domain.storage.inventory import Inventory, Scan
from nasadvisor.stored.documents import to_document
from tests.fixtures.machines.build import typical
from tests.unit.console.health.health_data import watched
from tests.unit.console.test_pages import load, page

WATCHED, TOLD, SCRUBBED, TESTED = range(4)


def scanned(scan: Scan | None) -> Inventory:
    """The typical machine, whose pools were scanned so."""
    machine = typical()
    return replace(machine, pools=tuple(replace(pool, last_scan=scan) for pool in machine.pools))


def days_ago(days: int, kind: str = "scrub") -> Scan:
    return Scan(kind, (timezone.now() - timedelta(days=days)).isoformat(), 0)


def state_of(step: int) -> ChecklistState:
    return first_steps(Node.objects.get(), timezone.now())[step].state


def all_done() -> None:
    """Everything on the list is there."""
    load(scanned(days_ago(3)))
    watched(scanned(days_ago(3)), days=0)
    for pool in typical().pools:
        SampledPool.objects.update_or_create(
            guid=pool.guid,
            node=Node.objects.get(),
            defaults={"name": pool.name, "log_answer": "no", "cache_answer": "no"},
        )
    Channel.objects.update_or_create(name="x", defaults={"kind": "apprise", "last_sent_at": timezone.now()})
    for disk in StoredDisk.objects.all():
        hours = disk.power_on_hours or 0
        disk.self_tests.update_or_create(
            kind="Short offline", hours=hours, defaults={"status": "ok", "passed": True, "seen_at": timezone.now()}
        )


def test_a_new_installation_has_a_list_with_the_time_to_the_first_answer(viewer: Client) -> None:
    load(scanned(None))
    text = page(viewer, "/")
    assert "First steps" in text
    assert "first answer in 5 min" in text.partition("First steps")[2].partition("</section>")[0]
    assert "Alerts appear only in the web interface" in text
    assert "No scrub recorded in the last 45 days: tank." in text
    assert "No disk has reported its health yet" in text


def test_nothing_is_done_on_a_machine_of_which_nothing_is_known() -> None:
    load(scanned(None))
    assert [state_of(step) for step in range(4)] == ["waiting", "open", "open", "waiting"]


def test_there_is_no_answer_for_a_pool_while_its_chip_says_when_the_first_one_comes(viewer: Client) -> None:
    all_done()
    in_four_minutes = int(timezone.now().timestamp()) + 230
    SampledPool.objects.update(log_answer="cannot-tell", log_due_at=in_four_minutes)
    assert state_of(WATCHED) is ChecklistState.WAITING
    text = page(viewer, "/")
    assert text.count("collecting data: first answer in 4 min") == 2
    assert "Results are available for every pool" not in text


@pytest.mark.parametrize(
    ("scan", "state"),
    [
        (days_ago(3), "done"),
        (days_ago(44), "done"),
        (days_ago(60), "open"),
        (days_ago(3, "resilver"), "open"),
        (None, "open"),
    ],
)
def test_only_a_scrub_that_ended_of_late_is_a_scrub(scan: Scan | None, state: str) -> None:
    load(scanned(scan))
    assert state_of(SCRUBBED) == state


@pytest.mark.parametrize(("platform", "words"), [("TrueNAS", "Data Protection"), ("", "zfs-scrub-monthly@tank.timer")])
def test_the_advice_about_scrubs_is_that_of_the_platform(viewer: Client, platform: str, words: str) -> None:
    load(scanned(None))
    platforms = (Platform(platform, "1"),) if platform else ()
    Node.objects.update(platform_document=to_document(PlatformReport("nas1", timezone.now().isoformat(), platforms)))
    assert words in page(viewer, "/")
    assert words in page(viewer, f"/pools/{typical().pools[0].guid}/")


def test_a_channel_that_never_took_a_message_tells_nobody() -> None:
    load(typical())
    channel = Channel.objects.create(name="x", kind="apprise", secret="")
    assert state_of(TOLD) == "open"
    Channel.objects.filter(pk=channel.pk).update(last_sent_at=timezone.now())
    assert state_of(TOLD) == "done"


def test_a_failed_or_old_self_test_is_none() -> None:
    all_done()
    assert state_of(TESTED) == "done"
    SelfTestResult.objects.filter(disk=StoredDisk.objects.all()[0]).update(passed=False)
    assert state_of(TESTED) == "open"
    all_done()
    StoredDisk.objects.update(power_on_hours=10**6)
    assert state_of(TESTED) == "open"


def test_the_list_goes_away_by_itself_when_all_is_done_and_does_not_come_back(viewer: Client) -> None:
    load(scanned(None))
    first_hour.close_if_done(timezone.now())
    assert "First steps" in page(viewer, "/")
    all_done()
    first_hour.close_if_done(timezone.now())
    Channel.objects.all().delete()
    assert "First steps" not in page(viewer, "/")


def test_an_operator_puts_the_list_away_for_everybody(operator: Client) -> None:
    load(typical())
    assert operator.get("/first-hour/close/").status_code == 405
    assert operator.post("/first-hour/close/").headers["Location"] == "/"
    assert FirstHour.objects.get().closed_by == "operator"
    assert "First steps" not in page(operator, "/")


def test_a_viewer_puts_nothing_away(viewer: Client) -> None:
    load(typical())
    assert viewer.post("/first-hour/close/").status_code == 403
    assert "Hide this checklist" not in page(viewer, "/")


def test_only_administrators_are_led_to_the_form_of_a_channel(operator: Client) -> None:
    load(typical())
    assert "/settings/alerts/add/" not in page(operator, "/")
