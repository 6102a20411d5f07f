"""A real Chromium in front of the console, on a recorded machine with a simulated host."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client, override_settings
from kombu import Connection
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from nasadvisor.console.accounts.roles import UserRole, set_role
from nasadvisor.console.celery_app import app
from tests.browser import journey
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.machines import home_server

PASSWORD = "correct horse battery"
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium. Playwright's event loop runs in this thread, and Django would refuse its database there."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "yes"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None) -> Iterator[LiveServer]:
    """The console, with settings that an installation would bring along."""
    del django_db_setup
    files = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        SECRET_KEY="only for tests",
        STORAGES={**settings.STORAGES, "staticfiles": files},
        STATIC_ROOT=tmp_path_factory.mktemp("static"),
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        server = LiveServer("localhost")
        yield server
        server.stop()


@dataclass
class Desk:
    """Somebody at a browser, and the host that they talk to. `waiting` are the tasks it has yet to take up."""

    page: Page
    url: str
    host: SimulatedHost
    waiting: list[tuple[str, list[object]]]

    def open(self, path: str) -> None:
        """Go to a page of the console."""
        self.page.goto(f"{self.url}{path}")

    def speak(self, language: str) -> None:
        """Choose the language of the next page."""
        self.page.context.add_cookies([{"name": "nasadvisor_language", "value": language, "url": self.url}])

    def sign_in(self, name: str) -> None:
        """Sign in by the login page."""
        journey.sign_in(self.page, self.url, name, PASSWORD)

    def come_in(self, name: str) -> None:
        """Be signed in, as the login page leaves a browser; by that page it costs as much as what a test looks at."""
        client = Client()
        client.force_login(User.objects.get(username=name))
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
        self.page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": self.url}])

    def let_host_work(self, after_each: Callable[[], None] = lambda: None) -> None:
        """Let the host do what it was asked for; `after_each` runs when a record is stored."""
        self.host.after_each = after_each
        while self.waiting:
            task, args = self.waiting.pop(0)
            self.host.answer(task, args)


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[object]]]:
    """Tasks sent to hosts and not taken up yet."""
    tasks: list[tuple[str, list[object]]] = []

    def send_task(task: str, args: list[object], **_options: object) -> None:
        if task in ("host.apply", "host.undo", "host.finish", "host.keep"):
            tasks.append((task, args))

    monkeypatch.setattr(app, "send_task", send_task)
    monkeypatch.setattr(app, "connection_or_acquire", lambda: Connection("memory://"))
    return tasks


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A fresh browser profile. Whatever a test is about, no script of a page may fail meanwhile."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB", reduced_motion="reduce")
    context.set_default_timeout(30_000)  # beside guests, which take both processors
    failed: list[str] = []
    context.on("weberror", lambda raised: failed.append(f"{raised.page and raised.page.url}: {raised.error}"))
    yield context
    context.close()
    assert failed == []


@pytest.fixture
def desk(
    context: BrowserContext,
    transactional_db: None,
    server: LiveServer,
    tmp_path: Path,
    waiting: list[tuple[str, list[object]]],
) -> Desk:
    """An operator and a viewer exist; nobody is signed in.

    The test before emptied every table, the groups that come with the migrations too. Django's own way to restore them
    (serialized_rollback) does not: it keeps them at the connection of the moment in which the database was made, and
    that is another one where unit tests made it, before Playwright's event loop ran in this thread.
    """
    del transactional_db
    cache.clear()
    for role in (UserRole.OPERATOR, UserRole.VIEWER):
        Group.objects.get_or_create(name=role.value)
        set_role(User.objects.create_user(role.value, password=PASSWORD), role)
    page = context.new_page()
    return Desk(page, server.url, simulated_host(tmp_path / "host", home_server()), waiting)


@pytest.fixture
def operator(desk: Desk) -> Desk:
    """An operator, signed in, who has opened no page yet."""
    desk.come_in("operator")
    return desk
