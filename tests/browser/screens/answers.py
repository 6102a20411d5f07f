"""Pages that only an answer leads to: who opens their address is shown something else, or nothing."""

from collections.abc import Iterator

from django.urls import reverse

from nasadvisor.console.accounts.models import Passkey
from tests.browser.conftest import PASSWORD, Desk
from tests.browser.screens.looking import Seen, is_asked_for, look_here, speak
from tests.browser.screens.matrix import LANGUAGES
from tests.browser.test_passkeys import SecurityKey

MAKE, CODES = "passkey-make", "recovery-codes-shown"


def _with_passkey(pk: int) -> dict[str, str]:
    """Pages that are shown to who has one, by the names of their pictures."""
    removal = reverse("passkey-remove", args=[pk])
    return {"account-factors": reverse("account"), "factor": removal, "recovery-codes": reverse("recovery-codes")}


def passkey_pages(desk: Desk, state: str) -> Iterator[Seen]:
    """The page that makes a passkey, the recovery codes that come with the first one, and what there is with one."""
    if not any(is_asked_for(name) for name in (MAKE, CODES, *_with_passkey(0))):
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
        for name, path in _with_passkey(Passkey.objects.get().pk).items():
            desk.open(path)
            yield from look_here(page, Seen(state, name, path), language)
        Passkey.objects.all().delete()
        key.forget()
