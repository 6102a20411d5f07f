"""How often the sweeps are due, as the schedules say."""

from datetime import timedelta

from django_celery_beat.models import PeriodicTask

SWEEP = "console.sweep"


def sweep_interval() -> timedelta | None:
    """The time between two sweeps; None while they are switched off or follow a calendar."""
    task = PeriodicTask.objects.filter(name=SWEEP, enabled=True).select_related("interval").first()
    if task is None or task.interval is None:
        return None
    unit = {task.interval.period: task.interval.every}
    return timedelta(**unit)
