"""Slowing down who guesses passwords: after some wrong ones each further one has to wait, twice as long every time.

At the login wrong answers are counted for each name, wherever they come from, and for each network, whatever the names
are. Where somebody who is signed in is asked again (`passwords`), they are counted for that user alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.models import Guessed, WrongAnswers
from nasadvisor.console.web import networks

Answer = TypeVar("Answer")

FREE: Final = {Guessed.NAME: 8, Guessed.NETWORK: 24, Guessed.USER: 5}
"""So many wrong answers in a row cost no more than the typing. Behind one network may be a whole office."""

FIRST_WAIT: Final = timedelta(minutes=1)
LONGEST_WAIT: Final = timedelta(hours=1)
FORGOTTEN_AFTER: Final = timedelta(days=1)


class MustWait(Exception):  # noqa: N818 - named for what happened
    """No answer is looked at for a while."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(f"{wait.total_seconds():.0f} s")
        self.wait = wait


@dataclass(frozen=True)
class LockOutSubject:
    """Whose wrong answers are counted."""

    about: Guessed
    name: str


@dataclass(frozen=True)
class Noted:
    """A try that was noted as a wrong one at `at`; the one before it was at `last_at`."""

    key: int
    at: datetime
    last_at: datetime


def wait_after(failures: int, free: int) -> timedelta:
    """How long nobody may try again after so many wrong answers in a row."""
    if failures < free:
        return timedelta(0)
    doublings = min(failures - free, 16)  # far beyond the longest wait
    wait: timedelta = FIRST_WAIT * 2**doublings
    return min(wait, LONGEST_WAIT)


def authenticate_counted(request: HttpRequest, name: str, **credentials: str) -> User | None:
    """Who has this name and these credentials, as `django.contrib.auth.authenticate` tells; wrong ones are counted.

    Raises:
        MustWait: too many were wrong, this one or those before it.
        SecretUnreadable: the secret of a second factor cannot be read; that is not counted.
    """
    network = networks.network_of(str(request.META.get("REMOTE_ADDR", "")))
    subjects = (LockOutSubject(Guessed.NAME, name), *((LockOutSubject(Guessed.NETWORK, network),) if network else ()))
    try:
        user = counted(subjects, lambda: authenticate(request, username=name, **credentials))
    except MustWait:
        audit.record_failed_sign_in(request, name, credentials)
        raise
    if user is None and (wait := max(_wait_of(subject) for subject in subjects)):
        raise MustWait(wait)
    return user if isinstance(user, User) else None


def counted(subjects: tuple[LockOutSubject, ...], ask: Callable[[], Answer]) -> Answer:
    """What `ask` answers, where something true says that it was right.

    The try is noted as a wrong one before it is made, so that many at the same time are not more than one after the
    other; that is taken back where it was right, or nobody could look at it.

    Raises:
        MustWait: too many were wrong before; nobody was asked.
    """
    noted = _note(subjects, timezone.now())
    was_wrong = False
    try:
        answer = ask()
        was_wrong = not answer
        return answer
    finally:
        if not was_wrong:
            for each in noted:
                mine = WrongAnswers.objects.filter(pk=each.key)
                mine.filter(failures__gt=0).update(failures=F("failures") - 1)
                mine.filter(last_at=each.at).update(last_at=each.last_at)


def forgive(subject: LockOutSubject) -> None:
    """Forget the wrong answers, once somebody has shown who they are."""
    WrongAnswers.objects.filter(about=subject.about, subject=subject.name).delete()


@transaction.atomic
def _note(subjects: tuple[LockOutSubject, ...], now: datetime) -> tuple[Noted, ...]:
    WrongAnswers.objects.filter(last_at__lt=now - FORGOTTEN_AFTER).delete()
    known = WrongAnswers.objects.select_for_update()
    noted = []
    for subject in subjects:
        found, _created = known.get_or_create(about=subject.about, subject=subject.name, defaults={"last_at": now})
        wait = _left(found, now)
        if wait:
            raise MustWait(wait)
        WrongAnswers.objects.filter(pk=found.pk).update(failures=F("failures") + 1, last_at=now)
        noted.append(Noted(found.pk, now, found.last_at))
    return tuple(noted)


def _wait_of(subject: LockOutSubject) -> timedelta:
    found = WrongAnswers.objects.filter(about=subject.about, subject=subject.name).first()
    return _left(found, timezone.now()) if found else timedelta(0)


def _left(found: WrongAnswers, now: datetime) -> timedelta:
    """How long to wait still. What lies further ahead than the longest wait was noted before the clock was set."""
    if found.last_at > now + LONGEST_WAIT:
        return timedelta(0)
    wait = wait_after(found.failures, FREE[Guessed(found.about)])
    return max(timedelta(0), found.last_at + wait - now)
