"""Slowing down who guesses passwords: after some wrong ones each further one has to wait, twice as long every time.

Django Axes counts failed logins. It is asked here with a limit for each name, wherever guesses come from, and one for
each network, whatever the names are. Passwords that are asked for again (`passwords`) have a counter of their own, so
that nobody who is not signed in as somebody can keep that person from undoing a run.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.db.models import Max, QuerySet, Sum
from django.http import HttpRequest

from nasadvisor.console import networks

FREE_FOR_NAME: Final = 8
"""So many wrong passwords for one name cost no more than the typing."""

FREE_FOR_NETWORK: Final = 24
"""The same for all names from one network: behind one address may be a whole office."""

FIRST_WAIT: Final = timedelta(minutes=1)
LONGEST_WAIT: Final = timedelta(hours=1)


def wait_after(failures: int, free: int) -> timedelta:
    """How long nobody may try again after so many wrong passwords in a row."""
    if failures < free:
        return timedelta(0)
    doublings = min(failures - free, 16)  # far beyond the longest wait
    wait: timedelta = FIRST_WAIT * 2**doublings
    return min(wait, LONGEST_WAIT)


def network_of(request: HttpRequest) -> str | None:
    """The network that a request came from (`networks.network_of`); None where there is no address."""
    return networks.network_of(str(request.META.get("REMOTE_ADDR", "")))


class LockOut(AxesDatabaseHandler):  # type: ignore[misc]  # no stubs
    """Axes with a wait that grows, for each name and for each network by itself."""

    def get_failures(self, request: Any, credentials: dict[str, Any] | None = None) -> int:
        """How many of the two limits are reached now; `AXES_FAILURE_LIMIT` of them lock somebody out."""
        now: datetime = request.axes_attempt_time
        name = (credentials or {}).get("username") or request.POST.get("username")
        reached = [_must_wait(AccessAttempt.objects.filter(username=name), FREE_FOR_NAME, now)] if name else []
        if request.axes_ip_address:
            here = AccessAttempt.objects.filter(ip_address=request.axes_ip_address)
            reached.append(_must_wait(here, FREE_FOR_NETWORK, now))
        return sum(reached)

    def reset_user_attempts(self, request: Any, credentials: dict[str, Any] | None = None) -> int:
        """Forget the wrong passwords for a name once the right one was typed; the rest of its network is as before."""
        del request
        count, _by_model = AccessAttempt.objects.filter(username=(credentials or {}).get("username")).delete()
        return int(count)


def _must_wait(attempts: QuerySet[Any], free: int, now: datetime) -> bool:
    found = attempts.aggregate(failures=Sum("failures_since_start"), last=Max("attempt_time"))
    wait = wait_after(found["failures"] or 0, free)
    return bool(wait) and now < found["last"] + wait
