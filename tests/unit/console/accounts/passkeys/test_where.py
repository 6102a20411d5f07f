"""Where there are passkeys: by the name they were made for, over https or on this machine."""

import pytest
from django.contrib.auth.models import User
from django.test import override_settings

from nasadvisor.console.accounts.models import Passkey
from tests.unit.console.accounts.authenticators import Device
from tests.unit.console.accounts.browser import ACCOUNT, ADD, MAKE, TOKENS, Browser
from tests.unit.console.conftest import PASSWORD


def test_under_another_name_it_is_not_asked_for_and_the_page_says_for_which_it_is(codes: list[str]) -> None:
    browser = Browser("nas.other")
    browser.begin()
    page = browser.get("/login/code/").content.decode()
    assert "data-passkey=" not in page
    assert "under the names for which they were created: localhost." in page
    browser.post("/login/code/", {"code": codes[0]})
    assert browser.is_signed_in()
    assert "under the names for which they were created: localhost." in browser.get(TOKENS).content.decode()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("192.0.2.7:8843", "Passkeys require a host name such as nas.example, not an IP address."),
        ("[2001:db8::1]:8843", "Passkeys require a host name such as nas.example, not an IP address."),
        ("nas.example", "Passkeys work only over HTTPS"),
    ],
)
def test_where_no_browser_has_passkeys_the_pages_say_so(olga: User, name: str, says: str) -> None:
    browser = Browser(name)
    browser.begin()
    for path in (ACCOUNT, ADD):
        page = browser.get(path).content.decode()
        assert says in page
        assert "Add a passkey</a>" not in page
    assert browser.asked_to_make(password=PASSWORD) == {}


@pytest.mark.parametrize("by_proxy", [False, True])
def test_over_https_a_name_will_do_whoever_encrypts(olga: User, by_proxy: bool) -> None:
    """The console itself, or a proxy whose address is in the settings."""
    browser, device = Browser("nas.example", is_encrypted=not by_proxy), Device("https://nas.example", "nas.example")
    with override_settings(CSRF_TRUSTED_ORIGINS=["https://nas.example"] if by_proxy else []):
        browser.begin()
        options = browser.asked_to_make(password=PASSWORD)
        assert options["rp"] == {"id": "nas.example", "name": "NAS Advisor"}
        browser.post(MAKE, {"passkey": device.make(options)})
    assert Passkey.objects.get().site == "nas.example"
