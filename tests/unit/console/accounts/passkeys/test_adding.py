"""Adding a passkey: it is made for this page and for who proves themselves, and stored as nothing else."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import override_settings

from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.accounts.models import AccountNotice, Passkey, RecoveryCode
from nasadvisor.console.accounts.second_factor import factors
from nasadvisor.console.accounts.second_factor.webauthn import LONGEST_ID
from tests.unit.console.accounts.authenticators import PRESENT, Device
from tests.unit.console.accounts.browser import ACCOUNT, ADD, MAKE, Browser
from tests.unit.console.accounts.passkeys.spoiled import WRONG, other_passkey, other_secret
from tests.unit.console.conftest import PASSWORD


def test_the_first_one_brings_recovery_codes_and_is_listed_with_the_name_it_is_for(
    codes: list[str], olga: User, device: Device
) -> None:
    assert len(codes) == factors.RECOVERY_CODES
    passkey = olga.passkeys.get()
    assert (passkey.name, passkey.site, passkey.used_at) == ("blue", "localhost", None)
    browser = Browser()
    browser.sign_in(device)
    page = " ".join(browser.get(ACCOUNT).content.decode().split())
    assert "<strong>blue</strong> for localhost" in page
    assert "never used" not in page
    assert AuditEntry.objects.filter(act="passkey-added", user_name="olga", about="blue").exists()
    assert AccountNotice.objects.filter(user=olga, act="passkey-added").exists()


def test_a_further_one_leaves_the_recovery_codes_as_they_are(signed_in: Browser, olga: User, device: Device) -> None:
    before = set(RecoveryCode.objects.values_list("digest", flat=True))
    options = signed_in.asked_to_make(passkey=device.sign(signed_in.asked()))
    assert [each["id"] for each in options["excludeCredentials"]] == [olga.passkeys.get().credential_id]
    assert signed_in.post(MAKE, {"passkey": Device().make(options)}).headers["Location"] == ACCOUNT
    assert olga.passkeys.count() == 2
    assert set(RecoveryCode.objects.values_list("digest", flat=True)) == before


@pytest.mark.parametrize("spoil", WRONG)
def test_what_was_not_made_for_this_page_is_not_stored(
    olga: User, device: Device, spoil: Callable[[Device], None]
) -> None:
    """Another secret or passkey is a new one then."""
    spoil(device)
    browser = Browser()
    browser.begin()
    browser.add_passkey(device)
    assert Passkey.objects.exists() == (spoil in (other_secret, other_passkey))
    assert RecoveryCode.objects.exists() == Passkey.objects.exists()


def test_none_is_added_of_an_algorithm_that_was_not_asked_for(olga: User) -> None:
    """P-384 (COSE -35), which the library would take."""
    browser = Browser()
    browser.begin()
    browser.add_passkey(Device(algorithm=-35))
    assert not Passkey.objects.exists()


def test_nobody_adds_that_of_somebody_else(codes: list[str], device: Device) -> None:
    User.objects.create_user("eve", password=PASSWORD)
    browser = Browser()
    browser.begin("eve")
    browser.add_passkey(device)
    assert Passkey.objects.get().user.username == "olga"
    assert not factors.has_factor(User.objects.get(username="eve"))


def test_none_is_added_that_cannot_ask_for_a_finger_or_a_pin(olga: User) -> None:
    browser = Browser()
    browser.begin()
    browser.add_passkey(Device(flags=PRESENT))
    assert not Passkey.objects.exists()


def test_whoever_must_have_a_second_factor_may_choose_a_passkey(olga: User, device: Device) -> None:
    with override_settings(SECOND_FACTOR="everybody"):
        browser = Browser()
        browser.begin()
        assert browser.get("/").headers["Location"] == f"{ACCOUNT}authenticator/"
        assert f'href="{ADD}"' in browser.get(f"{ACCOUNT}authenticator/").content.decode()
        browser.add_passkey(device)
        assert browser.get("/").status_code == 200


def test_an_identifier_that_is_too_long_is_refused(olga: User) -> None:
    browser = Browser()
    browser.begin()
    device = Device(credential_id=bytes(LONGEST_ID + 1))
    browser.add_passkey(device)
    assert not Passkey.objects.exists()
