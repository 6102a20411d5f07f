"""A session in which nobody does anything ends, and says so."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.accounts.roles import UserRole, set_role
from tests.unit.console.conftest import PASSWORD, Clock

MINUTE = timedelta(minutes=1)
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/runs/7/?shown=1"}


def browser_of(role: UserRole) -> Client:
    """A browser in which somebody with this role has just signed in by the page."""
    set_role(User.objects.create_user(role.value, password=PASSWORD), role)
    client = Client()
    client.post("/login/", {"username": role.value, "password": PASSWORD})
    assert is_signed_in(client)
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/settings/account/").status_code == 200


@pytest.mark.parametrize(("role", "minutes"), [(UserRole.VIEWER, 480), (UserRole.OPERATOR, 480), (UserRole.ADMIN, 30)])
def test_who_does_nothing_for_too_long_is_signed_out_and_told_so(clock: Clock, role: UserRole, minutes: int) -> None:
    client = browser_of(role)
    clock.pass_by((minutes - 1) * MINUTE)
    assert is_signed_in(client)
    clock.pass_by(minutes * MINUTE)
    answer = client.get("/disks/")
    assert answer.headers["Location"] == "/login/?next=/disks/"
    assert f"signed out after {minutes} minutes of inactivity" in " ".join(
        client.get("/login/").content.decode().split()
    )
    assert "of inactivity" not in client.get("/login/").content.decode()
    assert AuditEntry.objects.filter(act="session-idle", user_name=role.value).count() == 1
    client.post("/login/", {"username": role.value, "password": PASSWORD})
    assert is_signed_in(client)


def test_who_goes_on_doing_something_stays(clock: Clock) -> None:
    client = browser_of(UserRole.ADMIN)
    for _minutes in range(0, 24 * 60, 29):
        clock.pass_by(29 * MINUTE)
        assert is_signed_in(client)


def test_a_page_that_looks_again_by_itself_keeps_nobody_signed_in(clock: Clock) -> None:
    client = browser_of(UserRole.ADMIN)
    for _minute in range(29):
        clock.pass_by(MINUTE)
        assert client.get("/runs/", headers=HTMX).status_code == 200
    clock.pass_by(MINUTE)
    answer = client.get("/runs/", headers=HTMX)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/login/?next=/runs/")
    assert not is_signed_in(client)


def test_nothing_that_was_sent_too_late_is_done(clock: Clock) -> None:
    client = browser_of(UserRole.ADMIN)
    clock.pass_by(30 * MINUTE)
    client.post("/settings/tokens/add/", {"name": "x", "password": PASSWORD})
    client.post("/settings/tokens/add/", {"name": "x", "password": PASSWORD}, headers=HTMX)
    assert not AuditEntry.objects.filter(act="token-made").exists()


def test_a_session_without_a_time_begins_to_count(clock: Clock) -> None:
    client = browser_of(UserRole.ADMIN)
    session = client.session
    del session["active"]
    session.save()
    assert client.get("/runs/", headers=HTMX).status_code == 200
    clock.pass_by(30 * MINUTE)
    assert not is_signed_in(client)
