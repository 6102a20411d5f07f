"""Nobody keeps what was shown to somebody who is signed in, and sessions that are over are forgotten."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from nasadvisor.console.worker.schedules import create_schedules
from nasadvisor.console.worker.tasks import clear_sessions


@pytest.mark.parametrize("path", ["/", "/settings/", "/wear/", "/wear.csv", "/pools/", "/nowhere/", "/password/"])
def test_no_browser_and_no_proxy_keeps_a_page(viewer: Client, path: str) -> None:
    assert "no-store" in viewer.get(path).headers["Cache-Control"]


def test_sessions_that_are_over_are_forgotten_every_day(viewer: Client) -> None:
    Session.objects.create(session_key="old", session_data="", expire_date=timezone.now() - timedelta(days=1))
    clear_sessions()
    assert not Session.objects.filter(session_key="old").exists()
    assert viewer.get("/").status_code == 200
    create_schedules()
    schedule = PeriodicTask.objects.get(name="console.clear_sessions")
    assert (schedule.task, schedule.interval.every, schedule.enabled) == ("console.clear_sessions", 86400, True)
