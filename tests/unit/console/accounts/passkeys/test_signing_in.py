"""Signing in with a passkey: after the password, once, soon, and with nothing that only looks like it."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.accounts.lock_out import FREE
from nasadvisor.console.accounts.models import AccountNotice, ApiToken, Guessed, Passkey
from nasadvisor.console.accounts.second_factor.passkeys import ANSWER_WITHIN
from tests.unit.console.accounts.authenticators import Device
from tests.unit.console.accounts.browser import CHALLENGE, LOGIN, TOKENS, Browser, passkey_of
from tests.unit.console.accounts.passkeys.spoiled import WRONG
from tests.unit.console.conftest import Clock


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


@pytest.mark.parametrize("spoil", WRONG)
def test_what_was_not_signed_by_it_for_this_page_signs_nobody_in(
    codes: list[str], device: Device, spoil: Callable[[Device], None]
) -> None:
    spoil(device)
    browser = Browser()
    assert browser.sign_in(device) == 200
    assert not browser.is_signed_in()
    assert Passkey.objects.get().used_at is None


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
    browser.add_passkey(device)
    for _round in range(2):
        assert Browser().sign_in(device) == 302


def test_wrong_ones_count_like_wrong_passwords(codes: list[str], device: Device) -> None:
    stranger = Device(credential_id=device.credential_id)
    statuses = [Browser().sign_in(stranger) for _attempt in range(FREE[Guessed.NAME])]
    assert statuses == [200] * (FREE[Guessed.NAME] - 1) + [429]
    assert Browser().post("/login/", LOGIN).status_code == 429
    assert set(AuditEntry.objects.filter(act="sign-in-failed").values_list("user_name", "about")) >= {
        ("olga", "second factor")
    }


def test_a_recovery_code_stands_for_it(codes: list[str]) -> None:
    browser = Browser()
    browser.begin()
    browser.post("/login/code/", {"code": codes[0]})
    assert browser.is_signed_in()
    browser.post(TOKENS, {"name": "x", "password": codes[1]})
    assert ApiToken.objects.count() == 1
