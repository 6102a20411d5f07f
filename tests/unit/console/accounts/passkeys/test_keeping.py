"""The list of passkeys: who sees and removes which."""

from django.contrib.auth.models import User
from django.core.management import call_command

from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.accounts.models import Passkey, PlatformAccount, RecoveryCode
from nasadvisor.console.accounts.second_factor import factors
from tests.unit.console.accounts.authenticators import Device
from tests.unit.console.accounts.browser import ACCOUNT, ADD, LOGIN, MAKE, Browser, passkey_of


def test_the_last_one_that_is_removed_takes_the_recovery_codes_along(
    signed_in: Browser, olga: User, device: Device
) -> None:
    factors.add_authenticator(olga, factors.new_secret(), 0, olga.date_joined)
    path = f"{ACCOUNT}passkeys/{olga.passkeys.get().pk}/remove/"
    assert "Your other second factors" in signed_in.get(path).content.decode()
    signed_in.post(f"{ACCOUNT}factor/remove/", {"password": "", "passkey": device.sign(signed_in.asked())})
    assert RecoveryCode.objects.exists()
    assert "your password alone" in signed_in.get(path).content.decode()
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
