"""Home in a real browser: what it says of machines in every state, and where its buttons lead."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.watch import watch
from nasadvisor.console.worker.tasks import roll_up_samples
from tests.browser.conftest import Desk
from tests.browser.layout import check_layout, violations
from tests.fixtures.machines.build import large, typical
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.health.health_data import watched
from tests.unit.console.home.test_overview import failing, on_host
from tests.unit.console.test_pages import load
from tests.unit.machines import home_server


def fine() -> None:
    load(typical())


def failing_disk() -> None:
    watched(typical(), days=0)
    failing()
    watch(timezone.now())


def three_hosts() -> None:
    failing_disk()
    on_host("nas2", home_server())
    load(large())
    watch(timezone.now())


def watched_pool() -> None:
    fill(25)
    roll_up_samples()


STATES = {"fine": fine, "failing": failing_disk, "three-hosts": three_hosts, "watched-pool": watched_pool}


@pytest.mark.parametrize("state", STATES)
def test_home_is_accessible_and_fits_in_every_state(operator: Desk, state: str) -> None:
    Node.objects.all().delete()
    STATES[state]()
    operator.open("/")
    check_layout(operator, f"home-{state}")


def test_the_headline_leads_to_the_failing_disk(operator: Desk) -> None:
    Node.objects.all().delete()
    failing_disk()
    operator.open("/")
    expect(operator.page.locator("h1")).to_contain_text("1 disk is failing: WDC")
    operator.page.get_by_role("link", name="View disk").click()
    expect(operator.page.get_by_text("reports that it is failing").first).to_be_visible()


def test_the_pool_of_another_host_is_one_click_away(operator: Desk) -> None:
    Node.objects.all().delete()
    three_hosts()
    operator.open("/")
    operator.page.get_by_role("button", name="archive").click()
    expect(operator.page.locator("h1")).to_contain_text("archive")
    expect(operator.page.get_by_role("button", name="nas2")).to_be_visible()


def test_the_alerts_of_several_hosts_are_accessible(operator: Desk) -> None:
    Node.objects.all().delete()
    three_hosts()
    operator.open("/alerts/")
    expect(operator.page.get_by_role("button", name="View pool").first).to_be_visible()
    assert not violations(operator.page)
