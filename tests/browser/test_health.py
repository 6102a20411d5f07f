"""The pages about wear and alerts in a real browser: how they fit, light and dark, in English and German."""

import pytest
from django.contrib.auth.models import User
from django_celery_beat.models import PeriodicTask
from playwright.sync_api import expect

from nasadvisor.console.accounts.models import ApiToken
from nasadvisor.console.accounts.roles import UserRole, set_role
from nasadvisor.console.change.plans import store_plan
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health.alerts.models import Channel, StoredReport
from nasadvisor.console.health.sweeps import SWEEP
from nasadvisor.console.worker.schedules import create_schedules
from tests.browser.conftest import PASSWORD, Desk
from tests.browser.layout import check_layout, fits, resize
from tests.fixtures.machines.build import typical
from tests.unit.console.evidence.sampled import fill
from tests.unit.console.health.health_data import disk_of, watched, written
from tests.unit.machines import MIRROR_AND_CACHES, TANK, home_server, plan_for

WORN = "S6Z1NJ0W401234"
PATHS = {
    "disks-watched": "/disks/",
    "disk-watched": "/disks/{drive}/",
    "alerts": "/alerts/",
    "channels": "/settings/alerts/",
    "channel-add": "/settings/alerts/add/",
    "alert-delivery": "/settings/alerts/delivery/",
    "home-assistant": "/settings/alerts/home-assistant/",
    "schedules": "/settings/schedules/",
    "schedule": "/settings/schedules/{schedule}/",
    "tokens": "/settings/tokens/",
    "token-add": "/settings/tokens/add/",
    "user-add": "/settings/users/add/",
    "reports": "/reports/",
    "report-now": "/reports/now/",
}

SHAPES = """(charts) => charts.map((each) => {
  const drawn = each.viewBox.baseVal, shown = each.getBoundingClientRect();
  return [drawn.width / drawn.height, shown.width / shown.height];
})"""
"""Width by height of each chart: of what is drawn, and of the room that it takes."""


@pytest.fixture
def watcher(desk: Desk) -> Desk:
    """An administrator of a console that has watched a machine for a year."""
    Node.objects.all().delete()
    create_schedules()
    watched(typical(), days=360, every=20)
    written(WORN)
    StoredReport.objects.create(state="done", requested_by="anna", pdf=b"%PDF-")
    ApiToken.objects.create(name="Grafana", digest="x")
    Channel.objects.create(
        name="Mail to the admins", kind="mail", secret="", last_error="The mail server did not answer."
    )
    set_role(User.objects.create_user("admin", password=PASSWORD), UserRole.ADMIN)
    desk.come_in("admin")
    return desk


@pytest.fixture
def planner(desk: Desk) -> Desk:
    """An operator on a console that has watched a pool for some hours and asked its disks."""
    fill(3)
    watched(home_server(), days=60, every=10)
    desk.come_in("operator")
    return desk


def test_the_wizard_says_how_the_disks_are_and_what_they_would_wear(planner: Desk) -> None:
    user = User.objects.get(username="operator")
    stored = store_plan(plan_for(MIRROR_AND_CACHES, home_server()), Node.objects.get(), user)
    for name, path in (("wizard-devices-health", f"/wizard/{TANK}/devices/"), ("wizard-wear", f"/plans/{stored.pk}/")):
        planner.speak("en")
        planner.open(path)
        check_layout(planner, name)


def show(desk: Desk, name: str) -> None:
    desk.open(PATHS[name].format(drive=disk_of(WORN).key, schedule=PeriodicTask.objects.get(name=SWEEP).pk))


@pytest.mark.parametrize("name", PATHS)
def test_a_page_is_accessible_and_fits_in_both_languages(watcher: Desk, name: str) -> None:
    show(watcher, name)
    check_layout(watcher, name)


def test_what_is_of_second_importance_in_a_report_is_folded_on_a_phone(watcher: Desk) -> None:
    page, parts = watcher.page, watcher.page.locator("details[data-fold]")
    page.set_viewport_size({"width": 390, "height": 844})
    show(watcher, "report-now")
    expect(page.locator("details[data-fold]:not([open])")).to_have_count(parts.count())
    assert page.evaluate("document.documentElement.scrollHeight / window.innerHeight") < 6
    page.get_by_role("heading", name="Hard disks").click()
    expect(page.get_by_text("Sectors the disk cannot read at the moment.")).to_be_visible()
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.locator("details[data-fold][open]")).to_have_count(parts.count())


def test_on_a_tablet_the_names_of_disks_in_a_report_stay_whole(watcher: Desk) -> None:
    page = watcher.page
    watcher.speak("de")
    resize(page, 768)
    show(watcher, "report-now")
    lines = page.locator(".report-disks tbody th strong").evaluate_all(
        "(all) => all.map((each) => each.getClientRects().length)"
    )
    assert lines
    assert set(lines) == {1}
    assert fits(page)


def test_a_chart_begins_where_the_text_does(watcher: Desk) -> None:
    show(watcher, "disk-watched")
    shapes = watcher.page.locator("svg.wear-chart:visible").evaluate_all(SHAPES)
    assert len(shapes) == 2
    for drawn, shown in shapes:
        assert shown == pytest.approx(drawn, rel=0.01), "there is empty room beside the picture"


def test_all_alerts_of_a_disk_are_acknowledged_at_once_and_the_count_in_the_menu_falls(watcher: Desk) -> None:
    page = watcher.page
    show(watcher, "alerts")
    before = int(page.locator(".rail-count").inner_text().split()[0])
    page.get_by_role("button", name="Acknowledge").first.click()
    expect(
        page.get_by_text("3 alerts acknowledged. You will be notified again only if they get worse.")
    ).to_be_visible()
    expect(page.get_by_text("acknowledged by admin")).to_have_count(3)
    left = page.locator(".rail-count")
    assert int(left.inner_text().split()[0] if left.count() else "0") == before - 3


def test_a_form_asks_only_for_what_is_chosen(watcher: Desk) -> None:
    page = watcher.page
    watcher.open("/settings/alerts/add/")
    private, addresses = page.locator("[name=may_be_private]"), page.locator("[data-field=address] .form-text")
    expect(private).to_be_hidden()
    kinds = {
        "mail": "more e-mail addresses",
        "ntfy": "address of the topic",
        "gotify": "token of an application",
        "webhook": "accepts JSON",
        "apprise": "tgram://",
        "platform": "host name",
    }
    for kind, said in kinds.items():
        page.select_option("[name=kind]", kind)
        expect(addresses.locator(f".of-{kind}")).to_contain_text(said)
        expect(addresses.locator("span:visible")).to_have_count(1)
        assert private.is_visible() == (kind not in ("mail", "platform"))
    task = PeriodicTask.objects.get(name="console.long_self_tests")
    watcher.open(f"/settings/schedules/{task.pk}/")
    day = page.locator("[name=day_of_month]")
    expect(day).to_be_visible()
    page.select_option("[name=day_of_week]", "1")
    expect(day).to_be_hidden()


def test_the_fleet_leads_to_the_drive_and_sorts_at_a_click(watcher: Desk) -> None:
    page = watcher.page
    show(watcher, "disks-watched")
    page.get_by_role("link", name="Temp.").click()
    page.wait_for_url("**sort=-temperature**")
    page.get_by_role("row").filter(has_text=WORN).get_by_role("link").first.click()
    expect(page.get_by_role("img", name="Percentage of rated endurance used")).to_be_visible()


def test_a_browser_reports_no_error_and_no_forbidden_content(watcher: Desk) -> None:
    said: list[str] = []
    watcher.page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    watcher.page.on("pageerror", lambda error: said.append(str(error)))
    for name in PATHS:
        show(watcher, name)
    assert said == []
