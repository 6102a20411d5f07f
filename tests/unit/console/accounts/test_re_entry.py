"""A cookie alone leads to nothing: the password is asked for again, and guessing it takes longer and longer."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from nasadvisor.console.accounts import passwords
from nasadvisor.console.accounts.lock_out import FREE, LONGEST_WAIT, wait_after
from nasadvisor.console.accounts.models import ApiToken, Guessed, WrongAnswers
from nasadvisor.console.accounts.passwords import CONFIRMED_AT, CONFIRMED_FOR
from nasadvisor.console.accounts.roles import UserRole, role_of, set_role
from nasadvisor.console.health.alerts.models import Channel, WatchSettings
from nasadvisor.console.secrets import encrypt
from nasadvisor.console.worker.schedules import create_schedules
from tests.unit.console.conftest import PASSWORD, Clock, confirm

NEW = "staple of correct"
NEW_USER = {"username": "eve", "password1": NEW, "password2": NEW, "role": "admin"}
CHANNEL = {"name": "mine", "kind": "apprise", "address": "json://alerts.example.org/", "without_test": "1"}
CHANNEL |= {"level": "warning", "timing": "at-once", "language": "en"}
DELIVERY = {"mail_host": "evil.example", "mail_port": "25", "mail_security": "none", "mail_sender": "nas@example.org"}
DELIVERY |= {"digest_at": "07:00", "escalate_after_hours": "4"}


@pytest.fixture
def viktor() -> User:
    """Somebody else."""
    user = User.objects.create_user("viktor", password=PASSWORD)
    set_role(user, UserRole.VIEWER)
    return user


def guess(client: Client, name: str, where: str, password: str = "wrong") -> int:
    """Try to sign in from an address; the answer's status."""
    return client.post("/login/", {"username": name, "password": password}, REMOTE_ADDR=where).status_code


def test_a_stolen_cookie_sets_no_password(cookie: Client, viktor: User) -> None:
    new = {"new_password1": NEW, "new_password2": NEW}
    for user in (viktor, User.objects.get(username="admin")):
        cookie.post(f"/settings/users/{user.pk}/password/", new)
        assert User.objects.get(pk=user.pk).check_password(PASSWORD)


def test_ones_own_password_is_never_set_without_the_old_one(admin: Client) -> None:
    me = User.objects.get(username="admin")
    answer = admin.post(f"/settings/users/{me.pk}/password/", {"new_password1": NEW, "new_password2": NEW})
    assert answer.headers["Location"] == "/password/"
    admin.post("/password/", {"new_password1": NEW, "new_password2": NEW})
    assert User.objects.get(pk=me.pk).check_password(PASSWORD)


def test_a_stolen_cookie_makes_no_user_token_or_channel(cookie: Client) -> None:
    """Proves too that it is the password which is missing."""
    for is_made in (False, True):
        cookie.post("/settings/users/add/", NEW_USER)
        cookie.post("/settings/tokens/add/", {"name": "mine", "may_acknowledge": "on"})
        cookie.post("/settings/alerts/add/", CHANNEL)
        found = (User.objects.filter(username="eve"), ApiToken.objects.all(), Channel.objects.all())
        assert [each.exists() for each in found] == [is_made] * 3
        confirm(cookie)


def test_a_stolen_cookie_changes_no_role_and_locks_nobody_out(cookie: Client, viktor: User) -> None:
    cookie.post(f"/settings/users/{viktor.pk}/role/", {"role": "admin"})
    cookie.post(f"/settings/users/{viktor.pk}/active/")
    viktor.refresh_from_db()
    assert role_of(viktor) is UserRole.VIEWER
    assert viktor.is_active


def test_a_stolen_cookie_silences_nothing(cookie: Client) -> None:
    """Proves too that it is the password which is missing."""
    create_schedules()
    channel = Channel.objects.create(name="phone", kind="mail", secret=encrypt("a@example.org"))
    sweep = PeriodicTask.objects.get(name="console.sweep")
    for is_done in (False, True):
        cookie.post(f"/settings/alerts/{channel.pk}/", {**CHANNEL, "is_enabled": ""})
        cookie.post("/settings/alerts/delivery/", DELIVERY)
        cookie.post(f"/settings/schedules/{sweep.pk}/", {"hours": "168"})
        for each in (channel, sweep):
            each.refresh_from_db()
        assert (channel.is_enabled, sweep.enabled) == (not is_done, not is_done)
        assert WatchSettings.load().mail_host == ("evil.example" if is_done else "")
        cookie.post(f"/settings/alerts/{channel.pk}/delete/")
        assert Channel.objects.exists() is not is_done
        confirm(cookie)


def test_the_page_that_asks_sends_the_same_again(cookie: Client, viktor: User) -> None:
    path = f"/settings/users/{viktor.pk}/role/"
    asked = cookie.post(path, {"role": "operator"}).content.decode()
    assert '<input type="hidden" name="role" value="operator">' in asked
    cookie.post(path, {"role": "operator", "password": PASSWORD})
    assert role_of(User.objects.get(pk=viktor.pk)) is UserRole.OPERATOR


def test_the_password_stands_for_ten_minutes_and_no_longer(cookie: Client, viktor: User) -> None:
    cookie.post("/settings/tokens/add/", {"name": "first", "password": PASSWORD})
    cookie.post("/settings/tokens/add/", {"name": "second"})
    assert ApiToken.objects.count() == 2
    session = cookie.session
    session[CONFIRMED_AT] -= CONFIRMED_FOR.total_seconds()
    session.save()
    cookie.post("/settings/tokens/add/", {"name": "third"})
    cookie.post(f"/settings/users/{viktor.pk}/active/")
    assert ApiToken.objects.count() == 2
    assert User.objects.get(pk=viktor.pk).is_active
    assert timedelta(minutes=10) >= CONFIRMED_FOR


def test_a_clock_that_was_set_back_makes_the_password_stand_no_longer(cookie: Client) -> None:
    session = cookie.session
    session[CONFIRMED_AT] = (timezone.now() + timedelta(hours=1)).timestamp()
    session.save()
    cookie.post("/settings/tokens/add/", {"name": "mine"})
    assert not ApiToken.objects.exists()


def test_strangers_who_guess_do_not_keep_anybody_from_undoing(cookie: Client) -> None:
    for _attempt in range(FREE[Guessed.NETWORK] + 2):
        guess(Client(), "admin", "127.0.0.1")
    assert cookie.post("/settings/tokens/add/", {"name": "mine", "password": PASSWORD}).status_code == 200
    assert ApiToken.objects.exists()


def test_guessing_with_a_stolen_cookie_has_to_wait(cookie: Client) -> None:
    for attempt in range(FREE[Guessed.USER]):
        cookie.post("/settings/tokens/add/", {"name": "mine", "password": f"guess {attempt}"})
    answer = cookie.post("/settings/tokens/add/", {"name": "mine", "password": PASSWORD}).content.decode()
    assert "Try again in 1 minute." in answer
    assert not ApiToken.objects.exists()
    WrongAnswers.objects.update(last_at=timezone.now() - timedelta(minutes=1))
    cookie.post("/settings/tokens/add/", {"name": "mine", "password": PASSWORD})
    assert not WrongAnswers.objects.filter(about=Guessed.USER).exists()
    assert ApiToken.objects.exists()


def test_the_old_password_is_not_guessed_on_the_page_that_changes_it(cookie: Client) -> None:
    for attempt in range(FREE[Guessed.USER]):
        cookie.post("/password/", {"old_password": f"guess {attempt}", "new_password1": NEW, "new_password2": NEW})
    cookie.post("/password/", {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW})
    assert User.objects.get(username="admin").check_password(PASSWORD)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite in memory has one connection")
@pytest.mark.django_db(transaction=True)
def test_many_guesses_at_the_same_time_are_no_more_than_a_few(cookie: Client) -> None:
    def post(attempt: int) -> str:
        answer = cookie.post("/settings/tokens/add/", {"name": "mine", "password": f"guess {attempt}"})
        connection.close()
        return answer.content.decode()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(post, range(40)))
    assert sum("Wrong password" in answer for answer in answers) <= FREE[Guessed.USER]


def test_guesses_from_many_addresses_lock_a_name() -> None:
    User.objects.create_user("ada", password=PASSWORD)
    statuses = [guess(Client(), "ada", f"198.51.100.{number}") for number in range(28)]
    assert statuses == [200] * (FREE[Guessed.NAME] - 1) + [429] * (28 - FREE[Guessed.NAME] + 1)
    assert guess(Client(), "ada", "203.0.113.9", PASSWORD) == 429


def test_guesses_at_many_names_from_one_network_lock_it() -> None:
    User.objects.create_user("ada", password=PASSWORD)
    for number in range(FREE[Guessed.NETWORK]):
        guess(Client(), f"name {number}", f"2001:db8:1:2::{number:x}")
    assert guess(Client(), "ada", "2001:db8:1:2:aaaa::1", PASSWORD) == 429
    assert guess(Client(), "ada", "2001:db8:1:3::1", PASSWORD) == 302


def test_signing_in_oneself_does_not_forgive_what_was_guessed_at_others() -> None:
    User.objects.create_user("mallory", password=PASSWORD)
    for number in range(FREE[Guessed.NETWORK] + 1):
        guess(Client(), f"name {number}", "198.51.100.7")
        guess(Client(), "mallory", "198.51.100.7", PASSWORD)
    assert guess(Client(), "ada", "198.51.100.7") == 429


def test_the_wait_doubles_up_to_an_hour() -> None:
    waits = [wait_after(failures, 8) // timedelta(minutes=1) for failures in range(6, 16)]
    assert waits == [0, 0, 1, 2, 4, 8, 16, 32, 60, 60]
    assert wait_after(10**9, 8) == LONGEST_WAIT


def test_a_wait_ends_and_the_next_wrong_one_waits_twice_as_long(clock: Clock) -> None:
    User.objects.create_user("ada", password=PASSWORD)
    for _attempt in range(FREE[Guessed.NAME]):
        guess(Client(), "ada", "198.51.100.7")
    assert guess(Client(), "ada", "198.51.100.7", PASSWORD) == 429
    clock.pass_by(timedelta(minutes=1))
    assert guess(Client(), "ada", "198.51.100.7") == 429
    clock.pass_by(timedelta(seconds=119))
    assert guess(Client(), "ada", "198.51.100.7", PASSWORD) == 429
    clock.pass_by(timedelta(seconds=1))
    assert guess(Client(), "ada", "198.51.100.7", PASSWORD) == 302
    assert guess(Client(), "ada", "198.51.100.7") == 200


def test_a_clock_that_was_set_back_keeps_nobody_out(clock: Clock) -> None:
    User.objects.create_user("ada", password=PASSWORD)
    for _attempt in range(FREE[Guessed.NAME]):
        guess(Client(), "ada", "198.51.100.7")
    WrongAnswers.objects.update(last_at=timezone.now() + timedelta(days=300))
    clock.pass_by(timedelta(seconds=1))
    assert guess(Client(), "ada", "198.51.100.7", PASSWORD) == 302


def test_what_was_wrong_a_day_ago_is_forgotten(clock: Clock) -> None:
    for _attempt in range(FREE[Guessed.NAME] - 1):
        guess(Client(), "ada", "198.51.100.7")
    clock.pass_by(timedelta(days=1, seconds=1))
    assert guess(Client(), "ada", "198.51.100.7") == 200
    assert set(WrongAnswers.objects.values_list("failures", flat=True)) == {1}


def test_the_right_password_leaves_no_trace_in_the_count_of_a_network() -> None:
    User.objects.create_user("ada", password=PASSWORD)
    guess(Client(), "bob", "198.51.100.7")
    before = WrongAnswers.objects.values().get(about=Guessed.NETWORK)
    assert guess(Client(), "ada", "198.51.100.7", PASSWORD) == 302
    assert WrongAnswers.objects.values().get(about=Guessed.NETWORK) == before


def test_an_administrator_of_the_machine_ends_every_wait() -> None:
    User.objects.create_user("ada", password=PASSWORD)
    for _attempt in range(FREE[Guessed.NAME]):
        guess(Client(), "ada", "198.51.100.7")
    page = Client().post("/login/", {"username": "ada", "password": PASSWORD}).content.decode()
    assert " reset_lock_out</code>" in page
    call_command("reset_lock_out", stdout=StringIO())
    assert guess(Client(), "ada", "198.51.100.7", PASSWORD) == 302


def test_nobody_asks_for_passwords_at_the_login_without_counting() -> None:
    """Django's own `authenticate` counts nothing: one module calls it."""
    root = Path(passwords.__file__).parents[2]
    callers = [path for path in root.rglob("*.py") if re.search(r"import .*\bauthenticate\b", path.read_text())]
    assert [path.name for path in callers] == ["lock_out.py"]
