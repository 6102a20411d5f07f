"""The product as a user meets it: a real browser, the installed services, and real OpenZFS under them."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser import journey
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.integration.product import ROOT, Product
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.browser]

NAME, PASSWORD = "anna", "correct horse battery"
SCREENSHOTS = ROOT / "build" / "screenshots" / "lab"
# A page of the guest takes seconds under emulation, a run five minutes, and beside another guest and the other tests
# each takes three times as long. Nothing is asked of how long: these only end what never comes.
PAGE_MS, RUN_MS = 180_000, 1_200_000
NVME_SERIALS = ("S64FNE0R800001", "S64FNE0R800002")
"""Of the SSDs that the plan is for: no other disk may stand in the steps of its run."""
JOURNAL = "/var/lib/nasadvisor/host/runs/*/journal.jsonl"
NOBODY_BUT_YOU = """
from django.contrib.auth.models import User
from django.core.management import call_command
User.objects.all().delete()
call_command("setup_link", base_url="{}")
"""
IN_THE_MIDDLE = f"until [ $(cat {JOURNAL} 2>/dev/null | wc -l) -ge %d ]; do sleep 0.2; done"


@pytest.fixture(scope="module")
def product(worker_id: str) -> Iterator[Product]:
    """The product in a guest of its own, in whose image it was installed: under emulation that takes minutes.

    `test_install` installs it in a guest that runs.
    """
    with Lab.start(name=f"test-product-{worker_id}", product=True) as guest:
        product = Product(guest)
        product.wait_until_it_answers()
        yield product


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def url(product: Product) -> str:
    """Where the console is reached from here."""
    return f"https://127.0.0.1:{product.guest.forwarded_port(8843)}"


@pytest.fixture(scope="module")
def page(chromium: Browser, product: Product, url: str) -> Page:
    """Somebody who made the first administrator by the one-time link."""
    context = chromium.new_context(
        viewport={"width": 1440, "height": 900}, locale="en-GB", reduced_motion="reduce", ignore_https_errors=True
    )
    context.set_default_timeout(PAGE_MS)
    expect.set_options(timeout=PAGE_MS)
    page = context.new_page()
    page.goto(product.console(NOBODY_BUT_YOU.format(url)).split()[0])
    page.fill("input[name=username]", NAME)
    page.fill("input[name=password1]", PASSWORD)
    page.fill("input[name=password2]", PASSWORD)
    page.get_by_role("button", name="Create and sign in").click()
    page.wait_for_url(f"{url}/")
    return page


@pytest.fixture
def clean_product(product: Product) -> Product:
    """A blank machine under the running product, of which the console has heard, and no journals of other tests."""
    product.guest.reset()
    product.guest.run("rm -rf /var/lib/nasadvisor/host/runs/*")
    return product


def picture(page: Page, name: str) -> None:
    """Keep a screenshot at desktop and at phone width."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.screenshot(path=SCREENSHOTS / f"{name}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1440, "height": 900})


def plan_on_both_nvme(page: Page, url: str, product: Product) -> None:
    """Through the wizard to the preview: a mirrored log and caches on slices of the two NVMe SSDs."""
    wait_for_inventory(page, url, product)
    page.goto(f"{url}/wizard/")
    page.wait_for_url("**/devices/")  # with one pool nothing is asked about pools
    for box in page.locator("input[type=checkbox][name=log], input[type=checkbox][name=cache]").all():
        wanted = "nvme" in (box.get_attribute("value") or "")
        if box.is_checked() != wanted:
            page.locator(f"label[for={box.get_attribute('id')}]").click()
    summary = page.locator("#summary")
    expect(summary).to_contain_text(re.compile("log mirrored across 2 slices of .*2 × .* cache", re.DOTALL))
    page.locator("input[name=log_size]").fill("128M")
    page.locator("input[name=cache_size]").fill("256M")
    page.locator("input[name=cache_size]").press("Tab")
    expect(summary).to_contain_text("2 × 256 MiB cache")
    picture(page, "2-devices")
    journey.preview(page)
    picture(page, "4-preview")


def wait_for_inventory(page: Page, url: str, product: Product) -> None:
    """The console must have heard of the machine as it is since the reset."""
    guid = product.guest.run("zpool get -Hpo value guid tank").stdout.strip()
    for _ in range(30):
        page.goto(f"{url}/storage/")
        if guid in page.content():
            return
        page.wait_for_timeout(2000)
    raise AssertionError("The console did not hear of the new pool within a minute.")


def apply(page: Page) -> None:
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Apply to pool tank").click()
    page.wait_for_url("**/runs/**")


def headline(page: Page, text: str) -> None:
    expect(page.locator("#headline")).to_contain_text(re.compile(text), timeout=RUN_MS)


def test_the_whole_wizard_adds_a_mirrored_log_and_caches_and_one_click_takes_them_back(
    page: Page, url: str, clean_product: Product
) -> None:
    """Proves: from the first login to the undo, by browser alone, on real OpenZFS."""
    guest = clean_product.guest
    blank = guest.digests("nvme0", "nvme1", "sata0", "sas0")
    plan_on_both_nvme(page, url, clean_product)
    apply(page)
    headline(page, "steps done")
    picture(page, "6-run")
    headline(page, "Done on pool")
    picture(page, "7-applied")
    named = page.locator(".run-step-what .disk-name").all_inner_texts()
    assert {serial for name in named for serial in NVME_SERIALS if serial in name} == set(NVME_SERIALS)
    assert [name for name in named if not any(serial in name for serial in NVME_SERIALS)] == []
    status = guest.run("zpool status -P tank").stdout
    assert "mirror-2" in status, status
    assert status.count("/dev/disk/by-partuuid/") == 4
    page.get_by_role("link", name="View it in the pool").click()
    picture(page, "8-proof")
    journey.undo(page, "tank", PASSWORD)
    headline(page, "Everything that this run did was undone")
    picture(page, "9-undone")
    expect(page.get_by_text("No slice is left.")).to_be_visible()
    expect(page.get_by_text("keeps an empty entry (a hole)")).to_be_visible()
    assert guest.digests("nvme0", "nvme1", "sata0", "sas0") == blank
    page.goto(f"{url}/")
    picture(page, "0-overview")


@pytest.mark.long
def test_a_run_goes_on_without_redis_browser_and_web_and_the_page_catches_up(
    page: Page, url: str, clean_product: Product
) -> None:
    """Proves: nobody but the host worker is needed once it has begun."""
    guest = clean_product.guest
    plan_on_both_nvme(page, url, clean_product)
    apply(page)
    address = page.url
    guest.run(IN_THE_MIDDLE % 5)
    page.goto("about:blank")
    guest.run("systemctl stop nasadvisor-redis nasadvisor-web")
    guest.run("until zpool status tank | grep -q cache; do sleep 0.5; done", timeout=300)
    guest.run("systemctl start nasadvisor-redis nasadvisor-web nasadvisor-console")
    guest.run("until curl -kso /dev/null https://127.0.0.1:8843/login/; do sleep 0.5; done", timeout=120)
    page.goto(address)
    headline(page, "Done on pool")
    journey.undo(page, "tank", PASSWORD)
    headline(page, "Everything that this run did was undone")


@pytest.mark.long
@pytest.mark.parametrize("way", ["Finish", "Undo"])
def test_a_killed_host_worker_leaves_a_run_that_the_page_offers_to_end(
    page: Page, url: str, clean_product: Product, way: str
) -> None:
    """Proves: after kill -9 of the worker the page says "interrupted", nothing moves, and both buttons work."""
    guest = clean_product.guest
    plan_on_both_nvme(page, url, clean_product)
    apply(page)
    guest.run(IN_THE_MIDDLE % 7 + "; systemctl kill --signal=KILL nasadvisor-host")
    headline(page, "interrupted after")
    before = guest.run(f"cat {JOURNAL} | wc -l").stdout
    picture(page, "interrupted")
    assert guest.run(f"cat {JOURNAL} | wc -l").stdout == before
    if way == "Finish":
        page.get_by_role("link", name="Finish").click()
        page.get_by_label("Your password").fill(PASSWORD)
        page.get_by_role("button", name="Finish on pool tank").click()
        headline(page, "Done on pool")
        assert "mirror-2" in guest.run("zpool status tank").stdout
    journey.undo(page, "tank", PASSWORD)
    headline(page, "Everything that this run did was undone")
    assert "by-partuuid" not in guest.run("zpool status -P tank").stdout
