"""What beat does and how often. Kept in django-celery-beat, where an administrator may change it."""

from typing import Final

from django_celery_beat.models import IntervalSchedule, PeriodicTask

EVERY_S: Final = {
    "console.refresh_inventories": 60,
    "console.follow_runs": 10,
    "console.take_samples": 10,
    "console.roll_up_samples": 60,
}
"""Seconds between two runs of a task."""


def create_schedules() -> None:
    """Make the schedules that are missing; one that was changed by hand stays as it is."""
    for task, seconds in EVERY_S.items():
        interval, _ = IntervalSchedule.objects.get_or_create(every=seconds, period=IntervalSchedule.SECONDS)
        PeriodicTask.objects.get_or_create(
            name=task, defaults={"task": task, "interval": interval, "expire_seconds": seconds}
        )
