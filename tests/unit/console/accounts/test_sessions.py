"""Where somebody is signed in: they see each browser, and end one or all."""

import re

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.accounts.sessions import browser_of
from tests.unit.console.conftest import PASSWORD

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1"


def browser(name: str, agent: str, address: str) -> Client:
    """A browser in which somebody has signed in."""
    User.objects.filter(username=name).exists() or User.objects.create_user(name, password=PASSWORD)
    client = Client(REMOTE_ADDR=address, HTTP_USER_AGENT=agent)
    assert client.post("/login/", {"username": name, "password": PASSWORD}).status_code == 302
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/settings/").status_code == 200


def ends_offered(client: Client) -> list[str]:
    return re.findall(
        r'action="(/settings/sessions/[0-9a-f]{20}/end/)"', client.get("/settings/sessions/").content.decode()
    )


def test_each_browser_of_ones_own_is_listed_and_no_other() -> None:
    desk = browser("olga", FIREFOX, "192.0.2.7")
    browser("olga", SAFARI, "2001:db8::7")
    browser("boss", SAFARI, "198.51.100.9")
    page = desk.get("/settings/sessions/").content.decode()
    assert all(
        words in page for words in ("Firefox, Linux", "192.0.2.7", "Safari, iPhone", "2001:db8::7", "this browser")
    )
    assert "198.51.100.9" not in page
    assert not any(key in page for key in Session.objects.values_list("session_key", flat=True))


def test_a_browser_that_is_ended_is_signed_out_and_the_others_are_not() -> None:
    desk, phone = browser("olga", FIREFOX, "192.0.2.7"), browser("olga", SAFARI, "192.0.2.8")
    [end] = ends_offered(desk)
    desk.post(end)
    assert (is_signed_in(desk), is_signed_in(phone)) == (True, False)
    assert AuditEntry.objects.filter(act="session-ended", user_name="olga", address="192.0.2.7").exists()


def test_this_one_is_ended_in_the_list_as_the_others_are() -> None:
    desk, phone = browser("olga", FIREFOX, "192.0.2.7"), browser("olga", SAFARI, "192.0.2.8")
    rows = desk.get("/settings/sessions/").content.decode().split('<th scope="row">')[1:]
    (action,) = re.findall(r'action="([^"]*)"', next(row for row in rows if "this browser" in row).split("</tr>")[0])
    desk.post(action)
    assert (is_signed_in(desk), is_signed_in(phone)) == (False, True)


def test_signing_out_everywhere_ends_all_of_ones_own_and_nobody_elses() -> None:
    desk, phone = browser("olga", FIREFOX, "192.0.2.7"), browser("olga", SAFARI, "192.0.2.8")
    boss = browser("boss", FIREFOX, "192.0.2.9")
    assert desk.post("/settings/sessions/end/").headers["Location"] == "/login/"
    assert [is_signed_in(each) for each in (desk, phone, boss)] == [False, False, True]
    assert AuditEntry.objects.filter(act="all-sessions-ended", user_name="olga").count() == 1


def test_nobody_ends_the_browser_of_somebody_else() -> None:
    olga, boss = browser("olga", FIREFOX, "192.0.2.7"), browser("boss", SAFARI, "192.0.2.8")
    other = browser("boss", FIREFOX, "192.0.2.9")
    for end in ends_offered(other):
        olga.post(end)
    assert is_signed_in(boss)


def test_a_changed_password_signs_all_other_browsers_out() -> None:
    desk, phone = browser("olga", FIREFOX, "192.0.2.7"), browser("olga", SAFARI, "192.0.2.8")
    fields = {"old_password": PASSWORD, "new_password1": "kq8vR2mzt-pL", "new_password2": "kq8vR2mzt-pL"}
    assert desk.post("/password/", fields).status_code == 302
    assert (is_signed_in(desk), is_signed_in(phone)) == (True, False)


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox, Linux"),
        (SAFARI, "Safari, iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge, Windows"),
        ("curl/8.5.0", "curl"),
        ("", ""),
        ("<script>alert(1)</script>", "<script>alert(1)<"),
    ],
)
def test_a_browser_is_called_by_two_words(agent: str, words: str) -> None:
    assert browser_of(agent) == words
