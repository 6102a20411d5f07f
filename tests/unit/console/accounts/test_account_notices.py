"""Whoever has their way in changed is told, whether they did it or somebody else."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from nasadvisor.console.accounts import account_notices
from nasadvisor.console.accounts.audit_models import Act, AuditEntry
from nasadvisor.console.accounts.models import AccountNotice, ApiToken
from nasadvisor.console.accounts.second_factor import factors
from nasadvisor.console.health.alerts import deliver
from nasadvisor.console.health.alerts.models import WatchSettings
from nasadvisor.console.health.alerts.senders import AlertMessage, NotSent
from tests.unit.console.conftest import PASSWORD, confirm

NEW = "kq8vR2mzt-pL"


@pytest.fixture
def viktor() -> User:
    """Somebody who is not there."""
    return User.objects.create_user("viktor", password=PASSWORD, email="viktor@example.org")


@pytest.fixture
def mailed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Sequence[str], AlertMessage]]:
    """What was sent by e-mail."""
    sent: list[tuple[Sequence[str], AlertMessage]] = []
    monkeypatch.setattr(deliver, "send_mail", lambda to, message, _id: sent.append((to, message)))
    WatchSettings.objects.update_or_create(pk=1, defaults={"mail_host": "mail.example"})
    return sent


def told_at_sign_in(name: str, password: str = PASSWORD) -> str:
    """The page after signing in."""
    return Client().post("/login/", {"username": name, "password": password}, follow=True).content.decode()


def test_who_has_something_changed_is_told_at_the_next_sign_in(admin: Client, viktor: User) -> None:
    where = f"/settings/users/{viktor.pk}"
    admin.post(f"{where}/role/", {"role": "operator"})
    admin.post(f"{where}/active/")
    admin.post(f"{where}/active/")
    admin.post(f"{where}/password/", {"new_password1": NEW, "new_password2": NEW})
    page = told_at_sign_in("viktor", NEW)
    for words in ("changed a role", "locked a user out", "unlocked a user", "set a new password for a user"):
        assert f"New: admin {words} (" in page
    assert ", from 127.0.0.1)" in page
    assert "New: " not in told_at_sign_in("viktor", NEW)
    assert not AccountNotice.objects.exclude(user=viktor).exists()


def test_what_was_done_with_ones_own_cookie_is_told_to_oneself(admin: Client) -> None:
    """Whoever it was: a stolen cookie looks the same."""
    admin.post("/settings/tokens/add/", {"name": "grafana"})
    admin.post("/password/", {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW})
    page = admin.get("/settings/account/").content.decode()
    assert "admin created a token (" in page
    assert "admin changed their password (" in page
    assert "New: admin changed their password" in told_at_sign_in("admin", NEW)


def test_whose_token_is_deleted_is_told_whoever_did_it(admin: Client, viktor: User) -> None:
    """Proves too that one whose maker is gone is deleted all the same."""
    for maker in (viktor, None):
        token = ApiToken.objects.create(name="grafana", digest=str(maker), created_by=maker)
        admin.post(f"/settings/tokens/{token.pk}/delete/")
    assert not ApiToken.objects.exists()
    assert "New: admin deleted a token (" in told_at_sign_in("viktor")
    assert AccountNotice.objects.count() == 1
    assert AuditEntry.objects.filter(act="token-deleted", about="grafana").count() == 2


def test_each_change_of_a_second_factor_is_told(viktor: User) -> None:
    codes = factors.add_authenticator(viktor, factors.new_secret(), 0, timezone.now())
    browser = Client()
    browser.post("/login/", {"username": "viktor", "password": PASSWORD})
    page = browser.post("/login/code/", {"code": codes[0]}, follow=True).content.decode()
    assert "New: viktor used a recovery code" in page
    browser.post("/settings/account/recovery-codes/", {"password": codes[1]})
    call_command("reset_second_factor", "viktor")
    told = [notice.act for notice in account_notices.of(viktor)]
    assert told == ["factors-reset", "recovery-codes-made", "recovery-code-used", "recovery-code-used"]
    assert "An administrator of the console&#x27;s host removed a second factor" in told_at_sign_in("viktor")


def test_it_is_sent_once_to_the_address_that_somebody_gave(
    viktor: User, mailed: list[tuple[Sequence[str], AlertMessage]]
) -> None:
    User.objects.create_user("nina", password=PASSWORD)
    account_notices.tell(User.objects.get(username="nina"), Act.PASSWORD_RESET, "boss")
    account_notices.tell(viktor, Act.PASSWORD_RESET, "boss", "192.0.2.7")
    for _round in range(2):
        deliver.send_notices(timezone.now())
    ((to, message),) = mailed
    assert list(to) == ["viktor@example.org"]
    assert "viktor: boss set a new password for a user (" in message.text
    assert "192.0.2.7" in message.text


def test_whoever_changes_the_address_does_not_keep_it_from_the_one_before(
    client: Client, viktor: User, mailed: list[tuple[Sequence[str], AlertMessage]]
) -> None:
    client.force_login(viktor)
    confirm(client)
    path = "/settings/account/address/"
    client.post(path, {"email": "eve@example.org", "password": "wrong"})
    client.post(path, {"email": "eve@example.org"})
    assert User.objects.get(pk=viktor.pk).email == "viktor@example.org"
    client.post(path, {"email": "eve@example.org", "password": PASSWORD})
    assert User.objects.get(pk=viktor.pk).email == "eve@example.org"
    deliver.send_notices(timezone.now())
    assert [list(to) for to, _message in mailed] == [["viktor@example.org"]]


def test_an_address_that_the_mail_server_refuses_does_not_hold_up_the_others(
    viktor: User, monkeypatch: pytest.MonkeyPatch, mailed: list[tuple[Sequence[str], AlertMessage]]
) -> None:
    nina = User.objects.create_user("nina", email="nina@example.org")
    for user in (viktor, nina):
        account_notices.tell(user, Act.PASSWORD_RESET, "boss")
    sent: list[str] = []

    def send(to: Sequence[str], _message: AlertMessage, _id: str) -> None:
        if to == ["viktor@example.org"]:
            raise NotSent("no such user")
        sent.extend(to)

    monkeypatch.setattr(deliver, "send_mail", send)
    for _round in range(3):
        deliver.send_notices(timezone.now())
    assert sent == ["nina@example.org"]
    assert AccountNotice.objects.get(user=viktor).mailed_at is None
    monkeypatch.setattr(deliver, "send_mail", lambda to, _message, _id: sent.extend(to))
    deliver.send_notices(timezone.now() + deliver.NOTICES_GIVEN_UP_AFTER + timedelta(minutes=1))
    assert sent == ["nina@example.org"]
