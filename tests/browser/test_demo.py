"""The demo: pages as files, below whatever path, under a strict policy and without anybody to ask."""

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.contrib.auth.models import Group
from django.core.cache import cache
from playwright.sync_api import BrowserContext, ConsoleMessage, Page
from pytest_django.live_server_helper import LiveServer
from pytest_django.plugin import DjangoDbBlocker

from nasadvisor.console.accounts.roles import UserRole
from tests.demo.export import export
from tests.demo.machine import stops_of_the_story

pytestmark = pytest.mark.django_db(transaction=True)

BESIDE = re.compile(r"/storage/")
"""Of all pages beside the stops: it takes half a minute to write them."""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called above
        """Say nothing."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, server: LiveServer, django_db_blocker: DjangoDbBlocker) -> Path:
    """It is written with the settings of the other tests' server; after the first test the database is empty again."""
    del server
    root = tmp_path_factory.mktemp("demo")
    with django_db_blocker.unblock():
        cache.clear()
        Group.objects.get_or_create(name=UserRole.OPERATOR.value)
        export(stops_of_the_story(root / "host"), root / "hosting" / "some" / "path", BESIDE)
    return root / "hosting"


@pytest.fixture
def hosting(demo: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=demo)) as files:
        threading.Thread(target=files.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{files.server_port}/some/path/"
        files.shutdown()


def told_by(page: Page) -> list[str]:
    """What the browser has to say of the pages: errors, warnings, all that its policy forbids."""
    told: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            told.append(f"{page.url}: {message.text}")

    page.on("console", note)
    page.on("requestfailed", lambda request: told.append(f"{request.url}: {request.failure}"))
    return told


def walk(page: Page) -> list[str]:
    """What the bar says at each of the five stops, by its own way on."""
    said = []
    for number in range(1, 6):
        page.wait_for_selector(f".demo-number[aria-current]:text-is('{number}')")
        said.append(page.locator(".demo-bar strong").inner_text())
        page.wait_for_load_state("networkidle")  # A page that is left before its icon came cuts the icon off.
        page.locator(".demo-bar a[rel=next]").click()
    return said


def test_it_leads_through_five_stops_and_no_page_has_an_error(context: BrowserContext, hosting: str) -> None:
    page = context.new_page()
    told = told_by(page)
    page.goto(hosting)
    assert [each.split(" · ")[0] for each in walk(page)] == [f"{number} of 5" for number in range(1, 6)]
    page.get_by_role("link", name="Deutsch").click()
    assert walk(page)[0] == "1 von 5 · Was zuerst zu tun ist"
    assert told == []


def test_it_needs_no_server_and_shows_the_heat_map(context: BrowserContext, demo: Path) -> None:
    page = context.new_page()
    told = told_by(page)
    page.goto((demo / "some" / "path" / "index.html").as_uri())
    page.locator(".demo-number", has_text="2").click()
    page.locator("#heatmap summary").click()
    page.wait_for_selector(".heat-canvas[data-drawn]", state="attached")
    assert told == []


def test_no_form_is_sent_and_what_leads_nowhere_says_so(context: BrowserContext, hosting: str) -> None:
    page = context.new_page()
    page.goto(f"{hosting}en/index.html")
    page.locator(".demo-number", has_text="3").click()
    page.wait_for_url("**/plans/**")
    address = page.url
    page.get_by_label("Your password").fill("secret")
    page.get_by_role("button", name="Apply to pool media").click()
    assert page.locator(".demo-said-now").inner_text() == "This is a demo, nothing is changed."
    assert page.url == address
    page.get_by_role("link", name="Settings").click()
    assert page.url == address


def test_no_page_leads_to_one_that_is_missing_nor_leaves_the_folder(demo: Path) -> None:
    missing = []
    for page in demo.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#]+)', page.read_text(encoding="utf-8")):
            place = (page.parent / link).resolve()
            if not place.is_file() or demo not in place.parents:
                missing.append(f"{page.relative_to(demo)}: {link}")
    assert missing == []
