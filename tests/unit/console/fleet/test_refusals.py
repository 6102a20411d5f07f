"""Who is refused something leaves a trace in the audit log, and fills nothing."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from nasadvisor.console.accounts import audit, passwords
from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.health.alerts.models import StoredAlert
from tests.fixtures.machines.build import typical
from tests.unit.console.accounts.test_access import token
from tests.unit.console.conftest import PASSWORD
from tests.unit.console.health.health_data import watched

FROM = "192.0.2.7"


def refusals() -> list[tuple[str, str, str]]:
    found = AuditEntry.objects.filter(act="refused").order_by("pk")
    return list(found.values_list("user_name", "address", "about"))


def test_a_page_and_a_change_that_are_for_others_are_written_down(viewer: Client) -> None:
    for path in ("/settings/audit/", "/wizard/"):
        assert viewer.get(path, REMOTE_ADDR=FROM).status_code == 403
    assert viewer.post("/settings/users/1/role/", {"role": "admin"}, REMOTE_ADDR=FROM).status_code == 403
    assert refusals() == [
        ("viewer", FROM, "GET /settings/audit/"),
        ("viewer", FROM, "GET /wizard/"),
        ("viewer", FROM, "POST /settings/users/1/role/"),
    ]


def test_a_role_that_was_taken_away_while_the_page_was_open_is_one_too(
    cookie: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "may_change", lambda _user: False)
    cookie.post("/settings/tokens/add/", {"name": "mine", "password": PASSWORD})
    assert refusals() == [("admin", "127.0.0.1", "POST /settings/tokens/add/")]


def test_a_token_that_may_only_look_is_named(client: Client) -> None:
    watched(typical())
    path = f"/api/v1/alerts/{StoredAlert.objects.order_by('pk')[0].pk}/acknowledge"
    client.post(path, headers=token(), REMOTE_ADDR=FROM)
    assert refusals() == [("grafana (token)", FROM, f"POST {path}")]


def test_a_form_that_is_not_ours_is_one(operator: Client) -> None:
    """As another page in the same browser would send it."""
    browser = Client(enforce_csrf_checks=True)
    browser.cookies = operator.cookies
    assert browser.post("/wear/sweep/").status_code == 403
    assert refusals() == [("operator", "127.0.0.1", "POST /wear/sweep/")]


def test_what_is_allowed_is_none_and_neither_is_a_page_that_there_is_not(admin: Client) -> None:
    assert admin.get("/settings/audit/").status_code == 200
    assert admin.get("/nowhere/").status_code == 404
    assert refusals() == []


def test_one_who_tries_for_long_fills_nothing_and_hides_nobody_else(
    viewer: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit, "MOST_REFUSALS", 3)
    with caplog.at_level("INFO", "nasadvisor.audit"):
        for _attempt in range(6):
            viewer.get("/settings/audit/")
    User.objects.create_user("olga", password=PASSWORD)
    other = Client()
    other.post("/login/", {"username": "olga", "password": PASSWORD})
    other.get("/settings/audit/")
    assert [name for name, _address, _about in refusals()] == ["viewer"] * 3 + ["olga"]
    assert sum("act=refused" in line and "'viewer'" in line for line in caplog.messages) == 3


def test_the_journal_has_a_line_of_each_and_no_trace(viewer: Client, caplog: pytest.LogCaptureFixture) -> None:
    viewer.get("/settings/audit/")
    (line,) = [each for each in caplog.records if each.name == "django.request"]
    assert (line.getMessage(), line.exc_info) == ("Forbidden (Permission denied): /settings/audit/", None)


def test_strangers_leave_none(client: Client) -> None:
    """They are asked to sign in, and what they fail to is written down as that."""
    client.get("/settings/audit/")
    assert not AuditEntry.objects.exists()
