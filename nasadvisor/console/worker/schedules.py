"""What the clock asks for and how often. Kept in django-celery-beat, where an administrator may change it."""

from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from nasadvisor.domain.units import HOUR_S

EVERY_S: Final = {
    "console.refresh_inventories": 60,
    "console.follow_runs": 10,
    "console.take_samples": 10,
    "console.roll_up_samples": 60,
    "console.watch": 60,
    "console.deliver": 30,
    "console.send_reports": 300,
    "console.sweep": 6 * HOUR_S,
    "console.prune": 24 * HOUR_S,
    "console.clear_sessions": 24 * HOUR_S,
}
"""Seconds between two runs of a task."""


@dataclass(frozen=True)
class CalendarTask:
    """A task at a time of the day, on certain days; numbers as in crontab(5). Off unless somebody switches it on."""

    minute: str
    hour: str
    day_of_month: str = "*"
    day_of_week: str = "*"
    is_enabled: bool = True


BY_CALENDAR: Final = {
    "console.monthly_report": CalendarTask("0", "7", day_of_month="1"),
    "console.short_self_tests": CalendarTask("30", "1", day_of_week="6", is_enabled=False),
    "console.long_self_tests": CalendarTask("30", "2", day_of_month="15", is_enabled=False),
}

EXPIRES_AT_MOST_S: Final = HOUR_S
"""A run that nobody took up by then is dropped: the next one comes anyway."""


def create_schedules() -> None:
    """Make the schedules that are missing; one that was changed by hand stays as it is."""
    for task, seconds in EVERY_S.items():
        interval, _ = IntervalSchedule.objects.get_or_create(every=seconds, period=IntervalSchedule.SECONDS)
        expires = min(seconds, EXPIRES_AT_MOST_S)
        PeriodicTask.objects.get_or_create(
            name=task, defaults={"task": task, "interval": interval, "expire_seconds": expires}
        )
    for task, when in BY_CALENDAR.items():
        crontab, _ = CrontabSchedule.objects.get_or_create(
            minute=when.minute,
            hour=when.hour,
            day_of_month=when.day_of_month,
            day_of_week=when.day_of_week,
            month_of_year="*",
            timezone=settings.TIME_ZONE,
        )
        PeriodicTask.objects.get_or_create(
            name=task,
            defaults={
                "task": task,
                "crontab": crontab,
                "enabled": when.is_enabled,
                "expire_seconds": EXPIRES_AT_MOST_S,
            },
        )
