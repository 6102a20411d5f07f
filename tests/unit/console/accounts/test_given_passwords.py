"""A password that an administrator chose is good for choosing one's own, and for nothing else."""

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings

from nasadvisor.console.accounts.models import ApiToken, GivenPassword
from nasadvisor.console.accounts.roles import UserRole, set_role
from tests.unit.console.accounts.authenticators import Device
from tests.unit.console.accounts.browser import Browser
from tests.unit.console.conftest import PASSWORD

GIVEN = "staple of correct"
OWN = "kq8vR2mzt-pL"
CHOOSE = "/password/"
PAGES = ("/", "/disks/", "/settings/account/", "/settings/users/", "/settings/account/authenticator/", "/wizard/")


@pytest.fixture
def viktor(admin: Client) -> User:
    """Another administrator, who has forgotten their password and got one from the first."""
    user = User.objects.create_user("viktor", password=PASSWORD)
    set_role(user, UserRole.ADMIN)
    admin.post(f"/settings/users/{user.pk}/password/", {"new_password1": GIVEN, "new_password2": GIVEN})
    return user


def signed_in(name: str = "viktor") -> Client:
    browser = Client()
    assert browser.post("/login/", {"username": name, "password": GIVEN}).status_code == 302
    return browser


def choose(browser: Client, new: str = OWN) -> str:
    fields = {"old_password": GIVEN, "new_password1": new, "new_password2": new}
    return browser.post(CHOOSE, fields, follow=True).content.decode()


@pytest.mark.parametrize("path", PAGES)
def test_with_a_password_of_an_administrator_every_page_leads_to_choosing_ones_own(viktor: User, path: str) -> None:
    browser = signed_in()
    for ask in (browser.get, browser.post):
        assert ask(path).headers["Location"] == CHOOSE


def test_the_page_says_why_and_offers_no_way_back(viktor: User) -> None:
    page = signed_in().get(CHOOSE).content.decode()
    assert "An administrator chose your password." in page
    assert "Cancel" not in page


def test_nothing_is_changed_with_it(viktor: User) -> None:
    """Proves it for an administrator who says it where a change asks for the password."""
    signed_in().post("/settings/tokens/add/", {"name": "mine", "password": GIVEN})
    assert not ApiToken.objects.exists()


def test_once_one_of_their_own_is_chosen_the_way_is_free(viktor: User) -> None:
    browser = signed_in()
    assert "Your password was changed." in choose(browser)
    assert browser.get("/").status_code == 200
    assert Client().post("/login/", {"username": "viktor", "password": OWN}, follow=True).request["PATH_INFO"] == "/"


def test_the_same_one_is_not_ones_own(viktor: User) -> None:
    browser = signed_in()
    assert "This is your current password." in choose(browser, GIVEN)
    assert browser.get("/").headers["Location"] == CHOOSE


def test_who_is_added_gets_one_that_is_to_be_changed_too(admin: Client) -> None:
    admin.post("/settings/users/add/", {"username": "nina", "password1": GIVEN, "password2": GIVEN, "role": "viewer"})
    assert signed_in("nina").get("/").headers["Location"] == CHOOSE


def test_who_gave_it_goes_on_as_before(viktor: User, admin: Client) -> None:
    assert admin.get("/").status_code == 200


def test_signing_out_is_always_possible(viktor: User) -> None:
    assert signed_in().post("/logout/").headers["Location"] == "/login/"


def test_the_password_comes_before_a_second_factor_that_is_required(viktor: User) -> None:
    with override_settings(SECOND_FACTOR="everybody"):
        browser = signed_in()
        assert browser.get("/settings/account/authenticator/").headers["Location"] == CHOOSE
        choose(browser)
        assert browser.get(CHOOSE).headers["Location"] == "/settings/account/authenticator/"


def test_who_has_a_passkey_can_use_it_for_that() -> None:
    """Proves that the page gets what the passkey is to sign."""
    user, browser, device = User.objects.create_user("olga", password=GIVEN), Browser(), Device()
    browser.begin("olga", GIVEN)
    browser.add_passkey(device, GIVEN)
    GivenPassword.objects.create(user=user)
    fields = {"old_password": GIVEN, "new_password1": OWN, "new_password2": OWN, "code": ""}
    browser.post(CHOOSE, {**fields, "passkey": device.sign(browser.asked())})
    assert browser.get("/").status_code == 200
