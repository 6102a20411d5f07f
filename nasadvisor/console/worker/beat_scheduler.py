"""The clock's schedule, which notes at each tick that the clock still goes. Apart from `clock`: it needs the models."""

from typing import Any

from django_celery_beat.schedulers import DatabaseScheduler

from nasadvisor.console.worker.liveness import ticks


class WatchedScheduler(DatabaseScheduler):  # type: ignore[misc]  # it has no types
    """django-celery-beat's own schedule."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due; how many seconds to wait until the next tick, five at most."""
        ticks.note()
        seconds: float = super().tick(*args, **kwargs)
        return seconds
