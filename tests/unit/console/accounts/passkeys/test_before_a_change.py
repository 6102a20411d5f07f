"""A passkey before a change: it stands for the code, for that of nobody else, and only with a finger or a PIN."""

from html import unescape

from django.contrib.auth.models import User

from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.accounts.lock_out import FREE
from nasadvisor.console.accounts.models import ApiToken, Guessed
from tests.unit.console.accounts.authenticators import PRESENT, VERIFIED, Device
from tests.unit.console.accounts.browser import ACCOUNT, CHALLENGE, MAKE, TOKENS, Browser, passkey_of
from tests.unit.console.conftest import PASSWORD


def test_an_answer_to_the_sign_in_changes_nothing(signed_in: Browser, device: Device) -> None:
    """Proves it with the challenge of this session, which was asked for that."""
    asked = signed_in.asked()
    session = signed_in.session
    session["passkey_asked"] = {**session["passkey_asked"], "for": "sign-in"}
    session.save()
    signed_in.post(TOKENS, {"name": "x", "password": "", "passkey": device.sign(asked)})
    assert not ApiToken.objects.exists()


def test_at_the_sign_in_a_touch_is_enough_and_before_a_change_it_is_not(codes: list[str], device: Device) -> None:
    device.flags = PRESENT
    browser = Browser()
    assert browser.sign_in(device) == 302
    assert browser.asked()["userVerification"] == "required"
    for flags, made in ((PRESENT, 0), (PRESENT | VERIFIED, 1)):
        device.flags = flags
        browser.post(TOKENS, {"name": "x", "password": "", "passkey": device.sign(browser.asked())})
        assert ApiToken.objects.count() == made


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
    for _attempt in range(FREE[Guessed.USER]):
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


def test_a_stolen_cookie_and_the_password_add_and_remove_none(signed_in: Browser, olga: User, device: Device) -> None:
    """Proves it too for the challenge of a page that somebody else has opened: it stands nowhere but in that page."""
    (passkey,) = olga.passkeys.all()
    assert signed_in.asked_to_make(password=PASSWORD) == {}
    signed_in.post(f"{ACCOUNT}passkeys/{passkey.pk}/remove/", {"password": PASSWORD})
    signed_in.asked_to_make(passkey=device.sign(signed_in.asked()))
    signed_in.post(MAKE, {"passkey": Device().make({"challenge": "AAAA"})})
    assert [each.pk for each in olga.passkeys.all()] == [passkey.pk]
