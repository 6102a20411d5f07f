"""Signing in and the first administrator."""

import hashlib
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.utils import timezone

from nasadvisor.console.accounts.models import SetupToken
from nasadvisor.console.accounts.roles import UserRole, role_of, set_role
from nasadvisor.console.accounts.sign_in import new_setup_token
from nasadvisor.runtime import serving

CHOICE = {"username": "ada", "password1": "a long pass phrase", "password2": "a long pass phrase"}


def make_admin() -> User:
    admin = User.objects.create_user("admin", password="a long pass phrase")
    set_role(admin, UserRole.ADMIN)
    return admin


def test_it_makes_the_first_administrator_by_token_and_signs_them_in(client: Client) -> None:
    response = client.post(f"/setup/{new_setup_token()}/", CHOICE)
    assert response.headers["Location"] == "/"
    assert role_of(User.objects.get(username="ada")) is UserRole.ADMIN
    assert client.get("/").status_code == 200


def test_it_accepts_a_token_once(client: Client) -> None:
    token = new_setup_token()
    client.post(f"/setup/{token}/", CHOICE)
    response = Client().post(f"/setup/{token}/", {**CHOICE, "username": "eve"})
    assert response.status_code == 404
    assert not User.objects.filter(username="eve").exists()


def test_it_refuses_a_token_after_a_day(client: Client) -> None:
    token = new_setup_token()
    SetupToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get(f"/setup/{token}/").status_code == 404


def test_it_refuses_a_token_once_there_is_an_administrator(client: Client) -> None:
    token = new_setup_token()
    make_admin()
    assert client.post(f"/setup/{token}/", CHOICE).status_code == 404
    assert not User.objects.filter(username="ada").exists()


def test_it_forgets_the_old_token_when_a_new_one_is_made(client: Client) -> None:
    old, new = new_setup_token(), new_setup_token()
    assert client.get(f"/setup/{old}/").status_code == 404
    assert client.get(f"/setup/{new}/").status_code == 200


def test_it_keeps_only_a_digest_of_the_token() -> None:
    token = new_setup_token()
    assert token not in str(SetupToken.objects.values().get())


def test_it_refuses_a_weak_password_for_the_first_administrator(client: Client) -> None:
    weak = {**CHOICE, "password1": "password", "password2": "password"}
    assert client.post(f"/setup/{new_setup_token()}/", weak).status_code == 200
    assert not User.objects.exists()


def test_it_prints_a_link_that_works(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("setup_link", base_url="http://nas:8843/")
    link = capsys.readouterr().out.strip()
    assert link.startswith("http://nas:8843/setup/")
    assert client.get(link.removeprefix("http://nas:8843")).status_code == 200


def test_it_prints_the_fingerprint_to_compare_with_what_the_browser_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = serving.own_certificate(tmp_path)
    serving.make_own(own, ["nas"], datetime.now(UTC))
    shown = hashlib.sha256(ssl.PEM_cert_to_DER_cert(own.chain.read_text())).digest().hex(":").upper()
    with override_settings(CERTIFICATE=str(own.chain)):
        call_command("setup_link")
    link, about = capsys.readouterr().out.splitlines()
    assert link.startswith("https://")
    assert about == (
        "The browser will warn of the certificate, which was made here: compare before you go on. "
        f"SHA-256 fingerprint: {shown}"
    )
    with override_settings(CERTIFICATE=str(tmp_path / "gone.pem")):
        call_command("setup_link")
    assert "gone.pem" in capsys.readouterr().out


def test_it_prints_no_link_once_there_is_an_administrator() -> None:
    make_admin()
    with pytest.raises(CommandError, match="administrator already"):
        call_command("setup_link")


def test_it_says_at_the_login_how_to_make_the_first_administrator(client: Client) -> None:
    assert "setup_link" in client.get("/login/").content.decode()
    make_admin()
    assert "setup_link" not in client.get("/login/").content.decode()


def test_it_locks_a_name_out_after_too_many_wrong_passwords(client: Client) -> None:
    make_admin()
    for _attempt in range(7):
        assert client.post("/login/", {"username": "admin", "password": "wrong"}).status_code == 200
    assert client.post("/login/", {"username": "admin", "password": "wrong"}).status_code == 429
    assert client.post("/login/", {"username": "admin", "password": "a long pass phrase"}).status_code == 429


def test_it_changes_ones_password(viewer: Client) -> None:
    new = {
        "old_password": "correct horse battery",
        "new_password1": "staple of correct",
        "new_password2": "staple of correct",
    }
    assert viewer.post("/password/", new).headers["Location"] == "/settings/account/"
    assert User.objects.get(username="viewer").check_password("staple of correct")


def test_it_signs_out(viewer: Client) -> None:
    viewer.post("/logout/")
    assert viewer.get("/").status_code == 302
