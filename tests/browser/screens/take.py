"""Takes the pictures of one state; `python -m tests.browser.screens` runs it, nothing else does."""

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from django.utils import timezone
from playwright.sync_api import Browser, Page

from nasadvisor.console.accounts.roles import UserRole, set_role
from nasadvisor.console.accounts.second_factor.factors import add_authenticator
from nasadvisor.console.accounts.sign_in import new_setup_token
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.secrets import new_key
from nasadvisor.console.worker.schedules import create_schedules
from tests.browser.conftest import PASSWORD, Desk
from tests.browser.screens.addresses import pages, pools
from tests.browser.screens.answers import passkey_pages
from tests.browser.screens.looking import Seen, look
from tests.browser.screens.matrix import PICTURES, STATES
from tests.browser.screens.states import bring_about


@pytest.mark.parametrize("state", STATES)
def test_take(desk: Desk, chromium: Browser, tmp_path: Path, state: str) -> None:
    create_schedules()
    bring_about(state, tmp_path)
    (PICTURES / state).mkdir(parents=True, exist_ok=True)
    key = tmp_path / "channel-key"
    key.write_text(new_key())
    with override_settings(CHANNEL_KEY_FILE=key):
        seen = [*_signed_out(desk, chromium, state), *_signed_in(desk, state)]
    documents = [each.as_document() for each in seen]
    (PICTURES / f"{state}.json").write_text(json.dumps(documents, indent=1), encoding="utf-8")


def _signed_out(desk: Desk, chromium: Browser, state: str) -> list[Seen]:
    """The doors: before there is an administrator, and with a second step."""
    if state != "nothing":
        return []
    page = _stranger(chromium)
    seen: list[Seen] = []
    token = new_setup_token()
    for name, path in (("setup", f"/setup/{token}/"), ("setup-invalid", "/setup/x/"), ("login-first", "/login/")):
        seen += look(page, desk.url, state, name, path)
    olga = User.objects.create_user("olga", password=PASSWORD)
    set_role(olga, UserRole.ADMIN)
    seen += look(page, desk.url, state, "login", "/login/")
    add_authenticator(olga, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 0, timezone.now())
    page.context.add_cookies([{"name": "nasadvisor_language", "value": "en", "url": desk.url}])
    page.goto(f"{desk.url}/login/")
    page.fill("input[name=username]", "olga")
    page.fill("input[name=password]", PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/login/code/")
    seen += look(page, desk.url, state, "login-code", "/login/code/")
    page.context.close()
    return seen


def _stranger(chromium: Browser) -> Page:
    return chromium.new_context(locale="en-GB", reduced_motion="reduce").new_page()


def _signed_in(desk: Desk, state: str) -> list[Seen]:
    set_role(User.objects.create_user("admin", password=PASSWORD), UserRole.ADMIN)
    desk.sign_in("admin")
    desk.page.context.add_cookies([{"name": "nasadvisor_language", "value": "en", "url": desk.url}])
    seen: list[Seen] = []
    before = [("wizard-nothing-chosen", f"/wizard/{pool.guid}/devices/") for pool in pools()[:1]]
    for name, path in before:
        seen += look(desk.page, desk.url, state, name, path)
    for pool in pools()[:2]:
        _plan(desk, pool.guid)
    for name, path in pages(desk.page.context.request, desk.url):
        _hear_from_hosts()
        seen += look(desk.page, desk.url, state, name, path)
    return [*seen, *(passkey_pages(desk, state) if state == "nothing" else [])]


def _hear_from_hosts() -> None:
    """Taking the pictures takes longer than a host may be silent."""
    now = timezone.now()
    Node.objects.filter(inventory_read_at__isnull=False).update(last_contact=now, inventory_read_at=now)


def _plan(desk: Desk, guid: str) -> None:
    """Choose what is proposed, or else whatever fits best, as far as the state of the pool allows it."""
    desk.page.context.add_cookies([{"name": "nasadvisor_language", "value": "en", "url": desk.url}])
    desk.open(f"/wizard/{guid}/devices/")
    for button in ("button[name=anyway]", "button[form=devices]:enabled"):
        there = desk.page.locator(button)
        if there.count():
            there.click()
            desk.page.wait_for_load_state("networkidle")
