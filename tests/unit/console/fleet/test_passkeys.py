"""Passkeys: a device signs for somebody, for this console, once; and nothing else that looks like it is taken."""

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client, override_settings

from nasadvisor.console.fleet import factors
from nasadvisor.console.fleet.audit_models import AuditEntry
from nasadvisor.console.fleet.ceremony import LONGEST_ID
from nasadvisor.console.fleet.factor_models import Passkey, RecoveryCode
from nasadvisor.console.fleet.lock_out import FREE_FOR_NAME
from nasadvisor.console.fleet.models import AccountNotice, PlatformAccount
from nasadvisor.console.fleet.passkeys import ANSWER_WITHIN
from nasadvisor.console.fleet.passwords import FREE
from nasadvisor.console.fleet.roles import UserRole, set_role
from nasadvisor.console.health.access_models import ApiToken
from tests.unit.console.conftest import PASSWORD, Clock
from tests.unit.console.fleet.authenticators import PRESENT, VERIFIED, Device

LOGIN = {"username": "olga", "password": PASSWORD}
ACCOUNT = "/settings/account/"
ADD = f"{ACCOUNT}passkeys/add/"
MAKE = f"{ACCOUNT}passkeys/make/"
CHALLENGE = f"{ACCOUNT}passkeys/challenge/"
TOKENS = "/settings/tokens/"


class Browser(Client):
    """A browser that shows the console as http://localhost, or by another name, over TLS or not."""

    def __init__(self, name: str = "localhost", is_encrypted: bool = False) -> None:
        super().__init__(headers={"host": name})
        self.is_encrypted = is_encrypted

    def generic(self, *args: Any, **options: Any) -> Any:
        return super().generic(*args, **{**options, "secure": self.is_encrypted})

    def begin(self, name: str = "olga") -> None:
        """Type the password."""
        self.post("/login/", {**LOGIN, "username": name})

    def sign_in(self, device: Device, **fields: str) -> int:
        """Type the password, then use the passkey."""
        self.begin()
        return self.post("/login/code/", {"passkey": device.sign(self.asked("/login/passkey/")), **fields}).status_code

    def asked(self, path: str = CHALLENGE) -> dict[str, str]:
        """What the script gets from the console."""
        found: dict[str, str] = self.post(path).json()
        return found

    def asked_to_make(self, **proof: str) -> dict[str, Any]:
        """What the page asks on which a passkey called "blue" is made."""
        page = self.post(ADD, {"name": "blue", **proof}).content.decode()
        (options,) = re.findall(r'data-make="([^"]*)"', page) or ["{}"]
        return dict(json.loads(unescape(options)))

    def is_signed_in(self) -> bool:
        """Whether there is more than the login."""
        return self.get(ACCOUNT).status_code == 200


@pytest.fixture(autouse=True)
def standing_clock(clock: Clock) -> None:
    """Challenges last as long as a test needs them."""


@pytest.fixture(autouse=True)
def known_names() -> Iterator[None]:
    """By which the console answers in these tests."""
    with override_settings(HOST_NAMES=["localhost", "nas.example", "nas.other"]):
        yield


@pytest.fixture
def olga() -> User:
    """An administrator."""
    user = User.objects.create_user("olga", password=PASSWORD)
    set_role(user, UserRole.ADMIN)
    return user


@pytest.fixture
def device() -> Device:
    """Her security key."""
    return Device()


@pytest.fixture
def codes(olga: User, device: Device) -> list[str]:
    """Her recovery codes: she has added the key as her only second factor, and closed that browser."""
    browser = Browser()
    browser.begin()
    page = browser.post(MAKE, {"passkey": device.make(browser.asked_to_make(password=PASSWORD))}).content.decode()
    return re.findall(r"(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}", page)


@pytest.fixture
def signed_in(codes: list[str], device: Device) -> Browser:
    """Her browser, with the passkey used."""
    browser = Browser()
    browser.sign_in(device)
    return browser


def passkey_of(name: str) -> tuple[Browser, Device]:
    """Somebody else with a passkey, in their browser."""
    User.objects.create_superuser(name, password=PASSWORD)
    browser, device = Browser(), Device()
    browser.begin(name)
    browser.post(MAKE, {"passkey": device.make(browser.asked_to_make(password=PASSWORD))})
    return browser, device


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


def test_it_signs_in_after_the_password_and_nobody_is_signed_in_between(codes: list[str], device: Device) -> None:
    browser = Browser()
    assert browser.post("/login/", {**LOGIN, "next": "/disks/"}).headers["Location"] == "/login/code/"
    asked = browser.asked("/login/passkey/")
    assert not browser.is_signed_in()
    assert browser.post(CHALLENGE).headers["Location"].startswith("/login/")
    answer = browser.post("/login/code/", {"passkey": device.sign(asked)})
    assert answer.headers["Location"] == "/disks/"
    assert browser.is_signed_in()


def test_without_the_password_there_is_nothing_to_sign(codes: list[str]) -> None:
    assert Browser().post("/login/passkey/").status_code == 404


def elsewhere(device: Device) -> None:
    device.origin = "http://1ocalhost"


def other_port(device: Device) -> None:
    device.origin = "http://localhost:8080"


def other_site(device: Device) -> None:
    device.site = "nas.example"


def other_secret(device: Device) -> None:
    device.key = Device().key


def other_passkey(device: Device) -> None:
    device.credential_id = Device().credential_id


def nobody_there(device: Device) -> None:
    device.flags = 0


def framed(device: Device) -> None:
    device.client_data = {"crossOrigin": True}


def number_for_challenge(device: Device) -> None:
    device.client_data = {"challenge": 10**12}


WRONG: list[Callable[[Device], None]] = [elsewhere, other_port, other_site, other_secret, other_passkey, nobody_there]
WRONG += [framed, number_for_challenge]


@pytest.mark.parametrize("spoil", WRONG)
def test_what_was_not_signed_by_it_for_this_page_signs_nobody_in(
    codes: list[str], device: Device, spoil: Callable[[Device], None]
) -> None:
    spoil(device)
    browser = Browser()
    assert browser.sign_in(device) == 200
    assert not browser.is_signed_in()
    assert Passkey.objects.get().used_at is None


@pytest.mark.parametrize("spoil", WRONG)
def test_what_was_not_made_for_this_page_is_not_stored(
    olga: User, device: Device, spoil: Callable[[Device], None]
) -> None:
    """Another secret or passkey is a new one then."""
    spoil(device)
    browser = Browser()
    browser.begin()
    browser.post(MAKE, {"passkey": device.make(browser.asked_to_make(password=PASSWORD))})
    assert Passkey.objects.exists() == (spoil in (other_secret, other_passkey))
    assert RecoveryCode.objects.exists() == Passkey.objects.exists()


def test_an_answer_of_another_kind_is_none(codes: list[str], device: Device) -> None:
    browser = Browser()
    browser.begin()
    answer = device.sign(browser.asked("/login/passkey/"), "webauthn.create")
    assert browser.post("/login/code/", {"passkey": answer}).status_code == 200
    assert not browser.is_signed_in()


@pytest.mark.parametrize(
    "answer",
    [
        "x",
        "[]",
        "{}",
        "null",
        "[" * 30_000,
        '{"id": 1000000000000}',
        '{"id": "", "clientDataJSON": "", "signature": ""}',
    ],
)
def test_what_is_no_answer_is_refused_as_a_wrong_one(codes: list[str], answer: str) -> None:
    browser = Browser()
    browser.begin()
    browser.asked("/login/passkey/")
    assert "was not accepted" in browser.post("/login/code/", {"passkey": answer}).content.decode()


def test_an_answer_is_good_once(codes: list[str], device: Device) -> None:
    """Proves it for the same session and for another one; the device does not count."""
    device.adds = 0
    Passkey.objects.update(sign_count=0)
    browser, other = Browser(), Browser()
    browser.begin()
    answer = device.sign(browser.asked("/login/passkey/"))
    other.begin()
    other.asked("/login/passkey/")
    browser.post("/login/code/", {"passkey": answer})
    assert browser.is_signed_in()
    other.post("/login/code/", {"passkey": answer})
    assert not other.is_signed_in()
    browser.post(TOKENS, {"name": "x", "password": "", "passkey": answer})
    assert not ApiToken.objects.exists()


def test_an_answer_to_the_sign_in_changes_nothing(signed_in: Browser, device: Device) -> None:
    """Proves it with the challenge of this session, which was asked for that."""
    asked = signed_in.asked()
    session = signed_in.session
    session["passkey_asked"] = {**session["passkey_asked"], "for": "sign-in"}
    session.save()
    signed_in.post(TOKENS, {"name": "x", "password": "", "passkey": device.sign(asked)})
    assert not ApiToken.objects.exists()


def test_it_has_to_answer_soon(codes: list[str], device: Device, clock: Clock) -> None:
    browser = Browser()
    browser.begin()
    answer = device.sign(browser.asked("/login/passkey/"))
    clock.pass_by(ANSWER_WITHIN)
    assert "it took too long" in browser.post("/login/code/", {"passkey": answer}).content.decode()
    assert not browser.is_signed_in()


def test_that_of_somebody_else_signs_nobody_in(codes: list[str]) -> None:
    _browser, other = passkey_of("eve")
    browser = Browser()
    assert browser.sign_in(other) == 200
    assert not browser.is_signed_in()


def test_what_was_asked_of_one_is_not_answered_by_another_in_the_same_browser(codes: list[str]) -> None:
    browser, other = passkey_of("eve")
    browser.post("/logout/")
    browser.begin()
    asked = browser.asked("/login/passkey/")
    browser.begin("eve")
    browser.post("/login/code/", {"passkey": other.sign(asked)})
    assert not browser.is_signed_in()


def test_none_is_added_of_an_algorithm_that_was_not_asked_for(olga: User) -> None:
    """P-384 (COSE -35), which the library would take."""
    browser = Browser()
    browser.begin()
    browser.post(MAKE, {"passkey": Device(algorithm=-35).make(browser.asked_to_make(password=PASSWORD))})
    assert not Passkey.objects.exists()


def test_nobody_adds_that_of_somebody_else(codes: list[str], device: Device) -> None:
    User.objects.create_user("eve", password=PASSWORD)
    browser = Browser()
    browser.begin("eve")
    browser.post(MAKE, {"passkey": device.make(browser.asked_to_make(password=PASSWORD))})
    assert Passkey.objects.get().user.username == "olga"
    assert not factors.has_factor(User.objects.get(username="eve"))


def test_one_of_two_copies_is_refused_and_told(codes: list[str], device: Device, olga: User) -> None:
    copy = device.copy()
    for _round in range(3):
        assert Browser().sign_in(device) == 302
    browser = Browser()
    assert browser.sign_in(copy) == 200
    assert not browser.is_signed_in()
    assert AuditEntry.objects.filter(act="passkey-copied", user_name="olga", about="blue").count() == 1
    assert AccountNotice.objects.filter(user=olga, act="passkey-copied").count() == 1
    assert olga.passkeys.get().sign_count == 3


def test_one_that_does_not_count_is_taken_again_and_again(olga: User) -> None:
    browser, device = Browser(), Device(adds=0)
    browser.begin()
    browser.post(MAKE, {"passkey": device.make(browser.asked_to_make(password=PASSWORD))})
    for _round in range(2):
        assert Browser().sign_in(device) == 302


def test_wrong_ones_count_like_wrong_passwords(codes: list[str], device: Device) -> None:
    stranger = Device(credential_id=device.credential_id)
    statuses = [Browser().sign_in(stranger) for _attempt in range(FREE_FOR_NAME)]
    assert statuses == [200] * (FREE_FOR_NAME - 1) + [429]
    assert Browser().post("/login/", LOGIN).status_code == 429
    assert set(AuditEntry.objects.filter(act="sign-in-failed").values_list("user_name", "about")) >= {
        ("olga", "second factor")
    }


def test_at_the_sign_in_a_touch_is_enough_and_before_a_change_it_is_not(codes: list[str], device: Device) -> None:
    device.flags = PRESENT
    browser = Browser()
    assert browser.sign_in(device) == 302
    assert browser.asked()["userVerification"] == "required"
    for flags, made in ((PRESENT, 0), (PRESENT | VERIFIED, 1)):
        device.flags = flags
        browser.post(TOKENS, {"name": "x", "password": "", "passkey": device.sign(browser.asked())})
        assert ApiToken.objects.count() == made


def test_none_is_added_that_cannot_ask_for_a_finger_or_a_pin(olga: User) -> None:
    browser = Browser()
    browser.begin()
    browser.post(MAKE, {"passkey": Device(flags=PRESENT).make(browser.asked_to_make(password=PASSWORD))})
    assert not Passkey.objects.exists()


def test_before_a_change_it_stands_for_the_code(signed_in: Browser, device: Device) -> None:
    """Proves too that neither the password nor nothing at all does."""
    page = signed_in.get(TOKENS).content.decode()
    assert f'data-passkey="{CHALLENGE}"' in page
    assert "current-password" not in page
    for password in ("", PASSWORD):
        assert 'id="id_password_error"' in signed_in.post(TOKENS, {"name": "x", "password": password}).content.decode()
    assert not ApiToken.objects.exists()
    signed_in.post(TOKENS, {"name": "x", "password": "", "passkey": device.sign(signed_in.asked())})
    assert ApiToken.objects.count() == 1


def test_that_of_somebody_else_changes_nothing(signed_in: Browser) -> None:
    """Proves it for what they sign for this session, and for what was asked in theirs."""
    eve, other = passkey_of("eve")
    for asked in (signed_in.asked(), eve.asked()):
        page = signed_in.post(TOKENS, {"name": "x", "password": "", "passkey": other.sign(asked)}).content.decode()
        assert "was not accepted" in page
    assert not ApiToken.objects.exists()
    assert AuditEntry.objects.filter(act="re-entry-failed", user_name="olga").count() == 2


def test_wrong_ones_before_a_change_have_to_wait(signed_in: Browser, device: Device) -> None:
    for _attempt in range(FREE):
        signed_in.post(TOKENS, {"name": "x", "password": "", "passkey": Device().sign(signed_in.asked())})
    answer = {"name": "x", "password": "", "passkey": device.sign(signed_in.asked())}
    assert "Try again in 1 minute." in signed_in.post(TOKENS, answer).content.decode()
    assert not ApiToken.objects.exists()


def test_what_it_has_signed_is_not_shown_again(signed_in: Browser, device: Device) -> None:
    answer = device.sign(signed_in.asked())
    page = unescape(signed_in.post(TOKENS, {"name": "", "password": "", "passkey": answer}).content.decode())
    assert 'name="passkey"' in page
    assert answer not in page


def test_a_new_password_asks_for_it_too(signed_in: Browser, device: Device, olga: User) -> None:
    other = "a longer thing of mine 7"
    new = {"old_password": PASSWORD, "new_password1": other, "new_password2": other, "code": ""}
    signed_in.post("/password/", new)
    olga.refresh_from_db()
    assert olga.check_password(PASSWORD)
    signed_in.post("/password/", {**new, "passkey": device.sign(signed_in.asked())})
    olga.refresh_from_db()
    assert olga.check_password(other)


def test_a_recovery_code_stands_for_it(codes: list[str]) -> None:
    browser = Browser()
    browser.begin()
    browser.post("/login/code/", {"code": codes[0]})
    assert browser.is_signed_in()
    browser.post(TOKENS, {"name": "x", "password": codes[1]})
    assert ApiToken.objects.count() == 1


def test_a_stolen_cookie_and_the_password_add_and_remove_none(signed_in: Browser, olga: User, device: Device) -> None:
    """Proves it too for the challenge of a page that somebody else has opened: it stands nowhere but in that page."""
    (passkey,) = olga.passkeys.all()
    assert signed_in.asked_to_make(password=PASSWORD) == {}
    signed_in.post(f"{ACCOUNT}passkeys/{passkey.pk}/remove/", {"password": PASSWORD})
    signed_in.asked_to_make(passkey=device.sign(signed_in.asked()))
    signed_in.post(MAKE, {"passkey": Device().make({"challenge": "AAAA"})})
    assert [each.pk for each in olga.passkeys.all()] == [passkey.pk]


def test_the_last_one_that_is_removed_takes_the_recovery_codes_along(
    signed_in: Browser, olga: User, device: Device
) -> None:
    factors.add_authenticator(olga, factors.new_secret(), 0, olga.date_joined)
    path = f"{ACCOUNT}passkeys/{olga.passkeys.get().pk}/remove/"
    assert "Your other second factors" in signed_in.get(path).content.decode()
    signed_in.post(f"{ACCOUNT}factor/remove/", {"password": "", "passkey": device.sign(signed_in.asked())})
    assert RecoveryCode.objects.exists()
    assert "Your password alone" in signed_in.get(path).content.decode()
    signed_in.post(path, {"password": "", "passkey": device.sign(signed_in.asked())})
    assert not factors.has_factor(olga)
    assert not RecoveryCode.objects.exists()
    assert AuditEntry.objects.filter(act="passkey-removed", user_name="olga", about="blue").exists()
    assert Browser().post("/login/", LOGIN).headers["Location"] == "/"


def test_nobody_removes_that_of_somebody_else(signed_in: Browser, device: Device) -> None:
    passkey_of("eve")
    path = f"{ACCOUNT}passkeys/{Passkey.objects.get(user__username='eve').pk}/remove/"
    answer = signed_in.post(path, {"password": "", "passkey": device.sign(signed_in.asked())})
    assert answer.status_code == 404
    assert Passkey.objects.count() == 2


def test_under_another_name_it_is_not_asked_for_and_the_page_says_for_which_it_is(codes: list[str]) -> None:
    browser = Browser("nas.other")
    browser.begin()
    page = browser.get("/login/code/").content.decode()
    assert "data-passkey=" not in page
    assert "by the name they were made for: localhost." in page
    browser.post("/login/code/", {"code": codes[0]})
    assert browser.is_signed_in()
    assert "by the name they were made for: localhost." in browser.get(TOKENS).content.decode()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("192.0.2.7:8843", "Passkeys work only by a name such as nas.example, not by an address of numbers."),
        ("[2001:db8::1]:8843", "Passkeys work only by a name such as nas.example, not by an address of numbers."),
        ("nas.example", "Passkeys work only over https"),
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


def test_whoever_must_have_a_second_factor_may_choose_a_passkey(olga: User, device: Device) -> None:
    with override_settings(SECOND_FACTOR="everybody"):
        browser = Browser()
        browser.begin()
        assert browser.get("/").headers["Location"] == f"{ACCOUNT}authenticator/"
        assert f'href="{ADD}"' in browser.get(f"{ACCOUNT}authenticator/").content.decode()
        browser.post(MAKE, {"passkey": device.make(browser.asked_to_make(password=PASSWORD))})
        assert browser.get("/").status_code == 200


def test_whom_a_platform_signs_in_has_none_here() -> None:
    user = User.objects.create_user("root@pam")
    PlatformAccount.objects.create(user=user, platform="somewhere")
    browser = Browser()
    browser.force_login(user)
    assert browser.get(ADD).status_code == 403
    assert browser.post(MAKE).status_code == 403


def test_administrators_see_who_has_one_and_the_machine_takes_it_away(signed_in: Browser, olga: User) -> None:
    rows = signed_in.get("/settings/users/").content.decode().split('<th scope="row">')[1:]
    assert [row.split("<")[0] for row in rows if "with a second factor" in row] == ["olga"]
    call_command("reset_second_factor", "olga")
    assert not Passkey.objects.exists()
    assert not signed_in.is_signed_in()


def test_names_in_the_list_are_text(signed_in: Browser) -> None:
    Passkey.objects.update(name="<b>x</b>")
    assert "<b>x</b>" not in signed_in.get(ACCOUNT).content.decode()


def test_an_identifier_that_is_too_long_is_refused(olga: User) -> None:
    browser = Browser()
    browser.begin()
    device = Device(credential_id=bytes(LONGEST_ID + 1))
    browser.post(MAKE, {"passkey": device.make(browser.asked_to_make(password=PASSWORD))})
    assert not Passkey.objects.exists()
