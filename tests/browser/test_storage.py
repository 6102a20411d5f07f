"""Storage in a real browser: its pages in every state, and that its table works with and without scripts."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, expect

from nasadvisor.console.evidence.models import Resolution, SampledPool
from nasadvisor.console.evidence.series import save_samples
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.watch import watch
from nasadvisor.console.health.models import PoolDay, StoredDisk
from nasadvisor.domain.evidence.samples import DatasetActivity, Sample
from nasadvisor.domain.storage.inventory import Scan
from nasadvisor.domain.units import GIB
from tests.browser.conftest import Desk
from tests.browser.layout import check_fit, check_layout, fits
from tests.fixtures.machines.build import large, typical
from tests.unit.console.health.health_data import disk_of, watched, written
from tests.unit.console.home.test_overview import failing
from tests.unit.console.test_pages import load

POOL = typical().pools[0]
WORN = "S6Z1NJ0W401234"


def told_story() -> None:
    """A machine that was watched for a year: an SSD wears, a disk fails, and the pool fills."""
    Node.objects.all().delete()
    scrub = Scan("scrub", (timezone.now() - timedelta(days=9)).isoformat(), 0)
    machine = replace(typical(), pools=tuple(replace(pool, last_scan=scrub) for pool in typical().pools))
    watched(machine, days=360, every=20)
    written(WORN)
    failing()
    load(machine)
    node = Node.objects.get()
    for age in range(1, 120, 3):
        day = timezone.localtime().date() - timedelta(days=age)
        used = POOL.allocated_bytes - age * 14 * GIB - (age % 9) * 20 * GIB
        PoolDay.objects.create(node=node, guid=POOL.guid, day=day, allocated_bytes=used, size_bytes=POOL.size_bytes)
    pool = SampledPool.objects.create(node=node, guid=POOL.guid, name=POOL.name)
    end = int(timezone.now().timestamp()) // 3600 * 3600
    samples = [
        Sample(POOL.guid, POOL.name, end - age * 3600, 3600, (DatasetActivity("tank/db", commits=_commits(age)),))
        for age in range(30)
    ]
    save_samples(pool, Resolution.HOUR, samples)
    watch(timezone.now())


def _commits(age: int) -> int:
    return 3600 * (4 + 30 * (8 <= age <= 11) + (age * 7) % 5)


PAGES = {
    "home": "/",
    "storage": "/storage/",
    "disks": "/disks/",
    "disk": "/disks/{disk}/",
    "disk-failing": "/disks/{failing}/",
    "pool": "/pools/{pool}/",
    "pool-evidence": "/pools/{pool}/evidence/",
    "pool-history": "/pools/{pool}/history/",
    "alerts": "/alerts/",
}


def address(name: str) -> str:
    failed = StoredDisk.objects.filter(worst_level="critical").first()
    return PAGES[name].format(pool=POOL.guid, disk=disk_of(WORN).key, failing=failed.key if failed else "")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_in_both_languages(operator: Desk, name: str) -> None:
    told_story()
    operator.open(address(name))
    check_layout(operator, f"story-{name}")


def test_fifty_of_two_hundred_disks_are_a_page_that_a_thumb_can_reach_the_end_of(operator: Desk) -> None:
    Node.objects.all().delete()
    watched(large(), days=0)
    page = operator.page
    page.set_viewport_size({"width": 390, "height": 844})
    operator.open("/disks/")
    assert fits(page)
    assert page.evaluate("document.documentElement.scrollHeight") < 9_000
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_text("2 / 4")).to_be_visible()


def test_the_table_filters_as_one_types_and_keeps_the_address(operator: Desk) -> None:
    Node.objects.all().delete()
    load(large())
    operator.open("/disks/")
    page = operator.page
    page.get_by_role("searchbox", name="Filter").fill("X3F0A0001")
    expect(page.locator("#disks tbody tr")).to_have_count(5)
    page.wait_for_url("**q=X3F0A0001**")
    page.get_by_role("searchbox", name="Filter").fill("no such disk")
    expect(page.get_by_text("No disk matches.")).to_be_visible()


def test_the_table_filters_sorts_and_turns_its_pages_without_scripts(desk: Desk, chromium: Browser) -> None:
    Node.objects.all().delete()
    load(large())
    desk.sign_in("operator")
    context = chromium.new_context(java_script_enabled=False, storage_state=desk.page.context.storage_state())
    page = context.new_page()
    page.goto(f"{desk.url}/disks/")
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_text("2 / 4")).to_be_visible()
    page.get_by_role("searchbox", name="Filter").fill("X3F0A0001")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#disks tbody tr")).to_have_count(5)
    page.get_by_role("link", name="Disk", exact=True).click()
    expect(page.locator("#disks tbody tr").first).to_contain_text("X3F0A00010")
    page.get_by_role("link", name="Disk", exact=True).click()
    expect(page.locator("#disks tbody tr").first).to_contain_text("X3F0A00014")
    context.close()


def test_another_figure_is_drawn_as_soon_as_it_is_chosen(operator: Desk) -> None:
    told_story()
    operator.open(address("disk"))
    page = operator.page
    figure = page.get_by_label("Figure").element_handle()
    figure.select_option(label="power_on_hours")
    expect(page.get_by_role("heading", name="Over time: power_on_hours")).to_be_visible()
    assert figure.evaluate("each => each.isConnected"), "what is chosen while the picture is exchanged would be lost"
    page.get_by_label("Time", exact=True).select_option(label="a year")
    page.wait_for_url("**days=365**")
    expect(page.get_by_role("img", name="power_on_hours: over time").first).to_be_visible()


def test_the_first_steps_are_put_away_with_a_click(operator: Desk) -> None:
    Node.objects.all().delete()
    load(typical())
    operator.open("/")
    page = operator.page
    check_fit(page, "story-first-hour")
    page.get_by_role("button", name="Hide this checklist").click()
    expect(page.get_by_role("heading", name="First steps")).to_have_count(0)
