"""The frame and the pages around the wizard in a real browser: how they fit, and what their scripts do."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from nasadvisor.console.fleet.models import Node
from nasadvisor.console.worker.answers import take_answer
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.stored.documents import to_document
from tests.browser.conftest import PASSWORD, Desk
from tests.browser.layout import check_access, check_fit, check_layout, fits
from tests.fixtures.machines.build import large, typical

PATHS = {
    "overview": "/",
    "pools": "/storage/",
    "pool": "/pools/{pool}/",
    "disks": "/disks/",
    "disk": "/disks/{disk}/",
    "settings": "/settings/",
    "account": "/settings/account/",
    "address": "/settings/account/address/",
    "authenticator": "/settings/account/authenticator/",
    "password": "/password/",
    "missing": "/pools/0/",
    "codes": "/explain/",
    "code": "/explain/pool-checkpoint/",
    "code-unknown": "/explain/too-smal/",
}
MACHINES = {"typical": typical(), "large": large(), "empty": replace(typical(), disks=(), pools=())}


def show(inventory: Inventory) -> None:
    """Make this the only machine."""
    Node.objects.all().delete()
    now = timezone.now().isoformat(timespec="seconds")
    take_answer(inventory.host.node, "inventory", to_document(replace(inventory, read_at=now)))


def address(name: str, inventory: Inventory) -> str:
    pool = inventory.pools[0].guid if inventory.pools else ""
    return PATHS[name].format(pool=pool, disk=inventory.disks[0].key if inventory.disks else "")


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        *(("typical", name) for name in PATHS),
        *(("large", name) for name in ("overview", "pool", "disks")),
        *(("empty", name) for name in ("overview", "pools", "disks")),
    ],
)
def test_a_page_is_accessible_and_fits_in_both_languages(operator: Desk, machine: str, name: str) -> None:
    inventory = MACHINES[machine]
    show(inventory)
    operator.open(address(name, inventory))
    check_layout(operator, f"{name}-{machine}")


def test_the_hosts_of_a_simulated_machine_fit_a_tablet_in_german(operator: Desk) -> None:
    page = operator.page
    show(typical())
    Node.objects.update(is_simulated=True)
    operator.speak("de")
    page.set_viewport_size({"width": 768, "height": 1024})
    operator.open("/settings/")
    assert fits(page)


def test_the_tab_that_is_shown_is_among_those_that_are_seen_on_a_phone(operator: Desk) -> None:
    page = operator.page
    show(typical())
    operator.speak("de")
    page.set_viewport_size({"width": 320, "height": 700})
    operator.open("/reports/")
    tab = page.locator(".tabs [aria-current]")
    box = tab.bounding_box()
    assert box
    assert box["x"] + box["width"] <= 320
    page.set_viewport_size({"width": 700, "height": 320})
    page.set_viewport_size({"width": 320, "height": 700})
    expect(tab).to_be_in_viewport(ratio=1)


def test_tabs_that_are_wider_than_the_screen_fade_out_where_they_go_on(operator: Desk) -> None:
    page, row = operator.page, operator.page.locator(".tabs ul")
    show(typical())
    page.set_viewport_size({"width": 320, "height": 700})
    operator.open("/storage/")
    expect(row).to_have_class("goes-on")
    row.evaluate("(each) => { each.scrollLeft = each.scrollWidth; }")
    expect(row).to_have_class("comes-from")


def test_on_a_tablet_what_a_pool_is_made_of_stays_in_its_lines(operator: Desk) -> None:
    page = operator.page
    show(typical())
    operator.speak("de")
    page.set_viewport_size({"width": 768, "height": 1024})
    operator.open("/storage/")
    heights = page.locator(".layout-words li").evaluate_all("(all) => all.map((each) => each.offsetHeight)")
    assert heights
    assert max(heights) < 30, "a line is 24 px high"


def test_a_disk_leads_to_its_place_in_the_drawing_of_the_pool(operator: Desk) -> None:
    page, leaf = operator.page, typical().pools[0].data[1].children[0]
    show(typical())
    disk = next(disk for disk in typical().disks if any(part.path == leaf.path for part in disk.partitions))
    operator.open(f"/disks/{disk.key}/")
    page.get_by_role("link", name="View it in the pool").click()
    here = page.locator(f"#leaf-{leaf.guid}")
    expect(here).to_be_in_viewport()
    expect(here).to_have_css("outline-style", "solid")
    expect(page.locator(".leaf").first).to_have_css("outline-style", "none")


def test_the_theme_is_remembered(operator: Desk) -> None:
    root = operator.page.locator("html")
    operator.open("/")
    expect(root).to_have_attribute("data-bs-theme", "light")
    operator.page.get_by_role("button", name="Theme").click()
    operator.page.get_by_role("button", name="Dark").click()
    expect(root).to_have_attribute("data-bs-theme", "dark")
    operator.open("/disks/")
    expect(root).to_have_attribute("data-bs-theme", "dark")


def test_the_theme_follows_the_system_until_one_is_chosen(operator: Desk) -> None:
    operator.page.emulate_media(color_scheme="dark")
    operator.open("/")
    expect(operator.page.locator("html")).to_have_attribute("data-bs-theme", "dark")


def test_a_command_is_copied_without_a_secure_context(operator: Desk) -> None:
    show(typical())
    operator.open(address("pool", typical()))
    operator.page.get_by_role("button", name="Copy").click()
    expect(operator.page.get_by_role("button", name="Copied")).to_be_visible()


def test_the_menu_is_reached_by_keyboard(operator: Desk) -> None:
    page = operator.page
    operator.open("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_a_browser_reports_no_error_and_no_forbidden_content(operator: Desk) -> None:
    show(typical())
    said: list[str] = []
    operator.page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    operator.page.on("pageerror", lambda error: said.append(str(error)))
    for name in ("overview", "pools", "pool", "disks", "disk", "settings"):
        operator.open(address(name, typical()))
    assert said == []


def test_a_host_that_is_gone_is_forgotten(operator: Desk) -> None:
    page = operator.page
    Node.objects.create(name="old-nas", last_contact=timezone.now() - timedelta(days=30))
    operator.open("/settings/")
    page.get_by_role("link", name="Forget old-nas").click()
    check_fit(page, "forget")
    check_access(page, "forget")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Forget old-nas").click()
    expect(page.get_by_text("old-nas was forgotten.")).to_be_visible()
    expect(page.get_by_role("row", name="old-nas")).to_have_count(0)
