"""Passkeys through real pages, with the device that Chromium plays (WebDriver's virtual authenticators, over CDP)."""

import pytest
from playwright.sync_api import CDPSession, Page, expect

from nasadvisor.console.change.models import StoredRun
from tests.browser import journey
from tests.browser.conftest import PASSWORD, Desk
from tests.browser.layout import check_layout, resize

KEY = {
    "protocol": "ctap2",
    "transport": "usb",
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


UNTRUSTED = """() => { navigator.credentials.get = async () => {
    throw new DOMException("WebAuthn is not supported on sites with TLS certificate errors.", "NotAllowedError");
}; }"""
"""What Chromium says on a page whose certificate was only clicked away."""


class SecurityKey:
    """A security key in the browser of a page."""

    def __init__(self, page: Page) -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.session.send("WebAuthn.enable")
        self.id = self.session.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})["authenticatorId"]

    def set(self, is_owner: bool) -> None:
        """Whether its finger is that of its owner."""
        self.session.send("WebAuthn.setUserVerified", {"authenticatorId": self.id, "isUserVerified": is_owner})

    def forget(self) -> None:
        """Have it know nobody any more."""
        self.session.send("WebAuthn.clearCredentials", {"authenticatorId": self.id})


@pytest.fixture
def key(desk: Desk) -> SecurityKey:
    """In front of the browser."""
    return SecurityKey(desk.page)


def add_passkey(desk: Desk) -> None:
    """From the page of the account, for who has none yet."""
    desk.open("/settings/account/")
    desk.page.get_by_role("link", name="Add a passkey").click()
    desk.page.get_by_label("Name of the passkey").fill("blue key")
    desk.page.get_by_label("Your password").fill(PASSWORD)
    desk.page.get_by_role("button", name="Continue").click()
    desk.page.get_by_role("button", name="Create passkey").click()
    expect(desk.page.get_by_role("heading", name="Recovery codes")).to_be_visible()


def sign_out(desk: Desk) -> None:
    desk.page.context.clear_cookies()


def type_password(desk: Desk) -> None:
    """As far as the second step."""
    desk.open("/login/")
    desk.page.get_by_label("Username").fill("operator")
    desk.page.get_by_label("Password").fill(PASSWORD)
    desk.page.get_by_role("button", name="Sign in").click()
    desk.page.wait_for_url("**/login/code/")


def look(desk: Desk, name: str) -> None:
    """Accessible and no wider than a phone in both languages; then in English again, at a desk."""
    check_layout(desk, f"passkeys-{name}")
    desk.speak("en")
    desk.page.reload()
    resize(desk.page, 1440)


def test_it_is_added_signs_in_and_is_asked_for_before_a_plan_is_applied_and_undone(
    desk: Desk, key: SecurityKey
) -> None:
    desk.sign_in("operator")
    add_passkey(desk)
    sign_out(desk)
    type_password(desk)
    look(desk, "second-step")
    expect(desk.page.get_by_role("button", name="Sign in with your passkey")).to_be_focused()
    desk.page.keyboard.press("Enter")
    desk.page.wait_for_url(f"{desk.url}/")
    desk.open("/settings/account/")
    expect(desk.page.get_by_text("for localhost")).to_be_visible()
    look(desk, "account")
    journey.begin(desk.page, desk.url, "tank")
    journey.preview(desk.page)
    desk.page.get_by_role("button", name="Apply to pool tank").click()
    desk.page.wait_for_url("**/runs/**")
    desk.let_host_work()
    desk.open(f"/runs/{StoredRun.objects.get().pk}/undo/")
    desk.page.get_by_role("button", name="Undo on pool tank").click()
    desk.page.wait_for_url("**/runs/*/")
    assert [task for task, _ in desk.waiting] == ["host.undo"]


def test_what_went_wrong_is_said_and_a_code_still_does(desk: Desk, key: SecurityKey) -> None:
    """Proves it for a key without its owner before a change, and for one that does not know this page.

    Chromium gives its virtual devices to pages with any certificate, so that its refusal is played.
    """
    desk.sign_in("operator")
    add_passkey(desk)
    code = desk.page.locator(".recovery-code").first.text_content() or ""
    key.set(is_owner=False)
    desk.open("/settings/account/recovery-codes/")
    go_on = desk.page.get_by_role("button", name="Create new codes")
    go_on.click()
    said = desk.page.get_by_role("alert")
    expect(said).to_contain_text("No passkey was used")
    desk.page.evaluate(UNTRUSTED)
    go_on.click()
    expect(said).to_contain_text("does not trust the certificate")
    key.forget()
    sign_out(desk)
    type_password(desk)
    desk.page.get_by_role("button", name="Sign in with your passkey").click()
    expect(said).to_contain_text("No passkey was used")
    desk.page.get_by_label("Recovery code").fill(code)
    desk.page.keyboard.press("Enter")
    desk.page.wait_for_url(f"{desk.url}/")


def test_a_device_that_has_one_makes_no_second_one(desk: Desk, key: SecurityKey) -> None:
    """Proves too that a passkey is what is asked for before another one is added."""
    desk.sign_in("operator")
    add_passkey(desk)
    desk.open("/settings/account/passkeys/add/")
    look(desk, "add")
    desk.page.get_by_role("button", name="Continue").click()
    desk.page.get_by_role("button", name="Create passkey").click()
    expect(desk.page.get_by_role("alert")).to_contain_text("already has a passkey for your account")
