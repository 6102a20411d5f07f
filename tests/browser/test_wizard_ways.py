"""How far it is from a wish to its run: clicks, tab stops, and what the end of a session costs."""

import re
from dataclasses import replace

import pytest
from django.conf import settings
from playwright.sync_api import Locator, expect

from nasadvisor.console.change.models import StoredDraft, StoredRun
from tests.browser import journey
from tests.browser.conftest import PASSWORD, Desk
from tests.unit.console.evidence.sampled import fill
from tests.unit.machines import TANK, home_server

WHERE = """(() => {
  const here = document.activeElement;
  const drawn = here.labels?.[0] ?? here;
  const box = drawn.getBoundingClientRect();
  const looks = [here, drawn].map((element) => getComputedStyle(element));
  return {
    name: here.tagName === "INPUT" ? here.name : here.innerText || "",
    ring: here.type === "range" || looks.some((look) => look.outlineStyle !== "none" || look.boxShadow !== "none"),
    seen: box.width > 0 && box.height > 0,
  };
})()"""
"""The element with the focus: what it is called, whether it is drawn, and whether the focus on it is.

Bootstrap draws that of a slider around its thumb, whose style cannot be asked for."""


@pytest.fixture
def one_pool(operator: Desk) -> Desk:
    """A host with one pool, two free SSDs beside others, and somebody on Home."""
    only_tank(operator)
    return operator


def only_tank(desk: Desk) -> None:
    inventory = home_server()
    tank = inventory.pool(TANK)
    desk.host.executor.state = replace(inventory, pools=(tank,) if tank else ())
    desk.host.publish_inventory()
    desk.open("/")


def begin(desk: Desk) -> None:
    """A log and caches on the SSDs that fit best, though nothing shows that they help."""
    desk.open("/wizard/")
    desk.page.get_by_role("button", name="Add anyway").click()


class Clicks:
    """Clicks, counted."""

    def __init__(self) -> None:
        self.count = 0

    def on(self, there: Locator) -> None:
        """One more."""
        there.click()
        self.count += 1


def test_from_add_to_applying_two_ssds_take_four_clicks_and_the_password(one_pool: Desk) -> None:
    page, clicks = one_pool.page, Clicks()
    clicks.on(page.get_by_role("link", name="Add log or cache").first)
    clicks.on(page.get_by_role("button", name="Add anyway"))
    clicks.on(page.get_by_role("button", name="Continue to review"))
    type_password(one_pool)
    clicks.on(page.get_by_role("button", name="Apply to pool tank"))
    expect(page.locator("#headline")).to_contain_text("Waiting for nas")
    assert clicks.count == 4
    assert len({piece.disk_key for piece in StoredRun.objects.get().run.plan.slices}) == 2


def test_where_the_evidence_proposes_them_it_takes_three(one_pool: Desk) -> None:
    page, clicks = one_pool.page, Clicks()
    fill(3)
    only_tank(one_pool)
    clicks.on(page.get_by_role("link", name="Add log or cache").first)
    clicks.on(page.get_by_role("button", name="Continue to review"))
    type_password(one_pool)
    clicks.on(page.get_by_role("button", name="Apply to pool tank"))
    expect(page.locator("#headline")).to_contain_text("Waiting for nas")
    assert clicks.count == 3


def test_an_undo_takes_two_clicks_from_home_and_the_password(one_pool: Desk) -> None:
    page, clicks = one_pool.page, Clicks()
    begin(one_pool)
    journey.preview(page)
    journey.apply(page, "tank", PASSWORD)
    one_pool.let_host_work()
    one_pool.open("/")
    clicks.on(page.get_by_role("link", name="Undo", exact=True))
    type_password(one_pool)
    clicks.on(page.get_by_role("button", name="Undo on pool tank"))
    expect(page.get_by_role("heading", name="Undo requested")).to_be_visible()
    assert clicks.count == 2


def test_from_add_to_the_result_by_keyboard_in_under_forty_stops(one_pool: Desk) -> None:
    page = one_pool.page
    page.get_by_role("link", name="Add log or cache").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/devices/")
    stops = tab_to(one_pool, "Add anyway")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("log mirrored across 2 slices")
    stops += tab_to(one_pool, "Continue to review")
    page.keyboard.press("Enter")
    page.wait_for_url("**/plans/**")
    type_password(one_pool)
    page.keyboard.press("Enter")
    expect(page.locator("#headline")).to_contain_text("Waiting for nas")
    print(f"tab stops: {stops}")
    assert stops < 40


def type_password(desk: Desk) -> None:
    """The focus is there already."""
    expect(desk.page.get_by_label("Your password")).to_be_focused()
    desk.page.keyboard.type(PASSWORD)


def tab_to(desk: Desk, name: str) -> int:
    """Skip to the content, then press Tab until the focus is on something with this name; every stop must be seen."""
    desk.page.wait_for_load_state()
    for stops in range(1, 80):
        desk.page.keyboard.press("Tab")
        stop = desk.page.evaluate(WHERE)
        if stop["name"] == "Skip to content":
            desk.page.keyboard.press("Enter")
            continue
        assert stop["seen"], stop
        assert stop["ring"], stop
        if re.fullmatch(name, stop["name"].strip()):
            return stops
    raise AssertionError(f"Tab never reached {name}.")


def test_signed_out_amid_the_choices_nothing_is_lost(one_pool: Desk) -> None:
    page = one_pool.page
    begin(one_pool)
    page.locator("#id_log_size").fill("6G")
    expect(page.locator("#summary")).to_contain_text("6 GiB")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.locator("label[for=cache-nvme1n1]").click()
    expect(page.get_by_text("You have been signed out. Your choices are kept.")).to_be_visible()
    expect(page.locator("#summary")).to_contain_text("6 GiB")
    page.get_by_role("alert").get_by_role("link", name="Sign in").click()
    sign_in_again(one_pool)
    expect(page.locator("#id_log_size")).to_have_value("6G")
    expect(page.locator("#cache-nvme1n1")).not_to_be_checked()
    expect(page.locator("#cache-nvme0n1")).to_be_checked()
    expect(page.locator("#summary")).to_contain_text("log mirrored across 2 slices of 6 GiB")
    expect(page.get_by_text("Your choices are kept.", exact=False).first).to_be_visible()


def test_signed_out_at_the_button_what_was_proposed_and_left_so_is_still_there(one_pool: Desk) -> None:
    page = one_pool.page
    fill(3)
    only_tank(one_pool)
    one_pool.open(f"/wizard/{TANK}/devices/")
    page.locator("label[for=log-nvme1n1]").click()
    expect(page.locator("#summary")).to_contain_text("single log")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.get_by_role("button", name="Continue to review").click()
    sign_in_again(one_pool)
    expect(page.locator("#log-nvme0n1")).to_be_checked()
    expect(page.locator("#log-nvme1n1")).not_to_be_checked()
    assert StoredDraft.objects.count() == 1


def test_it_is_said_in_german_too(one_pool: Desk) -> None:
    page = one_pool.page
    one_pool.speak("de")
    one_pool.open(f"/wizard/{TANK}/devices/")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.locator("label[for=log-nvme0n1]").click()
    expect(page.get_by_text("Sie wurden abgemeldet. Ihre Auswahl bleibt erhalten.")).to_be_visible()


def sign_in_again(desk: Desk) -> None:
    desk.page.fill("input[name=username]", "operator")
    desk.page.fill("input[name=password]", PASSWORD)
    desk.page.get_by_role("button", name="Sign in").click()
    desk.page.wait_for_url(lambda address: "/login/" not in address)
