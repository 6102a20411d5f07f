"""Pages that only an answer leads to: who opens their address is shown something else, or nothing."""

from collections.abc import Iterator

from nasadvisor.console.fleet.factor_models import Passkey
from tests.browser.conftest import PASSWORD, Desk
from tests.browser.screens.looking import Seen, is_asked_for, look_here, speak
from tests.browser.screens.matrix import LANGUAGES
from tests.browser.test_passkeys import SecurityKey

MAKE, CODES = "passkey-make", "recovery-codes-shown"


def passkey_pages(desk: Desk, state: str) -> Iterator[Seen]:
    """The page that makes a passkey, and the recovery codes that come with the first one."""
    if not (is_asked_for(MAKE) or is_asked_for(CODES)):
        return
    page, key = desk.page, SecurityKey(desk.page)
    for language in LANGUAGES:
        speak(page, desk.url, language)
        desk.open("/settings/account/passkeys/add/")
        page.fill("input[name=name]", "blue key")
        page.fill("input[name=password]", PASSWORD)
        page.locator("main form button.btn-primary").click()
        page.locator("[data-passkey-button]").wait_for()
        yield from look_here(page, Seen(state, MAKE, "/settings/account/passkeys/add/"), language)
        page.locator("[data-passkey-button]").click()
        page.locator(".recovery-code").first.wait_for()
        yield from look_here(page, Seen(state, CODES, "/settings/account/passkeys/make/"), language)
        Passkey.objects.all().delete()
        key.forget()
