"""Signing in by the platform, with the dummy platform of the tests in the place of a real one."""

import importlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from nasadvisor.console.accounts import platforms
from nasadvisor.console.accounts.models import PlatformAccount
from nasadvisor.console.accounts.roles import UserRole, role_of, set_role
from nasadvisor.console.accounts.sign_in import new_setup_token
from plugins.contract.console import Access, Visitor
from tests.simulated_host import SimulatedHost, simulated_host
from tests.unit.console.change.test_wizard import plan_of
from tests.unit.console.conftest import PASSWORD, Sent, sign_in
from tests.unit.machines import home_server

DUMMY = Path(__file__).parents[3] / "fixtures" / "dummy_platform"
OVERVIEW, LOGIN = "/", "/login/"


@pytest.fixture
def dummy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The dummy platform, here; its visitor ann@dummy is an operator with the ticket "ticket"."""
    monkeypatch.syspath_prepend(DUMMY)
    platforms.detected.cache_clear()
    cache.clear()
    yield importlib.import_module("nasadvisor_dummy.console").PLATFORM
    platforms.detected.cache_clear()
    cache.clear()
    for name in [name for name in sys.modules if name.startswith("nasadvisor_dummy")]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def host(tmp_path: Path) -> SimulatedHost:
    return simulated_host(tmp_path, home_server())


@pytest.fixture
def ann(client: Client, dummy: Any) -> Client:
    """Ann's browser with the platform's cookie; she has not been here before."""
    client.cookies["dummy"] = "ticket"
    return client


def a_minute_later() -> None:
    cache.clear()


def is_signed_in(client: Client) -> bool:
    return client.get(OVERVIEW).status_code == 200


def test_who_is_signed_in_there_is_signed_in_here_with_the_role_of_their_access(ann: Client) -> None:
    assert is_signed_in(ann)
    user = User.objects.get(username="ann@dummy")
    assert role_of(user) is UserRole.OPERATOR
    assert not user.has_usable_password()
    assert PlatformAccount.objects.get(user=user).platform == "Dummy NAS"


def test_without_the_cookie_or_with_a_wrong_one_nobody_is_let_in(client: Client, dummy: Any) -> None:
    assert not is_signed_in(client)
    client.cookies["dummy"] = "wrong"
    assert not is_signed_in(client)
    assert not User.objects.exists()


def test_the_platform_is_asked_once_a_minute_whoever_it_knows(ann: Client, dummy: Any) -> None:
    for _ in range(5):
        ann.get(OVERVIEW)
    assert dummy.asked == 1
    stranger = Client()
    stranger.cookies["dummy"] = "wrong"
    for _ in range(5):
        stranger.get(OVERVIEW)
    assert dummy.asked == 2


def test_a_ticket_that_expires_signs_out_within_a_minute(ann: Client, dummy: Any) -> None:
    assert is_signed_in(ann)
    dummy.visitors.clear()
    a_minute_later()
    assert not is_signed_in(ann)


def test_signing_out_there_signs_out_here_at_once(ann: Client) -> None:
    assert is_signed_in(ann)
    del ann.cookies["dummy"]
    assert not is_signed_in(ann)


def test_another_visitor_in_the_same_browser_is_another_user_here(ann: Client, dummy: Any) -> None:
    assert is_signed_in(ann)
    dummy.visitors["other"] = Visitor("bob@dummy", Access.VIEWER)
    ann.cookies["dummy"] = "other"
    assert "bob@dummy" in ann.get("/settings/").content.decode()


def test_a_role_that_was_taken_away_is_gone_within_a_minute(ann: Client, dummy: Any) -> None:
    assert ann.get(reverse("wizard")).status_code == 200
    dummy.visitors["ticket"] = Visitor("ann@dummy", Access.VIEWER)
    a_minute_later()
    assert ann.get(reverse("wizard")).status_code == 403


def test_while_the_platform_is_silent_nobody_is_let_in_and_the_login_says_why(ann: Client, dummy: Any) -> None:
    assert is_signed_in(ann)
    a_minute_later()
    dummy.is_silent = True
    assert not is_signed_in(ann)
    assert "The dummy does not answer." in ann.get(LOGIN).content.decode()
    dummy.is_silent = False
    assert is_signed_in(ann)


def test_the_login_offers_to_go_on_and_signs_nobody_in_by_itself(ann: Client) -> None:
    page = ann.get(LOGIN).content.decode()
    assert "Continue as ann@dummy of Dummy NAS" in page
    assert not User.objects.exists()


def test_signing_out_leads_to_the_login_where_a_user_of_ours_can_sign_in(ann: Client) -> None:
    assert is_signed_in(ann)
    assert ann.post(reverse("logout")).headers["Location"] == LOGIN
    admin = User.objects.create_user("admin", password=PASSWORD)
    set_role(admin, UserRole.ADMIN)
    ann.post(LOGIN, {"username": "admin", "password": PASSWORD})
    assert ann.get(reverse("users")).status_code == 200


def test_a_user_of_ours_stays_who_they_are_whatever_cookie_comes_along(client: Client, dummy: Any) -> None:
    sign_in(client, UserRole.VIEWER)
    client.cookies["dummy"] = "ticket"
    assert client.get(reverse("wizard")).status_code == 403
    assert not User.objects.filter(username="ann@dummy").exists()


def test_a_user_of_ours_with_the_name_of_a_visitor_is_not_taken_over(ann: Client) -> None:
    User.objects.create_user("ann@dummy", password=PASSWORD, is_superuser=True)
    assert not is_signed_in(ann)
    assert not PlatformAccount.objects.exists()


def test_who_was_locked_out_here_is_not_let_in(ann: Client) -> None:
    assert is_signed_in(ann)
    User.objects.update(is_active=False)
    assert not is_signed_in(ann)


def test_a_visitor_cannot_be_given_a_password_or_a_role_of_ours(ann: Client) -> None:
    assert is_signed_in(ann)
    user = User.objects.get(username="ann@dummy")
    admin = Client()
    sign_in(admin, UserRole.ADMIN)
    assert admin.get(reverse("user-password", args=[user.pk])).status_code == 404
    admin.post(reverse("user-role", args=[user.pk]), {"role": "admin"})
    assert role_of(User.objects.get(pk=user.pk)) is UserRole.OPERATOR
    assert "assigned by Dummy NAS" in admin.get(reverse("users")).content.decode()


def test_the_first_administrator_can_still_be_made_by_the_link(ann: Client) -> None:
    assert ann.get(reverse("setup", args=[new_setup_token()])).status_code == 200


class TestBeforeAChange:
    """The platform is asked for the password, and what somebody may do now."""

    def test_the_platforms_password_starts_a_run(self, ann: Client, host: SimulatedHost, sent: list[Sent]) -> None:
        assert is_signed_in(ann)
        plan = plan_of(ann)
        ann.post(reverse("wizard-review", args=[plan.id]), {"password": "dummy"})
        assert [(each.task, each.args[2]) for each in sent if each.task == "host.apply"] == [
            ("host.apply", "ann@dummy")
        ]

    def test_a_wrong_one_starts_nothing(self, ann: Client, host: SimulatedHost, sent: list[Sent]) -> None:
        assert is_signed_in(ann)
        plan = plan_of(ann)
        answer = ann.post(reverse("wizard-review", args=[plan.id]), {"password": "wrong"})
        assert "Wrong password" in answer.content.decode()
        assert not [each for each in sent if each.task == "host.apply"]

    def test_access_that_was_taken_away_a_second_ago_starts_nothing(
        self, ann: Client, dummy: Any, host: SimulatedHost, sent: list[Sent]
    ) -> None:
        assert is_signed_in(ann)
        plan = plan_of(ann)
        dummy.visitors["ticket"] = Visitor("ann@dummy", Access.VIEWER)
        answer = ann.post(reverse("wizard-review", args=[plan.id]), {"password": "dummy"})
        assert "read-only access" in answer.content.decode()
        assert not [each for each in sent if each.task == "host.apply"]

    def test_a_platform_that_falls_silent_starts_nothing(
        self, ann: Client, dummy: Any, host: SimulatedHost, sent: list[Sent]
    ) -> None:
        assert is_signed_in(ann)
        plan = plan_of(ann)
        dummy.is_silent = True
        answer = ann.post(reverse("wizard-review", args=[plan.id]), {"password": "dummy"})
        assert "The dummy does not answer." in answer.content.decode()
        assert not [each for each in sent if each.task == "host.apply"]

    def test_who_has_no_password_there_is_told_so_before_and_nothing_is_started(
        self, ann: Client, dummy: Any, host: SimulatedHost, sent: list[Sent]
    ) -> None:
        assert is_signed_in(ann)
        plan = plan_of(ann)
        dummy.has_passwords = False
        place = reverse("wizard-review", args=[plan.id])
        assert "The dummy knows no password of yours." in ann.get(place).content.decode()
        assert "The dummy knows no password of yours." in ann.post(place, {"password": "dummy"}).content.decode()
        assert not [each for each in sent if each.task == "host.apply"]

    def test_our_own_users_are_not_told_of_passwords_elsewhere(
        self, client: Client, dummy: Any, host: SimulatedHost
    ) -> None:
        dummy.has_passwords = False
        sign_in(client, UserRole.OPERATOR)
        page = client.get(reverse("wizard-review", args=[plan_of(client).id])).content.decode()
        assert "The dummy knows no password" not in page

    def test_wrong_passwords_lock_out_as_at_the_login(self, ann: Client, host: SimulatedHost, sent: list[Sent]) -> None:
        assert is_signed_in(ann)
        plan = plan_of(ann)
        for _ in range(9):
            ann.post(reverse("wizard-review", args=[plan.id]), {"password": "wrong"})
        ann.post(reverse("wizard-review", args=[plan.id]), {"password": "dummy"})
        assert not [each for each in sent if each.task == "host.apply"]


def test_the_cookie_is_neither_stored_nor_logged(ann: Client, dummy: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "PVE-like-and-secret"
    dummy.visitors[secret] = Visitor("ann@dummy", Access.OPERATOR)
    ann.cookies["dummy"] = secret
    assert is_signed_in(ann)
    assert secret not in caplog.text
    assert secret not in str(dict(ann.session.items()))
    assert secret not in str(cache._cache)  # type: ignore[attr-defined]


def test_the_settings_show_what_the_platform_adds(ann: Client) -> None:
    page = ann.get("/settings/").content.decode()
    assert "The dummy is well." in page
    assert 'href="https://testserver:1234/"' in page
