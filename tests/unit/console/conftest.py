"""The console in a test: a database in memory, no message service, files as they lie in static/."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client, override_settings
from django.utils import timezone, translation
from kombu import Connection
from kombu.exceptions import OperationalError

from nasadvisor.console.accounts.passwords import CONFIRMED_AT
from nasadvisor.console.accounts.roles import UserRole, set_role
from nasadvisor.console.celery_app import app
from nasadvisor.console.secrets import new_key

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def database(db: None) -> None:
    """Every test of the console may use the database; nothing is remembered of the one of the test before."""
    cache.clear()


@pytest.fixture(autouse=True)
def console_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings that an installation would bring along."""
    key_file = tmp_path_factory.mktemp("keys") / "channel-key"
    key_file.write_text(new_key())
    plain_files = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES={**settings.STORAGES, "staticfiles": plain_files},
        STATIC_ROOT=tmp_path_factory.mktemp("static"),
        CHANNEL_KEY_FILE=key_file,
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        yield


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Each test begins in English: the language of a request stays with its thread."""
    with translation.override("en"):
        yield


class Clock:
    """The time, which stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def pass_by(self, time: timedelta) -> None:
        """Move it on."""
        self.now += time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the console takes for the time."""
    made = Clock()
    monkeypatch.setattr(timezone, "now", lambda: made.now)
    return made


@dataclass
class Sent:
    """A task that was handed to the message service."""

    task: str
    args: list[object]
    queue: str
    expires: float


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Sent]:
    """The tasks sent to hosts so far; nothing really leaves the test."""
    tasks: list[Sent] = []

    def send_task(task: str, args: list[object], *, queue: str, expires: float, retry: bool) -> None:
        assert not retry
        tasks.append(Sent(task, args, queue, expires))

    monkeypatch.setattr(app, "send_task", send_task)
    monkeypatch.setattr(app, "connection_or_acquire", lambda: Connection("memory://"))
    return tasks


@pytest.fixture
def no_redis(monkeypatch: pytest.MonkeyPatch, sent: list[Sent]) -> None:
    """The message service does not answer."""
    del sent  # whose place it takes

    def refuse(*_args: object, **_options: object) -> None:
        raise OperationalError("Connection refused")

    monkeypatch.setattr(app, "send_task", refuse)
    monkeypatch.setattr(app, "connection_or_acquire", refuse)


def sign_in(client: Client, role: UserRole) -> User:
    """Make a user with this role, named like it, and sign in."""
    user = User.objects.create_user(role.value, password=PASSWORD)
    set_role(user, role)
    client.force_login(user)
    return user


@pytest.fixture
def viewer(client: Client) -> Client:
    """A viewer's browser."""
    sign_in(client, UserRole.VIEWER)
    return client


@pytest.fixture
def operator(client: Client) -> Client:
    """An operator's browser."""
    sign_in(client, UserRole.OPERATOR)
    return client


def confirm(client: Client) -> None:
    """Say that this browser's user has just typed their password again."""
    session = client.session
    session[CONFIRMED_AT] = timezone.now().timestamp()
    session.save()


@pytest.fixture
def admin(client: Client) -> Client:
    """The browser of an administrator who has just typed their password again."""
    sign_in(client, UserRole.ADMIN)
    confirm(client)
    return client


@pytest.fixture
def cookie(client: Client) -> Client:
    """Somebody with an administrator's cookie and nothing else."""
    sign_in(client, UserRole.ADMIN)
    return client
